/** SIGKILL of the service at a moment of chance while eight clients work, again and again on one data folder. */
import { setTimeout as sleep } from 'node:timers/promises';
import { faultsOf, reckon, verified } from '../books.ts';
import { chanceOf } from '../chance.ts';
import { openGround, type Running } from '../ground.ts';
import { Journal } from '../journal.ts';
import { clients } from '../load.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';

export const part: Part = {
  name: 'kill',
  title: 'SIGKILL of the service under load of eight clients; restart, the same keys again',
  unit: 'kills',
  target: 500,
  run,
};

async function run({ rounds, seed, say }: RunOptions): Promise<Outcome> {
  const ground = await openGround();
  const violations: string[] = [];
  const journals: Journal[] = [];
  let service: Running = await ground.serve();
  const company = await ground.company();
  let done = 0;
  for (; done < rounds && violations.length === 0; done += 1) {
    const chance = chanceOf(seed + done);
    const journal = new Journal(company.apiKey, `kill-${seed + done}`);
    journals.push(journal);
    let over = false;
    const working = clients(8, { journal, company, wire: service.wire, chance, over: () => over });
    // After so many acts, and a moment of chance: the machine's speed moves neither out of the work.
    const enough = chance.whole(1, 80);
    const until = performance.now() + 10_000;
    while (journal.done().length < enough && performance.now() < until) await sleep(2);
    await sleep(chance.whole(0, 15));
    over = true;
    await service.kill();
    await working;
    service = await ground.serve();
    await journal.retry(service.wire);
    await journal.again(service.wire);
    violations.push(...(await faultsOf(ground, [journal], `seed ${seed + done}`)));
    if (done % 50 === 49) violations.push(...(await verified(ground, `seed ${seed + done} or before`)).faults);
    say(`${done + 1} of ${rounds}`);
  }
  const { documents, count, faults } = await reckon(ground, journals, service.wire, `seeds ${seed} to ${seed + done}`);
  violations.push(...faults);
  const replayed = journals.reduce((sum, journal) => sum + journal.replayed, 0);
  const counts = { acts: count('done'), documents, replays: replayed, 'unknown for ever': count('never') };
  return { rounds: done, counts, violations };
}

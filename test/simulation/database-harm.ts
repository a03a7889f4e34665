/** Rounds in which the database suffers while the service goes on: load, harm, recovery, the same keys again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { faultsOf, reckon } from './books.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Ground, Running, SimCompany } from './ground.ts';
import { Journal } from './journal.ts';
import { clients } from './load.ts';
import type { Outcome, RunOptions } from './part.ts';

export interface Harm {
  readonly ground: Ground;
  /** Starts the service: at the beginning, and when it has given up. */
  serve(): Promise<Running>;
  /** Does it, while clients work; resolves when clients are not to begin anything new. */
  strike(chance: Chance, working: Working): Promise<void>;
}

export interface Working {
  readonly service: Running;
  readonly journal: Journal;
  /** Resolves once so many acts are done, or the service refuses to work. */
  acts(count: number): Promise<void>;
}

export async function harmed(name: string, harm: Harm, { rounds, seed, say }: RunOptions): Promise<Outcome> {
  const { ground } = harm;
  const violations: string[] = [];
  const journals: Journal[] = [];
  let gaveUp = 0;
  let unanswered = 0;
  let done = 0;
  let service = await harm.serve();
  const company = await ground.company();
  for (; done < rounds && violations.length === 0; done += 1) {
    const chance = chanceOf(seed + done);
    const journal = new Journal(company.apiKey, `${name}-${seed + done}`);
    journals.push(journal);
    let over = false;
    const working = clients(8, { journal, company, wire: service.wire, chance, over: () => over });
    await harm.strike(chance, { service, journal, acts: (count) => progress(journal, working, count) });
    over = true;
    await working;
    unanswered += journal.open().length;
    // It joins the database again by itself, or ends with its reason and is started again.
    if (!(await comesBack(service, company))) {
      gaveUp += 1;
      await service.kill();
      service = await harm.serve();
      if (!(await comesBack(service, company))) throw new Error(`the service does not come back: ${service.said()}`);
    }
    await journal.retry(service.wire);
    await journal.again(service.wire);
    violations.push(...(await faultsOf(ground, [journal], `seed ${seed + done}`)));
    say(`${done + 1} of ${rounds}`);
  }
  const { documents, count, faults } = await reckon(ground, journals, service.wire, `seeds ${seed} to ${seed + done}`);
  violations.push(...faults);
  const counts = {
    acts: count('done'),
    documents,
    unanswered,
    'unknown for ever': count('never'),
    'services restarted': gaveUp,
  };
  return { rounds: done, counts, violations };
}

async function progress(journal: Journal, working: Promise<void>, count: number): Promise<void> {
  let ended = false;
  void working.then(() => {
    ended = true;
  });
  const until = performance.now() + 20_000;
  while (!ended && journal.done().length < count && performance.now() < until) await sleep(2);
}

/** Whether it answers from its database within a while. */
async function comesBack({ wire, lives }: Running, { apiKey }: SimCompany): Promise<boolean> {
  const until = performance.now() + 60_000;
  while (lives() && performance.now() < until) {
    const answer = await wire
      .send({ method: 'GET', path: '/company', headers: { 'x-api-key': apiKey } })
      .catch(() => undefined);
    if (answer?.status === 200) return true;
    await sleep(50);
  }
  return false;
}

/** The service dies, with SIGKILL, at each message that it sends to PostgreSQL for issue, pay, cancel and credit note. */
import { verified } from '../books.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { actNames, closeBench, openBench, sweep } from '../sweep.ts';

export const part: Part = {
  name: 'kill-points',
  title: 'SIGKILL of the service before and after each message to PostgreSQL of the four acts',
  unit: 'sweeps',
  target: actNames.length,
  run,
};

async function run({ rounds, seed, say, short = false }: RunOptions): Promise<Outcome> {
  const bench = await openBench();
  const violations: string[] = [];
  const counts = { points: 0, 'unknown for ever': 0 };
  for (let round = 0; round < rounds; round += 1) {
    const act = actNames[round % actNames.length]!;
    const swept = await sweep(bench, { act, how: 'kill', warm: false, seed: seed + round, oneIn: short ? 40 : 1, say });
    counts.points += swept.points;
    counts['unknown for ever'] += swept.never;
    violations.push(...swept.faults);
  }
  violations.push(...(await verified(bench.ground, `seed ${seed}`)).faults);
  await closeBench(bench);
  return { rounds, counts, violations };
}

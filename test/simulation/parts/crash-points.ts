/** The wire to PostgreSQL is cut before and after each message of issue, pay, cancel and credit note. */
import { verified } from '../books.ts';
import type { Outcome, Part, RunOptions } from '../part.ts';
import { actNames, closeBench, openBench, sweep } from '../sweep.ts';

export const part: Part = {
  name: 'crash-points',
  title: 'the wire to PostgreSQL cut before and after each message of the four acts, connections new and used',
  unit: 'sweeps',
  target: 2 * actNames.length,
  run,
};

async function run({ rounds, seed, say, short = false }: RunOptions): Promise<Outcome> {
  const bench = await openBench();
  const violations: string[] = [];
  const counts = { points: 0, 'unknown for ever': 0 };
  for (let round = 0; round < rounds; round += 1) {
    const act = actNames[round % actNames.length]!;
    const warm = Math.floor(round / actNames.length) % 2 === 1;
    const swept = await sweep(bench, { act, how: 'cut', warm, seed: seed + round, oneIn: short ? 30 : 1, say });
    counts.points += swept.points;
    counts['unknown for ever'] += swept.never;
    violations.push(...swept.faults);
  }
  violations.push(...(await verified(bench.ground, `seed ${seed}`)).faults);
  await closeBench(bench);
  return { rounds, counts, violations };
}

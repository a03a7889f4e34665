/** A short run of each part of the simulation, from fixed seeds; `npm run sim` plays them whole. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../commands/built.ts';
import { closeGrounds } from './ground.ts';
import type { Part } from './part.ts';
import { part as kill } from './parts/kill.ts';

beforeAll(ensureBuilt);
afterEach(closeGrounds);

const say = (): void => undefined;
const parts: readonly [Part, number][] = [[kill, 2]];

test.each(parts.map(([part, rounds]) => [part.name, part, rounds] as const))(
  '%s: the books hold after it',
  async (_name, part, rounds) => {
    const outcome = await part.run({ rounds, seed: 20, say });
    expect(outcome.violations).toEqual([]);
    expect(outcome.rounds).toBe(rounds);
    expect(Object.values(outcome.counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  },
  180_000,
);

/** A short run of each part of the simulation, from fixed seeds; `npm run sim` plays them whole. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../commands/built.ts';
import { floods } from './floods.ts';
import { closeGrounds } from './ground.ts';
import type { Part } from './part.ts';
import { part as backup } from './parts/backup.ts';
import { part as clock } from './parts/clock.ts';
import { part as crashPoints } from './parts/crash-points.ts';
import { part as fairness, share } from './parts/fairness.ts';
import { part as fullDisk } from './parts/full-disk.ts';
import { part as generated } from './parts/generated.ts';
import { part as hostileHttp } from './parts/hostile-http.ts';
import { part as kill } from './parts/kill.ts';
import { part as killPoints } from './parts/kill-points.ts';
import { part as model } from './parts/model.ts';
import { part as oneKey } from './parts/one-key.ts';
import { part as postgresKill } from './parts/postgres-kill.ts';
import { part as racingKeys } from './parts/racing-keys.ts';

beforeAll(ensureBuilt);
afterEach(closeGrounds);

const say = (): void => undefined;
// So few rounds that each part sees what it looks for; what only many find is for `npm run sim`.
const parts: readonly [Part, number][] = [
  [kill, 1],
  [crashPoints, 2],
  [killPoints, 1],
  [oneKey, 80],
  [racingKeys, 5],
  [model, 16],
  [postgresKill, 1],
  [fullDisk, 1],
  [clock, 1],
  [fairness, Math.floor(floods.length / share)],
  [hostileHttp, 1],
  [backup, 1],
  [generated, 400],
];

test.for(parts.map(([part, rounds]) => [part.name, part, rounds] as const))(
  '%s: the books hold after it',
  // Up to three minutes each beside four other test runs on two cores.
  { timeout: 900_000 },
  async ([, part, rounds], { skip }) => {
    const outcome = await part.run({ rounds, seed: 20, say, short: true });
    if (outcome.skipped !== undefined) skip(outcome.skipped);
    expect(outcome.violations).toEqual([]);
    expect(outcome.rounds).toBe(rounds);
    expect(Object.values(outcome.counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  },
);

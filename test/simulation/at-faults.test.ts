/** A short run of every fault of the tax authority, from a fixed seed; `npm run sim` plays them whole. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { connectionFaults, requestFaults } from '../../src/at/simulator/faults.ts';
import { ensureBuilt } from '../commands/built.ts';
import { atFaults } from './at-fault-table.ts';
import { closeGrounds } from './ground.ts';
import { part } from './parts/at-faults.ts';

beforeAll(ensureBuilt);
afterEach(closeGrounds);

test('every fault that the simulator knows is played, each under a name of its own', () => {
  const kinds = new Set(atFaults.map(({ rule }) => rule.kind));
  expect([...kinds].sort()).toEqual(Object.keys({ ...connectionFaults, ...requestFaults }).sort());
  expect(new Set(atFaults.map(({ name }) => name)).size).toBe(atFaults.length);
  expect(part.target).toBe(atFaults.length);
  expect(atFaults.length).toBeGreaterThanOrEqual(24);
});

test('each fault while documents are issued: every one stands at the tax authority once', async () => {
  const outcome = await part.run({ rounds: atFaults.length, seed: 0, say: () => undefined, short: true });
  expect(outcome.violations).toEqual([]);
  expect(outcome.rounds).toBe(atFaults.length);
  expect(outcome.counts['documents']).toBe(atFaults.length * 5);
  expect(outcome.counts['faults met']).toBeGreaterThan(atFaults.length);
});

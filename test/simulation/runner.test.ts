/** The runner itself: what it counts, and what it calls a failure. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Outcome, Part } from './part.ts';
import { simulateParts } from './runner.ts';

let folder: string;
let seeds: number[];
let outcome: Partial<Outcome>;
const part: Part = {
  name: 'try',
  title: 'of the runner',
  unit: 'tries',
  target: 5,
  run: ({ rounds, seed }) => {
    seeds.push(seed);
    return Promise.resolve({ rounds, counts: { acts: 2 * rounds }, violations: [], ...outcome });
  },
};
const sim = (...args: string[]) => simulateParts([part], args, folder);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'certo-sim-runner-'));
  seeds = [];
  outcome = {};
  for (const how of ['log', 'error'] as const) vi.spyOn(console, how).mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('rounds add up over runs, until the target is reached; what is missing is a failure', async () => {
  expect(await sim('--rounds', '3', '--seed', '7')).toBe(1);
  expect(await sim()).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'try.json'), 'utf8'))).toMatchObject({ rounds: 5, counts: { acts: 10 } });
  expect(seeds).toHaveLength(2);
  expect(seeds[0]).toBe(7);
  // Nothing is missing any more.
  expect(await sim()).toBe(0);
  expect(seeds).toHaveLength(2);
  expect(await sim('--fresh', '--rounds', '1')).toBe(1);
});

test('a violation is a failure, and stays one until the counts are forgotten', async () => {
  outcome = { violations: ['a gap (seed 9)'] };
  expect(await sim()).toBe(1);
  expect(vi.mocked(console.error).mock.calls.flat()).toContain('try: VIOLATION a gap (seed 9)');
  outcome = {};
  expect(await sim('--rounds', '5')).toBe(1);
  expect(await sim('--fresh')).toBe(0);
});

test('a part that breaks off is a violation, not a pass', async () => {
  const broken: Part = { ...part, run: () => Promise.reject(new Error('no database')) };
  expect(await simulateParts([broken], ['--rounds', '5'], folder)).toBe(1);
  expect(readFileSync(join(folder, 'try.json'), 'utf8')).toContain('no database');
});

test('a part that this machine can not play is told as skipped, and is not passed', async () => {
  outcome = { rounds: 0, skipped: 'nothing can be mounted here' };
  expect(await sim()).toBe(1);
  expect(vi.mocked(console.log).mock.calls.flat().join('\n')).toContain('SKIPPED: nothing can be mounted here');
  // Played elsewhere, it is.
  outcome = {};
  expect(await sim('--rounds', '5')).toBe(0);
  vi.mocked(console.log).mockClear();
  expect(await sim()).toBe(0);
  expect(vi.mocked(console.log).mock.calls.flat().join('\n')).not.toContain('SKIPPED');
});

test('of what took long the longest of all runs is kept', async () => {
  for (const ms of [5, 9, 7]) {
    outcome = { longest: { 'ms until it worked': ms } };
    await sim('--rounds', '1');
  }
  expect(vi.mocked(console.log).mock.calls.flat().at(-1)).toContain('longest 9 ms until it worked');
});

test('what is typed wrong is told, and nothing runs', async () => {
  for (const args of [['--part', 'other'], ['--rounds', '0'], ['--rounds', 'x'], ['--seed', '-1'], ['--nothing']])
    expect(await sim(...args)).toBe(2);
  expect(await sim('--help')).toBe(0);
  expect(await sim('--list')).toBe(0);
  expect(seeds).toEqual([]);
});

test('a damaged file of counts is not taken for counts', async () => {
  writeFileSync(join(folder, 'try.json'), '{"rounds": 5');
  expect(await sim('--rounds', '1')).toBe(1);
});

/** What becomes of measured values: medians, verdicts, and figures of books that are not whole. */
import { expect, test } from 'vitest';
import { part } from './part.ts';

const { countFor, joinHistograms, latencyFigures, median, percentile } = await part('statistics');
const { isBad, markdownOf, tableOf, verdictOf } = await part('report');
const { faultOf, unlessBroken } = await part('books');
const { readAsked, Unusable } = await part('asked');

test('the median is the middle one, or the mean of the two', () => {
  expect(median([30, 1, 2])).toBe(2);
  expect(median([10, 9, 100, 1])).toBe(9.5);
  expect(() => median([])).toThrow('nothing');
});

test('a percentile is the smallest value that so many do not exceed', () => {
  const values = Array.from({ length: 200 }, (_, i) => i + 1);
  expect(percentile(values, 0.5)).toBe(100);
  expect(percentile(values, 0.99)).toBe(198);
  expect(percentile([7], 0.99)).toBe(7);
});

test('latencies are counted once each, by buckets without holes', () => {
  const one = latencyFigures([9, 1, 2, 4]);
  expect(one).toMatchObject({ p50_ms: 2, p99_ms: 9, longest_ms: 9 });
  const joined = joinHistograms([one.histogram, latencyFigures([1, 16]).histogram]);
  expect(joined.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(6);
  expect(joined[0]).toMatchObject({ from_ms: 1, count: 2 });
  for (const [i, { to_ms }] of joined.slice(0, -1).entries()) expect(joined[i + 1].from_ms).toBe(to_ms);
  expect(joined.at(-1)).toMatchObject({ from_ms: 16, count: 1 });
});

test('a round is as long as the last one was fast, between its bounds', () => {
  const bounds = { least: 100, most: 1000 };
  expect([10, 150, 9000].map((rate) => countFor(rate, 2, bounds))).toEqual([100, 300, 1000]);
});

test.each([
  ['goal', { value: 0.6, floor: { least: 0.35 }, goal: { least: 0.6 } }],
  ['floor', { value: 0.59, floor: { least: 0.35 }, goal: { least: 0.6 } }],
  ['missed', { value: 0.34, floor: { least: 0.35 }, goal: { least: 0.6 } }],
  ['missed', { value: 3.1, floor: { most: 3 }, goal: { most: 2 } }],
  ['goal', { value: 3, floor: { most: 3 } }],
  ['told', { value: 3 }],
  ['absent', { floor: { least: 1 } }],
  ['failed', { failed: 'no', floor: { least: 1 } }],
  // Zero is below any "at most": what is broken has not reached it.
  ['missed', { value: 0, broken: 'a gap', floor: { most: 3 }, goal: { most: 2 } }],
])('the verdict is %s for %j', (verdict, row) => {
  expect(verdictOf(row)).toBe(verdict);
  expect(isBad({ verdict })).toBe(verdict === 'missed' || verdict === 'failed');
});

test('figures of broken books are zero, and say so', () => {
  const figure = { value: 9, details: { words: 'fast', rate: 1 } };
  expect(unlessBroken(undefined, figure)).toBe(figure);
  expect(unlessBroken('a gap', figure)).toEqual({
    value: 0,
    broken: 'a gap',
    details: { words: 'counts as zero: a gap', rate: 1 },
  });
});

test('books are broken by a finding, by a document too few and by one too many', () => {
  expect(faultOf({ findings: 0, documents: 5 }, 5)).toBeUndefined();
  const list = [{ number: 'FT A2026/3', problem: 'has a wrong signature' }];
  expect(faultOf({ findings: 2, documents: 5, list }, 5)).toBe(
    '2 findings, the first: FT A2026/3 has a wrong signature',
  );
  expect(faultOf({ findings: 0, documents: 4 }, 5)).toContain('4 documents');
  expect(faultOf({ findings: 0, documents: 6 }, 5)).toContain('6 documents');
});

test('the tables show every row, one without a figure and one that failed too', () => {
  const rows = [
    { title: 'Issue', value: 0.4, unit: 'ratio', floor: { least: 0.35 }, verdict: 'goal', details: { words: 'a | b' } },
    { title: 'Beside nothing', unit: 'ratio', verdict: 'absent', details: { words: 'it is not here' } },
    { title: 'Read', unit: 'ratio', verdict: 'failed', failed: 'refused' },
  ];
  const table = tableOf(rows).split('\n');
  expect(table).toHaveLength(4);
  expect(table[1]).toMatch(/^Issue +0\.40 +ratio +≥ 0\.35 +goal +a \| b$/);
  expect(table[2]).toMatch(/^Beside nothing +– .*it is not here$/);
  expect(table[3]).toMatch(/refused$/);
  const machine = { processor: 'P', cores: 2, memory_mib: 1, system: 's', node: 'v20', load: 3 };
  const run = { at: '2026-11-21T00:00:00.000Z', version: '0.1.0', machine, rounds: 3, rows };
  const page = markdownOf(run, { 'issue.svg': 'Issuing' });
  expect(page).toContain('![Issuing](issue.svg)');
  expect(page).toContain('busy with other work (load 3.0');
  expect(page).toContain('| Issue | 0.40 | ratio | ≥ 0.35 |  | goal | a \\| b |');
});

test('what is asked is every row, or those that begin so', () => {
  const names = ['issue-alone', 'issue-rsa', 'read'];
  expect(readAsked([], names)).toEqual({ names, rounds: 3, quick: false, whole: true });
  expect(readAsked(['issue', '--rounds', '5'], names)).toEqual({
    names: ['issue-alone', 'issue-rsa'],
    rounds: 5,
    quick: false,
    whole: false,
  });
  expect(readAsked(['--quick', 'read'], names)).toMatchObject({ names: ['read'], rounds: 1, quick: true });
  expect(readAsked(['-h'], names)).toEqual({ help: true });
});

test.each([
  [['isue'], 'no row that begins with isue. There are: issue, read'],
  [['read', 'isue'], 'begins with isue.'],
  [['--rounds', '0'], 'from 1 to 20'],
  [['--rounds', '2.5'], 'from 1 to 20'],
  [['--rounds'], 'rounds'],
  [['--fast'], '--fast'],
  [['--quick', '--rounds', '3'], 'leave --rounds out'],
])('%j is refused with a reason', (argv, reason) => {
  expect(() => readAsked(argv, ['issue', 'read'])).toThrow(Unusable);
  expect(() => readAsked(argv, ['issue', 'read'])).toThrow(reason);
});

import { describe, expect, it } from 'vitest';
import type { World } from './rules.ts';
import { isFuture, lisbonDay, stableCode } from './rules.ts';

const at = (instant: string) => ({ now: () => new Date(instant) }) as World;

describe('time', () => {
  it.each([
    ['2026-11-21T12:00:00Z', '2026-11-21T12:05:00', false],
    ['2026-11-21T12:00:00Z', '2026-11-21T12:05:01', true],
    ['2026-07-21T12:00:00Z', '2026-07-21T13:05:00', false],
    // 01:10 for the second time that night: 01:59:59 was signed half an hour ago and stays the last time of the series.
    ['2026-10-25T01:10:00Z', '2026-10-25T01:59:59', false],
    ['2026-10-25T01:10:00Z', '2026-10-25T02:20:00', true],
    ['2026-10-25T02:10:00Z', '2026-10-25T02:20:00', true],
    // Spring: 01:00 to 02:00 do not exist.
    ['2026-03-29T01:10:00Z', '2026-03-29T02:10:00', false],
    ['2026-03-29T01:10:00Z', '2026-03-29T02:20:00', true],
  ])('at %s, %s is in the future: %s', (now, local, future) => {
    expect(isFuture(at(now), local)).toBe(future);
  });

  it("Lisbon's day", () => {
    expect(lisbonDay(at('2026-07-20T23:30:00Z'))).toBe('2026-07-21');
    expect(lisbonDay(at('2026-11-20T23:30:00Z'))).toBe('2026-11-20');
  });
});

it('codes are stable and differ', () => {
  expect(stableCode('a', 'b', 8)).toBe(stableCode('a', 'b', 8));
  expect(new Set(Array.from({ length: 2000 }, (_, i) => stableCode('a', String(i), 8))).size).toBe(2000);
  expect(stableCode('a', 'b', 8)).toMatch(/^[B-Z2-9]{8}$/);
});

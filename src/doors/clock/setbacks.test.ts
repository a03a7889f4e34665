import { expect, test } from 'vitest';
import { Setbacks } from './setbacks.ts';

test('half as much is tried after each failure, after a rest that doubles up to five minutes', () => {
  let now = 0;
  const setbacks = new Setbacks(200, () => now);
  const seen: [number, number][] = [];
  for (let i = 0; i < 11; i++) {
    setbacks.failed('a');
    const began = now;
    while (setbacks.isResting('a')) now += 500;
    seen.push([setbacks.atOnce('a'), (now - began) / 1000]);
  }
  expect(seen).toEqual([...[100, 50, 25, 12, 6, 3, 1, 1, 1].map((atOnce, i) => [atOnce, 2 ** i]), [1, 300], [1, 300]]);
  expect([setbacks.atOnce('b'), setbacks.isResting('b')]).toEqual([200, false]);
});

test('twice as much is tried after each success, without a rest, until all is forgotten', () => {
  const setbacks = new Setbacks(10, () => 0);
  for (let i = 0; i < 4; i++) setbacks.failed('a');
  expect([setbacks.atOnce('a'), setbacks.resting]).toEqual([1, 1]);
  const seen: number[] = [];
  for (let i = 0; i < 5; i++) {
    setbacks.passed('a');
    seen.push(setbacks.atOnce('a'));
    expect(setbacks.isResting('a')).toBe(false);
  }
  expect(seen).toEqual([2, 4, 8, 10, 10]);
});

test('tries are those of one piece, in a row, by its own fault', () => {
  const setbacks = new Setbacks(1, () => 0);
  for (let i = 0; i < 2; i++) setbacks.failed('a', 'x', true);
  expect([setbacks.tries('a', 'x'), setbacks.tries('a', 'y'), setbacks.tries('b', 'x')]).toEqual([2, 0, 0]);
  setbacks.failed('a', 'x', false);
  expect(setbacks.tries('a', 'x')).toBe(0);
  setbacks.failed('a', 'y', true);
  setbacks.failed('a', 'x', true);
  expect([setbacks.tries('a', 'x'), setbacks.tries('a', 'y')]).toEqual([1, 0]);
  setbacks.passed('a');
  expect(setbacks.tries('a', 'x')).toBe(0);
});

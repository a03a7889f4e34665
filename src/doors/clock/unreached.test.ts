import { expect, test } from 'vitest';
import { Unreached } from './unreached.ts';

test('counts from the first failure in a row, each service for itself, and anew after an answer or a long time', () => {
  let now = 0;
  const unreached = new Unreached(() => now);
  const failed = (key: string, milliseconds: number) => {
    now = milliseconds;
    return unreached.failed(key);
  };
  expect([failed('a', 0), failed('a', 2_000), failed('b', 3_000), failed('a', 5_000)]).toEqual([0, 2, 0, 5]);
  unreached.reached('a');
  expect([failed('a', 6_000), failed('b', 7_000)]).toEqual([0, 4]);
  // The longest rest is five minutes: who has not asked for ten knows nothing of now.
  expect([failed('b', 607_000), failed('b', 1_207_001)]).toEqual([604, 0]);
});

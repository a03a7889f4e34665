import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../fiscal/refusal.ts';
import { fixedMinuteRate } from './rate.ts';

const start = 1_800_000_000_000; // the first millisecond of a minute

test('so many a minute, then no more until the next minute', () => {
  let time = start;
  const rate = fixedMinuteRate(3, () => time);
  const taken = () => rate.take('a');
  expect(taken()).toEqual({ limit: 3, remaining: 2, resetSeconds: 60, exceeded: false });
  time += 30_500;
  expect(taken()).toEqual({ limit: 3, remaining: 1, resetSeconds: 30, exceeded: false });
  expect(rate.isUsedUp('a')).toBe(false);
  expect(taken()).toEqual({ limit: 3, remaining: 0, resetSeconds: 30, exceeded: false });
  expect(rate.isUsedUp('a')).toBe(true);
  expect(taken()).toEqual({ limit: 3, remaining: 0, resetSeconds: 30, exceeded: true });
  expect(rate.take('b')).toMatchObject({ remaining: 2, exceeded: false });
  time = start + 59_999;
  expect(taken()).toMatchObject({ resetSeconds: 1, exceeded: true });
  time = start + 60_000;
  expect(rate.isUsedUp('a')).toBe(false);
  expect(taken()).toEqual({ limit: 3, remaining: 2, resetSeconds: 60, exceeded: false });
});

test('a clock that is put back begins a minute of its own: nobody is shut out until it has caught up', () => {
  let time = start + 3_600_000;
  const rate = fixedMinuteRate(1, () => time);
  expect([rate.take('a')?.exceeded, rate.take('a')?.exceeded]).toEqual([false, true]);
  time = start;
  expect(rate.take('a')?.exceeded).toBe(false);
});

test('failures count without refusing, and refuse without counting', () => {
  let time = start + 59_400;
  const rate = fixedMinuteRate(2, () => time);
  for (let i = 0; i < 3; i++) {
    rate.count('1.2.3.4');
    if (i === 0) rate.check('1.2.3.4');
    if (i === 1) expect(() => rate.check('1.2.3.4')).toThrow(Refusal);
  }
  expect(() => rate.check('1.2.3.4')).toThrow(Refusal);
  try {
    rate.check('1.2.3.4');
  } catch (error) {
    expect(error).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfterSeconds: 1 });
  }
  rate.check('5.6.7.8');
  time += 1000;
  rate.check('1.2.3.4');
});

test('a limit of one is one', () => {
  const rate = fixedMinuteRate(1, () => start);
  rate.check('1.2.3.4');
  expect(rate.isUsedUp('1.2.3.4')).toBe(false);
  rate.count('1.2.3.4');
  expect(() => rate.check('1.2.3.4')).toThrow(Refusal);
  expect([rate.isUsedUp('1.2.3.4'), rate.take('1.2.3.4')?.exceeded, rate.isUsedUp('5.6.7.8')]).toEqual([
    true,
    true,
    false,
  ]);
});

test('0 switches off', () => {
  const rate = fixedMinuteRate(0, () => start);
  for (let i = 0; i < 100; i++) rate.count('a');
  expect([rate.take('a'), rate.isUsedUp('a'), rate.check('a')]).toEqual([undefined, false, undefined]);
});

test('memory is bounded: known subjects go on counting, new ones are let through', () => {
  const rate = fixedMinuteRate(2, () => start, 3);
  for (const subject of ['a', 'b', 'c', 'd', 'd', 'd', 'd']) expect(rate.take(subject)?.exceeded).toBe(false);
  expect(rate.take('a')).toMatchObject({ remaining: 0, exceeded: false });
  expect(rate.take('a')?.exceeded).toBe(true);
});

test('in no minute are more let through than the limit, and the numbers told are right', () => {
  const walk = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 25_000 })), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), walk, (limit, steps) => {
      let time = start;
      const rate = fixedMinuteRate(limit, () => time);
      const admitted = new Map<string, number>();
      for (const [subject, pause] of steps) {
        time += pause;
        const minute = `${subject} ${Math.floor(time / 60_000)}`;
        const before = admitted.get(minute) ?? 0;
        const usedUp = rate.isUsedUp(subject);
        const state = rate.take(subject);
        expect(state).toEqual({
          limit,
          remaining: Math.max(0, limit - before - 1),
          resetSeconds: 60 - Math.floor((time % 60_000) / 1000),
          exceeded: before >= limit,
        });
        expect(usedUp).toBe(state?.exceeded);
        if (state?.exceeded === false) admitted.set(minute, before + 1);
      }
    }),
  );
});

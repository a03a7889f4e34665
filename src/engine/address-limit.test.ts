import { expect, test } from 'vitest';
import { AddressLimit } from './address-limit.ts';

const refusal = (work: () => void): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number };
    return [code, retryAfterSeconds];
  }
};

test('an address is used up by what it fails, for the rest of the minute', () => {
  let now = 120_000;
  const limit = new AddressLimit(3, () => now);
  for (let i = 0; i < 3; i += 1) {
    expect(limit.isUsedUp('a')).toBe(false);
    limit.count('a');
  }
  expect([limit.isUsedUp('a'), limit.isUsedUp('b')]).toEqual([true, false]);
  now += 59_999;
  expect(limit.isUsedUp('a')).toBe(true);
  now += 1;
  expect(limit.isUsedUp('a')).toBe(false);
});

test('beyond it each credential is tried once a minute, a hundredth of the limit in all', () => {
  let now = 120_000;
  const limit = new AddressLimit(300, () => now);
  const tried = (subject: string | undefined, network = 'a') => refusal(() => limit.takeTrial(network, subject));
  for (let i = 0; i < 300; i += 1) limit.count('a');
  now += 15_000;
  const late = ['RATE_LIMITED', 45];
  // However often it comes, one credential takes one trial, and one that can't be valid none.
  expect([tried('bad'), tried('bad'), tried(undefined), tried('bad')]).toEqual([undefined, late, late, late]);
  expect([tried('good'), tried('other'), tried('fourth'), tried('good')]).toEqual([undefined, undefined, late, late]);
  // Of another address it is another trial.
  expect([tried('bad', 'b'), tried('fourth', 'b')]).toEqual([undefined, undefined]);
  now += 45_000;
  expect([tried('bad'), tried('fourth')]).toEqual([undefined, undefined]);
});

test('of a small limit there is a trial too; of one that is switched off nothing is ever used up', () => {
  const small = new AddressLimit(1, () => 0);
  small.count('a');
  expect(refusal(() => small.takeTrial('a', 'good'))).toBeUndefined();
  expect(refusal(() => small.takeTrial('a', 'other'))).toEqual(['RATE_LIMITED', 60]);
  const off = new AddressLimit(0, () => 0);
  for (let i = 0; i < 10; i += 1) off.count('a');
  expect(off.isUsedUp('a')).toBe(false);
});

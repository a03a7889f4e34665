import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitting, read, rounded, scale, shifted, unfit, written, writtenFixed } from './small-decimal.ts';

test('what is read is written again: digits, decimals, nothing lost', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 999_999_999_999_999 }),
      fc.integer({ min: 0, max: 14 }),
      (digits, decimals) => {
        const text = writtenFixed(digits, decimals);
        expect(read(text)).toBe(digits);
        expect(scale).toBe(decimals);
        expect(Number(written(digits, decimals))).toBe(Number(text));
      },
    ),
  );
  expect([writtenFixed(5, 3), writtenFixed(0, 2), written(1500, 3), written(0, 6)]).toEqual([
    '0.005',
    '0.00',
    '1.5',
    '0',
  ]);
});

test('sixteen digits do not fit, nor anything but digits with a point between them', () => {
  expect([read('999999999999999'), read('9999999999999.99')]).toEqual([999_999_999_999_999, 999_999_999_999_999]);
  for (const text of [
    '1000000000000000',
    '99999999999999.999',
    '',
    '.',
    '.5',
    '5.',
    '1.2.3',
    '-1',
    '+1',
    '1e3',
    ' 1',
    '٣',
    '1,5',
  ])
    expect(read(text), text).toBe(unfit);
});

test('beyond what a double holds exactly nothing fits', () => {
  expect([fitting(2 ** 53 - 1), fitting(2 ** 53), fitting(Number.NaN), fitting(unfit)]).toEqual([
    2 ** 53 - 1,
    unfit,
    unfit,
    unfit,
  ]);
  expect([shifted(9, 15), shifted(10, 15), shifted(0, 99), shifted(1, 99)]).toEqual([9e15, unfit, 0, unfit]);
});

test('quotients are rounded half up, to the last unit of the largest numbers', () => {
  const whole = (least: number) =>
    fc.oneof(
      fc.integer({ min: least, max: 1_000 }),
      fc.maxSafeNat().map((n) => Math.max(n, least)),
      fc.integer({ min: Number.MAX_SAFE_INTEGER - 1_000, max: Number.MAX_SAFE_INTEGER }),
    );
  const exact = (n: number, d: number) => Number((2n * BigInt(n) + BigInt(d)) / (2n * BigInt(d)));
  fc.assert(
    fc.property(whole(0), whole(1), (n, d) => {
      expect(rounded(n, d)).toBe(exact(n, d));
    }),
    { numRuns: 5_000 },
  );
  // One below a multiple, where the quotient comes closest to the next whole number.
  fc.assert(
    fc.property(whole(1), fc.integer({ min: 1, max: 1_000_000 }), (d, q) => {
      const n = Math.floor(Number.MAX_SAFE_INTEGER / d) * d - 1;
      for (const one of [n, q * d - 1])
        if (Number.isSafeInteger(one) && one >= 0) expect(rounded(one, d)).toBe(exact(one, d));
    }),
    { numRuns: 5_000 },
  );
});

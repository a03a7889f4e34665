import fc from 'fast-check';
import { expect, test } from 'vitest';
import { round2, sum } from './decimal.ts';
import { shareOut } from './share-out.ts';

const money = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
const cents = (text: string) => Math.round(Number(text) * 100);
const share = (amount: string, values: string[]) => shareOut(amount, values, sum(values));

test('in proportion, the last line takes the residue', () => {
  expect(share('10.00', ['10.00', '10.00', '10.00'])).toEqual(['3.33', '3.33', '3.34']);
  expect(share('1.00', ['70.00', '20.00', '10.00'])).toEqual(['0.70', '0.20', '0.10']);
  expect(share('0.02', ['10.00', '10.00', '10.00'])).toEqual(['0.01', '0.01', '0.00']);
  expect(share('5.00', ['100.00'])).toEqual(['5.00']);
  expect(share('0', ['1.00', '2.00'])).toEqual(['0.00', '0.00']);
  expect(share('0.00', ['0.00', '0.00'])).toEqual(['0.00', '0.00']);
  expect(share('0.00', [])).toEqual([]);
});

test('a free last line cannot take the residue: the one before does', () => {
  expect(share('10.00', ['10.00', '10.00', '10.00', '0.00'])).toEqual(['3.33', '3.33', '3.34', '0.00']);
});

test('many lines of a cent', () => {
  const shares = share(
    '0.50',
    Array.from({ length: 100 }, () => '0.01'),
  );
  expect(sum(shares)).toBe('0.5');
  expect(new Set(shares)).toEqual(new Set(['0.01', '0.00']));
});

test('always whole, within each line, and near the exact proportion', () => {
  const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1_000_000 })), {
    minLength: 1,
    maxLength: 30,
  });
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (lines, part) => {
      const total = lines.reduce((a, b) => a + b, 0);
      const amount = Math.floor(total * part);
      const shares = share(money(amount), lines.map(money));
      expect(round2(sum(shares))).toBe(money(amount));
      shares.forEach((text, index) => {
        expect(text).toMatch(/^\d+\.\d\d$/);
        expect(cents(text)).toBeLessThanOrEqual(lines[index]!);
        // Where the residue fits in the last line, every other share is the rounded proportion.
        const rounded = lines.map((value) =>
          total === 0 ? 0 : Math.floor((2 * amount * value + total) / (2 * total)),
        );
        const before = rounded.slice(0, -1).reduce((a, b) => a + b, 0);
        if (amount - before >= 0 && amount - before <= lines.at(-1)! && index < lines.length - 1) {
          expect(cents(text)).toBe(rounded[index]);
        }
      });
    }),
    { numRuns: 300 },
  );
});

test('all of it takes everything', () => {
  expect(share('60.60', ['10.10', '20.20', '30.30'])).toEqual(['10.10', '20.20', '30.30']);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { round2, sum } from './decimal.ts';
import { shareOut } from './share-out.ts';

const money = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
const cents = (text: string) => Math.round(Number(text) * 100);

test('in proportion, the last line takes the residue', () => {
  expect(shareOut('10.00', ['10.00', '10.00', '10.00'])).toEqual(['3.33', '3.33', '3.34']);
  expect(shareOut('1.00', ['70.00', '20.00', '10.00'])).toEqual(['0.70', '0.20', '0.10']);
  expect(shareOut('0.02', ['10.00', '10.00', '10.00'])).toEqual(['0.01', '0.01', '0.00']);
  expect(shareOut('5.00', ['100.00'])).toEqual(['5.00']);
  expect(shareOut('0', ['1.00', '2.00'])).toEqual(['0.00', '0.00']);
  expect(shareOut('0.00', ['0.00', '0.00'])).toEqual(['0.00', '0.00']);
  expect(shareOut('0.00', [])).toEqual([]);
});

test('a free last line cannot take the residue: the one before does', () => {
  expect(shareOut('10.00', ['10.00', '10.00', '10.00', '0.00'])).toEqual(['3.33', '3.33', '3.34', '0.00']);
});

test('many lines of a cent', () => {
  const shares = shareOut(
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
      const shares = shareOut(money(amount), lines.map(money));
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
  expect(shareOut('60.60', ['10.10', '20.20', '30.30'])).toEqual(['10.10', '20.20', '30.30']);
});

test('the proportion is that of the exact values, and no line gives more than it has in whole cents', () => {
  // In cents the first would be a quarter, and take 0.01.
  expect(shareOut('0.02', ['0.0133', '0.04'])).toEqual(['0.00', '0.02']);
  // 0.004 is a third of everything, and nothing in cents.
  expect(shareOut('0.01', ['0.004', '0.008'])).toEqual(['0.00', '0.01']);
  const exact = fc.array(fc.integer({ min: 0, max: 200_000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(exact, fc.double({ min: 0, max: 1, noNaN: true }), (units, part) => {
      const values = units.map((unit) => (unit / 10_000).toFixed(4));
      const rooms = values.map(round2).map(cents);
      const amount = Math.floor(rooms.reduce((a, b) => a + b, 0) * part);
      const shares = shareOut(money(amount), values);
      expect(round2(sum(shares))).toBe(money(amount));
      for (const [i, share] of shares.entries()) expect(cents(share)).toBeLessThanOrEqual(rooms[i]!);
    }),
  );
});

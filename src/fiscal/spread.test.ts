import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isZero, round2, sum } from './decimal.ts';
import type { TaxGroup } from './document.ts';
import { spread, spreadRates } from './spread.ts';

const money = (cents: number) => (cents / 100).toFixed(2);

test('shares are in proportion, whole cents, and sum to the amount', () => {
  expect(spread(['10.00', '10.00', '10.00'], '10.00')).toEqual(['3.33', '3.34', '3.33']);
  expect(spread(['1.00', '0.00', '3.00'], '2.00')).toEqual(['0.50', '0.00', '1.50']);
  expect(spread(['0.00', '0.00'], '0.00')).toEqual(['0.00', '0.00']);
});

test('a rate without base gives no tax, one whose base is taken whole gives all of it, and none more than it has', () => {
  // From two cents on a base can be taken in part, and then bears any part of its tax. What is exempt has none to bear.
  const rate = fc.record({
    percent: fc.constantFrom(0, 4, 6, 13, 23),
    base: fc.oneof(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 2, max: 20_000 })),
  });
  const parts = fc.record({
    rates: fc.array(rate, { minLength: 1, maxLength: 6 }),
    net: fc.double({ min: 0, max: 1, noNaN: true }),
    tax: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(parts, ({ rates, net: netPart, tax: taxPart }) => {
      const open = rates.map(
        ({ percent, base }, i): TaxGroup => ({
          region: 'PT',
          taxCode: 'NOR',
          rate: `${percent}.${i}`,
          base: money(base),
          tax: money(percent === 0 ? 0 : Math.max(1, Math.round((base * percent) / 100))),
        }),
      );
      const wholeNet = rates.reduce((total, { base }) => total + base, 0);
      const wholeTax = Math.round(Number(sum(open.map(({ tax }) => tax))) * 100);
      const taxed = rates.filter(({ percent }) => percent > 0).length;
      const net = money(taxed + Math.floor((wholeNet - 2 * taxed) * netPart));
      const tax = money(Math.floor(wholeTax * taxPart));
      const taken = spreadRates(open, net, tax);
      expect(round2(sum(taken.map(({ base }) => base)))).toBe(net);
      expect(round2(sum(taken.map((group) => group.tax)))).toBe(tax);
      for (const [i, group] of taken.entries()) {
        expect(Number(group.base)).toBeLessThanOrEqual(Number(open[i]!.base));
        expect(Number(group.tax)).toBeLessThanOrEqual(Number(open[i]!.tax));
        if (isZero(group.base)) expect(group.tax).toBe('0.00');
        if (group.base === open[i]!.base) expect(group.tax).toBe(open[i]!.tax);
      }
    }),
    { numRuns: 1000 },
  );
});

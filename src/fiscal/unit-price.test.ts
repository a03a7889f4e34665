import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { decimals, divide, multiply, round2 } from './decimal.ts';
import { exactUnitPrice } from './unit-price.ts';

const lineOf = (quantity: string, net: string, unitNet: string) =>
  ({ quantity, eur: { net, unitNet, tax: '0.00', discountAmount: '0.00' } }) as const;

test('six decimals are enough up to four digits before the point, and stay as they were frozen', () => {
  const [line] = sampleContent('INVOICE', [
    sampleLine({ quantity: '9999.9', unitPrice: '1', discount: { type: 'PERCENT', value: '33.333333' } }),
  ]).lines;
  expect(line).toMatchObject({ net: '6666.60', unitNet: '0.666667' });
  expect(exactUnitPrice(line!)).toBe('0.666667');
});

test('from five digits on it has as many decimals as make the net, to the cent', () => {
  // 10001 × 0.675 is 6750.675: a cent above the net.
  expect(exactUnitPrice(lineOf('10001', '6750.67', '0.675'))).toBe('0.6749995');
  expect(exactUnitPrice(lineOf('12345.678', '6667.34', '0.540055'))).toBe('0.5400546');
  // Where the six do it they stay.
  expect(exactUnitPrice(lineOf('10000', '6666.67', '0.666667'))).toBe('0.666667');
});

test('quantity × price is the net of any line, and no price of fewer decimals is', () => {
  const quantities = fc
    .integer({ min: 1, max: 9_999_999_999 })
    .map((n) => `${Math.trunc(n / 1000)}.${String(n % 1000).padStart(3, '0')}`);
  fc.assert(
    fc.property(
      quantities.filter((q) => Number(q) > 0),
      fc.integer({ min: 0, max: 99_999 }),
      fc.integer({ min: 0, max: 100_000_000 }).map((off) => (off / 1_000_000).toFixed(6)),
      (quantity, price, off) => {
        const unitPrice = `${Math.trunc(price / 1000)}.${String(price % 1000).padStart(3, '0')}`;
        const [line] = sampleContent('INVOICE', [
          sampleLine({ quantity, unitPrice, discount: { type: 'PERCENT', value: off } }),
        ]).lines;
        const exact = exactUnitPrice(line!);
        expect(round2(multiply(quantity, exact))).toBe(line!.eur.net);
        const places = decimals(exact);
        if (Number(quantity) < 10_000) expect(places).toBeLessThanOrEqual(6);
        const fewer = places <= 6 ? undefined : round2(multiply(quantity, divide(line!.eur.net, quantity, places - 1)));
        if (fewer === undefined) expect(exact).toBe(line!.eur.unitNet);
        else expect(fewer).not.toBe(line!.eur.net);
      },
    ),
    { numRuns: 500 },
  );
});

import { expect, test } from 'vitest';
import { compare } from './decimal.ts';
import { plausibleRates } from './exchange-rate.ts';
import { isCurrency } from './identifiers.ts';

const takes = (currency: string, rate: string): boolean => {
  const { least, most } = plausibleRates(currency);
  return compare(rate, least) >= 0 && compare(rate, most) <= 0;
};

test('a rate lies between 0.0001 and 10,000 euros per unit', () => {
  for (const rate of ['0.0001', '0.921537', '10000']) expect([rate, takes('USD', rate)]).toEqual([rate, true]);
  for (const rate of ['0.000001', '0.000099', '10000.000001'])
    expect([rate, takes('USD', rate)]).toEqual([rate, false]);
});

test('units that are worth less have their rate, down to its six decimals', () => {
  // What one unit was worth in 2025, by order of magnitude.
  const worth = { IRR: '0.00002', LBP: '0.00001', VND: '0.000033', IDR: '0.000052', LAK: '0.00004', UZS: '0.00007' };
  for (const [currency, rate] of Object.entries(worth)) {
    expect([currency, isCurrency(currency), takes(currency, rate)]).toEqual([currency, true, true]);
    expect([currency, takes(currency, '0.000001'), takes(currency, '1.000001')]).toEqual([currency, true, false]);
  }
});

test('an inverted rate of a unit that is worth little is refused', () => {
  // Units for a euro in 2025, by order of magnitude.
  const perEuro = {
    JPY: 160,
    INR: 95,
    CZK: 25,
    HUF: 400,
    TRY: 45,
    THB: 37,
    XOF: 656,
    RSD: 117,
    ISK: 145,
    MXN: 22,
    ZAR: 20,
  };
  for (const [currency, units] of Object.entries({ ...perEuro, KRW: 1_500, IDR: 19_000, VND: 30_000 }))
    expect([currency, takes(currency, String(units)), takes(currency, (1 / units).toFixed(6))]).toEqual([
      currency,
      false,
      true,
    ]);
});

test('every currency with a bound of its own is one that documents may be in', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const all = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
  const weak = all.filter((code) => plausibleRates(code).least === '0.000001');
  expect(weak).toContain('VND');
  const bounded = all.filter((code) => plausibleRates(code).most === '1');
  expect(bounded).toEqual(expect.arrayContaining([...weak, 'JPY']));
  expect(bounded.filter((code) => !isCurrency(code))).toEqual([]);
});

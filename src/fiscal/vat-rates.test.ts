import { expect, test } from 'vitest';
import { findRate, legalRatesOn, rateOn, taxCodes } from './vat-rates.ts';

const regions = ['PT', 'PT-MA', 'PT-AC'] as const;
const names = ['REDUCED', 'INTERMEDIATE', 'NORMAL'] as const;

test('the rates of 2026', () => {
  expect(regions.map((region) => names.map((name) => rateOn(region, name, '2026-11-21')))).toEqual([
    ['6', '13', '23'],
    ['4', '12', '22'],
    ['4', '9', '16'],
  ]);
  expect(rateOn('PT-AC', 'EXEMPT', '2026-11-21')).toBe('0');
});

test('changes take effect on their day', () => {
  expect(rateOn('PT-MA', 'REDUCED', '2024-09-30')).toBe('5');
  expect(rateOn('PT-MA', 'REDUCED', '2024-10-01')).toBe('4');
  expect(rateOn('PT-AC', 'NORMAL', '2021-06-30')).toBe('18');
  expect(rateOn('PT-AC', 'NORMAL', '2021-07-01')).toBe('16');
  expect(rateOn('PT', 'NORMAL', '2011-01-01')).toBe('23');
});

test('exactly one rate at a time, without holes from 2016 on', () => {
  const odd: string[] = [];
  for (let at = Date.parse('2016-01-01'); at < Date.parse('2028-01-01'); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    for (const region of regions) {
      for (const name of names) if (legalRatesOn(region, name, day).length !== 1) odd.push(`${region} ${name} ${day}`);
    }
  }
  expect(odd).toEqual([]);
});

test('before the table there is no rate to guess', () => {
  expect(findRate('PT', 'NORMAL', '2010-12-31')).toBeUndefined();
  expect(legalRatesOn('PT', 'NORMAL', '2010-12-31')).toEqual([]);
  expect(() => rateOn('PT', 'NORMAL', '2010-12-31')).toThrow('VAT_RATE_NOT_IN_FORCE');
});

test('SAF-T codes', () => {
  expect(taxCodes).toEqual({ REDUCED: 'RED', INTERMEDIATE: 'INT', NORMAL: 'NOR', EXEMPT: 'ISE' });
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { trimmed } from './decimal.ts';
import { sentence } from './refusal.ts';
import { addDays } from './time.ts';
import { findRate, rateFacts, rateOn, taxCodes } from './vat-rates.ts';

const regions = ['PT', 'PT-MA', 'PT-AC'] as const;
const names = ['REDUCED', 'INTERMEDIATE', 'NORMAL'] as const;

/** Every rate there was since 2011, with its first and its last day. */
const table: { region: (typeof regions)[number]; taxCode: string; percent: string; from: string; to?: string }[] =
  JSON.parse(readFileSync(new URL('./fixtures/vat-rates.json', import.meta.url), 'utf8'));

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

test('each rate from its first day to its last, and no other', () => {
  const days = table.flatMap(({ from, to }) => [from, addDays(from, -1), ...(to === undefined ? [] : [to])]);
  for (const region of regions) {
    for (const name of names) {
      for (const day of days) {
        const inForce = table.filter(
          (one) =>
            one.region === region && one.taxCode === taxCodes[name] && one.from <= day && day <= (one.to ?? '9999'),
        );
        const found = findRate(region, name, day);
        expect([region, name, day, found === undefined ? [] : [trimmed(found, 2)]]).toEqual([
          region,
          name,
          day,
          inForce.map(({ percent }) => percent),
        ]);
      }
    }
  }
});

test('exactly one rate at a time, without holes from 2016 on', () => {
  const odd: string[] = [];
  for (let at = Date.parse('2016-01-01'); at < Date.parse('2028-01-01'); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    for (const region of regions) {
      for (const name of names) if (findRate(region, name, day) === undefined) odd.push(`${region} ${name} ${day}`);
    }
  }
  expect(odd).toEqual([]);
});

test('before the table there is no rate to guess', () => {
  expect(findRate('PT', 'NORMAL', '2010-12-31')).toBeUndefined();
  expect(() => rateOn('PT', 'NORMAL', '2010-12-31')).toThrow('VAT_RATE_NOT_IN_FORCE');
});

test('the refusal says which rate would be', () => {
  const told = (day: string) =>
    (['en', 'pt'] as const).map((language) =>
      sentence('VAT_RATE_NOT_IN_FORCE', language, rateFacts('PT-AC', 'NORMAL', day)),
    );
  expect(told('2021-06-30')).toEqual([
    'The NORMAL rate of PT-AC on 2021-06-30 is 18 %. Correct the rate, or the date.',
    'A taxa NORMAL de PT-AC em 2021-06-30 é 18 %. Corrija a taxa ou a data.',
  ]);
  expect(told('2010-12-31')).toEqual([
    'The NORMAL rate of PT-AC on 2010-12-31 is not known. Correct the rate, or the date.',
    'A taxa NORMAL de PT-AC em 2010-12-31 é desconhecida. Corrija a taxa ou a data.',
  ]);
});

test('SAF-T codes', () => {
  expect(taxCodes).toEqual({ REDUCED: 'RED', INTERMEDIATE: 'INT', NORMAL: 'NOR', EXEMPT: 'ISE' });
});

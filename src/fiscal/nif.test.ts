import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkTaxId, isNif, isOwnNif, isPersonNif, keptInstead, withoutPrefix } from './nif.ts';

// The reference's own lists.
const valid = [
  '123456789',
  '500000000',
  '501442600',
  '999999990',
  '287024008',
  '511234562',
  '200000004',
  '600000001',
  '508025095',
  '599999993',
  '450000001',
  '210000007',
];
const invalid = [
  '999999991',
  '123456788',
  '420000000',
  '12345678',
  '12.449.965-4',
  '',
  '1234567890',
  ' 123456789',
  '730000000',
  '12345678９',
];

test('NIF: start, length and check digit', () => {
  for (const nif of valid) expect(isNif(nif), nif).toBe(true);
  for (const nif of invalid) expect(isNif(nif), nif).toBe(false);
});

test('of the ten possible last digits exactly one is right', () => {
  const starts = fc.constantFrom(
    '1',
    '2',
    '3',
    '5',
    '6',
    '8',
    '45',
    '70',
    '71',
    '72',
    '74',
    '75',
    '77',
    '78',
    '79',
    '90',
    '91',
    '98',
    '99',
  );
  fc.assert(
    fc.property(starts, fc.integer({ min: 0, max: 9_999_999 }), (start, rest) => {
      const eight = (start + String(rest).padStart(7, '0')).slice(0, 8);
      const right = [...'0123456789'].filter((digit) => isNif(eight + digit));
      expect(right).toHaveLength(1);
      // The weighted sum with the check digit is a multiple of 11, or would need a check "digit" 10, which is written 0.
      const rem =
        [...eight].reduce((total, digit, place) => total + Number(digit) * (9 - place), Number(right[0])) % 11;
      expect(rem === 0 || (rem === 1 && right[0] === '0')).toBe(true);
    }),
  );
  for (const start of ['0', '4', '40', '44', '46', '73', '76', '92', '97']) {
    for (let last = 0; last < 10; last += 1) expect(isNif(`${start.padEnd(8, '0')}${last}`)).toBe(false);
  }
});

test('whose NIF', () => {
  expect(['123456789', '287024008', '450000001', '500000000', '999999990', '600000001'].map(isPersonNif)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(isPersonNif('123456788')).toBe(false);
  expect([isOwnNif('500000000'), isOwnNif('999999990'), isOwnNif('500000001')]).toEqual([true, false, false]);
});

/** Numbers of each EU country, the longest last. */
const eu: Record<string, string[]> = {
  AT: ['U12345678'],
  BE: ['0123456789', '1123456789'],
  BG: ['123456789', '1234567890'],
  CY: ['12345678L'],
  CZ: ['12345678', '123456789', '1234567890'],
  DE: ['123456789'],
  DK: ['12345678'],
  EE: ['123456789'],
  ES: ['B12345678', '12345678Z', 'X1234567L'],
  FI: ['12345678'],
  FR: ['83404833048', 'K7399859412'],
  GR: ['123456789'],
  HR: ['12345678901'],
  HU: ['12345678'],
  IE: ['1234567WA', '1S23456L', '6388047V'],
  IT: ['12345678901'],
  LT: ['123456789', '123456789012'],
  LU: ['12345678'],
  LV: ['12345678901'],
  MT: ['12345678'],
  NL: ['123456789B01'],
  PL: ['1234567890'],
  RO: ['12', '1234567890'],
  SE: ['123456789012'],
  SI: ['12345678'],
  SK: ['1234567890'],
};

test('numbers of customers, by country', () => {
  expect(checkTaxId('PT', '123456789')).toBeUndefined();
  expect(checkTaxId('PT', '123456788')).toBe('NIF_INVALID');
  // The number of nobody, wherever a buyer without one lives.
  for (const country of ['PT', 'DE', 'GR', 'US', 'XK'])
    expect(checkTaxId(country, '999999990'), country).toBe('NIF_RESERVED');
  expect(Object.keys(eu)).toHaveLength(26);
  for (const [country, numbers] of Object.entries(eu)) {
    for (const number of numbers) {
      expect(checkTaxId(country, number), `${country} ${number}`).toBeUndefined();
      expect(checkTaxId(country, `${number}1234567890123`), `${country} longer`).toBe('TAX_ID_INVALID');
      expect(checkTaxId(country, `${number} `), `${country} space`).toBe('TAX_ID_INVALID');
    }
    for (const long of [`${numbers.at(-1)}1`, `1${numbers.at(-1)}`])
      expect(checkTaxId(country, long), `${country} ${long}`).toBe('TAX_ID_INVALID');
  }
  expect(checkTaxId('ES', '123456789')).toBe('TAX_ID_INVALID');
  expect(checkTaxId('US', '12-3456789')).toBeUndefined();
  expect(checkTaxId('US', '1')).toBeUndefined();
  expect(checkTaxId('BR', '12.449.965/0001-04')).toBeUndefined();
  expect(checkTaxId('CH', 'CHE 123.456.788 MWST')).toBeUndefined();
  for (const bad of ['', ' 12', '12 ', ' ', 'a'.repeat(31), '12*34', 'a\nb', 'ñ'])
    expect(checkTaxId('US', bad)).toBe('TAX_ID_INVALID');
  expect(checkTaxId('constructor', 'anything')).toBeUndefined();
});

test('EU numbers lose their prefix, others stay', () => {
  expect(withoutPrefix('ES', 'ESB12345678')).toBe('B12345678');
  expect(withoutPrefix('DE', 'de 123 456 789')).toBe('123456789');
  expect(withoutPrefix('GR', 'EL123456789')).toBe('123456789');
  for (const [country, numbers] of Object.entries(eu)) {
    for (const number of numbers) {
      const prefixed = `${country === 'GR' ? 'EL' : country}${number}`;
      expect(withoutPrefix(country, prefixed), prefixed).toBe(number);
      expect(withoutPrefix(country, number), number).toBe(number);
      expect([...keptInstead(prefixed)], prefixed).toEqual([[number, [country]]]);
    }
  }
  expect(withoutPrefix('DE', 'DE1234')).toBe('DE1234');
  expect(withoutPrefix('DE', 'FR123456789')).toBe('FR123456789');
  expect(withoutPrefix('PT', 'PT123456789')).toBe('PT123456789');
  expect(withoutPrefix('US', 'US 1')).toBe('US 1');
});

test('what the books carry instead of a number says of which countries it would be', () => {
  expect([...keptInstead('de 12345678901')]).toEqual([]);
  expect([...keptInstead('FI 1234-5678')]).toEqual([['12345678', ['FI']]]);
  expect([...keptInstead('1234.5678')]).toEqual([['12345678', ['CZ', 'DK', 'FI', 'HU', 'LU', 'MT', 'RO', 'SI']]]);
  for (const kept of ['12345678', 'B12345678', 'US 1', '', 'PT123456789']) expect([...keptInstead(kept)]).toEqual([]);
});

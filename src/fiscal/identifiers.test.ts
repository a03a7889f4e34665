import { expect, test } from 'vitest';
import { isCae, isCountry, isCurrency, isPostalCode, isUuid } from './identifiers.ts';

const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

test('postal codes and activity codes', () => {
  expect(['1000-001', '9999-999'].every(isPostalCode)).toBe(true);
  expect(['1000001', '1000-01', ' 1000-001', '1000-001\n', '１000-001'].some(isPostalCode)).toBe(false);
  expect([isCae('62010'), isCae('6201'), isCae('620100'), isCae('6201A')]).toEqual([true, false, false, false]);
});

test('ids', () => {
  const id = '0192f3a4-5b6c-7d8e-9f01-23456789abcd';
  expect([id, id.toUpperCase()].every(isUuid)).toBe(true);
  expect(
    ['', `${id}0`, ` ${id}`, `${id}\n`, id.replace('a', 'g'), id.replaceAll('-', ''), `{${id}}`].some(isUuid),
  ).toBe(false);
});

test('countries: the 249 of ISO 3166-1 and Kosovo', () => {
  const all = alphabet.flatMap((a) => alphabet.map((b) => a + b)).filter(isCountry);
  expect(all).toHaveLength(250);
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  for (const code of all) expect(names.of(code), code).toBeDefined();
  for (const code of ['PT', 'XK', 'GR', 'GB', 'TL', 'SS']) expect(isCountry(code)).toBe(true);
  for (const code of ['EL', 'UK', 'EU', 'XI', 'AN', 'SU', 'ZZ', 'pt', '', 'P', 'PRT'])
    expect(isCountry(code), code).toBe(false);
});

test('currencies in circulation that SAF-T takes', () => {
  const known = new Set(Intl.supportedValuesOf('currency'));
  const all = alphabet.flatMap((a) => alphabet.flatMap((b) => alphabet.map((c) => a + b + c))).filter(isCurrency);
  expect(all).toHaveLength(153);
  for (const code of all) expect(known.has(code) || code === 'VED', code).toBe(true);
  for (const code of ['EUR', 'USD', 'GBP', 'CHF', 'BRL', 'AOA', 'MZN', 'CVE']) expect(isCurrency(code)).toBe(true);
  for (const code of ['PTE', 'HRK', 'XAU', 'XXX', 'XTS', 'XCG', 'eur', 'EURO', ''])
    expect(isCurrency(code), code).toBe(false);
});

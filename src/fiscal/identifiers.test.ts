import { expect, test } from 'vitest';
import { isCae, isCountry, isCurrency, isIban, isPostalCode } from './identifiers.ts';

const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

test('postal codes and activity codes', () => {
  expect(['1000-001', '9999-999'].every(isPostalCode)).toBe(true);
  expect(['1000001', '1000-01', ' 1000-001', '1000-001\n', '１000-001'].some(isPostalCode)).toBe(false);
  expect([isCae('62010'), isCae('6201'), isCae('620100'), isCae('6201A')]).toEqual([true, false, false, false]);
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

test('IBAN', () => {
  const good = 'PT50000201231234567890154';
  for (const iban of [good, 'GB82WEST12345698765432', 'DE89370400440532013000']) expect(isIban(iban)).toBe(true);
  const bad = [
    'PT50000201231234567890155',
    `${good}0`,
    good.toLowerCase(),
    good.replace('PT50', 'PT 50'),
    'PT51000201231234567890154',
    '',
  ];
  for (const iban of bad) expect(isIban(iban), iban).toBe(false);
  // The national check digits make every Portuguese IBAN start with PT50: another start is wrong even where 97 agrees.
  const others = Array.from({ length: 97 }, (_, check) => `PT${String(check).padStart(2, '0')}000201231234567890155`);
  expect(others.filter(isIban)).toEqual([]);
  // Modulus 97 finds every single wrong digit.
  for (let place = 4; place < good.length; place += 1) {
    for (let digit = 0; digit < 10; digit += 1) {
      const other = good.slice(0, place) + digit + good.slice(place + 1);
      expect(isIban(other)).toBe(other === good);
    }
  }
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  canonicalNumber,
  duplicateKey,
  isOfOtherType,
  isOriginal,
  keyOfStored,
  longest_original,
  originalOf,
  quotedNumber,
  quotedOriginal,
  recoveredKey,
  storedKeys,
} from './recovery.ts';

test.each([
  ['M', 'abc/00001', true],
  ['M', 'A-2026.B/7', true],
  ['M', 'FT A2025/99', false],
  ['M', 'abc/', false],
  ['M', '/1', false],
  ['M', 'a/b/1', false],
  ['M', 'a^b/1', false],
  ['M', 'abc/1a', false],
  ['D', 'FT A2025/99', true],
  ['D', 'XY 2013A/00099', true],
  ['D', 'abc/00001', false],
  ['D', 'FT  A2025/99', false],
  ['D', 'FT A2025/99 ', false],
  ['D', `FT ${'a'.repeat(60)}/1`, false],
] as const)('%s %s', (kind, original, good) => {
  expect(isOriginal({ kind, original })).toBe(good);
});

test.each([
  ['INVOICE', 'D', 'NC A2025/3', true],
  ['INVOICE', 'D', 'gt A2025/3', true],
  ['INVOICE', 'D', 'RC A2025/3', true],
  ['DEBIT_NOTE', 'D', 'FT A2025/3', true],
  ['INVOICE', 'D', 'FT A2025/3', false],
  ['INVOICE_RECEIPT', 'D', 'FR A2025/3', false],
  ['INVOICE', 'D', 'XY 2013A/00099', false],
  ['INVOICE', 'M', 'NC/3', false],
  ['CREDIT_NOTE', 'D', 'NC A2025/3', false],
  ['RECEIPT', 'D', 'NC A2025/3', true],
] as const)('what was lost as another type: %s of %s %s', (type, kind, original, other) => {
  expect(isOfOtherType({ type }, { kind, original })).toBe(other);
});

test('a receipt has one code under the cash VAT scheme and another one without; either where that is not known', () => {
  const other = (original: string, cashVat?: boolean | 'unknown') =>
    isOfOtherType({ type: 'RECEIPT', cashVat }, { kind: 'D', original });
  expect([other('RG A/1'), other('RG A/1', true), other('RG A/1', 'unknown')]).toEqual([false, true, false]);
  expect([other('RC A/1'), other('RC A/1', true), other('RC A/1', 'unknown')]).toEqual([true, false, false]);
});

test('an original is so long at most that what refers to it fits the 60 characters of SAF-T and the AT', () => {
  for (const kind of ['M', 'D'] as const) {
    const before = kind === 'M' ? '' : 'FT ';
    const original = `${before}${'S'.repeat(longest_original - before.length - 2)}/1`;
    expect(isOriginal({ kind, original })).toBe(true);
    expect(isOriginal({ kind, original: `${original}0` })).toBe(false);
    expect(originalOf('FT', { kind, original })).toHaveLength(60);
  }
});

test.each([
  ['abc/00001', 'ABC/1'],
  ['série/007', 'SE\u0301RIE/7'],
  ['\uff41\uff42/1', 'ab/01'],
  ['straße/1', 'STRASSE/1'],
  ['a/000', 'A/0'],
])('%s is %s', (one, other) => {
  expect(recoveredKey('FT', { kind: 'M', original: one })).toBe(recoveredKey('FT', { kind: 'M', original: other }));
});

test('what refers to a recovered document quotes the form, or the number of the lost document', () => {
  expect(quotedOriginal('FT', { kind: 'M', original: 'abc/00001' })).toBe('FTM abc/00001');
  expect(quotedOriginal('FT', { kind: 'D', original: 'XY 2013A/00099' })).toBe('XY 2013A/00099');
  const number = 'FT R2026/1';
  expect([quotedNumber({ number }), quotedNumber({ number, original: 'FT A2025/9' })]).toEqual([number, 'FT A2025/9']);
});

test('its key stands in the books, and stays as it is written there', () => {
  expect(recoveredKey('ND', { kind: 'M', original: 'abc/00001' })).toBe('NDM ABC/1');
  expect(recoveredKey('ND', { kind: 'D', original: 'ft A2025/099' })).toBe('D FT A2025/99');
  // A code of another program that ends like the kind.
  const own = duplicateKey('XYD A/1');
  expect(keyOfStored(own)).toBe(own);
});

test('a lost document has one number, whatever type it is entered as', () => {
  const keys = ['FT', 'FS', 'FR', 'ND'].map((code) => recoveredKey(code, { kind: 'D', original: 'ft A2025/099' }));
  expect(new Set([...keys, duplicateKey('FT A2025/99')]).size).toBe(1);
  expect(storedKeys(keys[0]!).map(keyOfStored)).toEqual(Array(5).fill(keys[0]));
  expect(storedKeys(keys[0]!)).toEqual(['', 'FT', 'FS', 'FR', 'ND'].map((code) => `${code}D FT A2025/99`));
  const form = recoveredKey('FT', { kind: 'M', original: 'd/1' });
  expect([storedKeys(form), keyOfStored(form)]).toEqual([[form], form]);
});

test('another number, series, kind or type of form is another original', () => {
  const key = (typeCode: string, kind: 'M' | 'D', original: string) => recoveredKey(typeCode, { kind, original });
  const keys = [
    key('FT', 'M', 'abc/1'),
    key('FT', 'M', 'abc/10'),
    key('FT', 'M', 'abd/1'),
    key('FS', 'M', 'abc/1'),
    key('FT', 'D', 'FT abc/1'),
    key('FT', 'D', 'XT abc/1'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test('the canonical spelling is its own', () => {
  // In capitals some letters come apart.
  expect(canonicalNumber('\u0390/1')).toBe(canonicalNumber('\u0390/1'.toUpperCase()));
  fc.assert(
    fc.property(fc.tuple(fc.string({ unit: 'grapheme' }), fc.nat()), ([series, number]) => {
      const text = canonicalNumber(`${series}/${number}`);
      expect(canonicalNumber(text)).toBe(text);
      expect(canonicalNumber(`${series}/000${number}`)).toBe(text);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atcud, printedAtcud } from './atcud.ts';
import { documentNumber, isSeriesCode, seriesKey } from './series.ts';

test('series identifiers', () => {
  for (const good of ['A2026', 'a', '2026', 'LOJA-1.2026', 'A_B-C.D', 'BAT', 'x'.repeat(35)])
    expect(isSeriesCode(good), good).toBe(true);
  const bad = [
    '',
    'AT2026',
    'at',
    'aT1',
    'x'.repeat(36),
    'A 1',
    'A/1',
    '-A',
    'A-',
    'A--B',
    'A._B',
    'Ã1',
    'A\n',
    'A;1',
    'A^1',
  ];
  for (const code of bad) expect(isSeriesCode(code), code).toBe(false);
  // Kept in the database: another spelling would be another series to every row that stands there.
  expect(seriesKey('ab1')).toBe('AB1');
});

test('document numbers have the form of SAF-T', () => {
  expect(documentNumber('FT', 'A2026', 1)).toBe('FT A2026/1');
  const codes = fc
    .stringMatching(/^[B-Zb-z0-9]{1,10}([._-][A-Za-z0-9]{1,10}){0,2}$/)
    .filter((code) => code.length <= 35);
  fc.assert(
    fc.property(codes, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (code, sequence) => {
      const number = documentNumber('NC', code, sequence);
      expect(number).toMatch(/^[^ ]+ [^/^ ]+\/[0-9]+$/);
      expect(number.length).toBeLessThanOrEqual(60);
    }),
  );
  for (const wrong of [0, -1, 1.5, Number.NaN, 2 ** 53])
    expect(() => documentNumber('FT', 'A2026', wrong)).toThrow('assertion');
  expect(() => documentNumber('FT', 'A/1', 1)).toThrow('assertion');
  for (const type of ['ft', 'F', 'FTX', 'xFT', '']) expect(() => documentNumber(type, 'A1', 1)).toThrow('assertion');
});

test('ATCUD', () => {
  expect(atcud('CSDF7T5H', 35)).toBe('CSDF7T5H-35');
  expect(printedAtcud('CSDF7T5H-35')).toBe('ATCUD:CSDF7T5H-35');
  expect(atcud('aBcD7T5H', 1)).toBe('aBcD7T5H-1');
  for (const code of ['', '0', 'SHORT', 'WITH SPACE', 'STAR*STAR', 'x'.repeat(54), '*CSDF7T5H', 'CSDF7T5H*'])
    expect(() => atcud(code, 1), code).toThrow('assertion');
  expect(() => atcud('CSDF7T5H', 0)).toThrow('assertion');
});

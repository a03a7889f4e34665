import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as d from './decimal.ts';

/** Amounts as they are, as long as they get, and where a double ends. */
const digitsOfAll = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 15n }),
  fc.bigInt({ min: 0n, max: 1_000_000n }),
  fc.bigInt({ min: 10n ** 15n - 3n, max: 10n ** 15n }),
  fc.bigInt({ min: 2n ** 53n / 100n - 3n, max: 2n ** 53n / 100n + 3n }),
);

/** Decimal text of `digits` at `scale`, and its exact value as a whole number of 10^-12. */
const decimals = fc.tuple(digitsOfAll, fc.integer({ min: 0, max: 6 })).map(([digits, scale]) => {
  const padded = digits.toString().padStart(scale + 1, '0');
  const text = scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  return { text, units: digits * 10n ** BigInt(12 - scale) };
});

/** The exact value of text in units of 10^-scale; fails when it does not fit. */
function units(text: string, scale: number): bigint {
  expect(text).toMatch(/^(?:0|[1-9]\d*)(?:\.\d+)?$/);
  const [whole = '', fraction = ''] = text.split('.');
  expect(fraction.length).toBeLessThanOrEqual(scale);
  return BigInt(whole + fraction.padEnd(scale, '0'));
}

test('add, subtract, multiply and compare are exact', () => {
  fc.assert(
    fc.property(decimals, decimals, (a, b) => {
      expect(units(d.add(a.text, b.text), 12)).toBe(a.units + b.units);
      expect(units(d.sum([a.text, b.text, a.text]), 12)).toBe(a.units * 2n + b.units);
      expect(units(d.multiply(a.text, b.text), 24)).toBe(a.units * b.units);
      expect(units(d.percentOf(a.text, b.text), 26)).toBe(a.units * b.units);
      expect(d.compare(a.text, b.text)).toBe(a.units < b.units ? -1 : a.units > b.units ? 1 : 0);
      if (a.units >= b.units) expect(units(d.subtract(a.text, b.text), 12)).toBe(a.units - b.units);
      else expect(() => d.subtract(a.text, b.text)).toThrow('negative amount');
    }),
  );
});

test('rounding and division go half away from zero', () => {
  fc.assert(
    fc.property(decimals, decimals, fc.integer({ min: 0, max: 6 }), (a, b, places) => {
      const step = 10n ** BigInt(12 - places);
      expect(units(d.fixed(a.text, places), places)).toBe((2n * a.units + step) / (2n * step));
      expect(units(d.round2(a.text), 2)).toBe(units(d.fixed(a.text, 2), 2));
      expect(d.round2(a.text)).toMatch(/\.\d\d$/);
      fc.pre(b.units > 0n);
      const scaled = a.units * 10n ** BigInt(places);
      expect(units(d.divide(a.text, b.text, places), places)).toBe((2n * scaled + b.units) / (2n * b.units));
    }),
  );
  expect(d.round2('0.005')).toBe('0.01');
  expect(d.round2('1.005')).toBe('1.01');
  expect(d.round2('2.675')).toBe('2.68');
  expect(d.round2('0.0049999999999999999999')).toBe('0.00');
  expect(d.divide('1', '3', 6)).toBe('0.333333');
  expect(d.divide('2', '3', 6)).toBe('0.666667');
});

test('what is short and what is long is calculated alike, written alike, and without trailing zeros', () => {
  // The same value with so many zeros behind it that no double holds it.
  const long = (text: string): string => (text.includes('.') ? text : `${text}.`) + '0'.repeat(20);
  fc.assert(
    fc.property(decimals, decimals, fc.integer({ min: 0, max: 6 }), (a, b, places) => {
      const short = [
        d.add(a.text, b.text),
        d.multiply(a.text, b.text),
        d.percentOf(a.text, b.text),
        d.sum([a.text, b.text]),
      ];
      const same = [long(a.text), long(b.text)] as const;
      expect([d.add(...same), d.multiply(...same), d.percentOf(...same), d.sum(same)]).toEqual(short);
      for (const text of short) expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      expect(d.trimmed(same[0], 2)).toBe(d.trimmed(a.text, 2));
      expect(d.fixed(same[0], places)).toBe(d.fixed(a.text, places));
      expect(d.compare(...same)).toBe(d.compare(a.text, b.text));
      if (b.units > 0n) expect(d.divide(...same, places)).toBe(d.divide(a.text, b.text, places));
      if (a.units >= b.units) expect(d.subtract(...same)).toBe(d.subtract(a.text, b.text));
    }),
    { numRuns: 1_000 },
  );
});

test('what is not decimal text is not calculated with', () => {
  for (const bad of ['', '.', '1,5', '٣', 'abc', '1.2.3', '12 '])
    for (const work of [
      () => d.add(bad, '1'),
      () => d.multiply('1', bad),
      () => d.divide(bad, '3', 2),
      () => d.fixed(bad, 2),
    ])
      expect(work, bad).toThrow();
  expect(() => d.divide('1', '0', 2)).toThrow();
});

test('trimmed keeps the value and the decimals asked for', () => {
  expect(d.trimmed('0.451400', 2)).toBe('0.4514');
  expect(d.trimmed('90.000000', 2)).toBe('90.00');
  expect(d.trimmed('23.00')).toBe('23');
  expect(d.trimmed('5', 2)).toBe('5.00');
  expect(d.decimals('1.500')).toBe(1);
  expect(d.decimals('1500')).toBe(0);
  expect(d.isZero('0.00')).toBe(true);
  expect(d.isZero('0.01')).toBe(false);
});

test('JSON numbers come and go without exponent and without change', () => {
  expect(d.fromNumber(1e-7)).toBe('0.0000001');
  expect(d.fromNumber(1e21)).toBe('1000000000000000000000');
  expect(d.fromNumber(-0)).toBe('0');
  for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => d.fromNumber(bad)).toThrow();
  expect([d.decimalsOf(1e-7), d.decimalsOf(-1.25), d.decimalsOf(3), d.decimalsOf(Number.NaN)]).toEqual([7, 2, 0, 0]);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 6 }), (digits, scale) => {
      const padded = digits.toString().padStart(scale + 1, '0');
      const text = scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
      expect(d.compare(d.fromNumber(d.toNumber(text)), text)).toBe(0);
    }),
  );
});

test('the larger and the smaller of two, and what one is above the other', () => {
  for (const [a, b] of [
    ['10', '9.99'],
    ['0.1', '0.09'],
    ['2', '0'],
  ] as const) {
    expect([d.larger(a, b), d.larger(b, a)]).toEqual([a, a]);
    expect([d.smaller(a, b), d.smaller(b, a)]).toEqual([b, b]);
    expect([d.excess(a, b), d.excess(b, a)]).toEqual([d.subtract(a, b), '0']);
  }
  expect(d.excess('1.50', '1.5')).toBe('0');
});

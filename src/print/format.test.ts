import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day, dayAndHour, figure, money, percent, price, quantity } from './format.ts';

const n = '\u202f';
const s = '\u00a0';

describe('figures in European Portuguese', () => {
  test.each([
    ['0.00', `0,00${s}€`],
    ['999.99', `999,99${s}€`],
    ['1234.56', `1${n}234,56${s}€`],
    ['9999999999999.99', `9${n}999${n}999${n}999${n}999,99${s}€`],
  ])('money %s', (value, shown) => expect(money(value, 'EUR')).toBe(shown));

  test('other currencies by their code', () => expect(money('1234.50', 'USD')).toBe(`1${n}234,50${s}USD`));

  test.each([
    ['10', '10,00'],
    ['0.550000', '0,55'],
    ['0.5', '0,50'],
    ['0.123456', '0,123456'],
    ['1200.100', `1${n}200,10`],
  ])('unit price %s', (value, shown) => expect(price(value)).toBe(shown));

  test.each([
    ['1', '1'],
    ['100', '100'],
    ['2.50', '2,5'],
    ['0.000001', '0,000001'],
    ['10.000', '10'],
    ['1000', `1${n}000`],
  ])('quantity %s', (value, shown) => expect(quantity(value)).toBe(shown));

  test('percentages', () =>
    expect([percent('23'), percent('8.8'), percent('16.50')]).toEqual([`23${s}%`, `8,8${s}%`, `16,5${s}%`]));

  test('no digit is lost or added', () => {
    const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 }).map((all) => all.join(''));
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 13n }), digits, (whole, fraction) => {
        const shown = figure(`${whole}.${fraction}`);
        expect(shown.replaceAll(n, '').replace(',', '.')).toBe(`${whole}.${fraction}`);
      }),
    );
  });

  test('anything but decimal text is our fault', () => {
    for (const wrong of ['-1', '1e3', '', '1,5', 'NaN', ' 1']) expect(() => figure(wrong)).toThrow('not decimal text');
  });
});

describe('days', () => {
  test('DD-MM-YYYY', () => expect(day('2026-11-02')).toBe('02-11-2026'));
  test('with the hour', () => expect(dayAndHour('2026-11-02T09:05:59')).toBe(`02-11-2026${s}09:05`));
  test('anything else is our fault', () => expect(() => day('2/11/2026')).toThrow('not a civil day'));
});

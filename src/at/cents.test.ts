import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cents, money } from './cents.ts';

it.each([
  ['0', 0n],
  ['0.00', 0n],
  ['1230.5', 123050n],
  ['12', 1200n],
  ['9999999999999.99', 999999999999999n],
])('%s', (text, whole) => {
  expect(cents(text)).toBe(whole);
});

it.each(['-1', '1.005', '1e3', '', '.5', '1,00', 'NaN', ' 1'])('refuses "%s"', (text) => {
  expect(() => cents(text)).toThrow(/assertion/);
});

it('goes there and back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (whole) => {
      expect(cents(money(whole))).toBe(whole);
    }),
  );
  expect([money(5n), money(123050n)]).toEqual(['0.05', '1230.50']);
  expect(() => money(-1n)).toThrow(/assertion/);
});

import { expect, test } from 'vitest';
import { sentence } from '../fiscal/refusal.ts';
import { closed, moneyAboveZero, percent, precise } from '../operations/fields.ts';
import { validate } from './validate.ts';

const schema = closed({ price: precise('Price.'), paid: moneyAboveZero('Paid.'), share: percent('Share.') });

test('a number out of its bounds is told which they are', () => {
  const told = (body: unknown) =>
    validate(schema, body, 'body').map(({ code, pointer, facts }) => [pointer, sentence(code, 'en', facts)]);
  expect(told({ price: 0.1234567, paid: 0.001, share: 1 })).toEqual([
    ['/price', 'At most 6 decimals.'],
    ['/paid', 'At most 2 decimals.'],
  ]);
  expect(told({ price: -1, paid: 0, share: 100.5 })).toEqual([
    ['/price', 'Too small: it has to be ≥ 0.'],
    ['/paid', 'Too small: it has to be > 0.'],
    ['/share', 'Too large: it has to be ≤ 100.'],
  ]);
  expect(told({ price: 1e9, paid: 1, share: 0 })).toEqual([['/price', 'Too large: it has to be < 1000000000.']]);
});

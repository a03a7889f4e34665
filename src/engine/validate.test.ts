import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { sentence } from '../fiscal/refusal.ts';
import { closed, id, idParams, line, moneyAboveZero, percent, precise } from '../operations/fields.ts';
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

test('ids are in small letters behind it, wherever they stand; nothing else is', () => {
  const small = '0192f3a4-5b6c-7d8e-9f01-23456789abcd';
  const capitals = small.toUpperCase();
  const lines = Type.Array(closed({ id: id('Item.'), name: line(40, 'Name.') }));
  const body = { customerId: capitals, items: [{ id: capitals, name: 'ABC' }] };
  expect(validate(closed({ customerId: Type.Optional(id('Customer.')), items: lines }), body, 'body')).toEqual([]);
  expect(body).toEqual({ customerId: small, items: [{ id: small, name: 'ABC' }] });
  for (const place of ['path', 'query'] as const) {
    const values = { id: capitals };
    expect(validate(idParams('One.'), values, place)).toEqual([]);
    expect(values).toEqual({ id: small });
  }
  expect(validate(idParams('One.'), { id: 'NO-ID' }, 'path')).toMatchObject([{ code: 'INVALID_ID', pointer: ':id' }]);
});

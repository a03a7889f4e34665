import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sentence } from '../fiscal/refusal.ts';
import { closed, id, idParams, line, moneyAboveZero, percent, precise } from '../operations/fields.ts';
import { bounded } from './bounded.ts';
import { validate } from './validate.ts';

const schema = closed({ price: precise('Price.'), paid: moneyAboveZero('Paid.'), share: percent('Share.') });

const uuid = '0192f3a4-5b6c-7d8e-9f01-23456789abcd';

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
  expect(told({ price: 1e9, paid: 1, share: 0 })).toEqual([['/price', 'Too large: it has to be < 1 000 000 000.']]);
});

test('ids are in small letters behind it, wherever they stand; nothing else is', () => {
  const small = uuid;
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

const told = (of: Parameters<typeof validate>[0], value: unknown, place: Parameters<typeof validate>[2]) =>
  validate(of, value, place).map(({ code, pointer }) => `${pointer} ${code}`);

test('what is unknown, missing or of another kind is told where it stands', () => {
  expect(told(schema, { prize: 1, price: '1', share: 1 }, 'body').toSorted()).toEqual([
    '/paid REQUIRED',
    '/price INVALID_TYPE',
    '/prize UNKNOWN_FIELD',
  ]);
  expect(told(idParams('One.'), { id: uuid, other: 'x' }, 'query')).toEqual(['?other UNKNOWN_PARAMETER']);
  expect(told(closed({ name: line(40, 'Name.') }), { name: 'a\nb' }, 'body')).toEqual(['/name LINE_BREAK']);
  expect(told(closed({ name: Type.String() }), { name: 'a\u0001' }, 'body')).toEqual(['/name INVALID_CHARACTER']);
});

test('what takes nothing in a place is told of everything there', () => {
  expect(told(undefined, undefined, 'body')).toEqual([]);
  expect(told(undefined, {}, 'query')).toEqual([]);
  expect(told(undefined, { a: 1 }, 'body')).toEqual(['/a UNKNOWN_FIELD']);
  expect(told(undefined, { a: '1' }, 'query')).toEqual(['?a UNKNOWN_PARAMETER']);
  for (const body of [null, [], 'x', 7]) expect(told(undefined, body, 'body')).toEqual([' INVALID_TYPE']);
});

test('a query says numbers and truth in text, and in no other', () => {
  const query = closed({ page: Type.Integer(), paid: Type.Boolean(), text: Type.String() });
  const read = (values: Record<string, string>) => [told(query, values, 'query'), values];
  expect(read({ page: '7', paid: 'true', text: '7' })).toEqual([[], { page: 7, paid: true, text: '7' }]);
  expect(read({ page: '-7', paid: 'false', text: 'true' })).toEqual([[], { page: -7, paid: false, text: 'true' }]);
  for (const page of ['0x10', ' 7', '1e3', 'Infinity', ''])
    expect(read({ page, paid: 'yes', text: '' })[0]).toEqual(['?page INVALID_TYPE', '?paid INVALID_TYPE']);
});

describe('beyond its room', () => {
  const lines = Type.Optional(Type.Array(closed({ name: line(40, 'Name.') }), { maxItems: 20 }));
  const order = closed({ note: Type.Optional(line(40, 'Note.')), lines });
  const problemsOf = (body: unknown) => validate(order, bounded(order, body), 'body');
  /** A line that counts how often it is looked at. */
  let looked = 0;
  const watched = () =>
    Object.defineProperty({}, 'name', {
      enumerable: true,
      get: () => {
        looked += 1;
        return 7;
      },
    });

  test('the members of an array are not looked at one by one', () => {
    const counted = (length: number): number => {
      looked = 0;
      const problems = problemsOf({ lines: Array.from({ length }, watched) });
      expect(problems.map(({ code, pointer }) => [code, pointer])).toContainEqual(['TOO_MANY', '/lines']);
      return looked;
    };
    const few = counted(30);
    expect(few).toBeGreaterThan(0);
    expect(counted(3000)).toBe(few);
  });

  test('unknown members are named as many as are told, and one more', () => {
    const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`u${i}`, 1]));
    expect(problemsOf(unknown(50))).toHaveLength(50);
    const problems = problemsOf({ ...unknown(30_000), note: 7 });
    expect(problems).toHaveLength(51);
    expect(Object.keys(bounded(order, unknown(60)) as object)).toHaveLength(51);
    const inLines = { lines: Array.from({ length: 20 }, () => ({ name: 'x', ...unknown(1000) })) };
    expect(
      Object.values(bounded(order, inLines) as typeof inLines)
        .flat()
        .flatMap(Object.keys),
    ).toHaveLength(20 + 51);
    expect(problemsOf(inLines)).toHaveLength(51);
  });

  test('characters that cannot be kept are named as many as are told, and one more', () => {
    const odd = { strange: Array.from({ length: 1000 }, () => '\u0001') };
    expect(problemsOf(odd)).toHaveLength(51);
    expect(problemsOf(odd).at(-1)).toMatchObject({ code: 'INVALID_CHARACTER', pointer: '/strange/49' });
  });

  test('what fits is the same value, and is changed by nobody', () => {
    const fitting = { note: 'a', lines: [{ name: 'b' }], other: [1, 2, 3] };
    expect(bounded(order, fitting)).toBe(fitting);
    const more = { lines: Array.from({ length: 22 }, () => ({ name: 'x', y: 1 })) };
    expect(bounded(order, more)).not.toBe(more);
    expect(more.lines).toHaveLength(22);
    for (const other of [undefined, null, 'x', 7, [], [{ lines: [] }]]) expect(bounded(order, other)).toBe(other);
    // What takes no body says so of any; and a schema that names no members, or no number of them, takes all there are.
    const free = Array.from({ length: 100 }, () => ({ any: [{ name: 'x' }] }));
    for (const schema of [undefined, Type.Array(Type.Object({})), Type.Unknown()])
      expect(bounded(schema, free)).toBe(free);
    for (const schema of [undefined, Type.Unknown()]) expect(bounded(schema, free[0])).toBe(free[0]);
  });
});

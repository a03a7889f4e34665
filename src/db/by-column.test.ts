import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { utf8 } from '../fiscal/utf8.ts';
import { ByColumn } from './by-column.ts';
import { joinCalls } from './joined.ts';
import { callFor, listStatement, statement } from './statement.ts';
import type { Tx } from './transact.ts';
import { encodeAll } from './wire-types.ts';

let base: TestDatabase;
let tx: Tx;
const nobody = { call: [statement('by column enter', 'select certo.enter_company(null)'), []] as const, accept() {} };

beforeAll(async () => {
  base = await testDatabase();
  tx = base.db.read(nobody);
});
afterAll(() => base.drop());

const form = new ByColumn(
  {
    id: 'uuid',
    words: 'text',
    bytes: 'bytea',
    at: 'timestamptz',
    n: 'integer',
    big: 'bigint',
    amount: 'numeric',
    day: 'date',
    state: 'jsonb',
    same: 'text',
    whole: 'integer',
  },
  ['same', 'whole'],
);
const select = listStatement(
  'by column select',
  `select v.*, ${form.count} as count, v.words = ${form.any('words')} as is_among from ${form.rows} v`,
  { byColumn: form },
);

// PostgreSQL's text has no NUL; a lone surrogate has no UTF-8.
const text = fc
  .string({ unit: 'grapheme', maxLength: 80 })
  .filter((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value));
/** The last letter of one byte in UTF-8, and the first of two. */
const edges = fc.constantFrom('\u007f', '\u0080');
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 6 });
const element = fc.record({
  id: fc.uuid(),
  words: orNull(fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: edges })),
  bytes: orNull(fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes))),
  at: orNull(
    fc.date({ min: new Date('1715-01-01T00:00:00Z'), max: new Date('2285-01-01T00:00:00Z'), noInvalidDate: true }),
  ),
  n: orNull(fc.integer()),
  big: orNull(fc.maxSafeInteger()),
  amount: orNull(fc.constantFrom('0.00', '-1.5', '123456789012345.67')),
  day: orNull(fc.constantFrom('2026-02-28', '1999-12-31')),
  state: orNull(fc.constantFrom('{"a": 1}', '{"é": "\\""}')),
  same: fc.constantFrom('x', 'x', 'x', 'ç'),
  whole: fc.constantFrom(1, 1, 1, -7),
});

describe('a list that travels by column', () => {
  test('comes as it was sent, in its order, whatever is null in it and whatever all have alike', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(element, { minLength: 1, maxLength: 30 }), async (list) => {
        const [query, values] = callFor(select, list);
        const rows = await tx.query(query, values);
        expect(rows).toEqual(
          list.map((one) => ({
            ...one,
            state: one.state === null ? null : JSON.parse(one.state),
            count: list.length,
            is_among: one.words === null ? null : true,
          })),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('is made of what several members ask, and each has its own rows of it', async () => {
    const [one, two] = fc.sample(element, { numRuns: 2, seed: 5 }) as unknown as [Row, Row];
    const { calls, spread } = joinCalls([[callFor(select, [one])], [callFor(select, [two])]]);
    expect(calls).toHaveLength(1);
    const [query, values] = calls[0]!;
    expect(spread([await tx.query(query, values)])).toMatchObject([[{ id: one.id }], [{ id: two.id }]]);
  });

  test('has bytes that are put together of pieces', async () => {
    const pieces = [utf8('é"'), utf8(''), utf8('x')];
    const [query, values] = callFor(select, [{ id: uuid, bytes: pieces, same: 'x', whole: 1 }]);
    expect(await tx.query(query, values)).toMatchObject([{ id: uuid, bytes: Buffer.from('é"x'), words: null }]);
  });

  test('has each column as an array of its own, and what all have alike once', () => {
    const alike = new ByColumn({ id: 'uuid', n: 'integer', act: 'text' }, ['act']);
    const each = listStatement('by column alike', 'select 1', { byColumn: alike });
    const all = (...acts: string[]) =>
      encodeAll(
        callFor(
          each,
          acts.map((act, n) => ({ id: uuid, n, act })),
        )[1],
      ).map((one) => (one as Buffer).toString('hex'));
    // 1 dimension, no nulls, the type, so many items from 1 on; then each with its length.
    expect(all('a', 'a')).toEqual([
      `000000010000000000000b8600000002000000010000001001a20f7fddc574c19d0a415c6a8a70f00000001001a20f7fddc574c19d0a415c6a8a70f0`,
      '00000001000000000000001700000002000000010000000400000000' + '0000000400000001',
      '000000010000000000000019000000010000000100000001' + '61',
    ]);
    expect(all('a', 'b')[2]).toBe('00000001000000000000001900000002000000010000000161' + '0000000162');
  });

  test('refuses what is no value of its column, before anything is sent', () => {
    const refused = (column: string, value: unknown) =>
      encodeAll(callFor(select, [{ id: uuid, same: 'x', whole: 1, [column]: value } as Row])[1]);
    expect(refused('id', uuid.toUpperCase())).toEqual(refused('id', uuid));
    for (const wrong of [
      '',
      uuid.slice(1),
      `${uuid}0`,
      uuid.replace('-', '0'),
      uuid.replace('f', 'g'),
      `ç${uuid.slice(1)}`,
    ])
      expect(() => refused('id', wrong)).toThrow(TypeError);
    for (const wrong of [Number.NaN, {}, true, () => 'x']) expect(() => refused('words', wrong)).toThrow(TypeError);
    for (const wrong of [new Date(Number.NaN), new Date('2290-01-01')])
      expect(() => refused('at', wrong)).toThrow(TypeError);
    expect(() => refused('n', 2 ** 31)).toThrow(RangeError);
    for (const wrong of [null, undefined])
      expect(() => refused('same', wrong)).toThrow('column same of a list is null');
  });
});

type Row = { readonly id: string; readonly [column: string]: unknown };
const uuid = '01a20f7f-ddc5-74c1-9d0a-415c6a8a70f0';

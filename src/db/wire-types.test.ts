import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { statement } from './statement.ts';
import type { Tx } from './transact.ts';
import { encode, parseArray, parserOf } from './wire-types.ts';

let base: TestDatabase;
let tx: Tx;
const nobody = { call: [statement('enter nobody', 'select certo.enter_company(null)'), []] as const, accept() {} };

beforeAll(async () => {
  base = await testDatabase();
  tx = base.db.read(nobody);
});
afterAll(() => base.drop());

/** What comes back of a value that was sent as a parameter of a type. */
async function there(type: string, value: unknown): Promise<unknown> {
  const [row] = await tx.query({ sql: `select $1::${type} as v`, parameters: [value] });
  return row?.['v'];
}

// PostgreSQL's text has no NUL; a lone surrogate has no UTF-8.
const text = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value));

describe('values survive the way to the server and back', () => {
  test.each([
    ['numeric', '12345678901234567890.123456789', '12345678901234567890.123456789'],
    ['numeric(15,2)', '1.5', '1.50'],
    ['date', '2026-02-28', '2026-02-28'],
    ['int8', 9007199254740991, 9007199254740991],
    ['float8', 0.1, 0.1],
    ['boolean', true, true],
    ['boolean', false, false],
    ['text', '', ''],
    ['text', null, null],
    ['text', undefined, null],
    ['jsonb', { a: [1, { b: 'ç' }], n: null }, { a: [1, { b: 'ç' }], n: null }],
    ['jsonb', JSON.stringify([1, 'x']), [1, 'x']],
    ['uuid', '01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d-ac96-774b-bcce-b302099a8057'],
    ['uuid[]', ['01890a5d-ac96-774b-bcce-b302099a8057'], ['01890a5d-ac96-774b-bcce-b302099a8057']],
    ['int4[]', [1, null, 3], [1, null, 3]],
    ['numeric[]', ['1.10', null], ['1.10', null]],
    ['text[]', [], []],
    [
      'text[]',
      [
        ['a', 'b'],
        ['c', 'NULL'],
      ],
      [
        ['a', 'b'],
        ['c', 'NULL'],
      ],
    ],
    ['boolean[]', [true, false], [true, false]],
    ['jsonb[]', [{ a: 1 }, { b: '"' }], [{ a: 1 }, { b: '"' }]],
    ['interval', '90 seconds', '00:01:30'],
  ])('%s %j', async (type, value, back) => {
    expect(await there(type, value)).toEqual(back);
  });

  test('instants, to the millisecond, whatever the zone they were written in', async () => {
    const at = new Date('2026-03-29T00:59:59.123Z');
    expect(await there('timestamptz(3)', at)).toEqual(at);
    expect(await there('timestamptz(3)', '2026-03-29 01:59:59.123+01')).toEqual(at);
    expect(await there('timestamptz[]', [at, null])).toEqual([at, null]);
    expect(parserOf(1184)('2026-03-29 06:29:59.123+05:30')).toEqual(at);
  });

  test('a bigint', async () => {
    expect(await there('numeric', 2n ** 70n)).toBe('1180591620717411303424');
  });

  test('bytes, alone and in arrays', async () => {
    const bytes = Buffer.from([0, 1, 92, 34, 255]);
    expect(await there('bytea', bytes)).toEqual(bytes);
    expect(await there('bytea', new Uint8Array(bytes).subarray(1))).toEqual(bytes.subarray(1));
    expect(await there('bytea[]', [bytes])).toEqual([bytes]);
  });

  test('any text, alone and in arrays', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.option(text), { maxLength: 5 }), async (one, many) => {
        expect(await there('text', one)).toBe(one);
        expect(await there('text[]', many)).toEqual(many);
      }),
      { numRuns: 200 },
    );
  });

  test('arrays whose bounds do not begin with 1', async () => {
    const [row] = await tx.query({ sql: `select '[0:1]={a,b}'::text[] as v`, parameters: [] });
    expect(row).toEqual({ v: ['a', 'b'] });
  });
});

describe('what has no faithful value is refused', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN), () => 1, Symbol('x')])('%s', (value) => {
    expect(() => encode(value)).toThrow();
  });

  test('integers beyond 2^53, instants beyond what a Date shows', async () => {
    await expect(there('int8', '9007199254740993')).rejects.toThrow(/too large/);
    await expect(there('timestamptz', 'infinity')).rejects.toThrow(/not a timestamp/);
    await expect(there('timestamptz', '0044-03-15 BC')).rejects.toThrow(/not a timestamp/);
    // The connection has not lost its place.
    expect(await there('int4', 7)).toBe(7);
  });

  test('array literals that end early', () => {
    for (const broken of ['{', '{"a', '{"a\\', '{a', '{{a}'])
      expect(() => parseArray(broken, (item) => item)).toThrow();
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { type FaultySocket, faultySocket } from '../../test/faulty-socket.ts';
import { ConnectionLost, StatementError } from './errors.ts';
import { openDb } from './open.ts';
import { type Call, type Db, Elements, type Entry, listStatement, type Row, statement } from './transact.ts';

const A = '0190a000-0000-7000-8000-00000000000a';
const B = '0190a000-0000-7000-8000-00000000000b';

let base: TestDatabase;
let wire: FaultySocket;
let db: Db;

beforeAll(async () => {
  base = await testDatabase();
  await base.ownerPool.query(`
    create table certo.marks (n int unique deferrable initially deferred, at int generated always as identity);
    grant select, insert on certo.marks to certo_app;`);
  wire = await faultySocket(base.connection);
  db = await openDb({ connection: wire.connection, max: 4 });
});
beforeEach(async () => {
  await db.read(into(A)).query(where, [0]);
  wire.roundTrips = 0;
});
afterEach(async () => {
  wire.fault = undefined;
  await base.ownerPool.query('truncate certo.marks');
});
afterAll(async () => {
  await db.close();
  await wire.close();
  await base.drop();
});

const enter = statement('shared enter', 'select certo.enter_company($1) as company');
const where = statement(
  'shared where',
  'select certo.current_company() as company, $1::int as n, pg_current_xact_id()::text as transaction',
);
const fail = statement('shared fail', 'select 1 / $1::int as n');
const late = statement('shared late', 'select 1 / $1::int as n', 'last');
const each = listStatement('shared each', 'select id from jsonb_to_recordset($1::jsonb) v (id text)');
const mark = statement('shared mark', 'insert into certo.marks (n) values ($1) returning n, at');

function into(company: string, accept = ([row]: Row[]): void => expect(row).toEqual({ company })): Entry {
  return { call: [enter, [company]], subject: company, accept };
}

const ask = (company: string, n: number): Promise<Row[]> => db.read(into(company), 'shared').query(where, [n]);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('shared reads', () => {
  test('that begin together travel together, each with its own answer', async () => {
    const answers = await Promise.all(upTo(20).map((n) => ask(A, n)));
    expect(answers.map(([row]) => [row?.['company'], row?.['n']])).toEqual(upTo(20).map((n) => [A, n]));
    expect(new Set(answers.map(([row]) => row?.['transaction'])).size).toBe(1);
    expect(wire.roundTrips).toBe(1);
  });

  test('of different credentials never share an entry', async () => {
    const answers = await Promise.all(upTo(20).map((n) => ask(n % 2 === 0 ? A : B, n)));
    expect(answers.map(([row]) => [row?.['company'], row?.['n']])).toEqual(
      upTo(20).map((n) => [n % 2 === 0 ? A : B, n]),
    );
    expect(new Set(answers.map(([row]) => row?.['transaction'])).size).toBe(2);
  });

  test('that come while others are on their way gather for the next batch, and none is forgotten', async () => {
    const answers = await Promise.all(
      upTo(300).map(async (n) => {
        for (let turns = n % 7; turns > 0; turns -= 1) await new Promise(setImmediate);
        return ask(A, n);
      }),
    );
    expect(answers.map(([row]) => row?.['n'])).toEqual(upTo(300));
    expect(wire.roundTrips).toBeLessThan(60);
  });

  test('a lone one goes at once, and the next one after it', async () => {
    for (const n of upTo(3)) expect((await ask(A, n))[0]?.['n']).toBe(n);
    expect(wire.roundTrips).toBe(3);
  });

  test('without a subject shares with nobody', async () => {
    const { subject: _, ...nobody } = into(A);
    const answers = await Promise.all(upTo(4).map((n) => db.read(nobody, 'shared').query(where, [n])));
    expect(new Set(answers.map(([row]) => row?.['transaction'])).size).toBe(4);
  });

  test('one that fails hurts no neighbour, before it or behind it', async () => {
    const results = await Promise.allSettled(
      upTo(7).map((n) => (n === 3 ? db.read(into(A), 'shared').query(fail, [0]) : ask(A, n))),
    );
    for (const [n, result] of results.entries()) {
      if (n === 3) expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StatementError) });
      else expect(result).toMatchObject({ status: 'fulfilled', value: [{ company: A, n }] });
    }
  });

  test('of one statement, when a neighbour fails, each has the rows it asked for', async () => {
    const elements = (id: string) => [new Elements([{ id }])];
    const results = await Promise.allSettled([
      db.read(into(A), 'shared').query(each, elements('x')),
      db.read(into(A), 'shared').query(each, elements('y')),
      db.read(into(A), 'shared').query(fail, [0]),
    ]);
    expect(results).toMatchObject([
      { status: 'fulfilled', value: [{ id: 'x' }] },
      { status: 'fulfilled', value: [{ id: 'y' }] },
      { status: 'rejected', reason: expect.any(StatementError) },
    ]);
  });

  test('where one asks for what comes last, a failure gives nobody the rows of another', async () => {
    const calls: Call[] = [
      [where, [0]],
      [late, [0]],
    ];
    const results = await Promise.allSettled([db.read(into(A), 'shared').batch(calls), ask(A, 1), ask(A, 2)]);
    expect(results).toMatchObject([
      { status: 'rejected', reason: expect.any(StatementError) },
      { status: 'fulfilled', value: [{ company: A, n: 1 }] },
      { status: 'fulfilled', value: [{ company: A, n: 2 }] },
    ]);
  });

  test('each member hears its own refusal of the entry, also where a neighbour failed', async () => {
    const refuse = (text: string) => () => {
      throw new Error(text);
    };
    const results = await Promise.allSettled([
      db.read(into(A, refuse('first')), 'shared').query(where, [0]),
      ask(A, 1),
      db.read(into(A, refuse('third')), 'shared').query(fail, [0]),
      db.read(into(A, refuse('fourth')), 'shared').query(where, [3]),
    ]);
    expect(results.map((result) => (result.status === 'rejected' ? result.reason.message : 'fine'))).toEqual([
      'first',
      'fine',
      'third',
      'fourth',
    ]);
  });

  test('a broken connection is told to one, and the others are read again', async () => {
    wire.fault = { on: 'shared where', how: 'cut before the answer' };
    const results = await Promise.allSettled(upTo(5).map((n) => ask(A, n)));
    const lost = results.filter((result) => result.status === 'rejected');
    expect(lost).toHaveLength(1);
    expect(lost[0]?.reason).toBeInstanceOf(ConnectionLost);
  });
});

describe('shared writes', () => {
  const put = (n: number): Promise<Row[]> => db.read(into(A), 'lazily').query(mark, [n]);
  const stored = async (): Promise<unknown[]> =>
    (await base.ownerPool.query<{ n: number }>('select n from certo.marks order by n')).rows.map(({ n }) => n);

  test('are done in one order, whoever asks first', async () => {
    const rows = (await Promise.all([put(2), put(0), put(1)])).map(([row]) => row);
    expect(rows.map((row) => row?.['n'])).toEqual([2, 0, 1]);
    expect(rows.toSorted((a, b) => Number(a?.['at']) - Number(b?.['at'])).map((row) => row?.['n'])).toEqual([0, 1, 2]);
  });

  test('of which some fail are undone, and each is done again alone', async () => {
    const results = await Promise.allSettled(
      upTo(5).map((n) => (n % 2 === 1 ? db.read(into(A), 'lazily').query(fail, [0]) : put(n))),
    );
    for (const [n, result] of results.entries()) {
      if (n % 2 === 1) expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StatementError) });
      else expect(result).toMatchObject({ status: 'fulfilled', value: [{ n }] });
    }
    expect(await stored()).toEqual([0, 2, 4]);
  });

  test('where nobody heard what the entry said, each hears its own when it is done again alone', async () => {
    wire.fault = { on: 'shared where', how: 'cut before the answer' };
    const refused = into(A, () => {
      throw new Error('not the second');
    });
    const asked = [into(A), refused, into(A)].map((entry, n) => db.read(entry, 'lazily').query(where, [n]));
    expect(await Promise.allSettled(asked)).toMatchObject([
      { status: 'fulfilled', value: [{ n: 0 }] },
      { status: 'rejected', reason: { message: 'not the second' } },
      { status: 'fulfilled', value: [{ n: 2 }] },
    ]);
  });

  test('a lone one that fails is not done again, also where it fails only at its end', async () => {
    await put(1);
    wire.roundTrips = 0;
    await expect(put(1)).rejects.toMatchObject({ name: 'StatementError', code: '23505' });
    expect(wire.roundTrips).toBe(1);
    expect(await stored()).toEqual([1]);
  });
});

import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CountingSocket, countingSocket } from '../../test/counting-socket.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { type FaultySocket, faultySocket } from '../../test/faulty-socket.ts';
import { BatchFailure } from './batch.ts';
import { openDb } from './open.ts';
import { type Call, type Db, type Entry, Line, statement } from './transact.ts';

const A = '0190a000-0000-7000-8000-00000000000a';

let base: TestDatabase;
let wire: CountingSocket;
let faulty: FaultySocket;
let db: Db;
let fragile: Db;

beforeAll(async () => {
  base = await testDatabase();
  await base.ownerPool.query(`
    create table certo.things (id int primary key, at int generated always as identity);
    grant select, insert, update on certo.things to certo_app;`);
  wire = await countingSocket(base.connection);
  faulty = await faultySocket(base.connection);
  // One connection only: what is not given back shows in the next test.
  db = await openDb({ connection: wire.connection, max: 1 });
  fragile = await openDb({ connection: faulty.connection, max: 1 });
});
beforeEach(async () => {
  await base.ownerPool.query('truncate certo.things restart identity');
  // Everything is prepared from here on.
  for (const each of [db, fragile]) {
    const line = new Line();
    await each.write(entry, [put(0), hold(0), [fail, [1]]], line);
    await base.ownerPool.query('truncate certo.things restart identity');
  }
});
afterAll(async () => {
  await db.close();
  await fragile.close();
  await wire.close();
  await faulty.close();
  await base.drop();
});

const entry: Entry = {
  call: [statement('line enter', 'select certo.enter_company($1) as company'), [A]],
  accept: () => undefined,
};
const insert = statement('line put', 'insert into certo.things (id) values ($1)');
const wait = statement('line wait', 'select pg_advisory_xact_lock($1) is null as waited');
const fail = statement('line fail', 'select 1 / $1::int as q');
const put = (id: number): Call => [insert, [id]];
const hold = (lock: number): Call => [wait, [lock]];
const stored = async (): Promise<number[]> => {
  const { rows } = await base.ownerPool.query<{ id: number }>('select id from certo.things order by at');
  return rows.map(({ id }) => id);
};

/** Holds the lock that `hold` waits for while `work` goes on. */
async function whileHeld(lock: number, work: () => Promise<void>): Promise<void> {
  const pool = new Pool({ ...base.connection, ssl: false, max: 1 });
  try {
    await pool.query('select pg_advisory_lock($1)', [lock]);
    await work();
    await pool.query('select pg_advisory_unlock($1)', [lock]);
  } finally {
    await pool.end();
  }
}

test('the next is sent while the one before is under way, and done after it', async () => {
  const line = new Line();
  let both: Promise<unknown> | undefined;
  await whileHeld(7, async () => {
    wire.roundTrips = 0;
    both = Promise.all([db.write(entry, [put(1), hold(7)], line), db.write(entry, [put(2)], line)]);
    await eventually(() => expect(wire.roundTrips).toBe(2));
    expect(await stored()).toEqual([]);
  });
  await both;
  expect(await stored()).toEqual([1, 2]);
});

test('what the server does not know yet waits for its turn, and so does all behind it', async () => {
  const line = new Line();
  const unknown = statement('line news', 'insert into certo.things (id) values ($1 + 0)');
  let all: Promise<unknown> | undefined;
  await whileHeld(8, async () => {
    wire.roundTrips = 0;
    all = Promise.all([
      db.write(entry, [hold(8), put(1)], line),
      db.write(entry, [[unknown, [2]]], line),
      db.write(entry, [put(3)], line),
    ]);
    await eventually(() => expect(wire.roundTrips).toBeGreaterThan(0));
    // Time enough for whatever else was sent.
    expect(await stored()).toEqual([]);
    expect(wire.roundTrips).toBe(1);
  });
  await all;
  expect(await stored()).toEqual([1, 2, 3]);
});

test('each is kept or fails for itself', async () => {
  const line = new Line();
  const outcomes = await Promise.allSettled([
    db.write(entry, [put(1)], line),
    db.write(entry, [put(2), [fail, [0]]], line),
    db.write(entry, [put(3)], line),
    db.write(entry, [put(1)], line),
    db.write(entry, [put(4)], line),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await stored()).toEqual([1, 3, 4]);
});

test('of what was sent when the connection broke nobody knows; the next has another connection', async () => {
  const line = new Line();
  faulty.fault = { on: 'line fail', how: 'cut before the answer' };
  const outcomes = await Promise.allSettled([
    fragile.write(entry, [put(1), [fail, [1]]], line),
    fragile.write(entry, [put(2)], line),
  ]);
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.name)).toEqual([
    'OutcomeUnknown',
    'OutcomeUnknown',
  ]);
  await fragile.write(entry, [put(3)], line);
  expect(await stored()).toContain(3);
});

test('without a connection nothing is sent', async () => {
  const line = new Line();
  const none = () => Promise.reject(new Error('none'));
  const source = { connect: none, knock: none, pool: base.ownerPool, deadline: 0 };
  await expect(line.run(source, [put(1)])).rejects.toThrow('none');
  expect(await line.run({ ...source, connect: () => base.ownerPool.connect() }, [[fail, [1]]])).toEqual([[{ q: 1 }]]);
  await expect(line.run({ ...source, connect: () => base.ownerPool.connect() }, [[fail, [0]]])).rejects.toBeInstanceOf(
    BatchFailure,
  );
});

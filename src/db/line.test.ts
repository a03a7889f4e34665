import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CountingSocket, countingSocket } from '../../test/counting-socket.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { type FaultySocket, faultySocket } from '../../test/faulty-socket.ts';
import { BatchFailure } from './batch.ts';
import { openDb } from './open.ts';
import { type Call, type Db, type Entry, Line, makeDb, statement } from './transact.ts';

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
  wire.roundTrips = 0;
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

/** Whether a transaction has taken the lock of `hold`. */
async function isHeld(lock: number): Promise<boolean> {
  const { rows } = await base.ownerPool.query(
    `select 1 from pg_locks where locktype = 'advisory' and granted and objid = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [lock],
  );
  return rows.length > 0;
}

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

test('a second text under a known name is refused behind another too, and holds nobody up', async () => {
  const line = new Line();
  const second: Call = [{ name: 'line put', text: 'select $1::int' }, [9]];
  const outcomes = await Promise.allSettled([db.write(entry, [put(1)], line), db.write(entry, [second], line)]);
  expect(outcomes).toMatchObject([
    { status: 'fulfilled' },
    { reason: { message: 'statement line put has two texts' } },
  ]);
  let both: Promise<unknown> | undefined;
  await whileHeld(7, async () => {
    wire.roundTrips = 0;
    both = Promise.all([db.write(entry, [put(2), hold(7)], line), db.write(entry, [put(3)], line)]);
    await eventually(() => expect(wire.roundTrips).toBe(2));
  });
  await both;
  expect(await stored()).toEqual([1, 2, 3]);
});

test('behind one that spoilt the connection the next has another, on which all that follow are in line', async () => {
  const wide = await openDb({ connection: base.connection, max: 3 });
  const line = new Line();
  await base.ownerPool.query('create table certo.changing (a int); grant select on certo.changing to certo_app');
  const changing: Call = [statement('line changing', 'select * from certo.changing'), []];
  await wide.write(entry, [changing, hold(0)], line);
  await base.ownerPool.query('alter table certo.changing add b int');
  const late: Promise<unknown>[] = [];
  await whileHeld(11, async () => {
    let slow: Promise<unknown> | undefined;
    await whileHeld(10, async () => {
      const spoiling = wide.write(entry, [changing], line);
      slow = expect(wide.write(entry, [hold(10), changing], line)).rejects.toMatchObject({ code: '0A000' });
      await expect(spoiling).rejects.toMatchObject({ code: '0A000' });
      await wide.write(entry, [changing, put(1)], line);
      late.push(wide.write(entry, [hold(11), put(2)], line));
    });
    await slow;
    late.push(wide.write(entry, [put(3)], line));
    // Time enough for what does not stand in line.
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  await Promise.all(late);
  await wide.close();
  expect(await stored()).toEqual([1, 2, 3]);
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

test('of one that is open the first statements are done before the rest is known', async () => {
  const line = new Line();
  const open = db.open(entry, [hold(9)], line);
  await open.begun;
  await eventually(async () => expect(await isHeld(9)).toBe(true));
  expect(wire.roundTrips).toBe(0);
  await open.write([put(1), put(2)]);
  expect([await stored(), wire.roundTrips, await isHeld(9)]).toEqual([[1, 2], 1, false]);
});

test('what comes before it is finished waits behind it, and is kept or fails for itself', async () => {
  const line = new Line();
  const failing = db.open(entry, [hold(0)], line);
  const behind = db.write(entry, [put(2)], line);
  const outcomes = await Promise.allSettled([failing.write([put(1), [fail, [0]]]), behind]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await stored()).toEqual([2]);
});

test('one that is open behind another is kept or fails for itself, as what comes behind it', async () => {
  const line = new Line();
  const before = db.write(entry, [put(1)], line);
  const failing = db.open(entry, [hold(0)], line);
  const behind = db.write(entry, [put(3)], line);
  const outcomes = await Promise.allSettled([before, failing.write([put(2), [fail, [0]]]), behind]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await stored()).toEqual([1, 3]);
});

test('one that has no rest changes nothing, and gives its connection back', async () => {
  const line = new Line();
  db.open(entry, [hold(0)], line).leave();
  db.open(entry, [[fail, [0]]], line).leave();
  await db.write(entry, [put(1)], line);
  await db.write(entry, [put(2)], new Line());
  expect(await stored()).toEqual([1, 2]);
});

test('behind one that is finished, or has failed, the next is sent at once', async () => {
  const line = new Line();
  let all: Promise<unknown> | undefined;
  await whileHeld(6, async () => {
    await db
      .open(entry, [[fail, [0]]], line)
      .write([put(9)])
      .catch(() => undefined);
    wire.roundTrips = 0;
    const first = db.open(entry, [hold(0)], line).write([put(1), hold(6)]);
    await eventually(() => expect(wire.roundTrips).toBe(1));
    all = Promise.all([first, db.write(entry, [put(2)], line)]);
    await eventually(() => expect(wire.roundTrips).toBe(2));
    expect(await stored()).toEqual([]);
  });
  await all;
  expect(await stored()).toEqual([1, 2]);
});

test('where its first statements fail, nothing of the rest is done, and the connection stays usable', async () => {
  const line = new Line();
  // Failed by then, or on its way to it.
  for (const wait_ms of [100, 0]) {
    const open = db.open(entry, [[fail, [0]]], line);
    await new Promise((resolve) => setTimeout(resolve, wait_ms));
    await expect(open.write([put(1)])).rejects.toMatchObject({ name: 'StatementError', statement: 'line fail' });
  }
  await db.write(entry, [put(2)], line);
  expect(await stored()).toEqual([2]);
});

test('a rest that cannot be sent is not done, nor anything else', async () => {
  const line = new Line();
  const open = db.open(entry, [hold(0)], line);
  await expect(open.write([put(1), [insert, [new Date(Number.NaN)]]])).rejects.toThrow(/date|Invalid/i);
  await db.write(entry, [put(2)], line);
  expect(await stored()).toEqual([2]);
});

test('what the server does not know yet is prepared in either piece', async () => {
  const line = new Line();
  for (let time = 0; time < 2; time++) {
    const first = statement('line first piece', 'select $1::int as first');
    const second = statement('line second piece', 'insert into certo.things (id) values ($1 + 0 * 1)');
    await db.open(entry, [[first, [1]]], line).write([[second, [time]]]);
  }
  expect(await stored()).toEqual([0, 1]);
});

test('a connection that breaks before the rest is sent has done nothing, and after it nobody knows', async () => {
  const line = new Line();
  const early = fragile.open(entry, [hold(5)], line);
  await eventually(async () => expect(await isHeld(5)).toBe(true));
  faulty.cutAll();
  await eventually(async () => expect(await isHeld(5)).toBe(false));
  // The server has noticed; we have not, perhaps.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await expect(early.write([put(1)])).rejects.toMatchObject({ name: 'ConnectionLost', sent: false });
  const late = fragile.open(entry, [hold(0)], line);
  faulty.fault = { on: 'line put', how: 'cut before the answer' };
  await expect(late.write([put(2)])).rejects.toMatchObject({ name: 'OutcomeUnknown' });
  await fragile.write(entry, [put(3)], line);
  expect(await stored()).toEqual(expect.arrayContaining([3]));
  expect(await stored()).not.toContain(1);
});

test('a connection that breaks is not kept for a rest that may never come', async () => {
  fragile.open(entry, [hold(5)], new Line());
  await eventually(async () => expect(await isHeld(5)).toBe(true));
  faulty.cutAll();
  // There is only one.
  await fragile.write(entry, [put(1)], new Line());
  expect(await stored()).toEqual([1]);
});

test('one that was open and has no answer in time ends with its connection', async () => {
  const pool = new Pool({ ...faulty.connection, ssl: false, max: 1 });
  pool.on('connect', (client) => client.on('error', () => undefined));
  const source = { pool, connect: () => pool.connect(), knock: () => Promise.resolve(), deadline: 2_000 };
  const impatient = makeDb(source);
  faulty.fault = { on: 'line put', how: 'never answer' };
  const open = impatient.open(entry, [hold(0)], new Line());
  await expect(open.write([put(1)])).rejects.toMatchObject({ name: 'OutcomeUnknown' });
  await impatient.close();
});

test('one whose rest never comes is ended by the server in time: it lets go what it has locked, and nothing of it is kept', async () => {
  const limited = await openDb({ connection: base.connection, max: 1, transactionTimeout: 3_000 });
  const line = new Line();
  const open = limited.open(entry, [hold(9), put(7)], line);
  await open.begun;
  await eventually(async () => expect(await isHeld(9)).toBe(true));
  // As whoever comes next for the lock: it waits, and then has it.
  await db.write(entry, [hold(9), put(1)], new Line());
  const outcome = await open.write([put(8)]).catch((error: Error) => error.name);
  expect(['ConnectionLost', 'OutcomeUnknown']).toContain(outcome);
  expect(await stored()).toEqual([1]);
  await limited.write(entry, [put(2)], line);
  expect(await stored()).toEqual([1, 2]);
  await limited.close();
});

test('without a connection nothing is sent', async () => {
  const line = new Line();
  const none = () => Promise.reject(new Error('none'));
  const source = { connect: none, knock: none, pool: base.ownerPool, deadline: 0 };
  await expect(line.run(source, [put(1)])).rejects.toThrow('none');
  const open = line.open(source, [hold(0)]);
  await open.begun;
  await expect(open.finish([put(1)])).rejects.toThrow('none');
  expect(await line.run({ ...source, connect: () => base.ownerPool.connect() }, [[fail, [1]]])).toEqual([[{ q: 1 }]]);
  await expect(line.run({ ...source, connect: () => base.ownerPool.connect() }, [[fail, [0]]])).rejects.toBeInstanceOf(
    BatchFailure,
  );
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { DatabaseUnavailable } from './errors.ts';
import { openDb } from './open.ts';
import { type Entry, statement } from './transact.ts';
import { Turns, waitingFor } from './turns.ts';

const patient = waitingFor(10_000);

/** Work that goes on until it is told to end. */
function labour(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const done: Promise<unknown>[] = [];
  return {
    begun,
    ask(name: string, group?: string): void {
      const work = () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      };
      done.push(turns.during(name[0]!, work, patient, group));
    },
    async end(name: string): Promise<void> {
      ends.get(name)!();
      await new Promise((resolve) => setImmediate(resolve));
    },
    all: () => Promise.all(done),
  };
}

test('of one subject so many are done at once, in their order; another one does not wait for them', async () => {
  const work = labour(new Turns({ perSubject: 2, together: 3 }));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) work.ask(name);
  expect(work.begun).toEqual(['a1', 'a2', 'b1']);
  await work.end('a1');
  // In turn: who was begun last comes last.
  expect(work.begun.slice(3)).toEqual(['a3']);
  await work.end('a3');
  await work.end('a2');
  await work.end('b1');
  expect(work.begun.slice(4)).toEqual(['b2', 'c1', 'a4']);
  for (const name of ['b2', 'c1', 'a4']) await work.end(name);
  await work.all();
});

test('of a group of subjects so many are done at once, whichever they are, and these take turns', async () => {
  const work = labour(new Turns({ perSubject: 2, perGroup: 3, together: 9 }));
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) work.ask(name, 'ours');
  // Of another group, of none, and of a subject whose group is known by now.
  for (const name of ['d1', 'd2']) work.ask(name, 'theirs');
  work.ask('e1');
  work.ask('e2', 'theirs');
  expect(work.begun).toEqual(['a1', 'a2', 'b1', 'd1', 'd2', 'e1', 'e2']);
  await work.end('b1');
  expect(work.begun.slice(7)).toEqual(['b2']);
  await work.end('b2');
  expect(work.begun.slice(8)).toEqual(['c1']);
  await work.end('c1');
  await work.end('a1');
  expect(work.begun.slice(9)).toEqual(['a3']);
  for (const name of ['a2', 'a3', 'd1', 'd2', 'e1', 'e2']) await work.end(name);
  await work.all();
});

test('whatever fails gives its turn on', async () => {
  const turns = new Turns({ perSubject: 1, together: 1 });
  const failing = turns.during('a', () => Promise.reject(new Error('no')), patient);
  const next = turns.during('a', () => Promise.resolve(7), patient);
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe(7);
});

test('whoever has waited too long is refused, and is not begun afterwards', async () => {
  const turns = new Turns({ perSubject: 1, together: 1 });
  const work = labour(turns);
  work.ask('a1');
  let begun = false;
  const tooLate = async () => {
    begun = true;
  };
  const late = turns.during('a', tooLate, waitingFor(5));
  await expect(late).rejects.toThrow(DatabaseUnavailable);
  await work.end('a1');
  expect(begun).toBe(false);
  expect(await turns.during('a', () => Promise.resolve(1), patient)).toBe(1);
});

test('whose turn has come is not watched any more', async () => {
  const turns = new Turns({ perSubject: 1, together: 1 });
  let watched = 0;
  const watching = () => {
    watched += 1;
    return () => {
      watched -= 1;
    };
  };
  let end = (): void => undefined;
  const first = turns.during('a', () => new Promise<void>((resolve) => (end = resolve)), watching);
  const second = turns.during('a', async () => watched, watching);
  expect(watched).toBe(1);
  end();
  await first;
  expect(await second).toBe(0);
});

let base: TestDatabase;
beforeAll(async () => {
  base = await testDatabase();
});
afterAll(() => base.drop());

const entry = (subject?: string, group?: string): Entry => ({
  call: [statement('turns enter', `select set_config('app.company_id', '', true)`), []],
  ...(subject === undefined ? {} : { subject }),
  group,
  accept: () => undefined,
});
const slow = { sql: 'select pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7)', parameters: [] };
const quick = { sql: 'select 1 as one', parameters: [] };

/** Those that `slow` keeps waiting. */
async function waiting(): Promise<number> {
  const locks = `select count(*)::int as n from pg_locks where locktype = 'advisory' and objid = 7 and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return (await base.ownerPool.query<{ n: number }>(locks)).rows[0]!.n;
}

test('slow reads of one credential, or of several, leave connections to all others', async () => {
  const db = await openDb({ connection: base.connection, max: 4 });
  const holder = await base.ownerPool.connect();
  try {
    await holder.query('select pg_advisory_lock(7)');
    const reads = Array.from({ length: 12 }, () => db.read(entry('a')).query(slow));
    await eventually(async () => expect(await waiting()).toBe(2));
    // Another credential, one without any, and a transaction.
    expect(await db.read(entry('b')).query(quick)).toEqual([{ one: 1 }]);
    reads.push(...Array.from({ length: 12 }, () => db.read(entry('b')).query(slow)));
    await eventually(async () => expect(await waiting()).toBe(3));
    expect(await db.read(entry()).query(quick)).toEqual([{ one: 1 }]);
    expect(await db.read(entry('a'), 'shared').query(quick)).toEqual([{ one: 1 }]);
    expect(await db.transact(entry('a'), (tx) => tx.query(quick))).toEqual([{ one: 1 }]);
    expect(await waiting()).toBe(3);
    await holder.query('select pg_advisory_unlock(7)');
    expect(await Promise.all(reads)).toHaveLength(24);
  } finally {
    holder.release(true);
    await db.close();
  }
});

test('slow transactions of a company, beside its slow reads, leave connections to others, those of one credential also to its own', async () => {
  const db = await openDb({ connection: base.connection, max: 8 });
  const holder = await base.ownerPool.connect();
  const all: Promise<unknown>[] = [];
  const ask = (subject: string): void => {
    const its = entry(subject, 'company');
    for (let i = 0; i < 12; i++)
      all.push(
        db.transact(its, (tx) => tx.query(slow)),
        db.read(its).query(slow),
      );
  };
  const areAnswered = async (others: readonly Entry[]): Promise<void> => {
    for (const other of others) {
      expect(await db.transact(other, (tx) => tx.query(quick))).toEqual([{ one: 1 }]);
      expect(await db.read(other).query(quick)).toEqual([{ one: 1 }]);
    }
  };
  try {
    await holder.query('select pg_advisory_lock(7)');
    ask('a');
    // Two of one kind and three of the other.
    await eventually(async () => expect(await waiting()).toBe(5));
    await areAnswered([entry('b', 'company'), entry('c'), entry()]);
    for (const subject of ['b', 'd', 'e']) ask(subject);
    // One more of each kind.
    await eventually(async () => expect(await waiting()).toBe(7));
    await areAnswered([entry('c', 'another'), entry('f'), entry()]);
    expect(await waiting()).toBe(7);
    await holder.query('select pg_advisory_unlock(7)');
    expect(await Promise.all(all)).toHaveLength(96);
  } finally {
    holder.release(true);
    await db.close();
  }
});

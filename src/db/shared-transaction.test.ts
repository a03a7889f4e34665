import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { type FaultySocket, faultySocket } from '../../test/faulty-socket.ts';
import { openDb } from './open.ts';
import { Crowded, SharedTransaction } from './shared-transaction.ts';
import { type Db, Elements, type Entry, listStatement, statement, type Tx } from './transact.ts';

let base: TestDatabase;
let wire: FaultySocket;
let db: Db;

beforeAll(async () => {
  base = await testDatabase();
  wire = await faultySocket(base.connection);
  db = await openDb({ connection: wire.connection, max: 1 });
});
beforeEach(() => {
  wire.roundTrips = 0;
});
afterAll(async () => {
  await db.close();
  await wire.close();
  await base.drop();
});

const enter = statement('together enter', 'select certo.enter_company(null) as company');
const plain = statement('together plain', `select $1::int as n, nextval('together') as order`);
const once = statement('together once', `select $1::int as n, nextval('together') as order`, 'once');
const last = statement('together last', `select nextval('together') as order`, 'last');
const lock = statement('together lock', `select $1::text as id, nextval('together') as order`, 'alone');
const otherLock = statement('together other lock', `select $1::text as id, nextval('together') as order`, 'alone');
const silentLock = statement('together silent', 'select 1 from certo.companies for update');
const listLock = listStatement('together list lock', 'select unnest($1::text[]) as id', { group: 'alone' });
const fail = statement('together fail', 'select 1 / $1::int');
const uneven = listStatement('together uneven', `select v.id from jsonb_to_recordset($1::jsonb) v (id text)`, {
  joins: () => {
    throw new Error('they do not go on from each other');
  },
});
const entry: Entry = { call: [enter, []], accept: () => undefined };

beforeAll(async () => {
  await base.ownerPool.query('create sequence certo.together; grant usage on sequence certo.together to certo_app');
});

const inGroup = <T>(count: number, work: (members: Tx[]) => Promise<T>): Promise<T> =>
  db.transact(entry, async (tx) => {
    const group = new SharedTransaction(tx);
    return await work(Array.from({ length: count }, () => group.member()));
  });

test('what members ask in one turn is one round trip, however many steps each has before or behind it', async () => {
  await inGroup(5, (members) =>
    Promise.all(
      members.map(async (tx, i) => {
        // However long its way there, as long as it is in this turn.
        for (let ticks = 0; ticks < i; ticks += 1) await undefined;
        expect((await tx.query(plain, [i]))[0]?.['n']).toBe(i);
        expect(
          (
            await tx.batch([
              [plain, [i]],
              [plain, [i + 100]],
            ])
          ).map(([row]) => row?.['n']),
        ).toEqual([i, i + 100]);
        if (i === 3) expect((await tx.query(plain, [33]))[0]?.['n']).toBe(33);
      }),
    ),
  );
  // Begin with the first step, the second, the third of one member, commit.
  expect(wire.roundTrips).toBe(4);
});

test('once: equal calls run once and share their rows, also later; other values are other calls', async () => {
  const rows = await inGroup(3, async ([a, b, c]) => [
    ...(await Promise.all([a!.query(once, [1]), b!.query(once, [1]), c!.query(once, [2])])),
    await a!.query(once, [1]),
  ]);
  expect(rows[1]![0]).toBe(rows[0]![0]);
  expect(rows[3]![0]).toBe(rows[0]![0]);
  expect(rows[2]![0]).toMatchObject({ n: 2 });
});

test('last: after everything else of its turn, and shared, also later', async () => {
  const [a, b, later] = await inGroup(2, async ([one, two]) => [
    ...(await Promise.all([
      one!.batch([
        [last, []],
        [once, [1]],
      ]),
      two!.batch([
        [plain, [1]],
        [last, []],
      ]),
    ])),
    await two!.batch([[last, []]]),
  ]);
  const orders = [a![1]![0], b![0]![0]].map((row) => Number(row?.['order']));
  expect(a![0]).toBe(b![1]);
  expect(a![0]).toBe(later![0]);
  expect(Number(a![0]![0]?.['order'])).toBeGreaterThan(Math.max(...orders));
});

test('alone: a second member that wants the same is turned away; the first one may ask again', async () => {
  await inGroup(2, async ([a, b]) => {
    const [first, second, third] = await Promise.allSettled([
      a!.query(lock, ['x']),
      b!.query(otherLock, ['x']),
      b!.query(lock, ['y']),
    ]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(Crowded) });
    expect(third).toMatchObject({ status: 'fulfilled' });
    await a!.query(otherLock, ['x']);
    await expect(b!.query(lock, ['x'])).rejects.toBeInstanceOf(Crowded);
  });
});

test('alone: of a list each element is held', async () => {
  await inGroup(2, async ([a, b]) => {
    const [first, second, third] = await Promise.allSettled([
      a!.query(listLock, [['x', 'y']]),
      b!.query(listLock, [['z', 'y']]),
      b!.query(lock, ['y']),
    ]);
    expect(first).toMatchObject({ status: 'fulfilled', value: [{ id: 'x' }, { id: 'y' }] });
    expect(second).toMatchObject({ status: 'rejected', reason: expect.any(Crowded) });
    expect(third).toMatchObject({ status: 'rejected', reason: expect.any(Crowded) });
  });
});

test('locks are taken in one order, whoever asks first', async () => {
  const rows = await inGroup(3, ([a, b, c]) =>
    Promise.all([a!.query(lock, ['c']), b!.query(lock, ['a']), c!.query(lock, ['b'])]),
  );
  const order = rows.map(([row]) => [row?.['order'], row?.['id']]).toSorted((x, y) => Number(x[0]) - Number(y[0]));
  expect(order.map(([, id]) => id)).toEqual(['a', 'b', 'c']);
});

test('so are those that run once for all', async () => {
  const rows = await inGroup(3, ([a, b, c]) =>
    Promise.all([a!.query(once, [7]), b!.query(once, [5]), c!.query(once, [6])]),
  );
  const order = rows.map(([row]) => [row?.['order'], row?.['n']]).toSorted((x, y) => Number(x[0]) - Number(y[0]));
  expect(order.map(([, n]) => n)).toEqual([5, 6, 7]);
});

test('a lock that does not say how it is shared is no statement for a group', async () => {
  await expect(inGroup(1, ([a]) => a!.query(silentLock))).rejects.toThrow(/does not say how it is shared/);
});

test('an error of one ends it for all, and nothing is kept', async () => {
  const done = inGroup(3, ([a, b, c]) =>
    Promise.allSettled([a!.query(plain, [1]), b!.query(fail, [0]), c!.query(once, [1])]).then((results) => {
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    }),
  );
  await expect(done).rejects.toMatchObject({ code: '22012' });
});

test('what cannot be joined undoes the group, like an error of the server', async () => {
  const element = (id: string) => [new Elements([{ id }])];
  const done = inGroup(3, ([a, b, c]) =>
    Promise.all([a!.query(uneven, element('a')), b!.query(uneven, element('b')), c!.query(plain, [1])]),
  );
  await expect(done).rejects.toThrow('they do not go on from each other');
});

test('a member cannot commit for the others', async () => {
  await expect(inGroup(1, ([a]) => a!.commitWith([]))).rejects.toThrow(/does not commit/);
});

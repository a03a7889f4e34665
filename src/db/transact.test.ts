import { setImmediate as turn } from 'node:timers/promises';
import { Client, Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock, type TestDatabase, testDatabase } from '../../test/database.ts';
import { type FaultySocket, faultySocket } from '../../test/faulty-socket.ts';
import { ConnectionLost, OutcomeUnknown, StatementError } from './errors.ts';
import { openDb } from './open.ts';
import { type Call, clock, type Db, type Entry, Line, makeDb, type Row, statement } from './transact.ts';

const A = '0190a000-0000-7000-8000-00000000000a';
const B = '0190a000-0000-7000-8000-00000000000b';

let base: TestDatabase;
let wire: FaultySocket;
let superuser: Client;
/** One connection only: what is left open or broken shows in the next test. */
let db: Db;

beforeAll(async () => {
  base = await testDatabase();
  // A tenant table by the conventions of 0001_foundation.sql.
  await base.ownerPool.query(`
    create table certo.things (company_id uuid not null, id int not null, twin int, primary key (company_id, id),
      unique (company_id, twin) deferrable initially deferred);
    alter table certo.things enable row level security;
    alter table certo.things force row level security;
    create policy tenant on certo.things to certo_app
      using (company_id = (select certo.current_company())) with check (company_id = (select certo.current_company()));
    create policy owner on certo.things to certo_owner using (true) with check (true);
    grant select, insert, delete on certo.things to certo_app;`);
  superuser = new Client({ ...base.connection, ssl: false });
  await superuser.connect();
  wire = await faultySocket(base.connection);
  db = await openDb({ connection: wire.connection, max: 1 });
});
beforeEach(() => {
  wire.roundTrips = 0;
});
afterEach(async () => {
  wire.fault = undefined;
  // Nothing is left open, and the next user of the connection is in nobody's company.
  expect(await db.read(into(null)).query(state)).toEqual([{ company: null, lazy: 'on' }]);
  await base.ownerPool.query('delete from certo.things');
});
afterAll(async () => {
  await db.close();
  await superuser.end();
  await wire.close();
  await base.drop();
});

const enter = statement('test enter', 'select certo.enter_company($1) as company');
const state = statement(
  'test state',
  `select certo.current_company() as company, current_setting('synchronous_commit') as lazy`,
);
const enterLazily = statement(
  'test enter lazily',
  `select certo.enter_company($1), set_config('synchronous_commit', 'off', true)`,
);
const put = statement('test put', 'insert into certo.things values (certo.current_company(), $1, $2) returning id');
const list = statement('test list', 'select id from certo.things order by id');
const fail = statement('test fail', 'select 1 / 0');
const tooLarge = statement('test too large', 'select 9007199254740993::int8 as n');

function into(company: string | null, accept: (rows: Row[]) => void = () => undefined): Entry {
  return { call: [enter, [company]], accept };
}

function refusing(reason: Error): Entry {
  return into(A, () => {
    throw reason;
  });
}

async function stored(): Promise<number[]> {
  const { rows } = await base.ownerPool.query<{ id: number }>('select id from certo.things order by id');
  return rows.map(({ id }) => id);
}

describe('a read', () => {
  test('is one round trip, inside its company', async () => {
    await base.ownerPool.query(`insert into certo.things values ($1, 1), ($2, 2)`, [A, B]);
    await db.read(into(A)).query(list);
    wire.roundTrips = 0;
    expect(await db.read(into(A)).query(list)).toEqual([{ id: 1 }]);
    expect(
      await db.read(into(B)).batch([
        [list, []],
        [list, []],
      ]),
    ).toEqual([[{ id: 2 }], [{ id: 2 }]]);
    expect(wire.roundTrips).toBe(2);
    expect(await db.read(into(null)).query(list)).toEqual([]);
  });

  test('takes composed SQL', async () => {
    expect(await db.read(into(A)).query({ sql: 'select $1::int + 1 as n', parameters: [1] })).toEqual([{ n: 2 }]);
  });

  test('gives the entry its rows, and nothing to who is refused', async () => {
    let seen: Row[] = [];
    await db
      .read(
        into(A, (rows) => {
          seen = rows;
        }),
      )
      .query(list);
    expect(seen).toEqual([{ company: A }]);
    const reason = new Error('no');
    await expect(db.read(refusing(reason)).query(list)).rejects.toBe(reason);
  });

  test('tells the refusal of the entry rather than the error of the statement behind it', async () => {
    const reason = new Error('no');
    await expect(db.read(refusing(reason)).query(fail)).rejects.toBe(reason);
    await expect(db.read(into(A)).query(fail)).rejects.toMatchObject({ name: 'StatementError', code: '22012' });
  });

  test('has nothing to commit', async () => {
    await expect(db.read(into(A)).commitWith([[put, [1, null]]])).rejects.toThrow(/nothing to commit/);
  });
});

describe('a transaction', () => {
  test('costs two round trips with commitWith, and nothing when it asks nothing', async () => {
    const done = await db.transact(into(A), async (tx) => {
      const before = await tx.query(list);
      const [first] = await tx.commitWith([
        [put, [1, null]],
        [put, [2, null]],
      ]);
      return [before, first];
    });
    expect(done).toEqual([[], [{ id: 1 }]]);
    expect(wire.roundTrips).toBe(2);
    expect(await db.transact(into(A), async () => 'idle')).toBe('idle');
    expect(wire.roundTrips).toBe(2);
    expect(await stored()).toEqual([1, 2]);
  });

  test('commits when its function returns', async () => {
    await db.transact(into(A), async (tx) => void (await tx.query(put, [1, null])));
    expect(wire.roundTrips).toBe(2);
    expect(await stored()).toEqual([1]);
  });

  test('rolls back when its function throws, with that error', async () => {
    const reason = new Error('changed my mind');
    const done = db.transact(into(A), async (tx) => {
      await tx.query(put, [1, null]);
      throw reason;
    });
    await expect(done).rejects.toBe(reason);
    expect(await stored()).toEqual([]);
  });

  test('is vetoed by its entry, also when all of it comes in one call', async () => {
    const reason = new Error('no');
    await expect(db.transact(refusing(reason), (tx) => tx.query(put, [1, null]))).rejects.toBe(reason);
    await expect(db.transact(refusing(reason), (tx) => tx.commitWith([[put, [1, null]]]))).rejects.toBe(reason);
    await expect(db.transact(refusing(reason), (tx) => tx.query(fail))).rejects.toBe(reason);
    expect(await stored()).toEqual([]);
    await db.transact(into(A), (tx) => tx.commitWith([[put, [1, null]]]));
    expect(await stored()).toEqual([1]);
  });

  test('asks its entry once', async () => {
    let asked = 0;
    await db.transact(
      into(A, () => {
        asked += 1;
      }),
      async (tx) => {
        await tx.query(list);
        await tx.query(list);
      },
    );
    expect(asked).toBe(1);
  });

  test('does not let an error be swallowed', async () => {
    const done = db.transact(into(A), async (tx) => {
      await tx.query(put, [1, null]);
      await tx.query(fail).catch(() => undefined);
      await tx.query(list).catch(() => undefined);
      return 'fine';
    });
    await expect(done).rejects.toMatchObject({ statement: 'test fail' });
    expect(await stored()).toEqual([]);
  });

  test('runs in order what is asked at once, and waits for what nobody waited for', async () => {
    await db.transact(into(A), async (tx) => {
      const all = await Promise.all([
        tx.query(put, [1, null]),
        tx.query(list),
        tx.query(put, [2, null]),
        tx.query(list),
      ]);
      expect(all).toEqual([[{ id: 1 }], [{ id: 1 }], [{ id: 2 }], [{ id: 1 }, { id: 2 }]]);
      void tx.query(put, [3, null]);
    });
    expect(await stored()).toEqual([1, 2, 3]);
  });

  test('shows nothing to what was asked at once with a refused entry', async () => {
    const reason = new Error('no');
    let second: unknown;
    const done = db.transact(refusing(reason), async (tx) => {
      const first = tx.query(list);
      second = tx.query(list).catch((error: unknown) => error);
      await first;
    });
    await expect(done).rejects.toBe(reason);
    expect(await second).toBe(reason);
  });

  test('is over after commitWith', async () => {
    const done = db.transact(into(A), async (tx) => {
      await tx.commitWith([[put, [1, null]]]);
      await tx.query(list);
    });
    await expect(done).rejects.toThrow(/over/);
    expect(await stored()).toEqual([1]);
  });

  test('tells what the commit itself refuses, and keeps nothing', async () => {
    for (const last of [true, false]) {
      const done = db.transact(into(A), async (tx) => {
        await tx.query(put, [1, 7]);
        if (last) await tx.commitWith([[put, [2, 7]]]);
        else await tx.query(put, [2, 7]);
      });
      await expect(done).rejects.toMatchObject({ name: 'StatementError', code: '23505', statement: 'commit' });
    }
    expect(await stored()).toEqual([]);
  });

  test('may commit lazily, for itself alone', async () => {
    const fresh = await openDb({ connection: base.connection, max: 1 });
    const durable = await fresh.transact(into(A), (tx) => tx.query(state));
    // With the entry that says so itself, and with one that does not; alone and shared.
    const enters: Entry = { ...into(A), lazily: [enterLazily, [A]] };
    const said = [into(A), enters, { ...into(A), subject: 'A' }, { ...enters, subject: 'A' }];
    const without = [];
    for (const entry of said) without.push(await fresh.read(entry, 'lazily').batch([[state, []]]));
    const after = await fresh.read(enters).query(state);
    await fresh.close();
    expect([durable, after]).toEqual([[{ company: A, lazy: 'on' }], [{ company: A, lazy: 'on' }]]);
    expect(without).toEqual(said.map(() => [[{ company: A, lazy: 'off' }]]));
  });

  test('loses no connection over a value that cannot be sent or read', async () => {
    for (let time = 0; time < 3; time += 1) {
      await expect(db.read(into(A)).query(put, [Number.NaN])).rejects.toThrow(TypeError);
      await expect(db.transact(into(A), (tx) => tx.query(put, [Number.NaN, null]))).rejects.toThrow(TypeError);
      await expect(db.transact(into(A), (tx) => tx.query(tooLarge))).rejects.toThrow(/too large/);
    }
  });

  test('prepares anew after a table changed under its statement', async () => {
    await base.ownerPool.query('create table certo.changing (a int); grant select on certo.changing to certo_app');
    const all = statement('test changing', 'select * from certo.changing');
    await db.read(into(A)).query(all);
    await base.ownerPool.query('alter table certo.changing add b int');
    await expect(db.read(into(A)).query(all)).rejects.toMatchObject({ code: '0A000' });
    expect(await db.read(into(A)).query(all)).toEqual([]);
  });

  test('does so whatever language the server speaks', async () => {
    const whoseTurn = { sql: 'select pg_backend_pid() as pid', parameters: [] };
    const alone = await openDb({ connection: base.connection, max: 1 });
    try {
      const [before] = await alone.read(into(A)).query(whoseTurn);
      // As lc_messages = de_DE has it.
      const sql = `do $$ begin raise 'gecachter Plan darf den Ergebnistyp nicht ändern' using errcode = '0A000'; end $$`;
      await expect(alone.read(into(A)).query({ sql, parameters: [] })).rejects.toMatchObject({ code: '0A000' });
      expect((await alone.read(into(A)).query(whoseTurn))[0]).not.toEqual(before);
    } finally {
      await alone.close();
    }
  });
});

describe('while nothing may be written', () => {
  test('reads are answered, and nothing of a write is sent', async () => {
    let short: StatementError | undefined = new StatementError('write', { message: 'no room', code: '53100' });
    const guarded = await openDb({ connection: base.connection, max: 1, guard: () => short });
    const calls: Call[] = [[put, [1, null]]];
    const writes = [
      () => guarded.read(into(A), 'lazily').batch(calls),
      () => guarded.read({ ...into(A), subject: 'A' }, 'lazily').batch(calls),
      () => guarded.transact(into(A), (tx) => tx.batch(calls)),
      () => guarded.write(into(A), calls, new Line()),
      async () => {
        const open = guarded.open(into(A), [], new Line());
        await open.begun;
        await open.write(calls);
      },
    ];
    try {
      for (const write of writes) await expect(write()).rejects.toBe(short);
      guarded.open(into(A), calls, new Line()).leave();
      expect(await stored()).toEqual([]);
      for (const how of ['alone', 'shared'] as const)
        expect(await guarded.read({ ...into(A), subject: 'A' }, how).query(state)).toMatchObject([{ company: A }]);
      short = undefined;
      await writes[3]!();
      expect(await stored()).toEqual([1]);
    } finally {
      await guarded.close();
    }
  });
});

describe('a transaction in one round trip', () => {
  const write = (entry: Entry, calls: readonly Call[]) => db.write(entry, calls, new Line());

  test('keeps all of it, or nothing', async () => {
    await write(into(A), [
      [put, [1, null]],
      [put, [2, null]],
    ]);
    expect([await stored(), wire.roundTrips]).toEqual([[1, 2], 1]);
    const failed = write(into(A), [
      [put, [3, null]],
      [fail, []],
      [put, [4, null]],
    ]);
    await expect(failed).rejects.toMatchObject({ name: 'StatementError', code: '22012' });
    const refused = write(into(A), [
      [put, [3, 7]],
      [put, [4, 7]],
    ]);
    await expect(refused).rejects.toMatchObject({ name: 'StatementError', code: '23505' });
    expect(await stored()).toEqual([1, 2]);
  });

  test('of nobody changes nothing, and tells what its entry says of the failure', async () => {
    const reason = new Error('no');
    const nobody: Entry = { ...refusing(reason), call: [enter, [null]] };
    await expect(write(nobody, [[put, [1, null]]])).rejects.toBe(reason);
    expect(await stored()).toEqual([]);
  });

  test('that is lost before or after it arrived has an unknown outcome, as one whose results cannot be read', async () => {
    for (const how of ['cut before it arrives', 'cut before the answer'] as const) {
      wire.fault = { on: 'test put', how };
      await expect(write(into(A), [[put, [1, null]]])).rejects.toBeInstanceOf(OutcomeUnknown);
    }
    expect(await stored()).toEqual([1]);
    await expect(
      write(into(A), [
        [put, [2, null]],
        [tooLarge, []],
      ]),
    ).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await stored()).toEqual([1, 2]);
    await expect(write(into(A), [[put, [Number.NaN, null]]])).rejects.toThrow(TypeError);
  });
});

describe('when the connection breaks', () => {
  const insertOne = () =>
    db.transact(into(A), async (tx) => {
      await tx.query(list);
      await tx.commitWith([[put, [1, null]]]);
    });

  test('before the commit is sent, nothing is kept and it is ConnectionLost', async () => {
    wire.fault = { on: 'test list', how: 'cut before the answer' };
    await expect(insertOne()).rejects.toBeInstanceOf(ConnectionLost);
    expect(await stored()).toEqual([]);
  });

  test('between two statements, the transaction does not go on with another connection', async () => {
    const done = db.transact(into(A), async (tx) => {
      await tx.query(put, [1, null]);
      wire.cutAll();
      await tx.query(put, [2, null]);
    });
    await expect(done).rejects.toBeInstanceOf(ConnectionLost);
    expect(await stored()).toEqual([]);
  });

  test('after the commit took effect, the outcome is unknown', async () => {
    wire.fault = { on: 'test put', how: 'cut before the answer' };
    await expect(insertOne()).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await stored()).toEqual([1]);
  });

  test('before the commit arrived, the outcome is as unknown', async () => {
    wire.fault = { on: 'test put', how: 'cut before it arrives' };
    await expect(insertOne()).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await stored()).toEqual([]);
  });

  test('an unknown outcome cannot be swallowed', async () => {
    wire.fault = { on: 'test put', how: 'cut before the answer' };
    const done = db.transact(into(A), async (tx) => {
      await tx.query(list);
      await tx.commitWith([[put, [1, null]]]).catch(() => undefined);
    });
    await expect(done).rejects.toBeInstanceOf(OutcomeUnknown);
  });

  test('a result of the commit that cannot be read is an unknown outcome too: it is kept', async () => {
    const done = db.transact(into(A), async (tx) => {
      await tx.query(put, [1, null]);
      await tx.commitWith([[tooLarge, []]]);
    });
    await expect(done).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await stored()).toEqual([1]);
  });

  test('because the server ends it, statements reject and the pool goes on', async () => {
    const done = db.transact(into(A), async (tx) => {
      const [row] = await tx.query({ sql: 'select pg_backend_pid() as pid', parameters: [] });
      const end = async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        await superuser.query('select pg_terminate_backend($1)', [row?.['pid']]);
      };
      await Promise.all([tx.query({ sql: 'select pg_sleep(20)', parameters: [] }), end()]);
    });
    await expect(done).rejects.toBeInstanceOf(ConnectionLost);
    expect(await db.read(into(A)).query(list)).toEqual([]);
  });

  test('while it was idle, the next one uses a new connection', async () => {
    await db.read(into(A)).query(list);
    wire.cutAll();
    await new Promise((resolve) => setTimeout(resolve, 20));
    // A timer that is late comes before what the sockets have to say; this comes behind it.
    await turn();
    expect(await db.read(into(A)).query(list)).toEqual([]);
  });

  test('without a word, the deadline ends the wait', async () => {
    const pool = new Pool({ ...wire.connection, ssl: false, max: 1 });
    pool.on('error', () => undefined);
    pool.on('connect', (client: PoolClient) => client.on('error', () => undefined));
    const impatient = makeDb({ pool, connect: () => pool.connect(), knock: () => Promise.resolve(), deadline: 2_000 });
    await impatient.read(into(A)).query(state);
    wire.fault = { on: 'test state', how: 'never answer' };
    await expect(impatient.read(into(A)).query(state)).rejects.toBeInstanceOf(ConnectionLost);
    expect(await impatient.read(into(A)).query(state)).toHaveLength(1);
    await impatient.close();
  });
});

test('errors of statements are told apart by class', async () => {
  await expect(db.read(into(A)).query(fail)).rejects.toBeInstanceOf(StatementError);
});

test.each([new Date('2031-05-06T07:08:09.123Z'), null])(
  'a statement that reads the clock itself reads what certo.now() says: %s',
  async (at) => {
    await setClock(base.ownerPool, at);
    const [read] = await db.read(into(A)).query({
      sql: `select date_trunc('milliseconds', n.now) = n.now as whole, certo.now() - n.now between '0' and '1 second' as same from ${clock} n`,
      parameters: [],
    });
    await setClock(base.ownerPool, null);
    expect(read).toEqual({ whole: true, same: true });
  },
);

import { createServer, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { relaySocket } from '../../test/relay-socket.ts';
import { DatabaseUnavailable } from './errors.ts';
import { openDb, openLogin, openOwner } from './open.ts';
import { type Entry, statement } from './transact.ts';

let base: TestDatabase;
beforeAll(async () => {
  base = await testDatabase();
});
afterAll(() => base.drop());

const entry: Entry = { call: [statement('open enter', 'select 1 as one'), []], accept() {} };
const whoAmI = {
  sql: `select current_user::text as acts, session_user::text as login, current_setting('search_path') as path,
    current_setting('TimeZone') as zone, current_setting('statement_timeout') as timeout`,
  parameters: [],
};

/** The embedded server as a DATABASE_URL has it. */
function addressOf(query = ''): string {
  const { host, port, database, user } = base.connection;
  return `postgresql://${user}:hunter2@/${database}?host=${encodeURIComponent(host)}&port=${port}${query}`;
}

describe('the service', () => {
  test('is certo_app from the start where the socket is trusted', async () => {
    expect(await base.db.read(entry).query(whoAmI)).toEqual([
      { acts: 'certo_app', login: 'certo_app', path: 'certo,public', zone: 'UTC', timeout: '30s' },
    ]);
  });

  test('becomes certo_app on a DATABASE_URL, and stays it', async () => {
    const db = await openDb({ connectionString: addressOf('&options=-c%20role%3Dnone%20-c%20timezone%3DAsia/Tokyo') });
    try {
      expect(await db.read(entry).query(whoAmI)).toMatchObject([{ acts: 'certo_app', login: 'postgres', zone: 'UTC' }]);
      await db.read(entry).query({ sql: 'reset role', parameters: [] });
      expect(await db.read(entry).query(whoAmI)).toMatchObject([{ acts: 'certo_app' }]);
    } finally {
      await db.close();
    }
  });

  test('can neither make tables nor move the clock nor truncate', async () => {
    const forbidden = [
      'create table certo.x ()',
      'create table public.x ()',
      'create temporary table x ()',
      'create schema x',
    ];
    forbidden.push('truncate certo.claims', `update certo.clock set shift = '1 day'`, 'set role certo_owner');
    for (const sql of forbidden) {
      await expect(base.db.read(entry).query({ sql, parameters: [] }), sql).rejects.toMatchObject({ code: '42501' });
    }
  });
});

describe('whatever somebody has set for the database or its users', () => {
  /** As a superuser, who may set anything; taken back at the end. */
  async function having<T>(set: string, work: () => Promise<T>): Promise<T> {
    const { database } = base.connection;
    const superuser = new Client({ ...base.connection, ssl: false });
    await superuser.connect();
    try {
      await superuser.query(`alter database ${database} set ${set}`);
      return await work();
    } finally {
      await superuser.query(`alter database ${database} reset all`);
      await superuser.end();
    }
  }

  test.each([
    ['synchronous_commit', 'off', 'on'],
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['row_security', 'off', 'on'],
    ['standard_conforming_strings', 'off', 'on'],
    ['array_nulls', 'off', 'on'],
    ['transform_null_equals', 'on', 'off'],
    ['intervalstyle', 'iso_8601', 'postgres'],
    ['lock_timeout', '1ms', '0'],
    ['idle_session_timeout', '1s', '0'],
    ['jit', 'on', 'off'],
  ])('%s is what the program needs', async (name, theirs, ours) => {
    const asked = { sql: `select current_setting('${name}') as value`, parameters: [] };
    await having(`${name} = '${theirs}'`, async () => {
      const login = new Client({ ...base.connection, ssl: false });
      await login.connect();
      const there = await login.query(asked.sql);
      await login.end();
      // It does hold for others.
      expect(there.rows[0].value).not.toBe(ours);
      const [db, owner] = [
        await openDb({ connectionString: addressOf() }),
        await openOwner({ connection: base.connection }),
      ];
      try {
        expect(await db.read(entry).query(asked)).toEqual([{ value: ours }]);
        expect((await owner.query(asked.sql)).rows).toEqual([{ value: ours }]);
      } finally {
        await Promise.all([db.close(), owner.end()]);
      }
    });
  });

  test('sessions in which no trigger fires are refused: what is issued would not be frozen', async () => {
    const replica = /session_replication_role .* in which no trigger fires/;
    await having(`session_replication_role = 'replica'`, async () => {
      await expect(openDb({ connectionString: addressOf() })).rejects.toThrow(replica);
      await expect(openOwner({ connection: base.connection })).rejects.toThrow(replica);
    });
  });
});

test('a pooler that leaves the settings of a session out is refused: it would act as the login user', async () => {
  // As PgBouncer does with ignore_startup_parameters = options.
  const pooler = await relaySocket(base.connection, (near, far) => {
    near.once('data', (startup) => {
      far.write(withoutOptions(startup));
      near.pipe(far);
    });
    far.pipe(near);
  });
  const connectionString = addressOf().replace(
    encodeURIComponent(base.connection.host),
    encodeURIComponent(pooler.connection.host),
  );
  try {
    for (const opening of [openDb, openOwner, openLogin]) {
      const opened = opening({ connectionString }).then(async (db) => ('close' in db ? db.close() : db.end()));
      await expect(opened).rejects.toThrow(
        /^The settings that a session begins with do not reach the database .*pooler/,
      );
    }
  } finally {
    await pooler.close();
  }
});

/** A startup message: its length, the version of the protocol, names and values with a zero behind each, and a zero. */
function withoutOptions(startup: Buffer): Buffer {
  const texts = startup.subarray(8, -2).toString().split('\0');
  const kept = texts.filter((_, i) => texts[i - (i % 2)] !== 'options').map((text) => `${text}\0`);
  const body = Buffer.from(`${kept.join('')}\0`);
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

test('the owner acts as certo_owner, with the same types of values', async () => {
  const pool = await openOwner({ connectionString: addressOf() });
  const { rows } = await pool.query(`select current_user::text as u, date '2026-01-31' as d, 1.50 as n, 7::int8 as i`);
  await pool.end();
  expect(rows).toEqual([{ u: 'certo_owner', d: '2026-01-31', n: '1.50', i: 7 }]);
});

describe('a database that cannot be had is told in one sentence without the password', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function problemOf(connectionString: string): Promise<string> {
    const outcome = await openDb({ connectionString }).then(
      (db) => db.close(),
      (error: unknown) => error,
    );
    if (!(outcome instanceof DatabaseUnavailable)) throw new Error(`expected DatabaseUnavailable, got ${outcome}`);
    const told = [outcome.message, outcome.stack, JSON.stringify(outcome), String(outcome.cause)].join();
    expect(told).not.toContain('hunter2');
    expect(outcome.message).toMatch(/^[A-Z].*[.?]$/);
    return outcome.message;
  }

  /** A server that answers the startup message with the given bytes, and each query with its version. */
  async function scripted(greeting: Buffer, version = '150000'): Promise<string> {
    server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(greeting);
        socket.on('data', () => socket.write(versionAnswer(version)));
      });
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return `postgres://ana:hunter2@127.0.0.1:${port}/books`;
  }

  test('nothing listens', async () => {
    expect(await problemOf('postgres://ana:hunter2@127.0.0.1:1/books')).toBe(
      'Nothing answers for the database books at 127.0.0.1:1: is the server running?',
    );
    expect(await problemOf('postgres://ana:hunter2@/books?host=/nowhere')).toMatch(
      /at \/nowhere: is the server running/,
    );
  });

  test('the host is unknown', async () => {
    expect(await problemOf('postgres://ana:hunter2@certo.invalid/books')).toMatch(
      /host of the database books at certo.invalid/,
    );
  });

  test('there is no such database', async () => {
    expect(await problemOf(addressOf().replace(base.connection.database, 'nowhere'))).toMatch(
      /no such database: the database nowhere/,
    );
  });

  test('the address names no database, and the user has none of its name', async () => {
    const address = addressOf().replace('postgres:hunter2', 'certo_app:hunter2');
    expect(await problemOf(address.replace(`/${base.connection.database}?`, '/?'))).toMatch(
      /no such database: the database of its user's name at /,
    );
  });

  test('the login user may not become the role', async () => {
    const connectionString = addressOf().replace('postgres:hunter2', 'certo_app:hunter2');
    await expect(openOwner({ connectionString })).rejects.toThrow(/may not act for Certo: permission denied/);
  });

  test.each([
    ['28P01', 'password authentication failed for user "ana"', /refused the user name or password/],
    ['28000', 'no pg_hba.conf entry', /does not let this user connect/],
    ['22023', 'role "certo_app" does not exist', /run "certo migrate" first/],
    ['42501', 'permission denied to set role "certo_app"', /may not act for Certo/],
    ['53300', 'too many clients already', /takes no more connections/],
    ['57P03', 'the database system is starting up', /starting up or shutting down/],
    ['XX000', 'something else', /refused the connection: something else/],
  ])('the server answers %s', async (code, message, sentence) => {
    expect(await problemOf(await scripted(errorMessage(code, message)))).toMatch(sentence);
  });

  test('the server is older than 15', async () => {
    expect(await problemOf(await scripted(welcome, '140012'))).toBe(
      'The server is PostgreSQL 14; Certo needs 15 or newer.',
    );
  });

  test('it wants no encryption, or hangs up', async () => {
    expect(await problemOf(`${await scripted(Buffer.from('N'))}?sslmode=verify-full`)).toMatch(
      /No trusted encrypted connection/,
    );
    server?.close();
    server = createServer((socket: Socket) => socket.destroy());
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    expect(await problemOf(`postgres://ana:hunter2@127.0.0.1:${port}/books`)).toMatch(/broke/);
  });

  test.each(['prefer', 'require', 'verify-ca'])('sslmode=%s is verify-full, and no library warns', async (mode) => {
    const warned = vi.spyOn(process, 'emitWarning');
    expect(await problemOf(`${await scripted(Buffer.from('N'))}?sslmode=${mode}`)).toMatch(
      /No trusted encrypted connection/,
    );
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('it may choose to trust as libpq does', async () => {
    const place = `${await scripted(Buffer.from('N'))}?uselibpqcompat=true&sslmode`;
    expect(await problemOf(`${place}=verify-ca`)).toMatch(/verify-ca requires .* sslrootcert/);
  });

  test('a certificate file is missing', async () => {
    expect(await problemOf('postgres://ana:hunter2@127.0.0.1/books?sslmode=verify-full&sslrootcert=/nowhere')).toMatch(
      /file/,
    );
  });

  test('a certificate file is a device or a folder, which would be read for ever or not at all', async () => {
    for (const [name, path] of [
      ['sslrootcert', '/dev/zero'],
      ['sslcert', '/dev/zero'],
      ['sslkey', '/'],
    ] as const)
      expect(await problemOf(`postgres://ana:hunter2@127.0.0.1/books?sslmode=verify-full&${name}=${path}`)).toBe(
        `DATABASE_URL names ${path} as its ${name}, which is no file of a key or a certificate: name one.`,
      );
  });

  test.each([
    '',
    'books',
    'mysql://ana:hunter2@host/books',
    'postgres://ana:hunter2%zz@host/books',
    'postgres://ana:hunter2@ho st/x:y',
  ])('it is no address: %s', async (text) => {
    expect(await problemOf(text)).toMatch(/DATABASE_URL is not an address/);
  });
});

function message(type: string, ...parts: (string | number)[]): Buffer {
  // Numbers are 32 bits unless written as strings; strings end with a zero.
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`);
      const number = Buffer.alloc(4);
      number.writeInt32BE(part);
      return number;
    }),
  );
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function errorMessage(code: string, text: string): Buffer {
  return message('E', 'SFATAL', `C${code}`, `M${text}`, '');
}

const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const welcome = Buffer.concat([message('R', 0), ready]);

function versionAnswer(version: string): Buffer {
  const short = (value: number) => Buffer.from([value >> 8, value & 255]);
  const field = [
    short(1),
    Buffer.from('version\0'),
    Buffer.alloc(6),
    Buffer.from([0, 0, 0, 23]),
    short(4),
    Buffer.alloc(4),
    short(0),
  ];
  const row = [short(1), Buffer.from([0, 0, 0, version.length]), Buffer.from(version)];
  const frame = (type: string, parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  return Buffer.concat([frame('T', field), frame('D', row), message('C', 'SELECT 1'), ready]);
}

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClock, type TestDatabase, testDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { type Embedded, startEmbedded } from './embedded.ts';
import { migrate, migrationFiles } from './migrate.ts';
import { openDb, openOwner, type SocketConnection } from './open.ts';
import { type Entry, statement } from './transact.ts';

let base: TestDatabase;
let superuser: Client;
let folder: URL;
const made: string[] = [];

beforeAll(async () => {
  base = await testDatabase();
  superuser = new Client({ ...base.connection, ssl: false });
  await superuser.connect();
  folder = pathToFileURL(`${await mkdtemp(join(tmpdir(), 'certo-migrations-'))}/`);
  await file(
    '0001_one.sql',
    'set local role certo_owner; create table certo.one (n int); insert into certo.one values (1);',
  );
});
afterAll(async () => {
  for (const name of made) await superuser.query(`drop database ${name} with (force)`);
  await superuser.end();
  await base.drop();
  await rm(folder, { recursive: true });
});

function file(name: string, text: string): Promise<void> {
  return writeFile(new URL(name, folder), text);
}

async function emptyDatabase(): Promise<SocketConnection> {
  const name = `migrate_${process.pid}_${made.length}`;
  made.push(name);
  await superuser.query(`create database ${name}`);
  return { ...base.connection, database: name };
}

async function ask(connection: SocketConnection, sql: string): Promise<unknown[]> {
  const pool = await openOwner({ connection });
  try {
    return (await pool.query(sql)).rows;
  } finally {
    await pool.end();
  }
}

describe('migrate', () => {
  test('applies what is missing, in order, once', async () => {
    const connection = await emptyDatabase();
    expect(await migrate({ connection, folder })).toEqual({ applied: ['0001_one'] });
    expect(await migrate({ connection, folder })).toEqual({ applied: [] });
    await file('0002_two.sql', 'set local role certo_owner; alter table certo.one add two int');
    expect(await migrate({ connection, folder })).toEqual({ applied: ['0002_two'] });
    expect(await ask(connection, 'select * from certo.one')).toEqual([{ n: 1, two: null }]);
    await rm(new URL('0002_two.sql', folder));
    // Now the database is ahead of the program.
    await expect(migrate({ connection, folder })).rejects.toThrow(
      'The database was migrated by a newer Certo (it has 0002_two). Install that version or a later one.',
    );
  });

  test('from several processes at once applies each file once', async () => {
    const connections = [await emptyDatabase(), await emptyDatabase()];
    const runs = [0, 1, 2, 3, 4, 5].map((at) =>
      migrate({ connection: connections[at % 2] ?? base.connection, folder }),
    );
    const applied = (await Promise.all(runs)).map((run) => run.applied.length);
    expect(applied.filter((count) => count === 1)).toHaveLength(2);
    for (const connection of connections) expect(await ask(connection, 'select * from certo.one')).toEqual([{ n: 1 }]);
  });

  test('is done again where it and a transaction of the version before waited for each other', async () => {
    const connection = await emptyDatabase();
    await migrate({ connection, folder });
    // Who finds out is the migration: it waits first.
    await superuser.query(`alter database ${connection.database} set deadlock_timeout = '2s'`);
    await file(
      '0002_both.sql',
      'set local role certo_owner; alter table certo.one add a int; lock table certo.kysely_migration',
    );
    const before = new Client({ ...connection, ssl: false });
    await before.connect();
    await before.query(`set deadlock_timeout = '30s'; begin; select from certo.kysely_migration`);
    const migrated = migrate({ connection, folder });
    await eventually(async () => {
      const waiting = `select from pg_locks where relation = 'certo.kysely_migration'::regclass and not granted`;
      expect((await before.query(waiting)).rowCount).toBe(1);
    });
    await before.query('select from certo.one; commit');
    expect(await migrated).toEqual({ applied: ['0002_both'] });
    await before.end();
    await rm(new URL('0002_both.sql', folder));
  });

  test('refuses a database whose encoding knows no letters with accents, or not all', async () => {
    for (const encoding of ['SQL_ASCII', 'LATIN1']) {
      const name = `migrate_${process.pid}_${made.length}`;
      made.push(name);
      await superuser.query(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
      const connection = { ...base.connection, database: name };
      await expect(migrate({ connection, folder })).rejects.toThrow(
        new RegExp(`^The database ${name} has the encoding ${encoding}, .*ENCODING 'UTF8' TEMPLATE template0`),
      );
      expect(await ask(connection, `select to_regnamespace('certo') as there`)).toEqual([{ there: null }]);
    }
  });

  test('refuses a schema certo that belongs to somebody else', async () => {
    const connection = await emptyDatabase();
    const client = new Client({ ...connection, ssl: false });
    await client.connect();
    await client.query('create schema certo');
    await expect(migrate({ connection, folder })).rejects.toThrow(
      new RegExp(
        `^The schema certo of the database ${connection.database} belongs to ${connection.user}, .*certo restore`,
      ),
    );
    const made = await client.query(`select 1 from pg_class where relnamespace = 'certo'::regnamespace`);
    await client.end();
    expect(made.rows).toEqual([]);
  });

  test('keeps nothing of a set in which one file fails, and says which', async () => {
    const connection = await emptyDatabase();
    await file('0003_wrong.sql', 'create table certo.three (); select * from nowhere');
    await expect(migrate({ connection, folder })).rejects.toThrow(
      /^Migration 0003_wrong failed and nothing was changed: .*nowhere/,
    );
    await rm(new URL('0003_wrong.sql', folder));
    expect(await ask(connection, `select to_regclass('certo.one')::text as one`)).toEqual([{ one: null }]);
    expect(await migrate({ connection, folder })).toEqual({ applied: ['0001_one'] });
  });
});

describe('on a server that never saw Certo, for a login user who is no superuser', () => {
  let server: Embedded;
  let home: string;
  let root: Client;
  const addressOf = (database: string) =>
    `postgres://tenant_admin@/${database}?host=${encodeURIComponent(server.connection.host)}`;
  const service: Entry = { call: [statement('migrate enter', 'select 1 as one'), []], accept() {} };

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), `certo-test-${process.pid}-`));
    server = await startEmbedded({
      dataDirectory: home,
      uid: process.getuid?.() ?? 0,
      durable: false,
      log: () => undefined,
    });
    root = new Client({ ...server.connection, database: 'postgres', ssl: false });
    await root.connect();
    await root.query('create role tenant_admin login createrole');
    for (const name of ['books', 'more_books']) await root.query(`create database ${name} owner tenant_admin`);
  });
  afterAll(async () => {
    await root.end();
    await server.stop();
    await rm(home, { recursive: true });
  });

  test('a user who may not make the roles is refused', async () => {
    await root.query('create role stranger login');
    await root.query('create database theirs owner stranger');
    const connectionString = addressOf('theirs').replace('tenant_admin', 'stranger');
    await expect(migrate({ connectionString })).rejects.toThrow(
      /^The roles of Certo cannot be set up: permission denied to create role\. The user of DATABASE_URL .*CREATEROLE/,
    );
  });

  test('it makes the roles and can become them, also for a second database', async () => {
    await expect(openDb({ connectionString: addressOf('books') })).rejects.toThrow(/run "certo migrate" first/);
    // Both from several processes at once, while there are no roles yet.
    const databases = ['books', 'more_books'];
    const runs = [...databases, ...databases, ...databases].map((name) =>
      migrate({ connectionString: addressOf(name) }),
    );
    const applied = (await Promise.all(runs)).flatMap((run) => run.applied);
    expect(applied.filter((name) => name === '0001_foundation')).toHaveLength(2);
    for (const database of databases) {
      const connectionString = addressOf(database);
      const db = await openDb({ connectionString });
      const asked = db
        .read(service)
        .query({ sql: 'select current_user::text as u, certo.now() is not null as n', parameters: [] });
      expect(await asked).toEqual([{ u: 'certo_app', n: true }]);
      await db.close();
    }
    const { rows } = await root.query(
      `select rolname, rolcanlogin, rolsuper from pg_roles where rolname like 'certo%' order by 1`,
    );
    expect(rows).toEqual([
      { rolname: 'certo_app', rolcanlogin: false, rolsuper: false },
      { rolname: 'certo_owner', rolcanlogin: false, rolsuper: false },
    ]);
  });

  test('another user, whom nobody granted the roles, is refused', async () => {
    const connectionString = addressOf('theirs').replace('tenant_admin', 'stranger');
    await expect(migrate({ connectionString })).rejects.toThrow(
      /^The roles of Certo cannot be set up: .*permission denied.*GRANT certo_owner, certo_app TO stranger/,
    );
    await root.query('grant certo_owner, certo_app to stranger');
    expect((await migrate({ connectionString })).applied).toContain('0001_foundation');
  });

  test('the owner of another database is told who grants the roles that are there', async () => {
    await root.query('create role "Other-admin" login createrole');
    await root.query('create database others owner "Other-admin"');
    const connectionString = addressOf('others').replace('tenant_admin', 'Other-admin');
    const grant = 'GRANT certo_owner, certo_app TO "Other-admin"';
    await expect(migrate({ connectionString })).rejects.toThrow(
      new RegExp(`^The roles of Certo cannot be set up: .*They were made by another user, .*${grant}`),
    );
    await root.query(grant);
    expect((await migrate({ connectionString })).applied).toContain('0001_foundation');
  });

  test('a user who does not own the database is refused', async () => {
    await root.query('create database foreign_books');
    await expect(migrate({ connectionString: addressOf('foreign_books') })).rejects.toThrow(
      /only the owner of database foreign_books can prepare it: .* ALTER DATABASE foreign_books OWNER TO \w+/,
    );
  });

  test('a certo_app for whom row-level security would not hold is refused', async () => {
    for (const power of ['bypassrls', 'superuser', 'createrole']) {
      await root.query(`alter role certo_app ${power}`);
      await expect(migrate({ connectionString: addressOf('books') })).rejects.toThrow(/certo_app has powers/);
      await root.query(`alter role certo_app no${power}`);
    }
    await root.query('grant certo_owner to certo_app');
    await expect(migrate({ connectionString: addressOf('books') })).rejects.toThrow(/member of certo_owner/);
    await root.query('revoke certo_owner from certo_app');
    expect(await migrate({ connectionString: addressOf('books') })).toEqual({ applied: [] });
  });

  test('what somebody has set for certo_app is taken back where the service logs in as it', async () => {
    const { connection } = server;
    await migrate({ connection });
    const kept = `select setdatabase = 0 as everywhere, setconfig from pg_db_role_setting where setrole = 'certo_app'::regrole`;
    await root.query(`alter role certo_app set session_replication_role = replica`);
    await root.query(`alter role certo_app in database ${connection.database} set work_mem = '64kB'`);
    await root.query(`alter role certo_app in database books set work_mem = '64kB'`);
    await expect(openDb({ connection })).rejects.toThrow(/session_replication_role/);
    // Elsewhere it only becomes certo_app, and nothing of that reaches it.
    await migrate({ connectionString: addressOf('books') });
    await (await openDb({ connectionString: addressOf('books') })).close();
    expect((await root.query(kept)).rowCount).toBe(3);
    expect(await migrate({ connection })).toEqual({ applied: [] });
    await (await openDb({ connection })).close();
    // What is set for it in another database is not ours.
    expect((await root.query(kept)).rows).toEqual([{ everywhere: false, setconfig: ['work_mem=64kB'] }]);
    await root.query('alter role certo_app in database books reset all');
  });
});

test('a type that an earlier version left without a default has its newest active series as one', async () => {
  const connection = await emptyDatabase();
  const before = pathToFileURL(`${await mkdtemp(join(tmpdir(), 'certo-migrations-'))}/`);
  for (const { name, text } of await migrationFiles())
    if (name < '0034') await writeFile(new URL(`${name}.sql`, before), text);
  await migrate({ connection, folder: before });
  await ask(
    connection,
    `with made as (insert into certo.companies (id, name, taxpayer_number, cae, region)
       values (gen_random_uuid(), 'Casa', '599999942', '{62010}', 'PT') returning id)
     insert into certo.series (company_id, id, document_type, at_type, code, kind, cash_vat, status, validation_code, is_default, created_at)
     select made.id, gen_random_uuid(), s.* from made, (values
       ('INVOICE', 'FT', 'OLD', 'N', false, 'FINALIZED', 'AAAAAAA1', false, '2026-01-01'::timestamptz),
       ('INVOICE', 'FT', 'SOME', 'N', false, 'ACTIVE', 'AAAAAAA2', false, '2026-01-02'),
       ('INVOICE', 'FT', 'NEWEST', 'N', false, 'ACTIVE', 'AAAAAAA3', false, '2026-01-03'),
       ('INVOICE', 'FT', 'TRAINING', 'F', false, 'ACTIVE', 'AAAAAAA4', false, '2026-01-04'),
       ('INVOICE', 'FT', 'SCHEME', 'N', true, 'ACTIVE', 'AAAAAAA5', true, '2026-01-05'),
       ('INVOICE', 'FT', 'OTHER', 'N', true, 'ACTIVE', 'AAAAAAA6', false, '2026-01-06'),
       ('RECEIPT', 'RG', 'ENDING', 'N', false, 'ENDING', 'AAAAAAA7', false, '2026-01-07')) s`,
  );
  await migrate({ connection });
  expect(await ask(connection, 'select code from certo.series where is_default order by code')).toEqual([
    { code: 'NEWEST' },
    { code: 'SCHEME' },
  ]);
  await rm(before, { recursive: true });
});

describe('the foundation', () => {
  test('is all there', async () => {
    const files = (await readdir(new URL('./migrations/', import.meta.url))).sort();
    const { rows } = await base.ownerPool.query<{ name: string }>(
      'select name from certo.kysely_migration order by name',
    );
    expect(rows.map(({ name }) => `${name}.sql`)).toEqual(files);
  });

  test('has a clock in whole milliseconds that the owner can move', async () => {
    const now = async () => ((await base.ownerPool.query('select certo.now() as now')).rows[0] as { now: Date }).now;
    const micros = `select extract(microseconds from certo.now())::int % 1000 as rest from generate_series(1, 50)`;
    expect(new Set((await base.ownerPool.query<{ rest: number }>(micros)).rows.map(({ rest }) => rest))).toEqual(
      new Set([0]),
    );
    expect(Math.abs((await now()).getTime() - Date.now())).toBeLessThan(60_000);

    await setClock(base.ownerPool, new Date('2027-12-31T23:59:59Z'));
    const moved = await now();
    expect(moved.getTime() - Date.parse('2027-12-31T23:59:59Z')).toBeLessThan(60_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await now()).getTime()).toBeGreaterThan(moved.getTime());
    await setClock(base.ownerPool, null);
    expect((await base.ownerPool.query(`select shift = '0' as still from certo.clock`)).rows).toEqual([
      { still: true },
    ]);
  });

  test('gives the service nothing that is not granted by name', async () => {
    await base.ownerPool.query(
      'create table certo.later (); create function certo.later() returns int language sql as $$ select 1 $$',
    );
    const { rows } = await base.ownerPool.query(
      `select has_table_privilege('certo_app', 'certo.later', 'select') as t, has_function_privilege('certo_app', 'certo.later()', 'execute') as f,
        has_schema_privilege('certo_app', 'certo', 'create') as s, has_table_privilege('certo_app', 'certo.clock', 'insert, update, delete, truncate') as c`,
    );
    expect(rows).toEqual([{ t: false, f: false, s: false, c: false }]);
  });

  test('follows the conventions for tenant tables', async () => {
    // Every table with company_id: forced row-level security with both policies, company_id first in every index.
    const { rows } = await base.ownerPool.query<{ name: string; sound: boolean; led: boolean; truncate: boolean }>(`
      select c.relname as name,
        c.relrowsecurity and c.relforcerowsecurity and
          array['owner', 'tenant'] <@ (select array_agg(polname::text) from pg_policy p where p.polrelid = c.oid) as sound,
        (select bool_and(a.attname = 'company_id') from pg_index i
           join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
           where i.indrelid = c.oid and i.indisprimary) as led,
        has_table_privilege('certo_app', c.oid, 'truncate') as truncate
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'certo' and c.relkind in ('r', 'p')
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id' and not a.attisdropped)`);
    expect(rows.filter(({ sound, led, truncate }) => !sound || !led || truncate)).toEqual([]);
  });
});

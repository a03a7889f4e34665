/** Brings a database to the state this program expects: roles, then the files of migrations/ that it does not have yet. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, type Migration, Migrator, PostgresDialect, sql } from 'kysely';
import type { ClientBase, Pool } from 'pg';
import { isDeadlock, isReadOnly } from './errors.ts';
import { type OpenOptions, openLogin, type Target } from './open.ts';

/** A migration could not be done; the database is as it was. `message` is one sentence for the operator. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}

export type MigrateOptions = OpenOptions & {
  /** Folder of the .sql files, ending in "/"; default: the one beside this module. */
  readonly folder?: URL;
};

const rolesFile = new URL('./roles.sql', import.meta.url);
const migrationsFolder = new URL('./migrations/', import.meta.url);
/** Attempts to migrate while services of the version before are at work. */
const tries = 10;
// One of many possible numbers: the lock under which one process at a time migrates a database.
const lock_key = '7305809142370411';

/**
 * Runs as the login user of the database, who must own it and may create roles (or is a superuser), and becomes certo_owner
 * for the migrations. Safe to run from several processes at once; all pending files are one transaction.
 * Returns the names of the files applied now. Throws DatabaseUnavailable or MigrationRefused.
 */
export async function migrate(options: MigrateOptions): Promise<{ applied: string[] }> {
  const files = await migrationFiles(options.folder);
  // One connection: the lock and the role belong to the session.
  const pool = await openLogin({ ...options, max: 1, applicationName: 'certo migrate' });
  try {
    await lockMigrations(pool);
    await refuseNewer(
      pool,
      files.map(({ name }) => name),
    );
    await refuseEncoding(pool);
    await prepareRoles(pool, 'connection' in options);
    await refuseForeign(pool);
    await pool.query('set role certo_owner');
    return { applied: await applyBeside(pool, files) };
  } finally {
    await pool.end();
  }
}

/**
 * Services of the version before may be at work on the same tables and lock them in another order. Where that makes a
 * deadlock and the server ends this transaction, it is tried again.
 */
async function applyBeside(pool: Pool, files: readonly MigrationFile[]): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(pool, files);
    } catch (error) {
      if (attempt === tries || !isDeadlock((error as Error).cause)) throw error;
      // What is under way there ends meanwhile.
      await sleep(100 * attempt);
    }
  }
}

/** Whether a database has tables of ours, of whatever version. Throws DatabaseUnavailable. */
export async function hasTables(target: Target): Promise<boolean> {
  const pool = await openLogin({ ...target, max: 1, applicationName: 'certo migrate' });
  try {
    const { rows } = await pool.query(`select to_regnamespace('certo') is not null as there`);
    return rows[0].there === true;
  } finally {
    await pool.end();
  }
}

/** One file of the append-only list. */
export interface MigrationFile {
  readonly name: string;
  readonly text: string;
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/** The migrations of this program in their order. */
export async function migrationFiles(folder: URL = migrationsFolder): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort();
  return Promise.all(
    names.map(async (file) => {
      const bytes = await readFile(new URL(file, folder));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { name: file.replace(/\.sql$/, ''), text: bytes.toString('utf8'), sha256 };
    }),
  );
}

/** Until the session ends nobody else migrates or restores this database. */
export async function lockMigrations(session: Pick<ClientBase, 'query'>): Promise<void> {
  await session.query(`select pg_advisory_lock(${lock_key})`);
}

/** Applies what is missing of `files` inside the transaction that `client` is in, as certo_owner. Throws MigrationRefused. */
export async function migrateWithin(client: ClientBase, files: readonly MigrationFile[]): Promise<void> {
  const connection = { query: client.query.bind(client), release: () => undefined };
  const pool = { connect: () => Promise.resolve(connection), end: () => Promise.resolve() };
  await apply(pool as unknown as Pool, files, { disableTransactions: true });
}

/** A database that a newer program has migrated is left alone: this one would not understand what it finds. */
async function refuseNewer(pool: Pool, known: readonly string[]): Promise<void> {
  const { rows: found } = await pool.query(`select to_regclass('certo.kysely_migration') is not null as there`);
  if (found[0]?.there !== true) return;
  const { rows } = await pool.query<{ name: string }>('select name from certo.kysely_migration order by name');
  const newer = rows.map(({ name }) => name).filter((name) => !known.includes(name));
  if (newer.length > 0) {
    throw new MigrationRefused(
      `The database was migrated by a newer Certo (it has ${newer.join(', ')}). Install that version or a later one.`,
    );
  }
}

/**
 * In SQL_ASCII nothing is refused and no letter with an accent is folded, so that nobody finds what has one; the others lack
 * letters. Throws MigrationRefused.
 */
export async function refuseEncoding(pool: Pick<ClientBase, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ name: string; encoding: string }>(
    `select current_database() as name, current_setting('server_encoding') as encoding`,
  );
  const { name, encoding } = rows[0]!;
  if (encoding === 'UTF8') return;
  throw new MigrationRefused(
    `The database ${name} has the encoding ${encoding}, and Certo needs UTF8: use one that was made with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0. Books that are in this one get there with "certo backup" and "certo restore".`,
  );
}

/** A schema `certo` that is not ours, or one that was copied without its owners (`pg_dump --no-owner`). Throws MigrationRefused. */
async function refuseForeign(pool: Pick<ClientBase, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ database: string; owner: string }>(
    `select current_database() as database, pg_get_userbyid(nspowner) as owner from pg_namespace
     where nspname = 'certo' and pg_get_userbyid(nspowner) <> 'certo_owner'`,
  );
  for (const { database, owner } of rows) {
    throw new MigrationRefused(
      `The schema certo of the database ${database} belongs to ${owner}, not to certo_owner: somebody else made it, or it was copied without its owners. Use an empty database; books are copied with "certo backup" and "certo restore".`,
    );
  }
}

const rightsNeeded =
  'The user of DATABASE_URL has to own the database and to have CREATEROLE (ALTER ROLE … CREATEROLE), or is a superuser.';

/** What to do where the server did not allow it: roles belong to the server, and who made them for another database grants them. */
async function remedyOf(pool: Pick<ClientBase, 'query'>): Promise<string> {
  const { rows } = await pool.query<{ user: string; there: boolean }>(
    `select quote_ident(current_user) as user, count(*) = 2 as there from pg_roles where rolname in ('certo_owner', 'certo_app')`,
  );
  const { user, there } = rows[0]!;
  return there
    ? `They were made by another user, for another database of this server: that one, or a superuser, runs GRANT certo_owner, certo_app TO ${user}.`
    : rightsNeeded;
}

/** The two roles, by the login user. `embedded`: the service logs in as certo_app itself. Throws MigrationRefused. */
export async function prepareRoles(pool: Pick<ClientBase, 'query'>, embedded: boolean): Promise<void> {
  const text = await readFile(rolesFile, 'utf8');
  // Over the embedded server's socket the service logs in as certo_app itself, and would have what somebody has set for
  // that role; elsewhere it becomes certo_app, which has no settings then.
  const login = `do $$ begin
    if not (select rolcanlogin from pg_roles where rolname = 'certo_app') then alter role certo_app login; end if;
    if exists (select from pg_db_role_setting where setrole = 'certo_app'::regrole
               and setdatabase in (0, (select oid from pg_database where datname = current_database()))) then
      alter role certo_app reset all;
      execute format('alter role certo_app in database %I reset all', current_database());
    end if;
  end $$`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await pool.query(text);
      if (embedded) await pool.query(login);
      return;
    } catch (error) {
      if (isReadOnly(error)) throw error;
      // Roles belong to the server, our lock to one database: two may alter the same role ("tuple concurrently updated").
      if (attempt === 5 || (error as { code?: unknown }).code !== 'XX000') {
        const { code, message } = error as { code?: unknown; message: string };
        const remedy = code === '42501' ? ` ${await remedyOf(pool)}` : '';
        throw new MigrationRefused(`The roles of Certo cannot be set up: ${message}.${remedy}`);
      }
      await sleep(20 * attempt);
    }
  }
}

async function apply(
  pool: Pool,
  files: readonly MigrationFile[],
  how: { readonly disableTransactions?: boolean } = {},
): Promise<string[]> {
  const migrations = Object.fromEntries(
    files.map(({ name, text }): [string, Migration] => [
      name,
      { up: async (db) => void (await sql.raw(text).execute(db)) },
    ]),
  );
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: 'certo',
    ...how,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  if (isReadOnly(error)) throw error;
  const failed = results.find(({ status }) => status === 'Error')?.migrationName;
  const reason = error instanceof Error ? error.message : String(error);
  throw new MigrationRefused(`Migration ${failed ?? 'set-up'} failed and nothing was changed: ${reason}.`, {
    cause: error,
  });
}

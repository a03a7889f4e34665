/**
 * Loads a backup into an empty database, in one transaction from the first table to the last check: whatever goes wrong,
 * also a kill in the middle, leaves the database as it was.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ClientBase, PoolClient } from 'pg';
import { Refusal } from '../../fiscal/refusal.ts';
import { copyIn } from '../copy.ts';
import {
  lockMigrations,
  type MigrationFile,
  migrateWithin,
  migrationFiles,
  prepareRoles,
  refuseEncoding,
} from '../migrate.ts';
import { openLogin, type Target } from '../open.ts';
import { columnList, quoted, readLaterRules, readTables, type Table } from './catalog.ts';
import type { CopiedTable, Manifest } from './manifest.ts';
import { type BackupRead, readBackup } from './read-backup.ts';
import { damaged } from './read-frames.ts';

export interface RestoreOptions<T> {
  readonly path: string;
  /** What a first reading of the whole file found: the second one has to find the same. */
  readonly read: BackupRead;
  /** Folder of the migrations; default: this program's. */
  readonly folder?: URL;
  readonly passed?: (bytes: number) => void;
  /** Before anything is kept: the database is one that may be restored into. */
  readonly began?: () => Promise<void>;
  /** The last step before the commit, as certo_owner in the same transaction, with the tables at this program's version. */
  readonly settle: (client: ClientBase) => Promise<T>;
}

/**
 * Throws RESTORE_NOT_EMPTY, RESTORE_IN_USE, BACKUP_NEWER, BACKUP_STRANGE, BACKUP_DAMAGED, DatabaseUnavailable,
 * MigrationRefused, and what `settle` throws.
 */
export async function restoreBackup<T>(target: Target, options: RestoreOptions<T>): Promise<T> {
  const files = await migrationFiles(options.folder);
  const before = migrationsOf(options.read.manifest, files);
  const pool = await openLogin({ ...target, max: 1, applicationName: 'certo restore' });
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    // A service that is started meanwhile waits here, and then finds the books.
    await lockMigrations(client);
    await refuseOthers(client);
    await refuseEncoding(client);
    await prepareRoles(client, 'connection' in target);
    await client.query('set role certo_owner');
    await client.query('begin isolation level read committed read write');
    await clear(client);
    await options.began?.();
    await migrateWithin(client, before);
    await load(client, options);
    await migrateWithin(client, files);
    await client.query('analyze');
    const result = await options.settle(client);
    await client.query('commit');
    return result;
  } finally {
    // Ends the session: with it the lock, and the transaction unless it was committed.
    client?.release(true);
    await pool.end();
  }
}

/** This program's migrations up to the backup's. Throws BACKUP_NEWER, BACKUP_STRANGE. */
export function migrationsOf({ certo, migrations }: Manifest, files: readonly MigrationFile[]): MigrationFile[] {
  const known = new Set(files.map(({ name }) => name));
  const newer = migrations.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (newer.length > 0) throw new Refusal('BACKUP_NEWER', { version: certo, migrations: newer.join(', ') });
  const same = files.slice(0, migrations.length);
  const differ = same.filter(({ name, sha256 }, at) => !isDeepStrictEqual(migrations[at], { name, sha256 }));
  if (differ.length > 0)
    throw new Refusal('BACKUP_STRANGE', { version: certo, what: differ.map(({ name }) => name).join(', ') });
  return same;
}

async function refuseOthers(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ who: string }>(
    `select distinct application_name as who from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name like 'certo%'`,
  );
  if (rows.length > 0) throw new Refusal('RESTORE_IN_USE', { who: rows.map(({ who }) => who).join(', ') });
}

/**
 * Takes away the tables of a database without books: they may be those of a later version, and have rows that the first
 * start of a service wrote.
 */
async function clear(client: ClientBase): Promise<void> {
  const { rows } = await client.query(`select to_regnamespace('certo') is not null as there`);
  if (rows[0].there !== true) return;
  for (const { name } of await readTables(client)) {
    // What belongs to no company and is made anew, or comes with the backup.
    if (name === 'clock' || name === 'installation') continue;
    const only = name === 'signing_keys' ? `where origin = 'imported'` : '';
    await client.query(`lock table ${quoted(name)} in access exclusive mode`);
    const found = await client.query(`select exists (select from ${quoted(name)} ${only}) as some`);
    if (found.rows[0].some === true) throw new Refusal('RESTORE_NOT_EMPTY', { what: name });
  }
  await client.query('drop schema certo cascade');
}

async function load<T>(client: ClientBase, { path, read, passed }: RestoreOptions<T>): Promise<void> {
  const tables = await readTables(client);
  compare(tables, read.manifest);
  // The owner's own policies let every row through, but COPY takes no rows where there is any.
  const forced = tables.filter((table) => table.forced).map(({ name }) => quoted(name));
  for (const name of forced) await client.query(`alter table ${name} no force row level security`);
  // A rule that only holds for what was written since it was made would refuse the rows from before it.
  const later = await readLaterRules(client);
  for (const { table, name } of later) await client.query(`alter table ${table} drop constraint ${name}`);
  // What migrations put there is in the backup as well.
  for (const { name } of tables.toReversed()) await client.query(`delete from ${quoted(name)}`);
  const again = await readBackup(path, {
    ...(passed === undefined ? {} : { passed }),
    table: (table, rows) => loadTable(client, table, rows),
  });
  if (again.digest !== read.digest) throw damaged('it was changed while it was read');
  for (const { table, name, rule } of later) await client.query(`alter table ${table} add constraint ${name} ${rule}`);
  for (const name of forced) await client.query(`alter table ${name} force row level security`);
  for (const { name, value, called } of read.manifest.sequences)
    await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), value, called]);
}

/** The same tables with the same columns, whatever their order. */
function compare(tables: readonly Table[], { certo, tables: copied }: Manifest): void {
  const shape = (all: readonly Pick<Table, 'name' | 'columns'>[]) =>
    all.map(({ name, columns }) => `${name} (${[...columns].sort().join(', ')})`).sort();
  const made = shape(tables);
  const strange = shape(copied).filter((table, at) => table !== made[at]);
  if (strange.length > 0 || made.length !== copied.length)
    throw new Refusal('BACKUP_STRANGE', { version: certo, what: strange[0] ?? made.at(-1)! });
}

async function loadTable(client: ClientBase, table: CopiedTable, rows: AsyncIterable<Buffer>): Promise<void> {
  const taken = await copyIn(client, `copy ${quoted(table.name)} (${columnList(table)}) from stdin`, rows);
  if (taken !== table.rows) throw new Error(`${table.name} took ${taken} rows of ${table.rows}`);
}

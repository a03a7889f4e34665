/**
 * Writes a backup while the service works: every table as it stood at one instant (PostgreSQL manual, "Repeatable Read
 * Isolation Level"), copied by the owner, who sees every company. Nobody waits for it.
 */
import { createHash } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ClientBase, Pool } from 'pg';
import { Refusal } from '../../fiscal/refusal.ts';
import { copyOut } from '../copy.ts';
import { syncFolder } from '../data-directory.ts';
import { migrationFiles } from '../migrate.ts';
import { partOf } from '../part-file.ts';
import { columnList, countRows, quoted, readSequences, readTables } from './catalog.ts';
import { FrameWriter } from './frames.ts';
import type { CopiedTable, Manifest } from './manifest.ts';

export interface BackupOptions {
  /** Where to; nothing may be there. */
  readonly path: string;
  /** Version of this program. */
  readonly certo: string;
  /** HMAC under the master key: says whose backup it is. */
  readonly seal: (text: string) => Buffer;
  /** Folder of the migrations; default: this program's. */
  readonly folder?: URL;
  /** Before the first row, when the instant is fixed. */
  readonly began?: (rows: number) => unknown;
  readonly passed?: (rows: number) => void;
  /** Where it is until it is whole: whoever breaks it off removes that. */
  readonly drafted?: (draft: string) => void;
}

export interface BackupWritten {
  readonly manifest: Manifest;
  readonly bytes: number;
  /** SHA-256 of the file up to its last piece, in hexadecimal. */
  readonly digest: string;
}

/**
 * The file gets its name when all of it is on the disk: a cut one never looks like a backup. Only its owner can read it.
 * Throws BACKUP_EXISTS, and what the database and the file system throw.
 */
export async function writeBackup(owner: Pool, options: BackupOptions): Promise<BackupWritten> {
  const { path } = options;
  await refuseExisting(path);
  const draft = partOf(path, 4);
  const file = await open(draft, 'wx', 0o600);
  options.drafted?.(draft);
  try {
    const writer = new FrameWriter(file);
    const { manifest, digest } = await copied(owner, writer, options);
    await file.sync();
    await file.close();
    // Somebody may have written it meanwhile.
    await refuseExisting(path);
    await rename(draft, path);
    await syncFolder(dirname(path));
    return { manifest, digest, bytes: writer.written };
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
}

/** Files in the folder that backups left which were killed, or that are being written. */
export async function partsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /\.[0-9a-f]{8}\.part$/.test(name)).sort();
}

async function refuseExisting(path: string): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined) throw new Refusal('BACKUP_EXISTS', { file: path });
}

async function copied(owner: Pool, writer: FrameWriter, options: BackupOptions) {
  const client = await owner.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const manifest = await describe(client, options);
    await options.began?.(manifest.tables.reduce((sum, { rows }) => sum + rows, 0));
    await writer.begin();
    await writer.write('M', Buffer.from(JSON.stringify(manifest)));
    for (const table of manifest.tables) {
      await writeTable(client, writer, table);
      options.passed?.(table.rows);
    }
    const digest = await writer.end(options.seal);
    await client.query('commit');
    client.release();
    return { manifest, digest };
  } catch (error) {
    // In the middle of a copy it is good for nothing else.
    client.release(true);
    throw error;
  }
}

interface Described {
  readonly postgres: string;
  readonly taken_at: Date;
  readonly at_mode: string | null;
  readonly created_at: Date | null;
}

async function describe(client: ClientBase, { certo, folder }: BackupOptions): Promise<Manifest> {
  const { rows } = await client.query<Described>(
    `select current_setting('server_version') as postgres, certo.now() as taken_at, i.at_mode, i.created_at
     from (select) one left join certo.installation i on true`,
  );
  const { postgres, taken_at, at_mode, created_at } = rows[0]!;
  const { rows: migrated } = await client.query<{ name: string }>(
    'select name from certo.kysely_migration order by name',
  );
  const files = new Map((await migrationFiles(folder)).map((file) => [file.name, file.sha256]));
  return {
    certo,
    postgres,
    takenAt: taken_at.toISOString(),
    installation: at_mode === null ? null : { atMode: at_mode, createdAt: created_at!.toISOString() },
    migrations: migrated.map(({ name }) => ({ name, sha256: files.get(name) ?? '' })),
    tables: await countRows(client, await readTables(client)),
    sequences: await readSequences(client),
  };
}

async function writeTable(client: ClientBase, writer: FrameWriter, table: CopiedTable): Promise<void> {
  await writer.write('T', Buffer.from(table.name));
  const hash = createHash('sha256');
  async function* rows(): AsyncGenerator<Buffer> {
    const copy = copyOut(client, `copy ${quoted(table.name)} (${columnList(table)}) to stdout`);
    for (;;) {
      const { value, done } = await copy.next();
      if (done === true) {
        if (value === table.rows) return;
        throw new Error(`${table.name} gave ${value} rows of ${table.rows} in one snapshot`);
      }
      hash.update(value);
      yield value;
    }
  }
  const pack = createGzip({ chunkSize: 1 << 18 });
  let unwritten: unknown;
  const packed = pipeline(Readable.from(rows()), pack, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      await writer.write('D', chunk).catch((error: unknown) => {
        unwritten = error;
        throw error;
      });
    }
  });
  // The pipeline tells only that what it reads was broken off.
  await packed.catch((error: unknown) => {
    throw unwritten ?? error;
  });
  await writer.write('E', hash.digest());
}

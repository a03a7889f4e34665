/**
 * Real databases for tests: one embedded server per run, started by vitest (globalSetup in vitest.config.ts) in a folder
 * of its own, and for each test file a clone of a database that was migrated once.
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Pool } from 'pg';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { clusterFolder, isAlive } from '../src/db/cluster.ts';
import { type Embedded, startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { openDb, openOwner, type SocketConnection } from '../src/db/open.ts';
import { readPidFile, stopPostmaster } from '../src/db/postmaster.ts';
import type { Db } from '../src/db/transact.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The migrated template, or why there is none: tests that need no database run all the same. */
    readonly database: { readonly template: SocketConnection } | { readonly problem: string };
  }
}

export interface TestDatabase {
  /** As the service has it: role certo_app, row-level security holds. */
  readonly db: Db;
  /** Role certo_owner: sees and may do everything. */
  readonly ownerPool: Pool;
  readonly connection: SocketConnection;
  /** Closes both and removes the database. */
  drop(): Promise<void>;
}

const prefix = 'certo-test-';
let server: Embedded | undefined;
let folder: string | undefined;

export async function setup(project: TestProject): Promise<void> {
  await sweep();
  folder = mkdtempSync(join(realpathSync(tmpdir()), `${prefix}${process.pid}-`));
  try {
    server = await startEmbedded({
      dataDirectory: folder,
      uid: process.getuid?.() ?? 0,
      durable: false,
      log: () => undefined,
    });
    await migrate(server);
    project.provide('database', { template: server.connection });
  } catch (error) {
    project.provide('database', { problem: error instanceof Error ? error.message : String(error) });
  }
}

export async function teardown(): Promise<void> {
  await server?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/** Ends the servers of earlier runs that were killed, and removes their folders. */
async function sweep(): Promise<void> {
  const root = realpathSync(tmpdir());
  for (const name of readdirSync(root)) {
    const runner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (runner === undefined || isAlive(Number(runner))) continue;
    const cluster = clusterFolder(join(root, name));
    const file = await readPidFile(cluster);
    if (file !== undefined) await stopPostmaster(file.pid, cluster, () => undefined);
    rmSync(join(root, name), { recursive: true, force: true });
  }
}

let clones = 0;

/** A migrated database of its own for the calling test file. Drop it in afterAll. */
export async function testDatabase(): Promise<TestDatabase> {
  const given = inject('database');
  if ('problem' in given) throw new Error(`there is no test database: ${given.problem}`);
  const { template } = given;
  clones += 1;
  const name = `test_${process.pid}_${clones}`;
  const connection = { ...template, database: name };
  await asSuperuser(template, async (client) => {
    await client.query(`create database ${name} template ${template.database}`);
    // What a database grants is not copied with it (see roles.sql).
    await client.query(`grant create, temporary on database ${name} to certo_owner`);
    await client.query(`revoke temporary, create on database ${name} from public`);
  });
  const ownerPool = await openOwner({ connection });
  const db = await openDb({ connection, max: 8 });
  return {
    db,
    ownerPool,
    connection,
    async drop() {
      await Promise.all([db.close(), ownerPool.end()]);
      await asSuperuser(template, (client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

/** Moves the database's clock so that certo.now() is the given instant now; it goes on from there. Null: real time. */
export async function setClock(ownerPool: Pool, at: Date | null): Promise<void> {
  await ownerPool.query(`update certo.clock set shift = coalesce($1::timestamptz - clock_timestamp(), interval '0')`, [
    at?.toISOString() ?? null,
  ]);
}

async function asSuperuser(template: SocketConnection, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ ...template, database: 'postgres', ssl: false });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/**
 * The place a command works in: the data folder and the database, embedded or at DATABASE_URL, at the version of this
 * program. A service takes the folder for itself; a command works beside it, or brings the database up and down itself.
 */
import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../config.ts';
import {
  begunRestore,
  canReach,
  chooseDataDirectory,
  makeDataFolder,
  nobody,
  unfinished,
  unmarkRestore,
} from '../db/data-directory.ts';
import { openOwner, type Target } from '../db/open.ts';
import { CommandError, exit } from './exit.ts';
import type { Outside } from './outside.ts';

export interface House {
  readonly config: Config;
  /** The data folder: absolute. */
  readonly directory: string;
  readonly target: Target;
  /** Sees every company. */
  readonly owner: Pool;
  /** Files of migrations applied on entering. */
  readonly migrated: readonly string[];
}

export interface HouseOptions {
  /** service: takes the folder for itself. maker: makes what is missing. guest: works only with what is there. */
  readonly as: 'service' | 'maker' | 'guest';
  readonly log: (line: string) => void;
  /** What is told of a long wait for the database; by default as `log`. */
  readonly waits?: (line: string) => void;
  /** A guest that only copies what is there: the tables may be those of an earlier version. */
  readonly anyVersion?: boolean;
  /** A restore: a database is made also where there was one before. */
  readonly anew?: boolean;
  /** Only for a service: its folder went to another one. */
  readonly onLost?: (error: Error) => void;
}

/** The data folder as configured or by default; nothing is made. */
export async function dataDirectory(outside: Outside, config: Config): Promise<string> {
  const { cwd, uid } = outside;
  const reachable = uid !== 0 || (await canReach(join(cwd, 'data'), nobody));
  return chooseDataDirectory({ configured: config.dataDirectory, cwd, uid, reachable: () => reachable });
}

/** Closed again when the process ends. Throws CommandError, DataDirectoryUnusable, DataDirectoryInUse, DatabaseUnavailable, MigrationRefused. */
export async function openHouse(
  outside: Outside,
  config: Config,
  directory: string,
  options: HouseOptions,
): Promise<House> {
  const program = () => import('../db/migrate.ts');
  // Loaded while the database starts; a guest that finds one running never needs it.
  if (options.as !== 'guest') program().catch(() => undefined);
  const opened = await openServer(outside, config, directory, options);
  // A guest changes no tables that are there: it only completes a first start that came no further.
  const makes = options.as !== 'guest' || (opened.fresh && !(await (await program()).hasTables(opened.target)));
  const migrated = makes ? (await (await program()).migrate(opened.target)).applied : [];
  const owner = await openOwner({ ...opened.target, max: 4, applicationName: `certo ${options.as}` });
  outside.atEnd(() => owner.end());
  if (!makes) await checkVersion(owner, options.anyVersion === true);
  return { config, directory: opened.directory, target: opened.target, owner, migrated };
}

/** The database server alone, whatever is in it but a part of a restore. Closed again when the process ends. */
export async function openServer(
  outside: Outside,
  config: Config,
  directory: string,
  options: HouseOptions,
): Promise<OpenedServer> {
  const open = config.databaseUrl === undefined ? embedded : elsewhere;
  const opened = await open(outside, config, directory, options);
  await finishRestore(opened, options);
  return opened;
}

/**
 * Takes back the mark of a restore that was ended between its commit and its last word. Throws DataDirectoryUnusable where it
 * was ended before, unless it is to be done anew.
 */
async function finishRestore({ directory, target }: OpenedServer, { anew, log }: HouseOptions): Promise<void> {
  const begun = await begunRestore(directory).catch((error) => {
    if (anew !== true) throw error;
    return undefined;
  });
  if (begun === undefined) return;
  const { isRestored } = await import('../db/backup/restored.ts');
  if (await isRestored(target, begun)) {
    await unmarkRestore(directory);
    log(`The restore into ${directory} was ended before it could say so, and is finished: all of it is there.`);
  } else if (anew !== true) throw unfinished(directory);
}

export interface OpenedServer {
  readonly directory: string;
  readonly target: Target;
  /** Nobody but us uses this database at the moment. */
  readonly fresh: boolean;
}

async function embedded(
  outside: Outside,
  _config: Config,
  directory: string,
  options: HouseOptions,
): Promise<OpenedServer> {
  if (options.as === 'guest' && !existsSync(join(directory, 'CERTO'))) {
    throw new CommandError(
      exit.environment,
      `There is no data folder at ${directory}: start the service first (certo serve), or say where it is with CERTO_DATA_DIR.`,
    );
  }
  const { startEmbedded, useEmbedded } = await import('../db/embedded.ts');
  const { log, waits = log, anew = false } = options;
  const ending = new AbortController();
  const common = { dataDirectory: directory, uid: outside.uid, log, waits, anew, signal: ending.signal };
  const starting =
    options.as === 'service'
      ? startEmbedded({ ...common, ...(options.onLost === undefined ? {} : { onLost: options.onLost }) })
      : useEmbedded(common);
  // Also when the end comes in the middle of it: a server that is just starting would be left behind.
  outside.atEnd(() => {
    ending.abort();
    return starting.then(
      (server) => server.stop(),
      () => undefined,
    );
  });
  const server = await starting;
  const { connection, adopted } = server;
  return { directory: server.directory, target: { connection }, fresh: !adopted };
}

async function elsewhere(
  _outside: Outside,
  config: Config,
  directory: string,
  options: HouseOptions,
): Promise<OpenedServer> {
  // Beside a server elsewhere the folder holds the master key, the demo's file and the simulator.
  if (options.as !== 'guest') await makeDataFolder(directory);
  const path = await realpath(directory).catch(() => directory);
  return { directory: path, target: { connectionString: config.databaseUrl! }, fresh: false };
}

/** A guest changes nothing about a database that others may be using with another version of this program. */
async function checkVersion(owner: Pool, olderToo: boolean): Promise<void> {
  const { rows } = await owner.query<{ name: string }>('select name from certo.kysely_migration');
  const files = await readdir(new URL('../db/migrations/', import.meta.url));
  const known = new Set(files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4)));
  const found = new Set(rows.map(({ name }) => name));
  const newer = [...found].filter((name) => !known.has(name));
  const missing = [...known].filter((name) => !found.has(name));
  if (newer.length > 0) {
    throw new CommandError(
      exit.environment,
      `The database was migrated by a newer Certo (it has ${newer.join(', ')}): install that version or a later one.`,
    );
  }
  if (missing.length > 0 && !olderToo) {
    throw new CommandError(
      exit.environment,
      'The database is older than this Certo, and nothing of it was changed: take a backup (certo backup), then run "certo migrate" or "certo serve".',
    );
  }
}

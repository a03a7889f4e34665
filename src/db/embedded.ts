/**
 * The embedded database: the real PostgreSQL, in the data folder, behind a unix socket that only its user can reach.
 *
 * Nobody owns the server process. Whoever needs it joins the one that runs or starts it, also after the process that
 * started it was killed; who leaves last stops it. Both are kept by advisory locks in the server itself, held by one
 * connection per process: they end with the process, whatever ends it, and no reused process number can fool them.
 */
import { createHash } from 'node:crypto';
import { lchown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pid as ownPid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { findBinaries } from './binaries.ts';
import { clusterFolder, ensureCluster, superuser } from './cluster.ts';
import {
  begunRestore,
  type DataDirectory,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  prepareDataDirectory,
} from './data-directory.ts';
import type { SocketConnection } from './open.ts';
import {
  hurry,
  identify,
  type Knock,
  knock,
  port,
  readPidFile,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { boundLog } from './server-log.ts';

export interface EmbeddedOptions {
  readonly dataDirectory: string;
  /** What the operator should see, a line each. */
  readonly log: (line: string) => void;
  /** User of this process; 0 is root. */
  readonly uid: number;
  /** False for tests: the server does not wait for the disk, and a power cut may destroy the data. Default true. */
  readonly durable?: boolean;
  /** What is told of a long wait for the server; by default as `log`. */
  readonly waits?: (line: string) => void;
  /** Breaks a wait for the server off: the promise then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Makes a database also where there was one before: a restore does. */
  readonly anew?: boolean;
  /** How long a command waits for a server that starts, recovers or stops; default 3 minutes. A service waits on. */
  readonly patience_ms?: number;
}

export interface ServiceOptions extends EmbeddedOptions {
  /** The server was lost and, when it came back, another service had taken the folder: this one has to end. */
  readonly onLost?: (error: Error) => void;
}

export interface Embedded {
  /** For openDb, openOwner and migrate. */
  readonly connection: SocketConnection;
  /** The server was running already. */
  readonly adopted: boolean;
  /** The data folder: absolute, without symbolic links. */
  readonly directory: string;
  /** Leaves, and stops the server in order if nobody else uses it. Close the pools first. */
  stop(): Promise<void>;
}

const database = 'certo';
// Advisory locks of the database "postgres": every process that uses the server holds `users` shared; who can get it
// alone is the last. The service holds `service`.
const locks = { users: '7305809142370412', service: '7305809142370413' } as const;

/**
 * For the service: joins or starts the server and takes the folder for itself. When the server dies it is started again.
 * Throws DataDirectoryInUse when another service has the folder; DataDirectoryUnusable, EmbeddedUnavailable.
 */
export function startEmbedded(options: ServiceOptions): Promise<Embedded> {
  return enter(options, true);
}

/** For a command beside the service or without it: joins or starts the server. Throws like startEmbedded, never InUse. */
export function useEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return enter(options, false);
}

async function enter(options: ServiceOptions, asService: boolean): Promise<Embedded> {
  const directory = await prepareDataDirectory(options.dataDirectory, options.uid);
  // Whether one that was begun is finished only the server can say.
  if (options.anew !== true) await begunRestore(directory.path);
  const left = new AbortController();
  const place: Place = {
    directory,
    folder: clusterFolder(directory.path),
    socketDirectory: await prepareSocketDirectory(directory, options.uid),
    durable: options.durable ?? true,
    anew: options.anew ?? false,
    log: options.log,
    waits: options.waits ?? options.log,
    patience_ms: asService ? Number.POSITIVE_INFINITY : (options.patience_ms ?? 180_000),
    givenUp: options.signal === undefined ? left.signal : AbortSignal.any([options.signal, left.signal]),
    name: `certo ${asService ? 'service' : 'command'}, process ${ownPid}`,
  };
  let seat = await takeSeat(place, asService);
  let leaving = false;
  let returning = Promise.resolve();
  async function comeBack(): Promise<void> {
    options.log('the database went away; joining or starting it again');
    // What a restore may do at its beginning, nobody may later.
    seat = await takeSeat({ ...place, anew: false }, asService);
    stayOn();
  }
  function stayOn(): void {
    const watch = watchDoor(place, () => leaving);
    seat.client.once('end', () => {
      clearInterval(watch);
      if (!leaving) {
        returning = comeBack().catch((error) => {
          if (!leaving) options.onLost?.(error as Error);
        });
      }
    });
  }
  if (asService) stayOn();
  return {
    connection: { host: seat.socketDirectory, port, database, user: superuser },
    adopted: seat.adopted,
    directory: directory.path,
    async stop() {
      if (leaving) return;
      leaving = true;
      left.abort();
      await returning;
      await leave(seat, place);
    },
  };
}

interface Place {
  readonly directory: DataDirectory;
  readonly folder: string;
  readonly socketDirectory: string;
  readonly durable: boolean;
  readonly anew: boolean;
  readonly log: (line: string) => void;
  readonly waits: (line: string) => void;
  readonly patience_ms: number;
  readonly givenUp: AbortSignal;
  /** How this process shows in pg_stat_activity. */
  readonly name: string;
}

/** A connection that stays open while this process uses the server, and holds its locks. */
interface Seat {
  readonly client: Client;
  readonly socketDirectory: string;
  readonly adopted: boolean;
}

const door_interval_ms = 3_000;

const logFileOf = ({ path }: DataDirectory): string => join(path, 'postgres.log');

/**
 * Looks now and then whether the server lets anybody in, and has not written too much. One that was told to stop by somebody
 * else (SIGTERM: the smart way) would wait for our connections for ever: it is stopped, and then started again.
 */
function watchDoor(place: Place, leaving: () => boolean): ReturnType<typeof setInterval> {
  let looking = false;
  const look = async (): Promise<void> => {
    await boundLog(logFileOf(place.directory)).catch(() => undefined);
    const file = await readPidFile(place.folder);
    if (file === undefined) return;
    const answer = await knock(file, place.folder, place.directory.user, place.name);
    if (answer.state === 'open') await answer.client.end();
    if (answer.state === 'stopping' && !leaving()) await finishStopping(file.pid, place);
  };
  const timer = setInterval(() => {
    if (looking || leaving()) return;
    looking = true;
    look()
      .catch(() => undefined)
      .finally(() => {
        looking = false;
      });
  }, door_interval_ms);
  return timer.unref();
}

/** Once it shuts down there is no way back: the sooner it is gone, the sooner it is started again. */
async function finishStopping(pid: number, place: Place): Promise<void> {
  if ((await identify(pid, place.folder)) === 'ours') hurry(pid);
}

async function takeSeat(place: Place, asService: boolean): Promise<Seat> {
  let started = false;
  let failures = 0;
  const patience = new Patience(place);
  for (let silent = 0, refused = 0; ; ) {
    const file = await readPidFile(place.folder);
    const answer = file && (await knock(file, place.folder, place.directory.user, place.name));
    if (file !== undefined && answer?.state === 'open') {
      const seat = { client: answer.client, socketDirectory: file.socketDirectory, adopted: !started };
      if (await sitDown(seat, place, asService)) return seat;
      await sleep(20);
      continue;
    }
    const who = file === undefined ? 'gone' : await identify(file.pid, place.folder);
    if (who !== 'ours') {
      const obstacle = await start(place, who === 'other' ? file?.pid : undefined);
      started = obstacle === undefined;
      if (!started) await sleep(100);
      failures = started ? 0 : failures + 1;
      place.givenUp.throwIfAborted();
      if (failures > 50) {
        throw new DataDirectoryUnusable(`The database in ${place.folder} does not start: ${obstacle}.`);
      }
      continue;
    }
    // It is on its way up or down: that may take minutes after a crash, but then it answers that it is busy.
    silent = answer === undefined || answer.state === 'silent' ? silent + 1 : 0;
    if (answer?.state === 'stopping' && file !== undefined) await finishStopping(file.pid, place);
    refused = answer?.state === 'refused' ? refused + 1 : 0;
    if (answer?.state === 'refused' && refused > 20) {
      throw new DataDirectoryUnusable(
        `The PostgreSQL server on ${place.folder} (process ${file?.pid}) does not let Certo in: ${answer.words}.`,
      );
    }
    if (silent > 200) {
      throw new DataDirectoryUnusable(
        `A PostgreSQL server (process ${file?.pid}) runs on ${place.folder} but does not answer: stop it with "kill -INT ${file?.pid}" and start again.`,
      );
    }
    await patience.wait(answer);
  }
}

/** A wait for a server that somebody else has started or stopped: told, bounded, and broken off at once. */
class Patience {
  readonly #place: Place;
  readonly #began = performance.now();
  #told = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  async wait(answer: Knock | undefined): Promise<void> {
    const { folder, directory, waits, patience_ms, givenUp } = this.#place;
    const waited = performance.now() - this.#began;
    const says = answer !== undefined && 'words' in answer ? `it says "${answer.words}"` : 'it does not answer yet';
    if (waited > patience_ms) {
      throw new DataDirectoryUnusable(
        `The database in ${folder} let nobody in for ${Math.round(waited / 1000)} s (${says}): see ${logFileOf(directory)}, and try again.`,
      );
    }
    // After 5 s, then twice as long each time.
    if (waited > 5_000 * 2 ** this.#told) {
      this.#told += 1;
      waits(`waiting for the database in ${folder} (${says})`);
    }
    await sleep(50, undefined, { signal: givenUp });
  }
}

/** Resolves with what is in the way, if it may pass: mostly another process that was faster. */
async function start(place: Place, stalePid: number | undefined): Promise<string | undefined> {
  const binaries = await findBinaries(place.directory.path, place.directory.user, place.log);
  await ensureCluster(place.directory, binaries, place, place.log);
  place.givenUp.throwIfAborted();
  return startPostmaster(
    {
      folder: place.folder,
      socketDirectory: place.socketDirectory,
      logFile: logFileOf(place.directory),
      user: place.directory.user,
      binaries,
      durable: place.durable,
      stalePid,
      givenUp: place.givenUp,
    },
    place.waits,
  );
}

/** Takes the locks and makes the database. False when the server is being stopped by its last user: look again. */
async function sitDown(seat: Seat, place: Place, asService: boolean): Promise<boolean> {
  try {
    if (await lock(seat.client, 'pg_try_advisory_lock_shared', locks.users)) {
      if (asService) await takeService(seat, place);
      await ensureDatabase(seat.client);
      return true;
    }
  } catch (error) {
    if (error instanceof DataDirectoryInUse) await leave(seat, place);
    // The server may be shut down at any moment of this.
    if (!isLoss(error)) throw error;
  }
  await seat.client.end().catch(() => undefined);
  return false;
}

async function takeService({ client }: Seat, place: Place): Promise<void> {
  // The server notices within moments that a killed service is gone; a living one keeps the lock.
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (await lock(client, 'pg_try_advisory_lock', locks.service)) return;
    await sleep(50);
  }
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.objsubid = 1 and (l.classid::bigint << 32 | l.objid::bigint) = ${locks.service}`,
  );
  const holder = /process \d+/.exec(rows[0]?.name ?? '')?.[0] ?? 'another process';
  throw new DataDirectoryInUse(
    `The data folder ${place.directory.path} is in use by a running Certo (${holder}): stop that one, or choose another CERTO_DATA_DIR.`,
  );
}

async function lock(client: Client, how: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared', key: string) {
  const { rows } = await client.query<{ taken: boolean }>(`select ${how}(${key}) as taken`);
  return rows[0]?.taken === true;
}

async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  if (rowCount === 1) return;
  await client.query(`create database ${database}`).catch((error: { code?: string }) => {
    // Another process makes it at the same moment (42P04, 23505), or copies the template (55006).
    if (error.code === '55006') return sleep(100).then(() => ensureDatabase(client));
    if (error.code !== '42P04' && error.code !== '23505') throw error;
  });
}

/** Gives the locks back; whoever can have `users` alone is the last and stops the server. */
async function leave({ client }: Seat, place: Place): Promise<void> {
  try {
    await client.query('select pg_advisory_unlock_all()');
    if (!(await lock(client, 'pg_try_advisory_lock', locks.users))) return;
    const file = await readPidFile(place.folder);
    if (file !== undefined) await stopPostmaster(file.pid, place.folder, place.log);
  } catch (error) {
    if (!isLoss(error)) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the connection ended: by the server's shutdown or crash (57P0x), or below that. */
function isLoss(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined
    ? error instanceof Error && /^(Connection terminated|Client )/.test(error.message)
    : /^(57P0|E[A-Z]+$)/.test(code);
}

/** The socket's directory: in the data folder, or in /tmp where that path is too long for a socket (108 bytes, 104 on macOS). */
async function prepareSocketDirectory(directory: DataDirectory, uid: number): Promise<string> {
  const within = join(directory.path, 'socket');
  const short = join('/tmp', `certo-${createHash('sha256').update(directory.path).digest('hex').slice(0, 16)}`);
  const path = Buffer.byteLength(join(within, `.s.PGSQL.${port}`)) <= 100 ? within : short;
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const { user } = directory;
  if (user !== undefined && (await lstat(path)).uid === 0) await lchown(path, user.uid, user.gid);
  const made = await lstat(path);
  if (!made.isDirectory() || made.uid !== (user?.uid ?? uid) || (made.mode & 0o077) !== 0) {
    throw new DataDirectoryUnusable(
      `${path} is not a folder that only the database's user can enter: remove it and start again.`,
    );
  }
  return path;
}

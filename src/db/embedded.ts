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
import { clusterFolder, superuser } from './cluster.ts';
import {
  begunRestore,
  type DataDirectory,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  isForWantOfRoom,
  prepareDataDirectory,
} from './data-directory.ts';
import type { SocketConnection } from './open.ts';
import { knock, port, readPidFile } from './postmaster.ts';
import { Progress } from './progress.ts';
import { database, endStuck, finishStopping, leave, leaveNobody, logFileOf, type Place, takeSeat } from './seat.ts';
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
  /**
   * The server was lost, and this service has to end: another one has taken the folder meanwhile, or the server does not start
   * although there is room on its disk.
   */
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
    progress: new Progress(),
  };
  let seat = await takeSeat(place, asService);
  let leaving = false;
  let returning = Promise.resolve();
  async function comeBack(): Promise<void> {
    options.log('the database went away; joining or starting it again');
    const trouble = new Trouble(options.log);
    for (;;) {
      try {
        // What a restore may do at its beginning, nobody may later.
        seat = await takeSeat({ ...place, anew: false }, asService);
        break;
      } catch (error) {
        if (place.givenUp.aborted || !trouble.passes(error as Error)) throw error;
        await sleep(again_ms, undefined, { signal: place.givenUp });
      }
    }
    options.log('the database is back');
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
      if (!(await leave(seat, place))) await leaveNobody(place);
    },
  };
}

/** Between two attempts to start the server for a service that runs. */
const again_ms = 1_000;
/** A server that does not start although there is room for it is given up after so long. */
const longest_trouble_ms = 30_000;

/** What keeps the server of a running service from starting: mostly something that passes, a full disk. */
class Trouble {
  readonly #log: (line: string) => void;
  #saidAt = Number.NEGATIVE_INFINITY;
  /** Since when it has failed for another reason than want of room. */
  #since: number | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Whether to try again. Tells the reason, once a minute. */
  passes(error: Error): boolean {
    const now = performance.now();
    if (error instanceof DataDirectoryInUse) return false;
    this.#since = isForWantOfRoom(error) ? undefined : (this.#since ?? now);
    if (this.#since !== undefined && now - this.#since > longest_trouble_ms) return false;
    if (now - this.#saidAt > 60_000) {
      this.#log(`the database does not come back yet, and is tried again every second: ${error.message}`);
      this.#saidAt = now;
    }
    return true;
  }
}

const door_interval_ms = 3_000;

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
    if (leaving()) return;
    if (answer.state === 'stopping') await finishStopping(file.pid, place);
    await endStuck(file.pid, answer, place);
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

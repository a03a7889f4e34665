/** The server process of one database folder: telling whether it runs, starting it, stopping it. */
import { spawn, spawnSync } from 'node:child_process';
import { lstat, readFile, readlink, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Binaries, serverEnvironment } from './binaries.ts';
import { isAlive, superuser } from './cluster.ts';
import { DataDirectoryFull, DataDirectoryUnusable, type ServerUser } from './data-directory.ts';
import { familyOf } from './progress.ts';
import { openLog } from './server-log.ts';
import { ownSettings } from './session-settings.ts';

/** The socket's number; each folder has its own socket directory, so it is always the same. */
export const port = 5432;

/** postmaster.pid (src/include/utils/pidfile.h): who runs on the folder, as far as the file knows. */
export interface PidFile {
  readonly pid: number;
  readonly socketDirectory: string;
  readonly port: number;
  readonly ready: boolean;
}

/** Undefined when there is no such file, or it names no process. */
export async function readPidFile(folder: string): Promise<PidFile | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  return { pid, socketDirectory: lines[4] ?? '', port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
}

/**
 * Who has the process number of a pid file: 'ours' is a server on this very folder; 'other' any other process, to which
 * the number went after a crash or a restart of the machine.
 */
export async function identify(pid: number, folder: string): Promise<'ours' | 'other' | 'gone'> {
  if (!isAlive(pid)) return 'gone';
  // A server's working directory is its database folder; that also follows a folder that was moved under it.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch((error: NodeJS.ErrnoException) => error.code);
  if (cwd === 'ENOENT' && (await stat('/proc/self').catch(() => undefined)) === undefined) {
    const told = spawnSync('/bin/ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
    return told.includes('postgres') && told.includes(folder) ? 'ours' : 'other';
  }
  return cwd === folder ? 'ours' : isAlive(pid) ? 'other' : 'gone';
}

export type Knock =
  /** A server on this folder takes connections; `client` is one, to database postgres as superuser. */
  | { readonly state: 'open'; readonly client: Client }
  /** It is starting or recovering. */
  | { readonly state: 'starting'; readonly words: string }
  /** It lives, and has no connection or memory for us at the moment. */
  | { readonly state: 'busy'; readonly words: string }
  /** It lives, and its disk has no room for the files that a new connection may have to write. Older ones may still read. */
  | { readonly state: 'full'; readonly words: string }
  /** It is shutting down. The smart way (SIGTERM) that lasts until the last connection is closed. */
  | { readonly state: 'stopping'; readonly words: string }
  /** It answers, and lets us in under no circumstances that pass by themselves. */
  | { readonly state: 'refused'; readonly words: string }
  /** It took the connection, and then said nothing for as long as we wait. */
  | { readonly state: 'hung'; readonly words: string }
  /** Nobody answers there, or somebody else does. */
  | { readonly state: 'silent' };

const longest_answer_ms = 5_000;

/** Connects to the server that a pid file tells of, and makes sure that it works on this folder. */
export async function knock(file: PidFile, folder: string, user: ServerUser, name: string): Promise<Knock> {
  if (!(await isOurSocket(file.socketDirectory, folder, user))) return { state: 'silent' };
  const client = new Client({
    host: file.socketDirectory,
    port: file.port,
    user: superuser,
    database: 'postgres',
    application_name: name,
    ssl: false,
    // It is to stay, idle; and what PGOPTIONS has for others could keep it out.
    options: ownSettings,
    connectionTimeoutMillis: longest_answer_ms,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
    const [told, asked] = await Promise.all([stat(rows[0]?.folder ?? ''), stat(folder)]);
    if (told.dev === asked.dev && told.ino === asked.ino) return { state: 'open', client };
    await client.end();
    return { state: 'silent' };
  } catch (error) {
    await client.end().catch(() => undefined);
    // 57P03: it answers, but not yet or no more. 57P01: it shut down while we asked. Class 53: it has too many connections, or
    // too little memory or (53100) room, so it lives.
    const { code = '', message } = error as { code?: string; message: string };
    if (code === '57P03') return { state: message.includes('shutting down') ? 'stopping' : 'starting', words: message };
    if (code === '53100') return { state: 'full', words: message };
    if (/^(57P01|53...)$/.test(code)) return { state: 'busy', words: message };
    // The driver's own words.
    if (message === 'timeout expired') return { state: 'hung', words: `nothing for ${longest_answer_ms / 1_000} s` };
    return 'severity' in (error as object) ? { state: 'refused', words: message } : { state: 'silent' };
  }
}

/** A socket directory outside our folder could be somebody else's trap: its owner must be the server's user. */
async function isOurSocket(directory: string, folder: string, user: ServerUser): Promise<boolean> {
  const [socket, database] = await Promise.all([lstat(directory).catch(() => undefined), stat(folder)]);
  return socket?.isDirectory() === true && socket.uid === (user?.uid ?? database.uid);
}

export interface StartOptions {
  readonly folder: string;
  readonly socketDirectory: string;
  readonly logFile: string;
  readonly user: ServerUser;
  readonly binaries: Binaries;
  readonly durable: boolean;
  /** Process number in a pid file of which we know that it is no server's. */
  readonly stalePid: number | undefined;
  /** Nobody waits for it any more: it is stopped again. */
  readonly givenUp: AbortSignal;
  /** Asked every second while it starts, of the server's process: whether it lets us in, or will never. */
  readonly look: (pid: number) => Promise<'open' | 'stuck' | undefined>;
}

/**
 * Starts the server and waits until it takes connections. Resolves with the server's reason when something is in its way
 * that may pass: another process was faster. Throws DataDirectoryUnusable with the reason otherwise.
 */
export async function startPostmaster(options: StartOptions, log: (line: string) => void): Promise<string | undefined> {
  await removeEmptyLocks(options);
  const { logFile } = options;
  const { before, file } = await openLog(logFile);
  const child = spawn(options.binaries.postgres, flags(options, await logSizes(options.folder)), {
    ...options.user,
    cwd: '/',
    // The server takes the number in the pid file for a live server's, if any process of its user has it; this is the
    // variable by which pg_ctl tells it that one number is not (src/backend/utils/init/miscinit.c).
    env: { ...serverEnvironment, ...(options.stalePid && { PG_GRANDPARENT_PID: String(options.stalePid) }) },
    stdio: ['ignore', file.fd, file.fd],
    // A process group of its own: Ctrl-C in the terminal is for the service, which then stops the server in order.
    detached: true,
  });
  // Heard from the first moment: one that is refused its lock file ends within milliseconds.
  const ended = new Promise<true>((resolve) => {
    child.once('exit', () => resolve(true));
    child.once('error', () => resolve(true));
  });
  child.unref();
  // The child has its own copy.
  await file.close();
  let isStuck = false;
  const begun = performance.now();
  let hurriedAt: number | undefined;
  for (let seconds = 0; ; ) {
    const found = await readPidFile(options.folder);
    const { aborted } = options.givenUp;
    if (found !== undefined && found.pid === child.pid && found.ready && !aborted) return undefined;
    if ((await Promise.race([ended, sleep(5)])) === true) break;
    if (child.pid === undefined) continue;
    if (aborted && hurriedAt === undefined) {
      hurry(child.pid);
      hurriedAt = performance.now();
    }
    if (performance.now() - begun < 1_000 * (seconds + 1)) continue;
    seconds += 1;
    const seen = await options.look(child.pid);
    // There may have been no room to write "ready".
    if (seen === 'open' && !aborted) return undefined;
    isStuck ||= seen === 'stuck';
    const isLate = hurriedAt !== undefined && performance.now() - hurriedAt > longest_hurry_ms;
    if (seen === 'stuck' || isLate) await endPostmaster(child.pid, options.folder);
    if (seconds % 5 === 0) log('the database is still starting (recovering after a crash)');
  }
  options.givenUp.throwIfAborted();
  if (isStuck) return 'it did not recover';
  const written = (await readFile(logFile)).subarray(before).toString('utf8');
  const full = await isFull(options.folder);
  const reason = reasonOf(written, child.pid, full);
  // Or the processes of a server that was killed outlive it by a moment and hold its shared memory. Or somebody who came
  // and left meanwhile, as its last user, has stopped it in order before we saw it ready.
  if (/lock file .* (already exists|is empty)|pre-existing shared memory block|shutdown request/.test(reason))
    return reason;
  const Unusable = full || noRoom.test(reason) ? DataDirectoryFull : DataDirectoryUnusable;
  throw new Unusable(`The database in ${options.folder} does not start: ${reason} (see ${logFile}).`);
}

/** What the system calls ENOSPC and EDQUOT, in the server's language. */
const noRoom = /No space left on device|Disk quota exceeded/;

/** A crash between making a lock file and writing it leaves it empty, and the server waits for somebody to remove it. */
async function removeEmptyLocks({ folder, socketDirectory }: StartOptions): Promise<void> {
  for (const path of [join(folder, 'postmaster.pid'), join(socketDirectory, `.s.PGSQL.${port}.lock`)]) {
    const found = await lstat(path).catch(() => undefined);
    // A server that is just starting writes at once.
    if (found?.size === 0 && Date.now() - found.mtimeMs > 3_000) await rm(path, { force: true });
  }
}

const gibibyte = 2 ** 30;

/**
 * On a small disk the log takes an eighth: with what it takes elsewhere, and keeps, there would never be room enough to write
 * (`room.ts`). Two files are the least that PostgreSQL takes.
 */
async function logSizes(folder: string): Promise<Record<string, string>> {
  const { blocks, bsize } = await statfs(folder);
  if (blocks * bsize >= 8 * gibibyte) return {};
  const megabytes = Math.max(32, Math.floor((blocks * bsize) / 8 / 2 ** 20));
  return { max_wal_size: `${megabytes}MB`, min_wal_size: '32MB' };
}

function flags(options: StartOptions, sizes: Record<string, string>): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: options.socketDirectory,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
    log_destination: 'stderr',
    // By this number a server's lines are told from those of others in the same file.
    log_line_prefix: '%m [%p] ',
    // Whatever stands in postgresql.conf: details of errors hold whole rows, and so names and tax numbers.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    // What it needs while its disk is full it has beforehand: room in the log that is filled before it is used, and no file that
    // each checkpoint makes anew. (Decision 0096.)
    wal_init_zero: 'on',
    max_active_replication_origins: '0',
    ...sizes,
  };
  // An acknowledged document must survive a power cut, whatever stands in postgresql.conf; only tests may forget.
  const on = options.durable ? 'on' : 'off';
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) settings[name] = on;
  return ['-D', options.folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Bytes of a disk below which a server that does not start is told to be short of them. */
const least_room = 1_000_000;

async function isFull(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize < least_room;
}

/**
 * Why the server with this process number ended, in its own words where the log has them. Others write to the same log
 * meanwhile: servers that found the folder taken, and connections that came too early or too late. `full`: there is no room
 * on its disk, which is mostly why, and for the same reason may not stand in the log.
 */
export function reasonOf(log: string, pid: number | undefined, full = false): string {
  const lines = log.split('\n').filter((line) => line !== '');
  const own = lines.filter((line) => line.includes(` [${pid}] `));
  const stopped = /received \w+ shutdown request/.exec(own.join('\n'))?.[0];
  if (stopped !== undefined) return stopped;
  const fatal = /\b(FATAL|PANIC): /;
  const ofVisitors = /: +(the database system is |terminating connection |sorry, too many clients)/;
  const said =
    own.findLast((line) => fatal.test(line)) ??
    // The process that recovers the database is the server's child.
    lines.findLast((line) => fatal.test(line) && !ofVisitors.test(line));
  const words = (said ?? (full ? '' : lines.join(' '))).replace(/^.*?\b(FATAL|PANIC): +/, '');
  if (full) return `${words}${words && '; '}its disk is full: make room, and try again`;
  return words || 'it said nothing';
}

/**
 * Fast shutdown: transactions are rolled back, everything is written. Waits until the folder is free; one that takes longer
 * than `patience_ms` is ended.
 */
export async function stopPostmaster(
  pid: number,
  folder: string,
  log: (line: string) => void,
  patience_ms = 60_000,
): Promise<void> {
  if ((await identify(pid, folder)) !== 'ours') return;
  signal(pid, 'SIGINT');
  for (const since = performance.now(); performance.now() - since < patience_ms; ) {
    // Gone by the file: a process whose parent died can stay visible until somebody collects it.
    if ((await readPidFile(folder))?.pid !== pid && (await identify(pid, folder)) !== 'ours') return;
    if (!isAlive(pid)) return;
    await sleep(5);
  }
  log(`the database does not stop in ${patience_ms / 1_000} s; ending it, it will recover at the next start`);
  await endPostmaster(pid, folder);
}

/**
 * Fast shutdown of a server that is shutting down anyway, or that only we have begun to start: it would wait for
 * connections that nobody closes.
 */
export function hurry(pid: number): void {
  signal(pid, 'SIGINT');
}

/** A server has so long to end at once. */
const longest_end_ms = 3_000;
/** And one that was only beginning, so long to stop in order. */
const longest_hurry_ms = 5_000;

/**
 * Ends a server that gets nowhere, with all its processes. What it has acknowledged is on the disk; it recovers at its next
 * start. Resolves when it is gone, or after a while.
 */
export async function endPostmaster(pid: number, folder: string): Promise<void> {
  for (let waited = 0; (await identify(pid, folder)) === 'ours' && waited <= 2 * longest_end_ms; waited += 20) {
    if (waited === 0) signal(pid, 'SIGQUIT');
    if (waited === longest_end_ms) {
      // The first one first: it would start others.
      for (const { pid: one } of [{ pid }, ...((await familyOf(pid)) ?? [])])
        if ((await identify(one, folder)) === 'ours') signal(one, 'SIGKILL');
    }
    await sleep(20);
  }
}

function signal(pid: number, name: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): void {
  try {
    kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * A process's place in the embedded server: getting one, from a server that runs or that is started for it, and leaving it. Two
 * advisory locks say who uses the server and who is the service; the last user stops it.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { findBinaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { type DataDirectory, DataDirectoryFull, DataDirectoryInUse, DataDirectoryUnusable } from './data-directory.ts';
import {
  endPostmaster,
  hurry,
  identify,
  type Knock,
  knock,
  type PidFile,
  port,
  readPidFile,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import type { Progress } from './progress.ts';

/** The database of the service, in the embedded server. */
export const database = 'certo';
// Advisory locks of the database "postgres": every process that uses the server holds `users` shared; who can get it
// alone is the last. The service holds `service`.
const locks = { users: '7305809142370412', service: '7305809142370413' } as const;

/** What a process knows of the folder whose server it uses. */
export interface Place {
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
  readonly progress: Progress;
}

/** A connection that stays open while this process uses the server, and holds its locks. */
export interface Seat {
  readonly client: Client;
  readonly socketDirectory: string;
  readonly adopted: boolean;
}

/** Where the server of a data folder writes what it has to say. */
export const logFileOf = ({ path }: DataDirectory): string => join(path, 'postgres.log');

/** Once it shuts down there is no way back: the sooner it is gone, the sooner it is started again. */
export async function finishStopping(pid: number, place: Place): Promise<void> {
  if ((await identify(pid, place.folder)) === 'ours') hurry(pid);
}

/** True when the server gets nowhere, and was ended: it is to be started again. */
export async function endStuck(pid: number, answer: Knock, place: Place): Promise<boolean> {
  const { progress, folder, waits } = place;
  const { state } = answer;
  if (state === 'open' || state === 'busy' || state === 'full') progress.forget();
  if (state !== 'starting' && state !== 'stopping' && state !== 'hung') return false;
  if (!(await progress.isStuck(pid, state)) || (await identify(pid, folder)) !== 'ours') return false;
  waits(`the database in ${folder} gets nowhere (it says "${answer.words}"): ending it, to start it again`);
  await endPostmaster(pid, folder);
  return true;
}

/** Joins the server or starts it, and takes a place in it. Throws DataDirectoryInUse, DataDirectoryUnusable, DataDirectoryFull. */
export async function takeSeat(place: Place, asService: boolean): Promise<Seat> {
  let started = false;
  let failures = 0;
  const patience = new Patience(place);
  for (let silent = 0, refused = 0; ; ) {
    const file = await pidFileOf(place);
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
    if (answer !== undefined && file !== undefined && (await endStuck(file.pid, answer, place))) continue;
    if (answer?.state === 'full') {
      throw new DataDirectoryFull(
        `The database in ${place.folder} takes no connection: ${answer.words}; its disk is full: make room, and try again.`,
      );
    }
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

/** Where there was no room to write it all, the socket is where we have ours. */
async function pidFileOf({ folder, socketDirectory }: Place): Promise<PidFile | undefined> {
  const file = await readPidFile(folder);
  return file?.socketDirectory === '' ? { ...file, socketDirectory, port } : file;
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
      look: (pid) => lookAt(pid, place),
    },
    place.waits,
  );
}

async function lookAt(pid: number, place: Place): Promise<'open' | 'stuck' | undefined> {
  const file = await pidFileOf(place);
  if (file?.pid !== pid) return undefined;
  const answer = await knock(file, place.folder, place.directory.user, place.name);
  if (answer.state === 'open') await answer.client.end();
  if (answer.state === 'open') return 'open';
  const { state } = answer;
  const isShut = state === 'starting' || state === 'hung';
  return isShut && (await place.progress.isStuck(pid, state)) ? 'stuck' : undefined;
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
    if (!isLoss(error)) {
      await seat.client.end().catch(() => undefined);
      throw error;
    }
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

/**
 * Gives the locks back; whoever can have `users` alone is the last and stops the server. False when the connection broke: then
 * nobody knows who else uses it.
 */
export async function leave({ client }: Pick<Seat, 'client'>, place: Place): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_all()');
    if (!(await lock(client, 'pg_try_advisory_lock', locks.users))) return true;
    const file = await readPidFile(place.folder);
    if (file !== undefined) await stopPostmaster(file.pid, place.folder, place.log);
    return true;
  } catch (error) {
    if (!isLoss(error)) throw error;
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * After the connection was lost: the server may have survived it, or recover by itself, and would run for nobody. While it
 * lets nobody in it has no users; whoever waits for it starts it again.
 */
export async function leaveNobody(place: Place): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const file = await pidFileOf(place);
    if (file === undefined || (await identify(file.pid, place.folder)) !== 'ours') return;
    const answer = await knock(file, place.folder, place.directory.user, place.name);
    if (answer.state === 'open' && (await leave(answer, place))) return;
    if (answer.state === 'starting' || answer.state === 'stopping')
      return stopPostmaster(file.pid, place.folder, place.log, 5_000);
    await sleep(50);
  }
}

/** Whether the connection ended: by the server's shutdown or crash (57P0x), or below that. */
function isLoss(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined
    ? error instanceof Error && /^(Connection terminated|Client )/.test(error.message)
    : /^(57P0|E[A-Z]+$)/.test(code);
}

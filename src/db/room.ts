/**
 * The room on the disk of the embedded database. PostgreSQL ends when its log can't grow, and then answers no reads either: so
 * nothing is written while there is little room, and it has some left for what it writes by itself.
 */
import { statfs } from 'node:fs/promises';
import { StatementError } from './errors.ts';
import type { Db } from './transact.ts';

/** Asked before each write; an error says why there is none. */
export type Guard = () => StatementError | undefined;

export interface Room {
  readonly guard: Guard;
  close(): void;
}

const look_ms = 250;
const mebibyte = 2 ** 20;

/** Below so many bytes nothing is written: a twentieth of the disk, and room for one file of the log (16 MiB) to three. */
export function leastRoom(size: number): number {
  return Math.min(48 * mebibyte, Math.max(16 * mebibyte, size / 20));
}

/** Looks at the disk of a folder until it is closed. `log` is told when room gets short, and when it is no more. */
export function watchRoom(folder: string, log: (line: string) => void): Room {
  let short: StatementError | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    const { blocks, bavail, bsize } = await statfs(folder);
    const least = leastRoom(blocks * bsize);
    const wasShort = short !== undefined;
    short = bavail * bsize < least ? noRoom(folder, least) : undefined;
    if (short !== undefined && !wasShort) log(short.message);
    if (short === undefined && wasShort) log(`there is room again on the disk of ${folder}: changes are taken again`);
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      // A disk that can't be asked is the server's to judge.
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  }, look_ms);
  timer.unref();
  return { guard: () => short, close: () => clearInterval(timer) };
}

/** The same database, which is asked for no write while the guard has an error. */
export function guardedBy(guard: Guard, db: Db): Db {
  const refused = (): Promise<never> | undefined => {
    const error = guard();
    return error && Promise.reject(error);
  };
  return {
    ...db,
    read(entry, how) {
      const tx = db.read(entry, how);
      if (how !== 'lazily') return tx;
      return {
        ...tx,
        query: (query, values) => refused() ?? tx.query(query, values),
        batch: (calls) => refused() ?? tx.batch(calls),
      };
    },
    transact: (entry, fn) => refused() ?? db.transact(entry, fn),
    write: (entry, calls, line) => refused() ?? db.write(entry, calls, line),
    open(entry, calls, line) {
      const error = guard();
      if (error === undefined) return db.open(entry, calls, line);
      return { begun: Promise.resolve(), write: () => Promise.reject(error), leave: () => undefined };
    },
  };
}

/** As the server itself says it (53100), so that whoever meets it does the same. */
function noRoom(folder: string, least: number): StatementError {
  const megabytes = Math.ceil(least / 1_000_000);
  const message = `less than ${megabytes} MB are free on the disk of ${folder}: only reads are answered until there is room`;
  return new StatementError('write', { message, code: '53100' });
}

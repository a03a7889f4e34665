import type { Db } from '../src/db/transact.ts';

/** The quick writes of a database with something around each, also of those that began before the rest was known. */
export function quickWrites(db: Db, around: (write: () => Promise<void>) => Promise<void>): Pick<Db, 'write' | 'open'> {
  return {
    write: (entry, calls, line) => around(() => db.write(entry, calls, line)),
    open(entry, first, line) {
      const begun = db.open(entry, first, line);
      return { begun: begun.begun, write: (calls) => around(() => begun.write(calls)), leave: () => begun.leave() };
    },
  };
}

/** Quick writes that are done by `write` alone, all statements together. */
export function wholeWrites(write: Db['write']): Pick<Db, 'write' | 'open'> {
  return {
    write,
    open: (entry, first, line) => ({
      begun: Promise.resolve(),
      write: (calls) => write(entry, [...first, ...calls], line),
      leave: () => undefined,
    }),
  };
}

/**
 * Looks whether the clock of the database, which is believed (docs/decisions/0012-fiscal-time.md), is far from this machine's:
 * one of the two is wrong then, and whoever signs with a wrong one may sign nothing until the right one has caught up.
 */
import type { Logger } from 'pino';
import { isPassing } from '../../db/errors.ts';
import type { Db } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfNobody } from '../../identity/principal.ts';
import type { FailureLog } from '../failure-log.ts';
import { type Repeated, repeat } from './repeat.ts';

export interface WatchWorld {
  readonly db: Db;
  readonly log: Logger;
  /** Of this machine, since 1970. */
  readonly milliseconds: () => number;
}

const watch_ms = 60_000;
/** Machines that ask for the time are within a second of each other. */
const tolerance_seconds = 60;

const readClock = statement('clock_watch', 'select certo.now() as now');

/** Looks at once, and each minute. */
export function startWatch(world: WatchWorld, failures: FailureLog): Repeated {
  return repeat(async () => {
    await compareClocks(world).catch((error) => {
      // While the database is away the clock's other work says so.
      if (!isPassing(error)) failures.note(error, "the database's clock could not be read; it is in a minute");
    });
    return watch_ms;
  });
}

/** Warns when they differ; what the question took is no difference. */
export async function compareClocks({ db, log, milliseconds }: WatchWorld): Promise<void> {
  const asked = milliseconds();
  const [row] = await db.read(entryOfNobody).query(readClock);
  const answered = milliseconds();
  const database = (row!['now'] as Date).getTime();
  const seconds = Math.trunc((database - Math.min(Math.max(database, asked), answered)) / 1000);
  if (Math.abs(seconds) <= tolerance_seconds) return;
  log.warn(
    { seconds, database: new Date(database).toISOString() },
    "the database's clock, which dates documents, differs from this machine's: set right whichever is wrong",
  );
}

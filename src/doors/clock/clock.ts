/**
 * The door that opens by itself: what has to happen without a caller. Swept every second and nudged after each issue;
 * any number of processes may run it, since rows are leased or locked.
 */
import type { Db, Entry } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { type SeriesWorld, syncSeries } from '../../operations/series/registration.ts';
import { forgetOld } from './forget.ts';
import { type IntegrityWorld, startIntegrity } from './integrity.ts';
import { type ReportWorld, reportGroup, waitSeconds } from './reports.ts';
import { startWords } from './words.ts';

export interface ClockDoor {
  /** Something waits to be reported: do not wait for the next sweep. */
  nudge(): void;
  /** Ends after what is under way. */
  stop(): Promise<void>;
}

const sweep_milliseconds = 1000;
const most_companies = 20;
/** What is older than its time waits a little longer: nobody can read it any more. */
const forget_milliseconds = 600_000;

const toReport = statement('clock_to_report', `select id from certo.companies_to_report(${most_companies}) as id`);
const toSync = statement('clock_to_sync', `select id from certo.companies_to_sync(${most_companies}) as id`);
/** Reaches no company. */
export const nobody: Entry = {
  call: [statement('clock_enter', `select set_config('app.company_id', '', true)`), []],
  accept: () => undefined,
};

export function startClock(world: ReportWorld & SeriesWorld & IntegrityWorld): ClockDoor {
  let stopped = false;
  let running: Promise<void> | undefined;
  let again = false;
  // Companies whose comparison of series failed, with when to try again: an outage must not be asked every second.
  const resting = new Map<string, { attempts: number; until: number }>();
  let nextForgetting = 0;

  const forgetDue = async (): Promise<void> => {
    if (performance.now() < nextForgetting) return;
    const more = await forgetOld(world.db, nobody);
    // One group a sweep: what has to be told comes first.
    if (!more) nextForgetting = performance.now() + forget_milliseconds;
  };
  const sweep = async (): Promise<void> => {
    do {
      again = false;
      try {
        if (await reportDue(world)) again = true;
        await syncDue(world, resting);
        await forgetDue();
      } catch (error) {
        world.log.error({ err: error }, 'the clock could not do its work; it tries again');
        return;
      }
    } while (again && !stopped);
  };
  const run = (): void => {
    if (stopped) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    running = sweep().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(run, sweep_milliseconds);
  const integrity = startIntegrity(world);
  const words = startWords(world, nobody);
  return {
    nudge: run,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.all([running, integrity.stop(), words.stop()]);
    },
  };
}

async function dueIds(db: Db, list: typeof toReport): Promise<string[]> {
  return (await db.read(nobody).query(list)).map((row) => String(row['id']));
}

async function reportDue(world: ReportWorld & SeriesWorld): Promise<boolean> {
  const companies = await dueIds(world.db, toReport);
  const more = await Promise.all(companies.map((companyId) => reportGroup(world, companyId)));
  return more.includes(true);
}

async function syncDue(
  world: SeriesWorld & ReportWorld,
  resting: Map<string, { attempts: number; until: number }>,
): Promise<void> {
  for (const companyId of await dueIds(world.db, toSync)) {
    const rest = resting.get(companyId);
    if (rest !== undefined && rest.until > performance.now()) continue;
    if ((await syncSeries(world, companyId)) === 'unreachable') {
      const attempts = (rest?.attempts ?? 0) + 1;
      resting.set(companyId, { attempts, until: performance.now() + waitSeconds(attempts, world.random()) * 1000 });
    } else {
      resting.delete(companyId);
    }
  }
}

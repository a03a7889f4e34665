/**
 * The door that opens by itself: what has to happen without a caller. Swept every second and nudged after each issue;
 * any number of processes may run it, since rows are leased or locked. Each kind of work goes on for itself, and so does
 * each company: what is slow or fails holds up nothing else.
 */
import { calls_at_once } from '../../at/gateway.ts';
import type { Db } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfNobody } from '../../identity/principal.ts';
import { FailureLog } from '../failure-log.ts';
import { startForgetting } from './forget.ts';
import { type IntegrityWorld, startIntegrity } from './integrity.ts';
import { type ReportWorld, reportGroup } from './reports.ts';
import { Rounds } from './rounds.ts';
import { type SyncWorld, syncDue } from './sync.ts';
import { Unreached } from './unreached.ts';
import { startWatch, type WatchWorld } from './watch.ts';
import { startWords } from './words.ts';

export interface ClockDoor {
  /** Something waits to be reported: do not wait for the next sweep. */
  nudge(): void;
  /** Ends after what is under way. */
  stop(): Promise<void>;
}

const sweep_milliseconds = 1000;
/** Between two looks for reports: while callers wait a nudge after each issue would cost more than it brings. */
const look_milliseconds = { idle: 250, busy: sweep_milliseconds };
const most_companies = 1_000;
/** What fails for the same passing cause is logged once in this time, with a count: it is met again with each sweep. */
const failures_window_ms = 60_000;

const toReport = statement('clock_to_report', `select id from certo.companies_to_report(${most_companies}) as id`);
const toSync = statement('clock_to_sync', `select id from certo.companies_to_sync(${most_companies}) as id`);

export type ClockWorld = ReportWorld & SyncWorld & IntegrityWorld & WatchWorld;

/** Goes on until `stop`. What fails is logged and tried again with the next sweep; nothing is thrown. */
export function startClock(world: ClockWorld): ClockDoor {
  const failures = new FailureLog(world.log, failures_window_ms);
  const failed = (error: unknown, companyId?: string): void =>
    failures.note(error, 'the clock could not do its work; it tries again', { companyId });
  const unreached = new Unreached();
  const reports = new Rounds({
    atOnce: calls_at_once.reports,
    due: () => dueIds(world.db, toReport),
    work: (companyId) => reportGroup(world, companyId, failures, unreached),
    failed,
    pause: () => (world.busy() ? look_milliseconds.busy : look_milliseconds.idle),
  });
  const series = new Rounds({
    atOnce: calls_at_once.series,
    due: () => dueIds(world.db, toSync),
    async work(companyId) {
      await syncDue(world, companyId);
      return false;
    },
    failed,
    pause: () => 0,
  });
  const timer = setInterval(() => {
    reports.look();
    series.look();
  }, sweep_milliseconds);
  const repeated = [
    startIntegrity(world, failures),
    startWords(world, failures),
    startForgetting(world.db, failures),
    startWatch(world, failures),
  ];
  return {
    nudge: () => reports.look(),
    async stop() {
      clearInterval(timer);
      await Promise.all([reports, series, ...repeated].map((work) => work.stop()));
      failures.close();
    },
  };
}

async function dueIds(db: Db, list: typeof toReport): Promise<string[]> {
  return (await db.read(entryOfNobody).query(list)).map((row) => String(row['id']));
}

/**
 * The check of the books: at start and every night each company's documents, events and series are verified. What does
 * not prove itself is recorded, and blocks that company's fiscal acts until the operator has resolved it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Db } from '../../db/transact.ts';
import { booksSeal, type MasterKey } from '../../keys/sealing.ts';
import { openBreaks, recordBreaks } from '../../operations/verify/breaks.ts';
import { type Finding, type VerifyWorld, verifyCompany } from '../../operations/verify/verify-series.ts';
import type { FailureLog } from '../failure-log.ts';
import { type Repeated, repeat } from './repeat.ts';

export interface IntegrityWorld {
  readonly db: Db;
  readonly master: MasterKey;
  readonly log: Logger;
  readonly newId: () => string;
  readonly companyIds: () => Promise<readonly string[]>;
  readonly publicKeys: VerifyWorld['publicKeys'];
}

// A piece takes 2 to 5 ms of the processor: requests wait no longer than that behind it. Long documents have a turn each.
const piece = 10;
/** After each piece the check rests so many times as long as it took: it leaves the processor to requests. */
const rest = 4;
/** Shorter than this it does not rest: empty series cost next to nothing. Milliseconds. */
const shortest = 1;
/** After a company that could not be checked, all are checked again so much later, or at night if that is sooner. */
const again_ms = 10 * 60_000;
/** As many findings of a company are recorded; the first one blocks already. */
const most_recorded = 1_000;
const night_hour = 3;
const hour_ms = 3_600_000;

/** Begins at once, then each night at 3:00 UTC; ten minutes after a check in which a company could not be checked. */
export function startIntegrity(world: IntegrityWorld, failures: FailureLog): Repeated {
  return repeat(async (signal) => {
    const night_ms = untilNight(new Date());
    try {
      await checkBooks(world, signal);
      return night_ms;
    } catch (error) {
      if (!signal.aborted) failures.note(error, 'the books could not be checked; they are in ten minutes');
      return Math.min(night_ms, again_ms);
    }
  });
}

/** Milliseconds until the next night's check, 3:00 UTC: a time of the machine, not of the books. */
export function untilNight(now: Date): number {
  const sinceNight = (now.getTime() - night_hour * hour_ms) % (24 * hour_ms);
  return 24 * hour_ms - sinceNight;
}

/**
 * Checks every company once; returns how many things were found that were not known. One that can't be checked keeps no
 * other from it: what was thrown first comes out when all have had their turn.
 */
export async function checkBooks(world: IntegrityWorld, signal?: AbortSignal): Promise<number> {
  const { db, publicKeys } = world;
  const verifying: VerifyWorld = { db, publicKeys, seal: booksSeal(world.master) };
  let count = 0;
  const failures: unknown[] = [];
  for (const companyId of await world.companyIds()) {
    const fresh = await checkCompany(world, verifying, companyId, signal).catch((error: unknown) => {
      failures.push(error);
      return [];
    });
    signal?.throwIfAborted();
    for (const { number, series, problem } of fresh) {
      world.log.error(
        { companyId, series, number, problem },
        'the books were changed outside the program; issuing stops',
      );
    }
    count += fresh.length;
    await warnOfOpen(world, companyId).catch((error: unknown) => void failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return count;
}

/** At start and every night, as long as nobody has resolved it. */
async function warnOfOpen({ db, log }: IntegrityWorld, companyId: string): Promise<void> {
  const findings = await openBreaks(db, companyId);
  if (findings === 0) return;
  log.warn(
    { companyId, findings },
    'what a check of the books found is not resolved, and the company issues nothing: certo verify --company names it, --resolve accepts it',
  );
}

async function checkCompany(
  world: IntegrityWorld,
  verifying: VerifyWorld,
  companyId: string,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  let began = performance.now();
  await verifyCompany(verifying, companyId, {
    piece,
    found(finding) {
      if (findings.length < most_recorded) findings.push(finding);
    },
    async done() {
      const took = performance.now() - began;
      if (took > shortest) await sleep(took * rest, undefined, signal === undefined ? {} : { signal });
      signal?.throwIfAborted();
      began = performance.now();
    },
  });
  return recordBreaks(world, companyId, findings);
}

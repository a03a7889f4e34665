/**
 * Ending a series at the tax authority: finalised after its last document, or annulled when there never was one. Numbering
 * in it stops, committed, before the AT is told anything, and goes on only when it is known that the AT did not end it.
 * Calls the outside without a transaction, so it runs from a command, and any number of times.
 */
import type { Credentials, Outcome, Refused, Unknown } from '../../at/gateway.ts';
import type { AtDocumentCode, SeriesKey, SeriesRecord } from '../../at/reports.ts';
import { type Entry, type Row, statement, untangled } from '../../db/transact.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { actCall } from '../operator.ts';
import { defaultOf, fillDefault, holdAlike, takeDefault } from './default-series.ts';
import { credentialsOf, type SeriesWorld } from './registration.ts';

// A request that nobody waits for any more may still be on its way: one call takes 2 minutes at most
// (CERTO_AT_DEADLINE_SECONDS), and the AT refuses a security header that is old.
const may_arrive_minutes = 5;

const readSeries = statement(
  'end_series_read',
  `select s.code, s.at_type, s.status, s.validation_code, s.last_number, c.at_username, c.at_password_sealed, c.at_state,
     exists (select from certo.restores r where not r.nothing_lost and r.taken_at >= s.updated_at) as lost
   from certo.series s join certo.companies c on c.id = s.company_id
   where s.company_id = certo.current_company() and s.id = $1`,
);
const stopNumbering = statement(
  'end_series_stop',
  `update certo.series set status = 'ENDING', was_default = is_default, is_default = false, updated_at = certo.now()
   where company_id = certo.current_company() and id = $1 and status = 'ACTIVE'`,
);
const countPending = statement(
  'end_series_pending',
  `select count(*)::int as pending from certo.documents
   where company_id = certo.current_company() and series_id = $1 and at_status = 'PENDING'`,
);
const lockTelling = statement(
  'end_series_telling',
  `select status, coalesce(end_told_at < certo.now() - interval '${may_arrive_minutes} min', true) as alone
   from certo.series where company_id = certo.current_company() and id = $1 for no key update`,
);
// Since it stopped it may have been active again, and stopped after another number.
const setTold = statement(
  'end_series_told',
  `update certo.series set end_told_at = certo.now(), updated_at = certo.now()
   where company_id = certo.current_company() and id = $1 and status = 'ENDING' and last_number = $2 returning end_told_at`,
);
// Both tell whether it was the default, which another one has been since.
const stood = `with stood as (select id, was_default from certo.series where company_id = certo.current_company() and id = $1)`;
const setEnded = statement(
  'end_series_set',
  `${stood}
   update certo.series s set status = $2, was_default = false, end_told_at = null, updated_at = certo.now() from stood
   where s.company_id = certo.current_company() and s.id = stood.id and s.status in ('ENDING', $2) and s.last_number = $3
   returning stood.was_default`,
);
// On condition that nobody has told the AT since.
const reopen = statement(
  'end_series_reopen',
  `${stood}
   update certo.series s set status = 'ACTIVE', was_default = false, end_told_at = null, updated_at = certo.now() from stood
   where s.company_id = certo.current_company() and s.id = stood.id and s.status = 'ENDING' and s.end_told_at = $2
   returning stood.was_default`,
);

/** How a series ends: after its last document, or without one. */
export type SeriesEnd = 'FINALIZED' | 'ANNULLED';

export interface WantedEnd {
  readonly seriesId: string;
  readonly end: SeriesEnd;
  /** Of a finalised series; told to the AT. */
  readonly justification?: string | undefined;
  /** Asked while this many documents of the series are not at the AT: waits a little, or says false. */
  readonly wait: (pending: number) => Promise<boolean>;
}

/** What became of it. Only `stopped` leaves the series ENDING, and ending it again goes on from there. */
export type EndOutcome =
  | { readonly kind: 'no-series' }
  /** Also of one that a restore has closed, or another command has changed meanwhile. */
  | { readonly kind: 'not-active'; readonly code: string; readonly status: string }
  /** Nothing to finalise, or something that cannot be annulled. */
  | { readonly kind: 'other-end'; readonly code: string; readonly lastNumber: number }
  /** `heir`: the code of the series that is the default in its place; undefined too where it was none, or there is none. */
  | { readonly kind: 'ended'; readonly code: string; readonly lastNumber: number; readonly heir: string | undefined }
  /** The AT did not end it, and numbering goes on; it is the default if it was, and nobody has made another one that. */
  | { readonly kind: 'active-again'; readonly code: string; readonly no: Refused | Unknown }
  | { readonly kind: 'stopped'; readonly code: string; readonly lastNumber: number; readonly because: Because };

/** Why a series is ENDING still: documents that the AT does not have, or how the series stands there. */
export type Because =
  | { readonly kind: 'pending'; readonly documents: number }
  | { readonly kind: 'unknown'; readonly problem: string }
  /** The AT has it as something that it can't be here: in words, after "is". */
  | { readonly kind: 'differs'; readonly held: string };

/** A series that numbers nothing any more, with all that the AT wants to hear of it. */
interface Stopped {
  readonly id: string;
  readonly code: string;
  readonly lastNumber: number;
  readonly end: SeriesEnd;
  readonly key: SeriesKey;
  readonly credentials: Credentials;
  /** Since an earlier time: the AT may know of it. */
  readonly before: boolean;
}

/** How it stands at the AT. */
type Standing = { readonly kind: 'active' } | Told;
type Told = { readonly kind: 'ended' } | Exclude<Because, { kind: 'pending' }>;

/**
 * Stops numbering in a series and ends it at the AT; safe to repeat after whatever happened: then the AT is asked first how
 * the series stands. Refuses AT_CREDENTIALS_MISSING, before anything has changed.
 */
export async function endSeries(world: SeriesWorld, companyId: string, wanted: WantedEnd): Promise<EndOutcome> {
  const entry = entryOfCompany(companyId, 'operator');
  const stopped = await stop(world, entry, wanted);
  if ('kind' in stopped) return stopped;
  if (stopped.before) {
    const standing = await askTheAt(world, stopped);
    if (standing.kind !== 'active') return conclude(world, entry, stopped, standing);
  }
  for (;;) {
    const [row] = await world.db.read(entry).query(countPending, [stopped.id]);
    const documents = Number(row!['pending']);
    if (documents === 0) break;
    if (!(await wanted.wait(documents))) return still(stopped, { kind: 'pending', documents });
  }
  return tellTheAt(world, entry, stopped, wanted.justification);
}

/** Committed when it returns: whoever numbers next finds no active series. */
async function stop(world: SeriesWorld, entry: Entry, { seriesId, end }: WantedEnd): Promise<Stopped | EndOutcome> {
  return untangled(() =>
    world.db.transact(entry, async (tx) => {
      const [, [row] = []] = await tx.batch([holdAlike(seriesId), [readSeries, [seriesId]]]);
      if (row === undefined) return { kind: 'no-series' };
      const [code, lastNumber] = [String(row['code']), Number(row['last_number'])];
      const before = row['status'] === 'ENDING';
      // It may have been active again after the backup, with documents in it that are lost.
      if (before && row['lost'] === true) return { kind: 'not-active', code, status: 'CLOSED' };
      if (!before && row['status'] !== 'ACTIVE') return { kind: 'not-active', code, status: String(row['status']) };
      if ((lastNumber === 0) !== (end === 'ANNULLED')) return { kind: 'other-end', code, lastNumber };
      const credentials = credentialsOf(row, world.master);
      if (credentials === undefined) throw new Refusal('AT_CREDENTIALS_MISSING');
      // A document that names no series is numbered in another one from here on.
      await tx.batch([[stopNumbering, [seriesId]], fillDefault(seriesId)]);
      return { id: seriesId, code, lastNumber, end, key: keyOf(row), credentials, before };
    }),
  );
}

function keyOf(row: Row): SeriesKey {
  return {
    series: String(row['code']),
    documentCode: row['at_type'] as AtDocumentCode,
    validationCode: String(row['validation_code']),
  };
}

async function tellTheAt(
  world: SeriesWorld,
  entry: Entry,
  stopped: Stopped,
  justification: string | undefined,
): Promise<EndOutcome> {
  const { id, code, lastNumber, end, key, credentials } = stopped;
  const telling = await world.db.transact(entry, async (tx) => {
    const [row] = await tx.query(lockTelling, [id]);
    const [told] = await tx.query(setTold, [id, lastNumber]);
    return { status: String(row!['status']), alone: row!['alone'] === true, at: told?.['end_told_at'] };
  });
  if (telling.at === undefined) return { kind: 'not-active', code, status: telling.status };
  const outcome: Outcome =
    end === 'FINALIZED'
      ? await world.at.finalizeSeries(credentials, { ...key, lastNumber, justification })
      : await world.at.annulSeries(credentials, key);
  if (outcome.kind === 'done') return conclude(world, entry, stopped, { kind: 'ended' });
  if (outcome.kind === 'unknown' && outcome.sent) return still(stopped, { kind: 'unknown', problem: outcome.problem });
  if (wasJudged(outcome)) {
    // A refusal is believed unless the AT's own record says it is done: perhaps by ourselves, with the answer lost.
    const standing = await askTheAt(world, stopped);
    if (standing.kind !== 'active') return conclude(world, entry, stopped, standing);
  }
  if (telling.alone) {
    if (await goOn(world, entry, id, telling.at)) return { kind: 'active-again', code, no: outcome };
  }
  const problem = `${wordsOf(outcome)}; an earlier request may still reach it for ${may_arrive_minutes} minutes`;
  return still(stopped, { kind: 'unknown', problem });
}

/** ACTIVE again, and the default if it was. False: the AT was told again meanwhile. */
function goOn({ db }: SeriesWorld, entry: Entry, id: string, toldAt: unknown): Promise<boolean> {
  return untangled(() =>
    db.transact(entry, async (tx) => {
      const [, [active] = []] = await tx.batch([holdAlike(id), [reopen, [id, toldAt]]]);
      if (active === undefined) return false;
      await tx.batch(active['was_default'] === true ? takeDefault(id) : [fillDefault(id)]);
      return true;
    }),
  );
}

/** Not so at the door: a wrong password is not tried once more, since that may lock the sub-user. */
function wasJudged(no: Refused | Unknown): boolean {
  return no.kind === 'refused' && no.reason !== 'credentials' && no.reason !== 'configuration';
}

async function askTheAt(world: SeriesWorld, { end, lastNumber, key, credentials }: Stopped): Promise<Standing> {
  const listed = await world.at.listSeries(credentials, key);
  if (listed.kind !== 'done') return { kind: 'unknown', problem: wordsOf(listed) };
  const found = listed.series.find(({ validationCode }) => validationCode === key.validationCode);
  if (found?.state === 'A') return { kind: 'active' };
  if (end === 'ANNULLED' && found?.state === 'N') return { kind: 'ended' };
  if (end === 'FINALIZED' && found?.state === 'F' && Number(found.lastNumber) === lastNumber) return { kind: 'ended' };
  return { kind: 'differs', held: heldAs(found) };
}

function heldAs(found: SeriesRecord | undefined): string {
  if (found === undefined) return 'not known';
  if (found.state === 'F') return `finalised after number ${found.lastNumber ?? '?'}`;
  return found.state === 'N' ? 'annulled' : `in the state ${found.state}`;
}

async function conclude(world: SeriesWorld, entry: Entry, stopped: Stopped, standing: Told): Promise<EndOutcome> {
  if (standing.kind !== 'ended') return still(stopped, standing);
  const { id, code, lastNumber, end } = stopped;
  return world.db.transact(entry, async (tx) => {
    const [ended] = await tx.query(setEnded, [id, end, lastNumber]);
    assert(ended !== undefined, 'what the AT has ended was not active again');
    await tx.batch([actCall(end === 'FINALIZED' ? 'finalizeSeries' : 'annulSeries', id)]);
    const heir = ended['was_default'] === true ? await defaultOf(tx, id) : undefined;
    return { kind: 'ended', code, lastNumber, heir };
  });
}

const still = ({ code, lastNumber }: Stopped, because: Because): EndOutcome => ({
  kind: 'stopped',
  code,
  lastNumber,
  because,
});

const wordsOf = (no: Refused | Unknown): string =>
  no.kind === 'unknown' ? no.problem : `it refused: ${no.message} (code ${no.code})`;

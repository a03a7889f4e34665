/**
 * Numbering: what every fiscal act has in common. The series is locked, the law decides against its head, the chain is
 * signed, and the document's row is stamped and frozen together with the head.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row, Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { Content, Day, DocumentType, Region } from '../fiscal/document.ts';
import { signedText } from '../fiscal/hash-chain.ts';
import { clockBehind, type DecidedIssue, decideIssue, finishIssue, type IssueFacts } from '../fiscal/issue.ts';
import type { QrDrafted } from '../fiscal/qr-payload.ts';
import { readiness } from '../fiscal/readiness.ts';
import { assert } from '../fiscal/refusal.ts';
import { type CashVatPeriod, inCashVat, type Scheme, wantsCashVat } from '../fiscal/regime.ts';
import type { SealedSeries } from '../fiscal/seal.ts';
import { dayOf } from '../fiscal/time.ts';
import type { Signer } from '../keys/signer.ts';
import { checkUnbroken } from './books.ts';
import { readinessFacts } from './company/company.ts';
import { a_moment_ms, readMoment } from './moment.ts';
import { type RunningHead, runningFrom, signed } from './running-head.ts';
import type { Numbered } from './stamp.ts';
import type { World } from './world.ts';

/** Columns of `certo.series s` that numbering reads, beside its id. */
const headMembers = [
  'document_type',
  'at_type',
  'code',
  'kind',
  'cash_vat',
  'validation_code',
  'last_number',
  'last_date',
  'last_hash',
  'last_system_entry',
  'last_seal',
] as const;
/** First day of `certo.series s`. Until the AT has told it of a series from before it was kept: when the series was asked for here. */
export const firstDay = `coalesce(s.start_date, (s.created_at at time zone 'Europe/Lisbon')::date) as first_day`;
const headValues = [...headMembers.map((column) => `s.${column}`), firstDay].join(', ');
/** What `headOf` reads of `certo.series s`, and the id. */
export const headColumns = `s.id, ${headValues}`;
/**
 * Joined to `certo.documents d`: every series that a draft could go into as things stand, without a lock; a row for each, or
 * one without any. And whether all that the draft names is marked as used, which it then stays.
 */
export const placesOfDraft = `left join certo.series s on s.company_id = d.company_id and s.document_type = d.type and s.status = 'ACTIVE'
     and s.kind <> 'R' and case when d.series_id is not null then s.id = d.series_id else s.is_default end`;
/** What is read of a place, beside the draft's own columns. `marked`: nothing it names is left to be marked as used. */
export const placeColumns = `s.id as place_id, ${headValues},
     exists (select from certo.customers c where c.company_id = certo.current_company() and c.id = d.customer_id and c.used)
       and not exists (select from certo.items i where i.company_id = certo.current_company() and i.id = any (d.item_ids) and not i.used) as marked`;

/** Of the company's active series `s` of the type $1. */
const activeOfType = `s.company_id = certo.current_company() and s.document_type = $1 and s.status = 'ACTIVE'`;
/** The default, in the cash VAT scheme or outside it. */
const isDefault = (scheme: string, date: string) =>
  `s.is_default and s.cash_vat = case ${scheme} when 'always' then true when 'when-in-force' then (select certo.in_cash_vat(${date})) else false end`;
// The series named by the draft, else the default of its type, of the cash VAT scheme or not. Drafts that name it are
// not held up by this lock. Recovery series open to recovery alone.
const lockSeries = statement(
  'number_series',
  `select ${headColumns}
   from certo.series s
   where ${activeOfType}
     and case when $2::uuid is not null then s.id = $2 and (s.kind = 'R') = ($3 = 'recovery') else ${isDefault('$3', '$4')} end
   for no key update`,
  'once',
);
// Who waits for the lock of the default while it is passed on looks at that one again, and not for another one.
const defaultMoved = statement(
  'number_default_moved',
  `select certo.default_moved() from certo.series s where ${activeOfType} and ${isDefault('$2', '$3')}`,
  'once',
);
/** Where a document of a type is going to stand: read under the lock of its series. */
export interface Place {
  readonly series: Row | undefined;
  /** The document names it. */
  readonly isNamed: boolean;
  readonly moment: Row;
  /** Where the series stands; undefined as the series. Documents of one group share it: each moves it on. */
  readonly running: RunningHead | undefined;
  /** The series was chosen by the cash VAT scheme, as it is on the document's day. */
  readonly byScheme: boolean;
}

/** By the row of the moment, which the members of a group share (it is asked once), and the series' id. */
const runningHeads = new WeakMap<Row, Map<string, RunningHead>>();

function runningHead(moment: Row, series: Row): RunningHead {
  let heads = runningHeads.get(moment);
  if (heads === undefined) {
    heads = new Map();
    runningHeads.set(moment, heads);
  }
  const id = String(series['id']);
  const running = heads.get(id) ?? runningFrom(String(moment['id']), series);
  heads.set(id, running);
  return running;
}

/** What chooses the series. */
export interface Wanted {
  readonly type: DocumentType;
  /** Null: the default of the type. */
  readonly seriesId: string | null;
  /** Which of the defaults; recovery documents name their series. */
  readonly scheme?: Scheme | 'recovery' | undefined;
  /** The document's date, where it has one: the scheme is chosen by it. */
  readonly date?: Day | undefined;
}

/**
 * Locks the series until the commit, and reads the moment after it. Throws INTEGRITY_BROKEN while something that was found
 * in the company's books is not resolved, and what `untangled` tries again when the default was passed on meanwhile.
 */
export async function lockPlace(tx: Tx, { type, seriesId, scheme = 'never', date }: Wanted): Promise<Place> {
  const [series, moment] = await tx.batch([
    [lockSeries, [type, seriesId, scheme, date ?? null]],
    [readMoment, []],
  ]);
  assert(moment?.[0] !== undefined, 'a credential opens a company that exists');
  checkUnbroken(moment[0]);
  const isNamed = seriesId !== null;
  const byScheme = isByScheme({ seriesId, scheme });
  let found = series?.[0];
  if (byScheme && date === undefined) {
    // It waited for its lock: the day may have become another one since the series was chosen.
    const day = dayOf(moment[0]['now'] as Date, moment[0]['region'] as Region);
    const isChosen = found === undefined || isOfScheme(found, moment[0], day);
    if (!isChosen) [found] = await tx.query(lockSeries, [type, seriesId, scheme, day]);
  }
  if (found === undefined && !isNamed) await tx.query(defaultMoved, [type, scheme, date ?? null]);
  return {
    series: found,
    isNamed,
    moment: moment[0],
    running: found === undefined ? undefined : runningHead(moment[0], found),
    byScheme,
  };
}

const isByScheme = ({ seriesId, scheme }: Pick<Wanted, 'seriesId' | 'scheme'>): boolean =>
  seriesId === null && scheme === 'when-in-force';

/** A default series is that of a day: of the cash VAT scheme when it is in force, else not. */
const isOfScheme = (series: Row, moment: Row, day: Day): boolean =>
  (series['cash_vat'] === true) === inCashVat(cashVatOf(moment), day);

/**
 * Where a draft is going to stand, on the head that this process has decided last: nothing is locked, and the move of the
 * head tells whether it stood there. Undefined where it has to be locked to be judged. `places`: of `seriesOfPlaces`;
 * `moment`: of `readMoment`.
 */
export function placeAhead(
  places: readonly Row[],
  moment: Row,
  { seriesId, scheme = 'never', date }: Wanted,
  world: World,
): Place | undefined {
  if (moment['broken'] === true || isOlder(world.signer(), moment)) return undefined;
  const memory = world.memory.of(String(moment['id']));
  // What is decided here goes forward over all series, as under their locks.
  const latest = memory.latest();
  const now = readingOf(moment['now'] as Date, latest);
  const day = date ?? dayOf(now, moment['region'] as Region);
  const cashVat = scheme !== 'recovery' && wantsCashVat(scheme, cashVatOf(moment), day);
  const series = places.find((place) => seriesId !== null || place['cash_vat'] === cashVat);
  if (series === undefined) return undefined;
  const last_signed = later((moment['last_signed'] as Date | null) ?? undefined, latest) ?? null;
  const [isNamed, byScheme] = [seriesId !== null, isByScheme({ seriesId, scheme })];
  return { series, isNamed, moment: { ...moment, now, last_signed }, running: memory.head(series), byScheme };
}

/** The series of rows with `placeColumns`, as `headColumns` gives them. */
export function seriesOfPlaces(rows: readonly Row[]): Row[] {
  return rows
    .filter((row) => row['place_id'] !== null)
    .map((row) => {
      const series: Row = { id: row['place_id'] };
      for (const column of headMembers) series[column] = row[column];
      series['first_day'] = row['first_day'];
      return series;
    });
}

/** What an operation refuses that numbers, in a series the caller may name, what is made of an invoice. */
export const regimeOfInvoiceRefusals = ['TRAINING_DIFFERS', 'CASH_VAT_DIFFERS'] as const;

/** The same of what may be an invoice itself. */
export const regimeRefusals = [...regimeOfInvoiceRefusals, 'CASH_VAT_NOT_IN_FORCE', 'CASH_VAT_EXCLUDED'] as const;

/** The installation has a newer key than this signer's. */
const isOlder = ({ keyVersion }: Signer, moment: Row): boolean => keyVersion < Number(moment['key_version']);

interface Unnumbered {
  readonly content: Content;
  readonly region: Region;
  /** Of its content, where it is known. */
  readonly qr?: QrDrafted | undefined;
}

/** What is to be so at the moment that is signed, which the clock may have been waited for. Throws its Refusal. */
export type CheckMoment = (now: Date) => void;

/**
 * Decides and signs. Throws what `decideIssue` throws, or `check` does; then nothing has happened, and the next document has
 * the number.
 */
export async function numberDocument(
  document: Pick<Numbered, 'id' | 'drafted'> & Unnumbered,
  place: Place,
  world: World,
  check?: CheckMoment,
): Promise<Numbered> {
  const { series, isNamed, moment, running } = place;
  // Behind the documents of a newer key, which another process may have signed, one of an older would not verify.
  if (isOlder(world.signer(), moment)) await world.renewSigner();
  const signer = world.signer();
  assert(!isOlder(signer, moment), 'the newest key of the database is the newest');
  const { decided, now } = await decideInTime(place, check, {
    content: document.content,
    seriesStart: series?.['first_day'] as Day | undefined,
    isSeriesNamed: isNamed,
    now: readingOf(moment['now'] as Date, running?.now),
    region: document.region,
    lastSigned: later((moment['last_signed'] as Date | null) ?? undefined, running?.now),
    cashVat: cashVatOf(moment),
    notReady: readiness(readinessFacts(moment), world.baseUrl),
    certificateNumber: world.certificateNumber,
    keyVersion: signer.keyVersion,
  });
  assert(series !== undefined && running !== undefined, 'a decided document has a series');
  const { previousHash, hash } = await signed(running, decided.parts, signer);
  return {
    id: document.id,
    companyId: String(moment['id']),
    seriesId: String(series['id']),
    series: sealedSeries(series),
    asDefault: !isNamed,
    previousHash,
    seals: running,
    signedText: decided.parts === undefined ? null : signedText(decided.parts, previousHash),
    decided,
    issued: finishIssue(decided, hash, document.qr),
    now,
    drafted: document.drafted,
  };
}

/**
 * Decides and takes the number, in one go; when the clock is a little behind the last signature, waits for it first
 * (contract decisions 3, Fiscal time).
 */
async function decideInTime(
  place: Place,
  check: CheckMoment | undefined,
  facts: Omit<IssueFacts, 'head'>,
): Promise<{ decided: DecidedIssue; now: Date }> {
  const { running } = place;
  const first = decideIssue({ head: running?.head, ...facts });
  if (first.wait === undefined) {
    check?.(facts.now);
    return { decided: taken(running, first, facts.now), now: facts.now };
  }
  await sleep(first.wait);
  const now = new Date(facts.now.getTime() + first.wait);
  // Midnight came while it was waited for, and with it the scheme, or its end: another series is its own now.
  const day = facts.content.date ?? dayOf(now, facts.region);
  if (place.byScheme && !isOfScheme(place.series!, place.moment, day)) throw clockBehind(first.wait);
  const second = decideIssue({ ...facts, now, head: running?.head });
  assert(second.wait === undefined, 'the clock has caught up after the wait');
  check?.(now);
  return { decided: taken(running, second, now), now };
}

function taken(running: RunningHead | undefined, decided: DecidedIssue, now: Date): DecidedIssue {
  if (running !== undefined) {
    running.head = decided.next;
    running.now = now;
  }
  return decided;
}

/** What was decided last may have read the clock after this one did; by more than a moment the clock was set back. */
function readingOf(now: Date, last: Date | undefined): Date {
  const behind_ms = (last?.getTime() ?? 0) - now.getTime();
  return last !== undefined && behind_ms > 0 && behind_ms <= a_moment_ms ? last : now;
}

const later = (a: Date | undefined, b: Date | undefined): Date | undefined =>
  a === undefined || (b !== undefined && b.getTime() > a.getTime()) ? b : a;

function sealedSeries(series: Row): SealedSeries {
  return {
    id: String(series['id']),
    documentType: String(series['document_type']),
    atType: String(series['at_type']),
    code: String(series['code']),
    kind: String(series['kind']),
    cashVat: series['cash_vat'] === true,
    validationCode: String(series['validation_code']),
  };
}

function cashVatOf(moment: Row): CashVatPeriod | undefined {
  const from = moment['cash_vat_from'] as Day | null;
  return from === null ? undefined : { from, until: (moment['cash_vat_until'] as Day | null) ?? undefined };
}

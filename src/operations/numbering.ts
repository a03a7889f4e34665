/**
 * Numbering: what every fiscal act has in common. The series is locked, the law decides against its head, the chain is
 * signed, and the document's row is stamped and frozen together with the head.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Row, Tx } from '../db/transact.ts';
import {
  allOr,
  anyId,
  anyOf,
  type Element,
  Elements,
  eachOnce,
  listStatement,
  statement,
  WrittenElement,
} from '../db/transact.ts';
import type { Content, Day, DocumentType, Region } from '../fiscal/document.ts';
import { signedText } from '../fiscal/hash-chain.ts';
import { type DecidedIssue, decideIssue, finishIssue, type IssueFacts } from '../fiscal/issue.ts';
import { readiness } from '../fiscal/readiness.ts';
import { assert } from '../fiscal/refusal.ts';
import { type CashVatPeriod, inCashVat, type Scheme } from '../fiscal/regime.ts';
import { frozenInOrder, type Mac, type SealedSeries } from '../fiscal/seal.ts';
import { dayOf } from '../fiscal/time.ts';
import type { Signer } from '../keys/signer.ts';
import { checkUnbroken } from './books.ts';
import { readinessFacts } from './company/company.ts';
import { a_moment_ms, readMoment } from './moment.ts';
import { type RunningHead, runningFrom, signed } from './running-head.ts';
import { type Numbered, type Sealed, type Stamp, sealNumbered } from './stamp.ts';
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
const headValues = headMembers.map((column) => `s.${column}`).join(', ');
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
     exists (select from certo.customers c where c.company_id = d.company_id and c.id = d.customer_id and c.used)
       and not exists (select from certo.items i where i.company_id = d.company_id and i.id = any (d.item_ids) and not i.used) as marked`;

// The series named by the draft, else the default of its type, of the cash VAT scheme or not. Drafts that name it are
// not held up by this lock. Recovery series open to recovery alone.
const lockSeries = statement(
  'number_series',
  `select ${headColumns}
   from certo.series s
   where s.company_id = certo.current_company() and s.document_type = $1 and s.status = 'ACTIVE'
     and case when $2::uuid is not null then s.id = $2 and (s.kind = 'R') = ($3 = 'recovery')
       else s.is_default and s.cash_vat = case $3 when 'always' then true when 'when-in-force' then (select certo.in_cash_vat($4)) else false end end
   for no key update`,
  'once',
);
/** Columns that the stamp writes: all that is frozen, but for what the row has had since it was inserted. */
const begun = new Set(['company_id', 'id', 'created_by', 'application_id', 'schedule_template_id', 'asked']);
/** What issuing adds to a draft that is frozen as it stands, with its types. */
const added: Readonly<Record<string, string>> = {
  series_id: 'uuid',
  date: 'date',
  due_date: 'date',
  sequence: 'bigint',
  number: 'text',
  atcud: 'text',
  hash: 'text',
  signed_text: 'text',
  key_version: 'integer',
  certificate_number: 'integer',
  system_entry: 'text',
  qr: 'text',
  issued_at: 'timestamptz',
  issued_by: 'text',
  issued_state: 'jsonb',
};
/** What it sets of a row's state, with its types. */
const set: Readonly<Record<string, string>> = {
  seal: 'bytea',
  state_seal: 'bytea',
  status: 'text',
  updated_at: 'timestamptz',
  outstanding: 'numeric',
  credited: 'numeric',
  at_status: 'text',
};
const isStamped = frozenInOrder.map((column) => !begun.has(column));
const isAdded = frozenInOrder.map((column) => column in added);
const stampedColumns = frozenInOrder.filter((_, i) => isStamped[i]);
const orChanged = allOr('done', 'certo.changed_meanwhile()');
// By "number is null" it would go through the index of all drafts.
const stamping = (columns: readonly string[], elements: string) => `with done as (
     update certo.documents d set ${columns.map((column) => `${column} = v.${column}`).join(', ')}
     from ${elements} v
     where d.company_id = certo.current_company() and d.id = v.id and d.id = ${anyOf('id', 'uuid')}
       and coalesce(d.number, '') = ''
     returning d.id)
   ${orChanged}`;
const stampDocument = listStatement(
  'number_document',
  stamping([...Object.keys(set), ...stampedColumns], 'jsonb_populate_recordset(null::certo.documents, $1::jsonb)'),
);
// What the draft says is neither sent nor written again: half of what a document costs here is its content.
const typed = Object.entries({ id: 'uuid', ...set, ...added }).map(([column, type]) => `${column} ${type}`);
const stampDraft = listStatement(
  'number_draft',
  stamping(
    [...Object.keys(set), ...Object.keys(added)],
    `(select * from jsonb_to_recordset($1::jsonb) x (${typed.join(', ')}))`,
  ),
);
const moveSeries = listStatement(
  'number_move_series',
  `with done as (
     update certo.series s set last_number = v.last_number, last_date = v.last_date, last_hash = v.last_hash,
       last_system_entry = v.last_system_entry, last_issued_at = v.now, updated_at = v.now, last_seal = v.last_seal, head_seal = v.head_seal
     from jsonb_to_recordset($1::jsonb) v (id uuid, last_number bigint, last_date date, last_hash text, last_system_entry text, now timestamptz,
       last_seal bytea, head_seal bytea, number_before bigint, hash_before text, seal_before bytea)
     where s.company_id = certo.current_company() and s.id = v.id and s.last_number = v.number_before and s.last_hash = v.hash_before
       and s.last_seal is not distinct from v.seal_before and s.status = 'ACTIVE' and s.id = ${anyOf('id', 'uuid')}
     returning s.id)
   ${orChanged}`,
  { joins: oneMovePerSeries },
);
// In order of id, as everyone who locks several of them.
const useMasters = (table: 'customers' | 'items') =>
  listStatement(
    `number_use_${table}`,
    `update certo.${table} set used = true where company_id = certo.current_company() and id = any (array(
       select id from certo.${table} where company_id = certo.current_company() and id = ${anyId} and not used
       order by id for no key update))`,
    { joins: eachOnce },
  );
const useCustomers = useMasters('customers');
const useItems = useMasters('items');

/** Where a document of a type is going to stand: read under the lock of its series. */
export interface Place {
  readonly series: Row | undefined;
  readonly moment: Row;
  /** Where the series stands; undefined as the series. Documents of one group share it: each moves it on. */
  readonly running: RunningHead | undefined;
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
  const running = heads.get(id) ?? runningFrom(series);
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
 * in the company's books is not resolved.
 */
export async function lockPlace(tx: Tx, { type, seriesId, scheme = 'never', date }: Wanted): Promise<Place> {
  const [series, moment] = await tx.batch([
    [lockSeries, [type, seriesId, scheme, date ?? null]],
    [readMoment, []],
  ]);
  assert(moment?.[0] !== undefined, 'a credential opens a company that exists');
  checkUnbroken(moment[0]);
  const found = series?.[0];
  return {
    series: found,
    moment: moment[0],
    running: found === undefined ? undefined : runningHead(moment[0], found),
  };
}

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
  const day = date ?? dayOf(moment['now'] as Date, moment['region'] as Region);
  const cashVat = scheme === 'always' || (scheme === 'when-in-force' && inCashVat(cashVatOf(moment), day));
  const series = places.find((place) => seriesId !== null || place['cash_vat'] === cashVat);
  if (series === undefined) return undefined;
  const memory = world.memory.of(String(moment['id']));
  // What is decided here goes forward over all series, as under their locks.
  const latest = memory.latest();
  const now = readingOf(moment['now'] as Date, latest);
  const last_signed = later((moment['last_signed'] as Date | null) ?? undefined, latest) ?? null;
  return { series, moment: { ...moment, now, last_signed }, running: memory.head(series) };
}

/** The series of rows with `placeColumns`, as `headColumns` gives them. */
export function seriesOfPlaces(rows: readonly Row[]): Row[] {
  return rows
    .filter((row) => row['place_id'] !== null)
    .map((row) => {
      const series: Row = { id: row['place_id'] };
      for (const column of headMembers) series[column] = row[column];
      return series;
    });
}

/** What every operation refuses that numbers in a series the caller may name. */
export const regimeRefusals = [
  'TRAINING_DIFFERS',
  'CASH_VAT_NOT_IN_FORCE',
  'CASH_VAT_EXCLUDED',
  'CASH_VAT_DIFFERS',
] as const;

/** The installation has a newer key than this signer's. */
const isOlder = ({ keyVersion }: Signer, moment: Row): boolean => keyVersion < Number(moment['key_version']);

/** Decides and signs. Throws what `decideIssue` throws; then nothing has happened. */
export async function numberDocument(
  document: Pick<Numbered, 'id' | 'drafted'> & { readonly content: Content; readonly region: Region },
  place: Place,
  world: World,
): Promise<Numbered> {
  const { series, moment, running } = place;
  // Behind the documents of a newer key, which another process may have signed, one of an older would not verify.
  if (isOlder(world.signer(), moment)) await world.renewSigner();
  const signer = world.signer();
  assert(!isOlder(signer, moment), 'the newest key of the database is the newest');
  const { decided, now } = await decideInTime(running, {
    content: document.content,
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
    previousHash,
    seals: running,
    signedText: decided.parts === undefined ? null : signedText(decided.parts, previousHash),
    decided,
    issued: finishIssue(decided, hash),
    now,
    drafted: document.drafted,
  };
}

/** What is known of the row that is numbered. */
interface Known {
  /** What it names is marked as used. */
  readonly marked?: boolean;
  /** It is a draft that is frozen as its row says it. */
  readonly asDrafted?: boolean;
}

/** The statements that write a numbered document over its draft row, sealed, and move the head of its series. */
export function stampCalls(
  numbered: Numbered,
  stamp: Stamp,
  mac: Mac,
  { marked = false, asDrafted = false }: Known = {},
): Call[] {
  const { decided, issued, seriesId, now, previousHash, seals } = numbered;
  const { content } = decided;
  const previousSeal = seals.lastSeal;
  const sealed = sealNumbered(numbered, stamp, mac);
  // The next document of the group is sealed after this one.
  seals.lastSeal = sealed.seal;
  const { date, systemEntry, sequence, hash } = issued;
  const move: Move = {
    id: seriesId,
    last_number: sequence,
    last_date: date,
    last_hash: hash,
    last_system_entry: systemEntry,
    now,
    last_seal: sealed.seal,
    head_seal: sealed.headSeal,
    number_before: sequence - 1,
    hash_before: previousHash,
    seal_before: previousSeal,
  };
  const calls: Call[] = [
    // The head before the number: who writes a number and then waits for the head stands, at the index of numbers, before
    // who has the head and writes the same one.
    [moveSeries, [new Elements([move])]],
    [
      asDrafted ? stampDraft : stampDocument,
      [new Elements([stampOf(numbered.id, sealed, asDrafted ? isAdded : isStamped)])],
    ],
  ];
  if (marked) return calls;
  const [customerId, ...itemIds] = namedBy(content);
  return [...calls, [useCustomers, [[customerId]]], [useItems, [itemIds]]];
}

/** Masters that a document names: its customer, then its items. */
export function namedBy({ customer, lines }: Content): string[] {
  return [customer.id, ...new Set(lines.map((line) => line.itemId))];
}

/** The text that was sealed, but for what the row has already. Null is left out, and so read. */
function stampOf(
  id: string,
  { members, state, seal, stateSeal }: Sealed,
  isWritten: readonly boolean[],
): WrittenElement {
  const stamped = members.filter((member, i) => member !== '' && isWritten[i]).join(',');
  return new WrittenElement({ id, seal, state_seal: stateSeal, ...state }, stamped);
}

/** What a document does to the head of its series: on condition that it stands where the one before left it. */
interface Move {
  readonly id: string;
  readonly last_number: number;
  readonly last_hash: string;
  readonly last_seal: Uint8Array;
  readonly number_before: number;
  readonly hash_before: string;
  readonly seal_before: Uint8Array | null;
  readonly [column: string]: unknown;
}

/** Documents of one group go on from each other, so the head moves from before the first to behind the last. */
function oneMovePerSeries(elements: readonly Element[]): Move[][] {
  const moves = new Map<string, Move>();
  for (const next of elements as readonly Move[]) {
    const before = moves.get(next.id);
    if (before === undefined) {
      moves.set(next.id, next);
      continue;
    }
    const goesOn =
      before.last_number === next.number_before &&
      before.last_hash === next.hash_before &&
      before.last_seal === next.seal_before;
    assert(goesOn, 'documents of one group go on from each other');
    const { number_before, hash_before, seal_before } = before;
    moves.set(next.id, { ...next, number_before, hash_before, seal_before });
  }
  return [[...moves.values()]];
}

/**
 * Decides and takes the number, in one go; when the clock is a little behind the last signature, waits for it first
 * (decisions 3, Fiscal time).
 */
async function decideInTime(
  running: RunningHead | undefined,
  facts: Omit<IssueFacts, 'head'>,
): Promise<{ decided: DecidedIssue; now: Date }> {
  const first = decideIssue({ head: running?.head, ...facts });
  if (first.wait === undefined) return { decided: taken(running, first, facts.now), now: facts.now };
  await sleep(first.wait);
  const now = new Date(facts.now.getTime() + first.wait);
  const second = decideIssue({ ...facts, now, head: running?.head });
  assert(second.wait === undefined, 'the clock has caught up after the wait');
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
  a === undefined || (b !== undefined && b > a) ? b : a;

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

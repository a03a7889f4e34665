/**
 * The statements that write a numbered document over its draft row, sealed, and move the head of its series. Which of the
 * ways of a row: a draft that is frozen as it stands gets what issuing adds; any other is written whole.
 */
import type { Call } from '../db/transact.ts';
import {
  allOr,
  anyId,
  anyOf,
  ByColumn,
  bytesJson,
  callFor,
  type Element,
  Elements,
  eachOnce,
  inOrderOfIds,
  listStatement,
  oneOr,
  WrittenElement,
} from '../db/transact.ts';
import type { Content } from '../fiscal/document.ts';
import { assert } from '../fiscal/refusal.ts';
import { frozenInOrder, type Mac } from '../fiscal/seal.ts';
import { type AddedColumn, type Numbered, type Sealed, type Stamp, sealNumbered } from './stamp.ts';

/** Columns that the stamp writes: all that is frozen, but for what the row has had since it was inserted. */
const begun = new Set(['company_id', 'id', 'created_by', 'application_id', 'schedule_template_id', 'asked']);
const stampedState = ['status', 'updated_at', 'outstanding', 'credited', 'at_status'] as const;
/** Of these no draft has any: who recovers a document writes all of its row. */
type OfRecovered = 'recovered_key' | 'recovered_file';
type OverDraft = Exclude<AddedColumn, OfRecovered> | 'seal' | 'state_seal' | (typeof stampedState)[number];
/** What is written over a draft that is frozen as it stands: what issuing adds to it, and its state. With their types. */
const draftColumns = {
  seal: 'bytea',
  state_seal: 'bytea',
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
  status: 'text',
  updated_at: 'timestamptz',
  outstanding: 'numeric',
  credited: 'numeric',
  at_status: 'text',
} as const satisfies Record<OverDraft, string>;
const isStamped = frozenInOrder.map((column) => !begun.has(column));
const stampedColumns = frozenInOrder.filter((_, i) => isStamped[i]);
// By "number is null" it would go through the index of all drafts. That the series is there is asked here:
// a foreign key would look for it, and lock it, for each document (docs/decisions/0089-less-for-each-group.md).
const stamping = (columns: readonly string[], elements: string, any: string, condition = '') => `with done as (
     update certo.documents d set ${columns.map((column) => `${column} = v.${column}`).join(', ')}
     from ${elements} v
     where d.company_id = certo.current_company() and d.id = v.id and d.id = ${any}
       and coalesce(d.number, '') = ''${condition}
       and exists (select from certo.series s where s.company_id = certo.current_company() and s.id = v.series_id)
     returning d.id)`;
const stampDocument = listStatement(
  'number_document',
  `${stamping(
    ['seal', 'state_seal', ...stampedColumns, ...stampedState],
    'jsonb_populate_recordset(null::certo.documents, $1::jsonb)',
    anyOf('id', 'uuid'),
  )}
   ${allOr('done', 'certo.changed_meanwhile()')}`,
);
// What the draft says is neither sent nor written again: half of what a document costs here is its content. On condition that
// it is the revision that was decided on, so that nobody has to hold the row before: to lock a row costs half of writing it.
const overDrafts = new ByColumn({ id: 'uuid', seen: 'timestamptz', ...draftColumns }, [
  'series_id',
  'date',
  'due_date',
  'key_version',
  'certificate_number',
  'issued_by',
  'status',
  'credited',
  'at_status',
]);
const stampDraft = listStatement(
  'number_draft',
  `${stamping(Object.keys(draftColumns), overDrafts.rows, overDrafts.any('id'), ' and d.updated_at = v.seen')}
   ${allOr('done', 'certo.changed_meanwhile()', overDrafts.count)}`,
  { joins: inOrderOfIds, byColumn: overDrafts },
);
const moveColumns = [
  'id',
  'last_number',
  'last_date',
  'last_hash',
  'last_system_entry',
  'now',
  'last_seal',
  'head_seal',
  'number_before',
  'hash_before',
  'seal_before',
  'as_default',
];
// A default that was passed on numbers no document any more that names no series, also what was decided before.
const moveSeries = listStatement(
  'number_move_series',
  `with done as (
     update certo.series s set last_number = $2::bigint, last_date = $3::date, last_hash = $4::text, last_system_entry = $5::text,
       last_issued_at = $6::timestamptz, updated_at = $6::timestamptz, last_seal = $7::bytea, head_seal = $8::bytea
     where s.company_id = certo.current_company() and s.id = $1::uuid and s.last_number = $9::bigint and s.last_hash = $10::text
       and s.last_seal is not distinct from $11::bytea and s.status = 'ACTIVE' and (s.is_default or not $12::boolean)
     returning s.id)
   ${oneOr('done', 'certo.changed_meanwhile()')}`,
  { joins: oneMovePerSeries, columns: moveColumns },
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

/** What is known of the row that is numbered. */
interface Known {
  /** What it names is marked as used. */
  readonly marked?: boolean;
  /** It is a draft that is frozen as its row says it: written on condition that it still is that revision. */
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
  // Of what the row says already only the bytes are known, which are not written.
  assert(asDrafted || numbered.drafted === undefined, 'a row that is written whole is known in text');
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
    as_default: numbered.asDefault,
  };
  const calls: Call[] = [
    // The head before the number: who writes a number and then waits for the head stands, at the index of numbers, before
    // who has the head and writes the same one.
    callFor(moveSeries, [move]),
    asDrafted ? stampOverDraft(numbered, stamp, sealed) : stampWhole(numbered.id, sealed),
  ];
  if (marked) return calls;
  const [customerId, ...itemIds] = namedBy(content);
  return [...calls, [useCustomers, [[customerId]]], [useItems, [itemIds]]];
}

/** Masters that a document names: its customer, then its items. */
export function namedBy({ customer, lines }: Content): string[] {
  return [customer.id, ...new Set(lines.map((line) => line.itemId))];
}

/** All of the row, as members of JSON: the text that was sealed, of the columns that are written. What is null is left out, and so read. */
function stampWhole(id: string, { stateText, members, seal, stateSeal }: Sealed): Call {
  const written = members!.filter((member, i) => isStamped[i] === true && member !== '').join(',');
  const stamped = `"seal":${bytesJson(seal)},"state_seal":${bytesJson(stateSeal)},${stateText},${written}`;
  return [stampDocument, [new Elements([new WrittenElement(id, stamped)])]];
}

/** What issuing adds to the row, value by value as it was sealed. */
function stampOverDraft(
  { id, decided, issued, seriesId, signedText, now }: Numbered,
  { actor, begun: { updatedAt } }: Stamp,
  { state, stateText, seal, stateSeal }: Sealed,
): Call {
  const columns: Record<OverDraft, unknown> = {
    seal,
    state_seal: stateSeal,
    series_id: seriesId,
    date: decided.date,
    due_date: decided.dueDate,
    sequence: issued.sequence,
    number: issued.number,
    atcud: issued.atcud,
    hash: issued.hash,
    signed_text: signedText,
    key_version: issued.keyVersion,
    certificate_number: issued.certificateNumber,
    system_entry: issued.systemEntry,
    qr: issued.qr,
    issued_at: now,
    issued_by: actor,
    issued_state: `{${stateText}}`,
    ...state,
  };
  return callFor(stampDraft, [{ id, seen: updatedAt, ...columns }]);
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
  /** It is on condition that the series is the default. */
  readonly as_default: boolean;
  readonly [column: string]: unknown;
}

/**
 * Documents that go on from each other move the head from before the first to behind the last. Where one does not, somebody
 * else had numbered before it was decided: its move is a second one, and the database sees that they can't both be true.
 */
function oneMovePerSeries(elements: readonly Element[]): Element[][] {
  const steps: Map<string, Move>[] = [new Map()];
  for (const next of elements as readonly Move[]) {
    const moves = steps.at(-1)!;
    const before = moves.get(next.id);
    if (before === undefined) {
      moves.set(next.id, next);
    } else if (goesOn(before, next)) {
      const { number_before, hash_before, seal_before } = before;
      const as_default = before.as_default || next.as_default;
      moves.set(next.id, { ...next, number_before, hash_before, seal_before, as_default });
    } else {
      steps.push(new Map([[next.id, next]]));
    }
  }
  return steps.flatMap((moves) => inOrderOfIds([...moves.values()]).flatMap((all) => all.map((move) => [move])));
}

const goesOn = (before: Move, next: Move): boolean =>
  before.last_number === next.number_before &&
  before.last_hash === next.hash_before &&
  before.last_seal === next.seal_before;

/**
 * What happens to a numbered document after its issue: the one statement that changes its row, together with the sealed
 * event that tells the change. Values are known before they are written, from the locked row: what is sealed is what is
 * stored.
 */
import type { Call, Row, Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import { assert, Refusal } from '../fiscal/refusal.ts';
import { eventSeal, type Mac, type State, sealable, stateColumns, stateSeal } from '../fiscal/seal.ts';

/** Columns of `certo.documents d` that a change starts from. */
export const standingColumns = `d.id, d.last_event, d.state_seal, ${stateColumns.map((column) => `d.${column}`).join(', ')},
  exists (select from certo.integrity_breaks b where b.company_id = d.company_id and b.resolved_at is null) as broken`;

const readLocked = statement(
  'books_standing',
  `select ${standingColumns}, certo.now() as now from certo.documents d where d.company_id = certo.current_company() and d.id = $1`,
);

/** The standing of a document that this transaction has locked, and the time after the lock. */
export async function readStanding(tx: Tx, id: string): Promise<Row> {
  const [row] = await tx.query(readLocked, [id]);
  assert(row !== undefined, 'a locked document is there');
  return row;
}

const settled = `$${stateColumns.length + 9}::uuid is null`;
const change = statement(
  'books_change',
  `with changed as (
     update certo.documents set last_event = $2, state_seal = $3, ${stateColumns.map((column, i) => `${column} = $${i + 9}`).join(', ')},
       at_next_at = case when ${settled} and (at_lease is not null or not $8) then at_next_at end,
       at_attempts = case when ${settled} then at_attempts else 0 end,
       at_lease = case when ${settled} then at_lease end,
       at_problem = case when ${settled} then at_problem end
     where company_id = certo.current_company() and id = $1 and last_event = $2 - 1 and state_seal = $4
       and (${settled} or at_lease = $${stateColumns.length + 9})
     returning company_id, id)
   insert into certo.document_events (company_id, document_id, sequence, at, kind, changes, seal)
   select company_id, id, $2, $5, $6, $7, $${stateColumns.length + 10} from changed returning sequence`,
);

/** Why a numbered document changed, as its event keeps it for ever. */
export type ChangeKind =
  | 'CANCELED'
  | 'BALANCE'
  | 'CONVERTED'
  | 'HIDDEN'
  | 'AT_CODE'
  | 'AT_ACCEPTED'
  | 'AT_REJECTED'
  | 'AT_AGAIN';

export interface Change {
  readonly kind: ChangeKind;
  readonly at: Date;
  readonly changes: State;
  /** The AT is to be told: a report that waits is due at once; one that is under way keeps its lease. */
  readonly tell?: boolean;
  /** It is the answer to the report with this lease, which ends with it. */
  readonly lease?: string;
}

/**
 * The statement that changes a numbered document, `row` being its `standingColumns`. One row comes back; none when the
 * document has changed since `row` was read.
 */
export function changeCall(row: Row, { kind, at, changes, tell = false, lease }: Change, mac: Mac): Call {
  const id = String(row['id']);
  const before = row['state_seal'];
  assert(before instanceof Uint8Array, 'a numbered document is sealed');
  const sequence = Number(row['last_event']) + 1;
  const event = { sequence, at: sealable(at)!, kind, changes };
  const seal = eventSeal(mac, id, event, before);
  const state = stateColumns.map((column) => (column in changes ? changes[column] : row[column]));
  const after = stateSeal(mac, id, sequence, seal);
  return [
    change,
    [id, sequence, after, before, at, kind, JSON.stringify(changes), tell, ...state, lease ?? null, seal],
  ];
}

/** The next `updated_at` of a row: it strictly increases. */
export function nextUpdate(row: Row, now: Date): string {
  return sealable(new Date(Math.max(now.getTime(), (row['updated_at'] as Date).getTime() + 1)))!;
}

/** Every fiscal act of a company whose books were found broken is refused, until the operator has resolved it. */
export function checkUnbroken(row: Row | undefined): void {
  if (row?.['broken'] === true) throw new Refusal('INTEGRITY_BROKEN');
}

/** What was changed under a lock has changed exactly once. */
export function changedOnce(rows: readonly Row[] | undefined): void {
  assert(rows?.length === 1, 'a locked document can be changed');
}

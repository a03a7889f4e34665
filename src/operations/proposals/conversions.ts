/** A pro forma and the invoices made of it: what is still open, and what happens to it when one of them is issued. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Proforma, Taking, TakingLine } from '../../fiscal/convert.ts';
import type { Content, Discount } from '../../fiscal/document.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { type Mac, sealable } from '../../fiscal/seal.ts';
import { changeCall, nextUpdate, standingColumns } from '../books.ts';
import type { AskedDraft } from '../invoices/draft.ts';

// Not "for update": that would hold up the foreign keys of drafts made of it.
const lockRow = statement(
  'proposal_lock',
  `select ${standingColumns}, d.number, d.date, d.content, d.asked, d.converted_at is not null as converted, d.hidden_at is not null as hidden,
     certo.now() as now
   from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family = 'PROFORMA' for no key update`,
  'alone',
);
// Of an invoice what it takes of the pro forma: its lines whole may be megabytes.
const readInvoices = statement(
  'proposal_invoices',
  `select d.number, d.status, c."globalDiscount" as global_discount, case when d.status <> 'CANCELED' then
       (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('itemId', l->'itemId', 'originLineId', l->'originLineId',
          'quantity', l->'quantity', 'name', l->'name')) order by at) from jsonb_array_elements(c.lines) with ordinality x (l, at)) end as lines
   from certo.documents d, jsonb_to_record(d.content) c (lines jsonb, "globalDiscount" jsonb)
   where d.company_id = certo.current_company() and d.origin_id = $1 and d.number is not null
   order by d.issued_at, d.sequence`,
);

/** A pro forma, locked until the commit, with the invoices that were issued of it. */
export interface Proposal extends Proforma {
  readonly id: string;
  readonly hidden: boolean;
  readonly asked: AskedDraft;
  /** Numbers of all of them, cancelled ones too. */
  readonly numbers: readonly string[];
  /** When it was locked. */
  readonly now: Date;
  /** Its standing in the books, for changing it. */
  readonly row: Row;
}

/** Also finds a deleted one, for the drafts that were made of it before. */
export async function lockProposal(tx: Tx, id: string): Promise<Proposal> {
  const proposal = await findProposal(tx, id);
  assert(proposal !== undefined, 'a pro forma with a draft made of it does not disappear');
  return proposal;
}

/** To act on it: a deleted one is none. */
export async function proposalToChange(tx: Tx, id: string): Promise<Proposal> {
  const proposal = await findProposal(tx, id);
  if (proposal === undefined || proposal.hidden) throw new Refusal('PROPOSAL_NOT_FOUND');
  return proposal;
}

async function findProposal(tx: Tx, id: string): Promise<Proposal | undefined> {
  const [row] = await tx.query(lockRow, [id]);
  if (row === undefined) return undefined;
  // After the lock: whoever held it may have issued one.
  const invoices = await tx.query(readInvoices, [id]);
  return {
    id: String(row['id']),
    ref: { id: String(row['id']), number: String(row['number']), date: String(row['date']), type: 'PROFORMA' },
    status: statusOf(row),
    hidden: row['hidden'] === true,
    content: row['content'] as Content,
    asked: row['asked'] as AskedDraft,
    invoiced: invoices.filter(({ status }) => status !== 'CANCELED').map(takingOf),
    numbers: invoices.map(({ number }) => String(number)),
    now: row['now'] as Date,
    row,
  };
}

function takingOf(row: Row): Taking {
  const globalDiscount = (row['global_discount'] as Discount | null) ?? undefined;
  return { lines: (row['lines'] as TakingLine[] | null) ?? [], globalDiscount };
}

/** The API's status of a row with its `status` and `converted`. */
export function statusOf(row: Row): Proposal['status'] {
  if (row['status'] === 'CANCELED') return 'CANCELED';
  return row['converted'] === true ? 'ISSUED' : 'CREATED';
}

/** With the first invoice the pro forma is ISSUED, and the AT is told so (F); later ones change nothing more. */
export function convertedCall({ row }: Proposal, at: Date, mac: Mac): Call {
  const told = row['at_status'] === 'NOT_APPLICABLE' ? {} : { at_status: 'PENDING' };
  const changes = { converted_at: sealable(at), ...told, updated_at: nextUpdate(row, at) };
  return changeCall(row, { kind: 'CONVERTED', at, changes, tell: true }, mac);
}

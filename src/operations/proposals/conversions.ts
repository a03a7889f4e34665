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
// What invoices take of each line is added up here: a line of the pro forma is one however many there are. Those that stand,
// by their names too, which are told where they take more than there was, in the order in which they first took of it.
const readInvoices = statement(
  'proposal_invoices',
  `with invoice as materialized (
     select d.number, d.status, d.issued_at, d.sequence, c."globalDiscount" as discount, case when d.status <> 'CANCELED' then c.lines end as lines
     from certo.documents d, jsonb_to_record(d.content) c (lines jsonb, "globalDiscount" jsonb)
     where d.company_id = certo.current_company() and d.origin_id = $1 and d.number is not null),
   taken as (
     select jsonb_strip_nulls(jsonb_build_object('itemId', l.line->'itemId', 'originLineId', l.line->'originLineId', 'name', l.line->'name',
         'quantity', sum((l.line->>'quantity')::numeric)::text)) as line, min(l.place) as first
     from (select x.line, row_number() over (order by i.issued_at, i.sequence, x.at) as place
           from invoice i, jsonb_array_elements(i.lines) with ordinality x (line, at)) l
     group by l.line->'itemId', l.line->'originLineId', l.line->'name')
   select
     (select coalesce(jsonb_agg(i.number order by i.issued_at, i.sequence), '[]') from invoice i) as numbers,
     (select coalesce(jsonb_agg(i.discount order by i.issued_at, i.sequence), '[]') from invoice i
      where i.status <> 'CANCELED' and i.discount is not null) as discounts,
     (select coalesce(jsonb_agg(t.line order by t.first), '[]') from taken t) as lines`,
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
  const [found] = await tx.query(readInvoices, [id]);
  return {
    id: String(row['id']),
    ref: { id: String(row['id']), number: String(row['number']), date: String(row['date']), type: 'PROFORMA' },
    status: statusOf(row),
    hidden: row['hidden'] === true,
    content: row['content'] as Content,
    asked: row['asked'] as AskedDraft,
    invoiced: takingsOf(found!),
    numbers: found!['numbers'] as string[],
    now: row['now'] as Date,
    row,
  };
}

/** The lines of all invoices that stand, and the discounts of each. */
function takingsOf(found: Row): Taking[] {
  const discounts = found['discounts'] as Discount[];
  return [
    { lines: found['lines'] as TakingLine[] },
    ...discounts.map((globalDiscount) => ({ lines: [], globalDiscount })),
  ];
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

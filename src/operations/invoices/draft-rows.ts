/** The row of a draft, of any type but notes and receipts (child.ts): the statements that insert, change and delete it. */
import type { Call, Tx } from '../../db/transact.ts';
import { Elements, listStatement, statement } from '../../db/transact.ts';
import { type Content, type Day, documentTypes } from '../../fiscal/document.ts';
import { assert } from '../../fiscal/refusal.ts';
import type { AskedDraft } from './draft.ts';

/** Columns that every insert and every change of a draft writes. */
const draftColumns = [
  'family',
  'type',
  'customer_id',
  'item_ids',
  'series_id',
  'parent_id',
  'origin_id',
  'movement_start',
  'customer_name',
  'customer_nif',
  'customer_email',
  'currency',
  'description',
  'notes',
  'cae',
  'date',
  'tax_point_date',
  'due_date',
  'net',
  'tax',
  'gross',
  'to_pay',
  'asked',
  'content',
] as const;

/** Sets the next revision of a draft `d`. */
export const nextRevision = `updated_at = greatest(certo.now(), d.updated_at + interval '1 millisecond')`;
const insertDraft = listStatement(
  'draft_insert',
  `insert into certo.documents (company_id, id, status, created_by, created_at, ${draftColumns.join(', ')})
   select certo.current_company(), v.id, 'DRAFT', v.created_by, v.created_at, ${draftColumns.map((column) => `v.${column}`).join(', ')}
   from jsonb_populate_recordset(null::certo.documents, $1::jsonb) v`,
);
const updateDraft = listStatement(
  'draft_update',
  `update certo.documents d set ${nextRevision}, ${draftColumns.map((column) => `${column} = v.${column}`).join(', ')}
   from jsonb_populate_recordset(null::certo.documents, $1::jsonb) v
   where d.company_id = certo.current_company() and d.id = v.id`,
);
const deleteDocument = statement(
  'draft_delete',
  'delete from certo.documents where company_id = certo.current_company() and id = $1 returning id',
);

/** Contract decisions 3, Dates. Of a draft that says neither day it is decided with the number; its content says what was asked. */
export const dueDateOf = ({ date, dueDate }: Pick<Content, 'date' | 'dueDate'>): Day | undefined => dueDate ?? date;

/** The statement that inserts a draft; `now`: when what it is made of was read. */
export function insertDraftCall(id: string, draft: AskedDraft, content: Content, actor: string, now: Date): Call {
  return [insertDraft, [new Elements([{ created_by: actor, created_at: now, ...draftRow(id, draft, content) }])]];
}

/** The statement that writes a draft anew. */
export function updateDraftCall(id: string, asked: AskedDraft, content: Content): Call {
  return [updateDraft, [new Elements([draftRow(id, asked, content)])]];
}

/** Removes a draft that is locked; returns its id. */
export async function removeDraft(tx: Tx, id: string): Promise<string> {
  const rows = await tx.query(deleteDocument, [id]);
  assert(rows.length === 1, 'a locked draft can be deleted');
  return id;
}

/** The row of a draft, as an element of the list that is written. */
function draftRow(id: string, asked: AskedDraft, content: Content) {
  const { customer, totals } = content;
  const columns: Record<(typeof draftColumns)[number], unknown> = {
    family: documentTypes[asked.type].family,
    type: asked.type,
    customer_id: asked.customerId,
    item_ids: [...new Set(asked.items.map((line) => line.id))],
    series_id: asked.seriesId,
    parent_id: asked.parentInvoiceId,
    origin_id: asked.origin?.id,
    movement_start: asked.transport?.start,
    customer_name: customer.name,
    customer_nif: customer.taxpayerNumber,
    customer_email: customer.email,
    currency: content.currency,
    description: content.description,
    notes: content.notes,
    cae: content.cae,
    date: content.date,
    tax_point_date: content.taxPointDate,
    due_date: dueDateOf(content),
    net: totals.net,
    tax: totals.tax,
    gross: totals.gross,
    to_pay: totals.toPay,
    asked,
    content,
  };
  return { id, ...columns };
}

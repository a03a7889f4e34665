/** Documents that are made of another one (receipts, credit notes): the row they begin as. */
import type { Call } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { type Content, documentTypes } from '../../fiscal/document.ts';
import { dueDateOf } from './draft-rows.ts';

const insertChild = statement(
  'child_insert',
  `insert into certo.documents (company_id, id, family, type, status, created_by, application_id, customer_id, item_ids, series_id, parent_id,
     customer_name, customer_nif, customer_email, currency, description, notes, cae, date, due_date, net, tax, gross, to_pay, asked, content,
     tax_point_date)
   select certo.current_company(), $1, $2, $3, 'DRAFT', $4, p.application_id, p.customer_id, $5, $6, p.id,
     $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $23
   from certo.documents p where p.company_id = certo.current_company() and p.id = $22
   returning created_at, updated_at`,
);

/** A child belongs to the same application as its parent (contract decisions 1, Visibility). */
export function insertChildCall(child: {
  readonly id: string;
  readonly content: Content;
  readonly asked: unknown;
  readonly seriesId: string | undefined;
  readonly parentId: string;
  readonly actor: string;
}): Call {
  const { content } = child;
  const { customer, totals } = content;
  return [
    insertChild,
    [
      child.id,
      documentTypes[content.type].family,
      content.type,
      child.actor,
      [...new Set(content.lines.map((line) => line.itemId))],
      child.seriesId ?? null,
      customer.name,
      customer.taxpayerNumber ?? null,
      customer.email ?? null,
      content.currency,
      content.description ?? null,
      content.notes ?? null,
      content.cae,
      content.date ?? null,
      dueDateOf(content) ?? null,
      totals.net,
      totals.tax,
      totals.gross,
      totals.toPay,
      JSON.stringify(child.asked),
      JSON.stringify(content),
      child.parentId,
      content.taxPointDate ?? null,
    ],
  ];
}

/** Documents imported from the AT beside the own ones: the list shows them, everything else says why it can't. */
import { sql } from '../../db/page.ts';
import type { Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { Refusal, type RefusalCode } from '../../fiscal/refusal.ts';

const readImported = statement(
  'imported_read',
  'select i.number from certo.imported_documents i where i.company_id = certo.current_company() and i.id = $1',
);

/** Why there is no own document of this id: none at all (`code`), or IMPORTED_FROM_AT. */
export async function missingInvoice(tx: Tx, id: string, code: RefusalCode = 'INVOICE_NOT_FOUND'): Promise<Refusal> {
  const [row] = await tx.query(readImported, [id]);
  return row === undefined ? new Refusal(code) : new Refusal('IMPORTED_FROM_AT', { number: String(row['number']) });
}

const united = `(
  select company_id, id, number, atcud, sequence, family, type, status, date, tax_point_date, due_date, currency, parent_id,
    schedule_template_id, net, gross, tax, outstanding, customer_id, customer_name, customer_nif, customer_email, description, notes,
    content, created_at, updated_at, null::text as source
  from certo.documents
  union all
  select company_id, id, number, atcud, sequence, 'SALES', type, status, date, null::date, null::date, 'EUR', null::uuid,
    null::uuid, net, gross, tax, outstanding, null::uuid, customer_name, customer_nif, null::text, null::text, null::text,
    null::jsonb, created_at, updated_at, 'AT'
  from certo.imported_documents
) documents`;

/** Own and imported documents as one table, with the columns that the list filters, sorts and shows. */
export const withImported = { sql: united, besides: sql`source = 'AT'` };

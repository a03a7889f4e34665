import type { Call, Row } from '../../db/transact.ts';
import { Elements, listStatement } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { defineWrite } from '../operation.ts';
import { type AskedDraft, DraftBody, draftProblems, mergeDraft } from './draft.ts';
import { InvoiceReply, showInvoice } from './invoice.ts';
import { draftColumns, draftRow, loadReferences, priceDraft } from './price-draft.ts';

const insertDraft = listStatement(
  'draft_insert',
  `insert into certo.documents (company_id, id, status, created_by, ${draftColumns.join(', ')})
   select certo.current_company(), v.id, 'DRAFT', v.created_by, ${draftColumns.map((column) => `v.${column}`).join(', ')}
   from jsonb_populate_recordset(null::certo.documents, $1::jsonb) v
   returning id, created_at, updated_at,
     (select s.code from certo.series s where s.company_id = documents.company_id and s.id = documents.series_id) as series_name`,
);

/** The statement that writes a new draft of any type. */
export function insertDraftCall(id: string, draft: AskedDraft, content: Content, actor: string): Call {
  return [insertDraft, [new Elements([{ ...draftRow(id, draft, content), created_by: actor }])]];
}

const otherRoutes: Partial<Record<string, string>> = {
  CREDIT_NOTE: 'POST /invoices/credit-notes',
  RECEIPT: 'POST /invoices/{id}/pay',
};

export const createDraft = defineWrite({
  name: 'createDraft',
  route: 'POST /invoices',
  tag: 'Invoices',
  summary: 'Create a draft',
  description: 'A draft has no number and nothing is reported to the tax authority until it is issued.',
  body: DraftBody,
  reply: [201, InvoiceReply],
  access: { key: true, oauth: ['invoicing.write'] },
  grouped: true,
  refuses: ['USE_OTHER_ENDPOINT'],
  tool: 'create_invoice_draft',
  check: draftProblems,
  async load(tx, asked, world) {
    // Days are civil days of the company; its region is not known before the first statement, and only then needed.
    const provisional = mergeDraft(undefined, asked.body, 'PT', world.newId);
    return { references: await loadReferences(tx, provisional) };
  },
  decide({ references }, asked, world) {
    const route = otherRoutes[asked.body.type];
    if (route !== undefined) throw new Refusal('USE_OTHER_ENDPOINT', { type: asked.body.type, route });
    const draft = mergeDraft(undefined, asked.body, asked.principal.region, world.newId);
    const content = priceDraft(draft, references);
    return { id: world.newId(), draft, content, now: references['now'] as Date, row: {} as Row };
  },
  async save(tx, change, asked) {
    const { id, draft, content } = change;
    const [rows] = await tx.batch([insertDraftCall(id, draft, content, asked.principal.actor)]);
    change.row = rows![0]!;
    return change.id;
  },
  show: (change, asked, world) =>
    showInvoice(
      {
        ...newRow(change),
        created_at: change.row['created_at'],
        updated_at: change.row['updated_at'],
        series_name: change.row['series_name'],
      },
      asked.principal.region,
      asked.principal.companyId,
      world,
    ),
});

/** A draft as a row, for showing what was just written without reading it again. */
function newRow(change: {
  id: string;
  draft: { type: string; seriesId?: string | undefined; dueDate?: string | undefined; date?: string | undefined };
  content: unknown;
  now: Date;
}): Row {
  return {
    id: change.id,
    type: change.draft.type,
    status: 'DRAFT',
    series_id: change.draft.seriesId ?? null,
    number: null,
    atcud: null,
    hash: null,
    date: change.draft.date ?? null,
    due_date: change.draft.dueDate ?? null,
    credited: '0',
    content: change.content,
    qr: null,
    issued_at: null,
    at_status: 'NOT_APPLICABLE',
    at_code: null,
    at_message: null,
    now: change.now,
  };
}

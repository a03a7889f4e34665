import type { Row } from '../../db/transact.ts';
import { idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import type { AskedDraft } from './draft.ts';
import { DraftPatch, draftProblems, mergeDraft } from './draft.ts';
import { draftToChange, InvoiceReply, loadInvoice, showInvoice } from './invoice.ts';
import { draftValues, loadReferences, priceDraft } from './price-draft.ts';
import { updateDraft } from './refresh-drafts.ts';

export const patchDraft = defineWrite({
  name: 'patchDraft',
  route: 'PATCH /invoices/:id',
  tag: 'Invoices',
  summary: 'Change a draft',
  description: 'Only the fields given change; items replaces all lines. Issued documents can not be changed.',
  params: idParams('Id of the draft.'),
  body: DraftPatch,
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: ['INVOICE_NOT_FOUND', 'INVALID_STATE'],
  tool: 'update_invoice_draft',
  check: draftProblems,
  async load(tx, asked, world) {
    const row = await draftToChange(tx, asked.params.id);
    const before = row['asked'] as AskedDraft;
    const draft = mergeDraft(before, asked.body, asked.principal.region, world.newId);
    return { before, draft, references: await loadReferences(tx, draft) };
  },
  decide: ({ before, draft, references }, asked) => ({
    id: asked.params.id,
    draft,
    content: priceDraft(draft, references, before),
    row: {} as Row,
  }),
  async save(tx, change) {
    await tx.query(updateDraft, [change.id, ...draftValues(change.draft, change.content)]);
    change.row = await loadInvoice(tx, change.id);
    return change.id;
  },
  show: ({ row }, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
});

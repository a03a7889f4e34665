import type { Call, Row } from '../../db/transact.ts';
import { idParams, offering } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import type { AskedDraft } from './draft.ts';
import { DraftPatch, draftProblems, mergeDraft, refuseOtherRoutes } from './draft.ts';
import { updateDraftCall } from './draft-rows.ts';
import { draftBehindInvoice } from './family.ts';
import { InvoiceReply, loadInvoice } from './invoice.ts';
import { loadNote, updateNoteCall } from './patch-note.ts';
import { loadReferences, priceDraft } from './price-draft.ts';
import { showInvoice } from './show-invoice.ts';

export const patchDraft = defineWrite({
  name: 'patchDraft',
  route: 'PATCH /invoices/:id',
  tag: 'Invoices',
  summary: 'Change a draft',
  description:
    'Only the fields given change; items replaces all lines. The draft of a CREDIT_NOTE takes date, notes, reason, seriesId and items with id and quantity: all else is copied from its invoice. Issued documents cannot be changed.',
  params: idParams('Id of the draft.'),
  body: offering(DraftPatch, { notes: 'Obrigado.', globalDiscountPercent: 5 }),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: ['INVOICE_NOT_FOUND', 'IMPORTED_FROM_AT', 'INVALID_STATE', 'NOT_CREDITABLE', 'USE_OTHER_ENDPOINT'],
  tool: 'update_invoice_draft',
  check: draftProblems,
  async load(tx, asked, world) {
    const { row, corrected } = await draftBehindInvoice(tx, asked.params.id);
    if (corrected !== undefined) return loadNote(tx, row, corrected, asked.body);
    const before = row['asked'] as AskedDraft;
    const draft = mergeDraft(before, asked.body, asked.principal.region, world.newId);
    return { kind: 'draft' as const, before, draft, references: await loadReferences(tx, draft) };
  },
  decide(facts, asked, world) {
    const { id } = asked.params;
    if (facts.kind === 'note') {
      return { id, update: updateNoteCall(id, facts, asked.body, asked.principal.region, world.newId), row: {} as Row };
    }
    refuseOtherRoutes(asked.body.type);
    const content = priceDraft(facts.draft, facts.references, facts.before);
    const update: Call = updateDraftCall(id, facts.draft, content);
    return { id, update, row: {} as Row };
  },
  async save(tx, change) {
    await tx.batch([change.update]);
    change.row = await loadInvoice(tx, change.id);
    return change.id;
  },
  show: ({ row }, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
});

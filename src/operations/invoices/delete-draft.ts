import { Type } from 'typebox';
import { closed, idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { removeDraft } from './draft-rows.ts';
import { draftToChange } from './invoice.ts';

export const deleteDraft = defineWrite({
  name: 'deleteDraft',
  route: 'DELETE /invoices/:id',
  tag: 'Invoices',
  summary: 'Delete a draft',
  description: 'Only drafts can be deleted; an issued document stays for ever.',
  params: idParams('Id of the draft.'),
  reply: [200, closed({ id: Type.String(), deleted: Type.Boolean() })],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: ['INVOICE_NOT_FOUND', 'IMPORTED_FROM_AT', 'INVALID_STATE'],
  tool: 'delete_invoice_draft',
  load: (tx, asked) => draftToChange(tx, asked.params.id),
  decide: (_row, asked) => ({ id: asked.params.id }),
  save: (tx, { id }) => removeDraft(tx, id),
  show: ({ id }) => ({ id, deleted: true }),
});

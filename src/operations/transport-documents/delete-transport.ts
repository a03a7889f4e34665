import { Type } from 'typebox';
import { closed, idParams } from '../fields.ts';
import { removeDraft } from '../invoices/draft-rows.ts';
import { defineWrite } from '../operation.ts';
import { lockDraft } from './transport-document.ts';

export const deleteTransport = defineWrite({
  name: 'deleteTransport',
  route: 'DELETE /transport-documents/:id',
  tag: 'Transport documents',
  summary: 'Delete a draft of a transport document',
  description: 'Only drafts can be deleted; an issued document stays for ever.',
  params: idParams('Id of the draft.'),
  reply: [200, closed({ id: Type.String(), deleted: Type.Boolean() })],
  access: { key: true },
  refuses: ['TRANSPORT_NOT_FOUND', 'INVALID_STATE'],
  load: (tx, { params }) => lockDraft(tx, params.id),
  decide: (_row, { params }) => ({ id: params.id }),
  save: (tx, { id }) => removeDraft(tx, id),
  show: ({ id }) => ({ id, deleted: true }),
});

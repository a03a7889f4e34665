import { Type } from 'typebox';
import type { Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { assert } from '../../fiscal/refusal.ts';
import { closed, idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { draftToChange } from './invoice.ts';

const deleteDocument = statement(
  'draft_delete',
  'delete from certo.documents where company_id = certo.current_company() and id = $1 returning id',
);

/** Removes a draft that is locked; returns its id. */
export async function removeDraft(tx: Tx, id: string): Promise<string> {
  const rows = await tx.query(deleteDocument, [id]);
  assert(rows.length === 1, 'a locked draft can be deleted');
  return id;
}

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

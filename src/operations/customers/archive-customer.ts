import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { idParams } from '../fields.ts';
import { changeAndRefresh, openDraftsCall } from '../invoices/refresh-drafts.ts';
import { defineWrite } from '../operation.ts';
import { CustomerReply, customerToChange, showCustomer } from './customer.ts';

const archive = statement(
  'customer_archive',
  `update certo.customers set is_archived = true, updated_at = greatest(certo.now(), updated_at + interval '1 millisecond')
   where company_id = certo.current_company() and id = $1 returning *`,
);

export const archiveCustomer = defineWrite({
  name: 'archiveCustomer',
  route: 'DELETE /customers/:id',
  tag: 'Customers',
  summary: 'Archive a customer',
  description:
    'The record stays; new drafts cannot use it, and open ones that do get a new updatedAt. PATCH with isArchived false brings it back.',
  params: idParams('Id of the customer.'),
  reply: [200, CustomerReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: ['CUSTOMER_NOT_FOUND', 'SYSTEM_CUSTOMER'],
  tool: 'archive_customer',
  load: (tx, { params: { id } }) => customerToChange(tx, id, [openDraftsCall({ customerId: id })]),
  decide: (_row, asked) => ({ id: asked.params.id, row: {} as Row }),
  async save(tx, change) {
    change.row = await changeAndRefresh(tx, { customerId: change.id }, [archive, [change.id]]);
    return change.id;
  },
  show: (change) => showCustomer(change.row),
});

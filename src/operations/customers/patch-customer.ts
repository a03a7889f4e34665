import type { Call, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { customerLockProblems, taxIdentities } from '../../fiscal/masters.ts';
import { assert, refuseAll } from '../../fiscal/refusal.ts';
import { idParams, offering } from '../fields.ts';
import { changeAndRefresh, openDraftsCall } from '../invoices/refresh-drafts.ts';
import { defineWrite } from '../operation.ts';
import {
  CustomerPatch,
  CustomerReply,
  customerColumns,
  customerProblems,
  customerToChange,
  customerValues,
  markProblems,
  overlay,
  recordOf,
  showCustomer,
  shownName,
} from './customer.ts';

const updateCustomer = statement(
  'customer_update',
  `update certo.customers set updated_at = greatest(certo.now(), updated_at + interval '1 millisecond'), is_archived = $2, shown_name = $3, tax_identities = $4,
   ${Object.values(customerColumns)
     .map((column, i) => `${column} = $${i + 5}`)
     .join(', ')}
   where company_id = certo.current_company() and id = $1 returning *`,
);

export const patchCustomer = defineWrite({
  name: 'patchCustomer',
  route: 'PATCH /customers/:id',
  tag: 'Customers',
  summary: 'Change a customer',
  description:
    'Only the fields given change; an empty text clears a field. Open drafts of the customer show the new data and get a new updatedAt. Once issued documents name the customer, its NIF and the country of it are locked, or its name where there is no NIF.',
  params: idParams('Id of the customer.'),
  body: offering(CustomerPatch, { address: 'Rua Augusta 24', postalCode: '1100-053' }),
  reply: [200, CustomerReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: [
    'CUSTOMER_NOT_FOUND',
    'SYSTEM_CUSTOMER',
    'CUSTOMER_NIF_LOCKED',
    'CUSTOMER_COUNTRY_LOCKED',
    'CUSTOMER_NAME_LOCKED',
  ],
  tool: 'update_customer',
  check: markProblems,
  load: (tx, { params: { id } }) => customerToChange(tx, id, [openDraftsCall({ customerId: id })]),
  decide(row, asked) {
    const before = recordOf(row);
    const after = overlay(before, asked.body);
    refuseAll(customerProblems(after));
    const name = shownName(after);
    assert(name !== undefined, 'a checked customer has a name');
    const change = {
      used: row['used'] === true,
      before: { ...before, name: String(row['shown_name']) },
      after: { ...after, name },
    };
    customerLockProblems(change);
    return {
      id: asked.params.id,
      record: after,
      name,
      isArchived: asked.body.isArchived ?? row['is_archived'] === true,
      identities: taxIdentities(change, row['tax_identities'] as readonly string[] | null),
      row: {} as Row,
    };
  },
  async save(tx, change) {
    const { id, identities, isArchived, name, record } = change;
    const update: Call = [updateCustomer, [id, isArchived, name, identities, ...customerValues(record)]];
    change.row = await changeAndRefresh(tx, { customerId: id }, update);
    return id;
  },
  show: (change) => showCustomer(change.row),
});

import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { assert } from '../../fiscal/refusal.ts';
import { offering } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import {
  CustomerBody,
  CustomerReply,
  customerColumns,
  customerProblems,
  customerValues,
  overlay,
  showCustomer,
  shownName,
} from './customer.ts';

const columns = Object.values(customerColumns);
const insertCustomer = statement(
  'customer_insert',
  `insert into certo.customers (company_id, id, created_by, shown_name, is_archived, ${columns.join(', ')})
   values (certo.current_company(), $1, $2, $3, $4, ${columns.map((_, i) => `$${i + 5}`).join(', ')})
   returning *`,
);

export const createCustomer = defineWrite({
  name: 'createCustomer',
  route: 'POST /customers',
  tag: 'Customers',
  summary: 'Create a customer',
  body: offering(CustomerBody, {
    name: 'Livraria do Rossio, Lda',
    country: 'PT',
    taxpayerNumber: '509442013',
    address: 'Rossio 1',
    postalCode: '1100-200',
    city: 'Lisboa',
  }),
  reply: [201, CustomerReply],
  access: { key: true, oauth: ['invoicing.write'] },
  refuses: [],
  tool: 'create_customer',
  check: customerProblems,
  load: () => Promise.resolve({}),
  decide: (_facts, asked, world) => ({ id: world.newId(), record: overlay({}, asked.body), row: {} as Row }),
  async save(tx, change, asked) {
    const name = shownName(change.record);
    assert(name !== undefined, 'a checked customer has a name');
    const [row] = await tx.query(insertCustomer, [
      change.id,
      asked.principal.actor,
      name,
      asked.body.isArchived ?? false,
      ...customerValues(change.record),
    ]);
    change.row = row!;
    return change.id;
  },
  show: (change) => showCustomer(change.row),
});

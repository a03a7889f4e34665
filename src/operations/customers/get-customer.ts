import { Refusal } from '../../fiscal/refusal.ts';
import { idParams } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { CustomerReply, readCustomer, showCustomer } from './customer.ts';

export const getCustomer = defineRead({
  name: 'getCustomer',
  route: 'GET /customers/:id',
  tag: 'Customers',
  summary: 'Read a customer',
  params: idParams('Id of the customer.'),
  reply: [200, CustomerReply],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  quick: true,
  refuses: ['CUSTOMER_NOT_FOUND'],
  tool: 'get_customer',
  async load(tx, asked) {
    const [row] = await tx.query(readCustomer, [asked.params.id]);
    if (row === undefined) throw new Refusal('CUSTOMER_NOT_FOUND');
    return row;
  },
  show: showCustomer,
});

import { idParams } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { InvoiceReply, loadInvoice, showInvoice } from './invoice.ts';

export const getInvoice = defineRead({
  name: 'getInvoice',
  route: 'GET /invoices/:id',
  tag: 'Invoices',
  summary: 'Read a draft or an issued document',
  params: idParams('Id of the invoice.'),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: ['INVOICE_NOT_FOUND'],
  tool: 'get_invoice',
  load: (tx, asked) => loadInvoice(tx, asked.params.id),
  show: (row, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
});

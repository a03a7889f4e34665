import { Type } from 'typebox';
import { closed, id, idParams, oneOf } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { isDuplicate, loadPdf, PdfReply, showPdf } from '../rendition.ts';
import { paperFormats } from '../templates/template.ts';

export const getInvoicePdf = defineRead({
  name: 'getInvoicePdf',
  route: 'GET /invoices/:id/pdf',
  tag: 'Invoices',
  summary: 'A link to the PDF of an issued document',
  description: 'The link is valid for ten minutes and needs no credential. Drafts can not be printed.',
  params: idParams('Id of the invoice.'),
  query: closed({
    isDuplicate,
    format: Type.Optional(oneOf(paperFormats, 'Paper; A4 when absent.')),
    templateId: Type.Optional(id('PDF template; when absent the one of the document, else the default one.')),
  }),
  reply: [200, PdfReply],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: ['INVOICE_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'TEMPLATE_FORMAT', 'DRAFT_NOT_PRINTABLE'],
  tool: 'get_invoice_pdf',
  load: (tx, { params, query }, world) =>
    loadPdf(tx, { id: params.id, families: ['SALES', 'RECEIPT'], notFound: 'INVOICE_NOT_FOUND', ...query }, world),
  show: (row, { principal }, world) => showPdf(row, principal, world),
});

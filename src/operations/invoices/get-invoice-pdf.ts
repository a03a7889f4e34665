import { Type } from 'typebox';
import { Refusal } from '../../fiscal/refusal.ts';
import { closed, id, idParams, oneOf } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { isDuplicate, loadPdf, PdfReply, showPdf, whichTemplate } from '../rendition.ts';
import { paperFormats } from '../templates/template.ts';
import { missingInvoice } from './imported.ts';

export const getInvoicePdf = defineRead({
  name: 'getInvoicePdf',
  route: 'GET /invoices/:id/pdf',
  tag: 'Invoices',
  summary: 'A link to the PDF of an issued document',
  description:
    'The link is valid for ten minutes and needs no credential. The first print of a document is its original; on other paper, with another template or once cancelled it is marked "2.ª via". Drafts cannot be printed.',
  params: idParams('Id of the invoice.'),
  query: closed({
    isDuplicate,
    format: Type.Optional(oneOf(paperFormats, 'Paper; A4 when absent.')),
    templateId: Type.Optional(id(whichTemplate)),
  }),
  reply: [200, PdfReply],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: [
    'INVOICE_NOT_FOUND',
    'IMPORTED_FROM_AT',
    'TEMPLATE_NOT_FOUND',
    'TEMPLATE_FORMAT',
    'DRAFT_NOT_PRINTABLE',
    'DOWNLOADS_BUSY',
  ],
  tool: 'get_invoice_pdf',
  async load(tx, { params, query }, world) {
    const wanted = { id: params.id, families: ['SALES', 'RECEIPT'], notFound: 'INVOICE_NOT_FOUND', ...query } as const;
    try {
      return await loadPdf(tx, wanted, world);
    } catch (error) {
      const missing = error instanceof Refusal && error.code === 'INVOICE_NOT_FOUND';
      throw missing ? await missingInvoice(tx, params.id) : error;
    }
  },
  show: (row, { principal }, world) => showPdf(row, principal, world),
});

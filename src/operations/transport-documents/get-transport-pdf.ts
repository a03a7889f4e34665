import { Type } from 'typebox';
import { closed, id, idParams } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { isDuplicate, loadPdf, PdfReply, showPdf } from '../rendition.ts';

export const getTransportPdf = defineRead({
  name: 'getTransportPdf',
  route: 'GET /transport-documents/:id/pdf',
  tag: 'Transport documents',
  summary: 'A link to the PDF of an issued transport document',
  description:
    "The link is valid for ten minutes and needs no credential. The AT's code stands on the paper once it is known. Drafts cannot be printed.",
  params: idParams('Id of the transport document.'),
  query: closed({
    isDuplicate,
    templateId: Type.Optional(id('PDF template; when absent the one of the document, else the default one.')),
  }),
  reply: [200, PdfReply],
  access: { key: true },
  refuses: ['TRANSPORT_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'TEMPLATE_FORMAT', 'DRAFT_NOT_PRINTABLE', 'DOWNLOADS_BUSY'],
  load: (tx, { params, query }, world) =>
    loadPdf(tx, { id: params.id, families: ['TRANSPORT'], notFound: 'TRANSPORT_NOT_FOUND', ...query }, world),
  show: (row, { principal }, world) => showPdf(row, principal, world),
});

import { Type } from 'typebox';
import { anyId, closed } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { isDuplicate, loadPdf, PdfReply, showPdf, whichTemplate } from '../rendition.ts';
import { anyIdParams, knownForm } from './proposal.ts';

export const getProposalPdf = defineRead({
  name: 'getProposalPdf',
  route: 'GET /proposals/:id/pdf',
  tag: 'Pro formas',
  summary: 'A link to the PDF of a pro forma',
  description:
    'The link is valid for ten minutes and needs no credential. The first print of a pro forma is its original; with another template or once cancelled it is marked "2.ª via".',
  params: anyIdParams,
  query: closed({
    isDuplicate,
    templateId: Type.Optional(anyId(whichTemplate)),
  }),
  reply: [200, PdfReply],
  access: { key: true },
  refuses: ['PROPOSAL_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'TEMPLATE_FORMAT', 'DOWNLOADS_BUSY'],
  load: async (tx, { params, query }, world) =>
    loadPdf(tx, { id: knownForm(params.id), families: ['PROFORMA'], notFound: 'PROPOSAL_NOT_FOUND', ...query }, world),
  show: (row, { principal }, world) => showPdf(row, principal, world),
});

import { Type } from 'typebox';
import { invalid } from '../../fiscal/refusal.ts';
import { closed, id, idParams, oneOf } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { type Copy, loadPdf, PdfReply, showPdf, whichTemplate } from '../rendition.ts';

/** The three that a program prints, and what is printed besides (DL 147/2003). */
const copies = {
  ORIGINAL: 'original',
  DUPLICATE: 'duplicate',
  TRIPLICATE: 'triplicate',
  FURTHER: 'further',
} as const satisfies Record<string, Copy>;
type Kind = keyof typeof copies;

export const getTransportPdf = defineRead({
  name: 'getTransportPdf',
  route: 'GET /transport-documents/:id/pdf',
  tag: 'Transport documents',
  summary: 'A link to the PDF of an issued transport document',
  description:
    "The link is valid for ten minutes and needs no credential. The AT's code stands on the paper once it is known; then the three copies are printed anew. Each of them is printed once: on another template, or cancelled, it is a further one. Drafts cannot be printed.",
  params: idParams('Id of the transport document.'),
  query: closed({
    copy: Type.Optional(
      oneOf(
        Object.keys(copies) as Kind[],
        'Which copy; ORIGINAL when absent. A FURTHER one says that it is not valid for the transport of goods.',
      ),
    ),
    isDuplicate: Type.Optional(Type.Boolean({ description: 'true: the same as the copy DUPLICATE.' })),
    templateId: Type.Optional(id(whichTemplate)),
  }),
  reply: [200, PdfReply],
  access: { key: true },
  refuses: ['TRANSPORT_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'TEMPLATE_FORMAT', 'DRAFT_NOT_PRINTABLE', 'DOWNLOADS_BUSY'],
  load: (tx, { params, query }, world) => {
    const [copy, of] = [copyOf(query), { families: ['TRANSPORT'], notFound: 'TRANSPORT_NOT_FOUND' } as const];
    return loadPdf(tx, { id: params.id, ...of, copy, templateId: query.templateId }, world);
  },
  show: (row, { principal }, world) => showPdf(row, principal, world),
});

/** Throws INVALID_REQUEST: COPY_CONTRADICTED. */
function copyOf({ copy, isDuplicate }: { readonly copy?: Kind; readonly isDuplicate?: boolean }): Copy {
  if (copy === undefined) return isDuplicate === true ? 'duplicate' : 'original';
  if (isDuplicate !== undefined && isDuplicate !== (copy === 'DUPLICATE')) {
    throw invalid([{ code: 'COPY_CONTRADICTED', pointer: '?copy', facts: { copy, isDuplicate: String(isDuplicate) } }]);
  }
  return copies[copy];
}

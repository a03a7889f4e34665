/**
 * The PDF of a document, as a link. One rendition per (document, format, template version, language, mention, state) is
 * stored when first asked for and has the same bytes for ever.
 */
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Content } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { closed, id, idParams, oneOf } from '../fields.ts';
import { fileLink } from '../links.ts';
import { defineRead } from '../operation.ts';
import type { World } from '../world.ts';
import { issuedColumns, issuedOf } from './issued.ts';

/** Raised with every change of the template that shows: old renditions stay what they were. */
const template_version = 1;

const readPrintable = statement(
  'printable_read',
  `select d.id, d.status, d.content, d.issued_at, certo.now() as now, ${issuedColumns},
     exists (select 1 from certo.renditions r where r.company_id = d.company_id and r.document_id = d.id
       and r.variant = $2 || case when d.status = 'CANCELED' then '.canceled' else '' end) as rendered
   from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family in ('SALES', 'RECEIPT')`,
);
const insertRendition = statement(
  'rendition_insert',
  `insert into certo.renditions (company_id, document_id, variant, bytes)
   values (certo.current_company(), $1, $2, $3) on conflict do nothing`,
);

const formats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;

export const getInvoicePdf = defineRead({
  name: 'getInvoicePdf',
  route: 'GET /invoices/:id/pdf',
  tag: 'Invoices',
  summary: 'A link to the PDF of an issued document',
  description: 'The link is valid for ten minutes and needs no credential. Drafts can not be printed.',
  params: idParams('Id of the invoice.'),
  query: closed({
    isDuplicate: Type.Optional(Type.Boolean({ default: false, description: 'Print it as a second copy.' })),
    format: Type.Optional(oneOf(formats, 'Paper; A4 when absent.')),
    templateId: Type.Optional(id('PDF template; the default one when absent.')),
  }),
  reply: [200, closed({ id: Type.String(), name: Type.String(), url: Type.String() })],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: ['INVOICE_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'DRAFT_NOT_PRINTABLE'],
  tool: 'get_invoice_pdf',
  async load(tx, asked, world) {
    const { isDuplicate = false, format = 'A4', templateId } = asked.query;
    const wanted = `${format}.${isDuplicate ? 'duplicate' : 'original'}.pt.${world.atMode}.v${template_version}`;
    const [row] = await tx.query(readPrintable, [asked.params.id, wanted]);
    if (row === undefined) throw new Refusal('INVOICE_NOT_FOUND');
    if (row['number'] === null) throw new Refusal('DRAFT_NOT_PRINTABLE');
    if (templateId !== undefined) throw new Refusal('TEMPLATE_NOT_FOUND');
    const variant = row['status'] === 'CANCELED' ? `${wanted}.canceled` : wanted;
    if (row['rendered'] !== true) {
      const bytes = await render(row, { format, isDuplicate }, world);
      await tx.query(insertRendition, [row['id'], variant, bytes]);
    }
    return { row, variant };
  },
  show: ({ row, variant }, { principal }, world) => ({
    id: row['id'],
    name: `${String(row['number']).replace(/[^A-Za-z0-9._-]+/g, '-')}.pdf`,
    url: fileLink(
      world,
      { companyId: principal.companyId, documentId: String(row['id']), variant },
      row['now'] as Date,
    ),
  }),
});

async function render(
  row: Row,
  how: { format: (typeof formats)[number]; isDuplicate: boolean },
  world: World,
): Promise<Buffer> {
  const bytes = await world.print.render({
    content: row['content'] as Content,
    issued: issuedOf(row),
    status: row['status'] === 'CANCELED' ? 'A' : 'N',
    format: how.format,
    copy: how.isDuplicate ? 'Duplicado' : 'Original',
    language: 'pt',
    environment: world.atMode,
    createdAt: row['issued_at'] as Date,
  });
  // The same memory: a copy of each file would wait for the collector.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

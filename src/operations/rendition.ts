/**
 * The PDF of a document, as a link. One rendition per (document, format, template version, language, mention, state) is
 * stored when first asked for and has the same bytes for ever.
 */
import { Type } from 'typebox';
import type { Row, Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { Content, Family, Region } from '../fiscal/document.ts';
import { Refusal, type RefusalCode } from '../fiscal/refusal.ts';
import type { Principal } from '../identity/principal.ts';
import { closed } from './fields.ts';
import { issuedColumns, issuedOf } from './invoices/issued.ts';
import { fileLink } from './links.ts';
import { producerOf } from './saft/program.ts';
import type { World } from './world.ts';

/** Raised with every change of the template that shows: old renditions stay what they were. */
const template_version = 2;

// The AT's code and a cancellation show on the paper: each makes another file.
const state = `case when d.at_doc_code is null then '' else '.coded' end || case when d.status = 'CANCELED' then '.canceled' else '' end`;
const readPrintable = statement(
  'printable_read',
  `select d.id, d.status, d.content, d.issued_at, (select c.region from certo.companies c where c.id = certo.current_company()) as region, d.at_doc_code, certo.now() as now, ${issuedColumns}, $2::text || ${state} as variant,
     exists (select 1 from certo.renditions r where r.company_id = d.company_id and r.document_id = d.id and r.variant = $2::text || ${state}) as rendered
   from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family = any ($3::text[]) and d.hidden_at is null`,
);
const insertRendition = statement(
  'rendition_insert',
  `insert into certo.renditions (company_id, document_id, variant, bytes)
   values (certo.current_company(), $1, $2, $3) on conflict do nothing`,
);

export const paperFormats = ['A4', 'RECEIPT', 'RECEIPT_58'] as const;

export const isDuplicate = Type.Optional(Type.Boolean({ default: false, description: 'Print it as a second copy.' }));

export const PdfReply = closed({ id: Type.String(), name: Type.String(), url: Type.String() });

interface Wanted {
  readonly id: string;
  readonly families: readonly Family[];
  readonly notFound: RefusalCode;
  readonly format?: (typeof paperFormats)[number] | undefined;
  readonly isDuplicate?: boolean | undefined;
  readonly templateId?: string | undefined;
}

/** The printed document's row, with the variant of its file, which is stored now if it was not before. */
export async function loadPdf(tx: Tx, wanted: Wanted, world: World): Promise<Row> {
  const { format = 'A4', isDuplicate = false } = wanted;
  const variant = `${format}.${isDuplicate ? 'duplicate' : 'original'}.pt.${world.atMode}.v${template_version}`;
  const [row] = await tx.query(readPrintable, [wanted.id, variant, wanted.families]);
  if (row === undefined) throw new Refusal(wanted.notFound);
  if (row['number'] === null) throw new Refusal('DRAFT_NOT_PRINTABLE');
  // There is no template other than the built-in one yet, and that one needs no id.
  if (wanted.templateId !== undefined) throw new Refusal('TEMPLATE_NOT_FOUND');
  if (row['rendered'] !== true) {
    const bytes = await render(row, { format, isDuplicate }, world);
    await tx.query(insertRendition, [row['id'], row['variant'], bytes]);
  }
  return row;
}

export function showPdf(row: Row, { companyId }: Principal, world: World): Record<string, unknown> {
  const file = { companyId, documentId: String(row['id']), variant: String(row['variant']) };
  return {
    id: row['id'],
    name: `${String(row['number']).replace(/[^A-Za-z0-9._-]+/g, '-')}.pdf`,
    url: fileLink(world, file, row['now'] as Date),
  };
}

async function render(
  row: Row,
  how: { readonly format: (typeof paperFormats)[number]; readonly isDuplicate: boolean },
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
    region: row['region'] as Region,
    producer: producerOf(world.program),
    createdAt: row['issued_at'] as Date,
    atDocCode: (row['at_doc_code'] as string | null) ?? undefined,
  });
  // The same memory: a copy of each file would wait for the collector.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

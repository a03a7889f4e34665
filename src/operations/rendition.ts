/**
 * The PDF of a document, as a link. One rendition per (document, format, template version, language, mention, state) is
 * stored when first asked for and has the same bytes for ever.
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import type { Row, Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { Content, Day, Family, Region } from '../fiscal/document.ts';
import { Refusal, type RefusalCode } from '../fiscal/refusal.ts';
import { printSeal } from '../fiscal/seal.ts';
import type { Principal } from '../identity/principal.ts';
import type { PaperFormat, PrintInput } from '../print/input.ts';
import type { PaperLanguage } from '../print/words.ts';
import { closed } from './fields.ts';
import { issuedColumns, issuedOf } from './invoices/issued.ts';
import { fileLink } from './links.ts';
import { producerOf } from './saft/program.ts';
import { builtIn } from './templates/template.ts';
import type { World } from './world.ts';

/**
 * Raised with every change of the layouts that shows: old renditions stay what they were. Prints of the first three are from
 * before there were seals, and no link leads to them any more: whatever is given out has a seal.
 */
const layout_version = 7;

// The AT's code and a cancellation show on the paper: each makes another file.
const state = `case when d.at_doc_code is null then '' else '.coded' end || case when d.status = 'CANCELED' then '.canceled' else '' end`;
const variant = `$2::text || coalesce('.' || t.id || '.' || t.version, '') || ${state}`;
const stored = `exists (select 1 from certo.renditions r where r.company_id = d.company_id and r.document_id = d.id and r.variant = ${variant})`;
// The template that was asked for ($4), else the document's own, else the company's default; no row: the built-in one.
// An archived one still prints the documents that name it. One of the latter two that is not made for the paper ($5)
// gives way to the built-in one.
const readPrintable = statement(
  'printable_read',
  `select d.company_id, d.id, d.status, d.content, d.due_date, d.issued_at, d.at_doc_code, certo.now() as now, ${issuedColumns}, ${variant} as variant, ${stored} as rendered,
     (select c.region from certo.companies c where c.id = certo.current_company()) as region,
     t.id as template_id, t.formats as template_formats, t.language, t.colour, t.footer, case when not ${stored} then t.logo end as logo
   from certo.documents d
   left join certo.templates t on t.company_id = d.company_id and case
     when $4::text is not null then t.id::text = lower($4) and not t.is_archived
     when d.asked->>'templateId' is not null then t.id::text = d.asked->>'templateId' and $5 = any (t.formats)
     else t.is_default and $5 = any (t.formats) end
   where d.company_id = certo.current_company() and d.id = $1 and d.family = any ($3::text[]) and d.hidden_at is null`,
);
const insertRendition = statement(
  'rendition_insert',
  `insert into certo.renditions (company_id, document_id, variant, bytes, seal)
   values (certo.current_company(), $1, $2, $3, $4) on conflict do nothing`,
);

export const isDuplicate = Type.Optional(Type.Boolean({ default: false, description: 'Print it as a second copy.' }));

export const PdfReply = closed({ id: Type.String(), name: Type.String(), url: Type.String() });

interface Wanted {
  readonly id: string;
  readonly families: readonly Family[];
  readonly notFound: RefusalCode;
  readonly format?: PaperFormat | undefined;
  readonly isDuplicate?: boolean | undefined;
  readonly templateId?: string | undefined;
}

/** The printed document's row, with the variant of its file, which is stored now if it was not before. */
export async function loadPdf(tx: Tx, wanted: Wanted, world: World): Promise<Row> {
  const { format = 'A4', isDuplicate = false } = wanted;
  const { templateId } = wanted;
  const look = `${format}.${isDuplicate ? 'duplicate' : 'original'}.pt.${world.atMode}.v${layout_version}`;
  const [row] = await tx.query(readPrintable, [wanted.id, look, wanted.families, templateId ?? null, format]);
  if (row === undefined) throw new Refusal(wanted.notFound);
  if (row['number'] === null) throw new Refusal('DRAFT_NOT_PRINTABLE');
  if (templateId !== undefined) checkTemplate(row, templateId, format);
  if (row['rendered'] !== true) {
    const bytes = await render(row, { format, isDuplicate }, world);
    await tx.query(insertRendition, [row['id'], row['variant'], bytes, sealOf(row, bytes, world)]);
  }
  return row;
}

function sealOf(row: Row, bytes: Buffer, world: World): Buffer {
  const digest = createHash('sha256').update(bytes).digest();
  return printSeal(world.seal, String(row['id']), String(row['variant']), digest);
}

const readStored = statement(
  'file_read',
  `select d.id, d.number, d.qr, $2::text as variant, r.bytes, r.seal, certo.now() as now
   from certo.documents d
   left join certo.renditions r on r.company_id = d.company_id and r.document_id = d.id and r.variant = $2
   where d.company_id = certo.current_company() and d.id = $1 and d.hidden_at is null`,
);

/** A document's number, QR text and the file of a variant, as stored; undefined: there is no such document. */
export async function readFile(tx: Tx, documentId: string, variant: string): Promise<Row | undefined> {
  return (await tx.query(readStored, [documentId, variant]))[0];
}

/** The file, if it is the one that was printed. Throws INTEGRITY_BROKEN. */
export function printedFile(row: Row, world: World): Buffer {
  const [bytes, seal] = [row['bytes'] as Buffer, row['seal'] as Buffer | null];
  // A null is not from before there were seals: those prints are of layouts that no link leads to.
  if (seal === null || !seal.equals(sealOf(row, bytes, world))) throw new Refusal('INTEGRITY_BROKEN');
  return bytes;
}

function checkTemplate(row: Row, templateId: string, format: PaperFormat): void {
  if (templateId === builtIn.id) return;
  if (row['template_id'] === null) throw new Refusal('TEMPLATE_NOT_FOUND');
  const formats = row['template_formats'] as PaperFormat[];
  if (!formats.includes(format)) throw new Refusal('TEMPLATE_FORMAT', { format, formats: formats.join(', ') });
}

/** The link is good for ten minutes from the moment the row was read, by the database's clock. */
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
  how: { readonly format: PaperFormat; readonly isDuplicate: boolean },
  world: World,
): Promise<Buffer> {
  const input: PrintInput = {
    // A draft may leave its due date open: it is decided with the number.
    content: { ...(row['content'] as Content), dueDate: (row['due_date'] as Day | null) ?? undefined },
    issued: issuedOf(row),
    status: row['status'] === 'CANCELED' ? 'A' : 'N',
    format: how.format,
    copy: how.isDuplicate ? 'Duplicado' : 'Original',
    language: (row['language'] as PaperLanguage | null) ?? 'pt',
    style: {
      logo: (row['logo'] as Buffer | null) ?? undefined,
      colour: (row['colour'] as string | null) ?? undefined,
      footer: (row['footer'] as string | null) ?? undefined,
    },
    environment: world.atMode,
    region: row['region'] as Region,
    producer: producerOf(world.program),
    createdAt: row['issued_at'] as Date,
    atDocCode: (row['at_doc_code'] as string | null) ?? undefined,
  };
  const name = `${row['company_id']} ${row['id']} ${row['variant']}`;
  const bytes = await world.print.render(input, { whose: String(row['company_id']), name });
  // The same memory: a copy of each file would wait for the collector.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The PDF of a document, as a link. One rendition per (document, format, template version, language, mention, state) is
 * stored when first asked for and has the same bytes for ever. The first of a document is its original; any other says that
 * it is not (Despacho 8632/2014).
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import type { Row, Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { Content, Day, Family, Region } from '../fiscal/document.ts';
import { Refusal, type RefusalCode } from '../fiscal/refusal.ts';
import { printSeal } from '../fiscal/seal.ts';
import type { Principal } from '../identity/principal.ts';
import type { PaperCopy, PaperFormat, PrintInput } from '../print/input.ts';
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
const layout_version = 12;

/** Which copy of its document a file is, as variants name it, and what stands on its paper. */
const copies = {
  original: 'Original',
  duplicate: 'Duplicado',
  triplicate: 'Triplicado',
  second: '2.ª via',
  further: 'Cópia',
} as const satisfies Record<string, PaperCopy>;

export type Copy = keyof typeof copies;

/**
 * What any other file of the same copy is, where a document has only one: of transport documents the three that the law knows
 * (DL 147/2003), of all others the original.
 */
function besides(copy: Copy, families: readonly Family[]): Copy | undefined {
  if (families.includes('TRANSPORT')) return copy === 'further' ? undefined : 'further';
  return copy === 'original' ? 'second' : undefined;
}

// The AT's code and a cancellation show on the paper: each makes another file. With the code, which has to be on the paper that
// goes along with the goods, the copies are printed anew; a document that is cancelled has no other original.
const state = `cross join lateral (select case when d.at_doc_code is null then '' else '.coded' end as coded,
     case when d.status = 'CANCELED' then '.canceled' else '' end as canceled) s`;
const dressed = `coalesce('.' || t.id || '.' || t.version, '') || s.coded || s.canceled`;
// Whether the only one of the copy is what is asked for: on the same paper, in the same state, and with the template that is
// named. Where none is named it stays as it was, whatever became of templates and layouts (the fifth part of a variant).
const isAsked = `split_part(o.variant, '.', 1) = $3 and case
     when $4::text is null then substring(o.variant from '((?:[.]coded)?(?:[.]canceled)?)$') = s.coded || s.canceled
     else substring(o.variant from '^(?:[^.]+[.]){4}[^.]+(.*)$') = ${dressed} end`;
// The template that was asked for ($4), else the document's own, else the company's default; no row: the built-in one.
// An archived one still prints the documents that name it. One of the latter two that is not made for the paper ($3)
// gives way to the built-in one. Asked for is the copy $5; if there is one already, and another file, the copy $6.
const readPrintable = statement(
  'printable_read',
  `select d.company_id, d.id, d.status, d.content, d.due_date, d.issued_at, d.at_doc_code, certo.now() as now, ${issuedColumns},
     p.variant, c.copy, c.exemplar, r.variant is not null as rendered,
     (select c.region from certo.companies c where c.id = certo.current_company()) as region,
     t.id as template_id, t.formats as template_formats, t.language, t.colour, t.footer, case when r.variant is null then t.logo end as logo
   from certo.documents d
   left join certo.templates t on t.company_id = d.company_id and case
     when $4::text is not null then t.id::text = lower($4) and not t.is_archived
     when d.asked->>'templateId' is not null then t.id::text = d.asked->>'templateId' and $3 = any (t.formats)
     else t.is_default and $3 = any (t.formats) end
   ${state}
   left join lateral (select x.variant from certo.renditions x where x.company_id = d.company_id and x.document_id = d.id
     and x.exemplar = any (case when s.canceled = '' then array[$5 || s.coded] else array[$5, $5 || '.coded'] end) limit 1) o on true
   cross join lateral (select case when o.variant is null then $5::text else $6::text end as copy,
     case when o.variant is null and $6::text is not null then $5 || s.coded end as exemplar) c
   cross join lateral (select case when ${isAsked} then o.variant else $3::text || '.' || c.copy || $7::text || ${dressed} end as variant) p
   left join certo.renditions r on r.company_id = d.company_id and r.document_id = d.id and r.variant = p.variant
   where d.company_id = certo.current_company() and d.id = $1 and d.family = any ($2::text[]) and d.hidden_at is null`,
);
const insertRendition = statement(
  'rendition_insert',
  `insert into certo.renditions (company_id, document_id, variant, bytes, seal, exemplar)
   values (certo.current_company(), $1, $2, $3, $4, $5) on conflict do nothing returning variant`,
);

export const isDuplicate = Type.Optional(Type.Boolean({ default: false, description: 'Print it as a second copy.' }));

/** What `templateId` of a print says of itself. */
export const whichTemplate =
  "PDF template. When absent, what there is one of (an original, the three copies of a transport document) is given as it was first printed on this paper; else the document's own, or the default one.";

export const PdfReply = closed({ id: Type.String(), name: Type.String(), url: Type.String() });

interface Wanted {
  readonly id: string;
  readonly families: readonly Family[];
  readonly notFound: RefusalCode;
  readonly format?: PaperFormat | undefined;
  readonly isDuplicate?: boolean | undefined;
  /** In place of `isDuplicate`. */
  readonly copy?: Copy | undefined;
  readonly templateId?: string | undefined;
}

/** The printed document's row, with the variant of its file, which is stored now if it was not before. */
export async function loadPdf(tx: Tx, wanted: Wanted, world: World): Promise<Row> {
  const { id, families, format = 'A4', templateId } = wanted;
  const copy = wanted.copy ?? (wanted.isDuplicate === true ? 'duplicate' : 'original');
  const look = `.pt.${world.atMode}.v${layout_version}`;
  const asked = [id, families, format, templateId ?? null, copy, besides(copy, families) ?? null, look];
  const [row] = await tx.query(readPrintable, asked);
  if (row === undefined) throw new Refusal(wanted.notFound);
  // What is not there comes before the state of what is (ARCHITECTURE.md, steps 10 and 11).
  const isNamed = templateId !== undefined && templateId !== builtIn.id;
  if (isNamed && row['template_id'] === null) throw new Refusal('TEMPLATE_NOT_FOUND');
  if (row['number'] === null) throw new Refusal('DRAFT_NOT_PRINTABLE');
  if (isNamed) checkFormat(row, format);
  if (row['rendered'] === true) return row;
  const bytes = await render(row, format, world);
  const file = [row['id'], row['variant'], bytes, sealOf(row, bytes, world), row['exemplar']];
  const stored = await tx.query(insertRendition, file);
  // Somebody else was first: with this file, or with the only one of its copy.
  return stored.length === 0 ? loadPdf(tx, wanted, world) : row;
}

function sealOf(row: Row, bytes: Buffer, world: World): Buffer {
  const digest = createHash('sha256').update(bytes).digest();
  return printSeal(world.seal, String(row['id']), String(row['variant']), digest);
}

// A link that is over still has its signature, so whoever kept one could have the file read for as long as there is one.
const readStored = statement(
  'file_read',
  `select d.id, d.number, d.qr, $2::text as variant, r.bytes, r.seal, n.now
   from certo.documents d
   cross join (select certo.now() as now) n
   left join certo.renditions r on r.company_id = d.company_id and r.document_id = d.id and r.variant = $2
     and n.now < $3::timestamptz
   where d.company_id = certo.current_company() and d.id = $1 and d.hidden_at is null`,
);

/**
 * A document's number, QR text and the file of a variant, as stored, which is not read any more once it is `until`;
 * undefined: there is no such document.
 */
export async function readFile(tx: Tx, documentId: string, variant: string, until: Date): Promise<Row | undefined> {
  return (await tx.query(readStored, [documentId, variant, until]))[0];
}

/** The file, if it is the one that was printed. Throws INTEGRITY_BROKEN. */
export function printedFile(row: Row, world: World): Buffer {
  const [bytes, seal] = [row['bytes'] as Buffer, row['seal'] as Buffer | null];
  // A null is not from before there were seals: those prints are of layouts that no link leads to.
  if (seal === null || !seal.equals(sealOf(row, bytes, world))) throw new Refusal('INTEGRITY_BROKEN');
  return bytes;
}

function checkFormat(row: Row, format: PaperFormat): void {
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

async function render(row: Row, format: PaperFormat, world: World): Promise<Buffer> {
  const input: PrintInput = {
    // A draft may leave its due date open: it is decided with the number.
    content: { ...(row['content'] as Content), dueDate: (row['due_date'] as Day | null) ?? undefined },
    issued: issuedOf(row),
    status: row['status'] === 'CANCELED' ? 'A' : 'N',
    format,
    copy: copies[row['copy'] as Copy],
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

/**
 * A draft that is mostly issued next, as this process keeps it: what issuing it is decided on, and the texts that are then
 * frozen and shown, which are made once. Only of drafts that nothing else is locked with.
 */
import type { Row } from '../../db/transact.ts';
import type { Content, Day } from '../../fiscal/document.ts';
import { isOwnNif } from '../../fiscal/nif.ts';
import { fitsQr, most_regions } from '../../fiscal/qr-message.ts';
import { type QrDrafted, qrDrafted } from '../../fiscal/qr-payload.ts';
import { ratesHold } from '../../fiscal/reprice.ts';
import { mostOf, type Piece, type Span, utf8 } from '../../fiscal/utf8.ts';
import { UnfoldedNames } from '../../print/folded.ts';
import { type CompanyMemory, most_draft_bytes } from '../memory.ts';
import { begunOf, draftedRuns } from '../stamp.ts';
import type { ShownContent } from './show-invoice.ts';

export interface KeptDraft {
  /** Of its columns those that issuing reads, the caller's own; `content` is an outline, and `marked` still to be said. */
  readonly row: Row;
  /** See `draftedRuns`. */
  readonly drafted: readonly Piece[];
  readonly shown: ShownContent;
  readonly qr: QrDrafted;
}

/** What the objects of a draft take: its columns, outline and places of its texts, and of the outline each line. */
const laid_bytes = { draft: 1_900, line: 130 };

/** `row`: its columns as they were written, with those that `begunOf` reads. */
export function keepDraft(
  memory: CompanyMemory,
  companyId: string,
  row: Row,
  { terms, deal, issuer, folded }: ShownContent,
): void {
  const content = row['content'] as Content;
  // Of what is too long alone nothing is made: of a thousand lines that took the processor 30 ms, for each draft of a group.
  if (mostOf(folded) > most_draft_bytes || !isLikelyIssued(content)) return;
  const id = String(row['id']);
  const drafted = draftedRuns({ id, companyId, content }, begunOf(row));
  // What is shown of the deal is what is folded of it, three times as long.
  const texts = [terms, issuer, folded, ...drafted.map((run) => utf8(run))];
  const besides = laid_bytes.draft + laid_bytes.line * content.lines.length;
  const columns = columnsOf(row, outlineOf(content));
  memory.keepDraft(id, { columns, qr: qrDrafted(content), texts, unfolded: mostOf(deal), besides });
}

/** Undefined: it is not known, or not any more. */
export function recallDraft(memory: CompanyMemory, id: string): KeptDraft | undefined {
  const kept = memory.draft(id);
  if (kept === undefined) return undefined;
  const { columns, qr, texts, unfolded } = kept;
  const [terms, issuer, folded, ...drafted] = texts as [Span, Span, Span, ...Span[]];
  const shown = { terms, deal: new UnfoldedNames(folded.view(), unfolded), issuer, folded };
  return { row: { ...columns }, drafted, shown, qr };
}

/** Nothing else is locked with it: what it corrects, or was made of, is changed too. And its QR message can be told. */
function isLikelyIssued({ parent, origin, refused, issuer, customer, books }: Content): boolean {
  if (parent !== undefined || origin !== undefined || refused !== undefined) return false;
  const regions = new Set(books.groups.map(({ region }) => region));
  const isNamed = isOwnNif(issuer.taxpayerNumber ?? '') && fitsQr('B', customer.taxpayerNumber ?? '-');
  return isNamed && fitsQr('C', customer.country ?? '-') && regions.size <= most_regions;
}

/** Written out: V8 copies such an object quickly, and members that are there are written over in the copy. */
function columnsOf(row: Row, outline: unknown): Row {
  return {
    id: row['id'],
    type: row['type'],
    status: row['status'],
    created_at: row['created_at'],
    updated_at: row['updated_at'],
    series_id: row['series_id'],
    created_by: row['created_by'],
    application_id: row['application_id'],
    schedule_template_id: row['schedule_template_id'],
    credited: row['credited'],
    at_code: row['at_code'],
    at_message: row['at_message'],
    content: outline,
    marked: false,
  };
}

/**
 * Whether an outline is frozen as it stands in a series: whatever changes the content asks for all of it. `day`: of its
 * issue, where it has none of its own.
 */
export function isFrozenAsDrafted(outline: Content, series: Row, day: Day): boolean {
  if (series['kind'] !== 'N' || series['cash_vat'] === true) return false;
  return ratesHold(outline, outline.taxPointDate ?? outline.date ?? day);
}

/** Of a content what issuing asks (fiscal/issue.ts), as long as it changes nothing of it. */
function outlineOf({ issuer, customer, lines, totals, books, ...content }: Content): unknown {
  return {
    type: content.type,
    issuer: { name: issuer.name, taxpayerNumber: issuer.taxpayerNumber },
    customer: {
      id: customer.id,
      name: customer.name,
      taxpayerNumber: customer.taxpayerNumber,
      country: customer.country,
      finalConsumer: customer.finalConsumer,
    },
    books: { gross: books.gross },
    totals: { toPay: totals.toPay },
    date: content.date,
    taxPointDate: content.taxPointDate,
    dueDate: content.dueDate,
    payment: content.payment,
    lines: lines.map(({ itemId, region, vatRate, rate, exemptionCode, productType }) => ({
      itemId,
      region,
      vatRate,
      rate,
      exemptionCode,
      productType,
    })),
  };
}

/**
 * A draft that is mostly issued next, as this process keeps it: what issuing it is decided on, and the texts that are then
 * frozen and shown, which are made once. Only of drafts that nothing else is locked with.
 */
import type { Row } from '../../db/transact.ts';
import type { Content, Day } from '../../fiscal/document.ts';
import { ratesHold } from '../../fiscal/reprice.ts';
import { joinUtf8, splitUtf8, type Utf8, utf8 } from '../../fiscal/utf8.ts';
import type { CompanyMemory } from '../memory.ts';
import { begunOf, draftedRuns } from '../stamp.ts';
import type { ShownContent } from './show-invoice.ts';

export interface KeptDraft {
  /** Its columns, the caller's own; `content` is an outline, and `marked` (numbering.ts) still to be said. */
  readonly row: Row;
  /** See `draftedRuns`. */
  readonly drafted: readonly Utf8[];
  readonly shown: ShownContent;
}

// JSON has no line break of its own.
const between = '\n';

/** `row`: its columns as they were written, with those that `begunOf` reads. */
export function keepDraft(
  memory: CompanyMemory,
  companyId: string,
  row: Row,
  { terms, deal, issuer }: ShownContent,
): void {
  const content = row['content'] as Content;
  // What it corrects, or was made of, is locked and changed with it.
  if (content.parent !== undefined || content.origin !== undefined) return;
  const id = String(row['id']);
  const drafted = draftedRuns({ id, companyId, content }, begunOf(row));
  const texts = utf8([asciiJson(outlineOf(content)), ...drafted].join(between));
  // Members that are there are written over in a copy quickly; adding them to it takes V8 some microseconds each time.
  const columns = { ...row, content: undefined, asked: undefined, marked: false };
  memory.keepDraft(id, columns, joinUtf8([terms, deal, issuer, texts], between));
}

/** Undefined: it is not known, or not any more. */
export function recallDraft(memory: CompanyMemory, id: string): KeptDraft | undefined {
  const kept = memory.draft(id);
  if (kept === undefined) return undefined;
  const [terms, deal, issuer, outline, ...drafted] = splitUtf8(kept.bytes, between) as [Utf8, Utf8, Utf8, Utf8];
  const row: Row = { ...kept.columns };
  row['content'] = JSON.parse(outline) as Content;
  return { row, drafted, shown: { terms, deal, issuer } };
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
function outlineOf({ issuer, customer, lines, totals, ...content }: Content): unknown {
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
    books: content.books,
    totals: { toPay: totals.toPay },
    date: content.date,
    taxPointDate: content.taxPointDate,
    dueDate: content.dueDate,
    payment: content.payment,
    refused: content.refused,
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

/** JSON that is the same text encoded or not. */
function asciiJson(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\0-\x7f]/g, escaped);
}

/**
 * The lines of a document on a till roll: each a name, then its terms with the amount at the right. What does not fit
 * beside each other stands below. A roll is one page as long as its content, up to what a PDF page may measure.
 */
import { add } from '../fiscal/decimal.ts';
import type { Content } from '../fiscal/document.ts';
import { quotedNumber } from '../fiscal/recovery.ts';
import { day, money, percent, price } from './format.ts';
import type { PaperFormat } from './input.ts';
import { heavier } from './measures.ts';
import type { Fact } from './paper-facts.ts';
import { discountOf, isValued, quantityWithUnit, settledRows } from './paper-lines.ts';
import type { PaperTotals } from './paper-totals.ts';
import type { Pen } from './pen.ts';
import type { Word } from './words.ts';

/** A roll's measures in points. */
export interface Roll {
  readonly width: number;
  /** What a till printer does not reach: 4 mm of 80, 5 mm of 58. */
  readonly margin: number;
  readonly body: number;
  readonly small: number;
}

const millimetre = 72 / 25.4;

/** By format; in points, as everything that is laid out. */
export const rolls: Readonly<Record<Exclude<PaperFormat, 'A4'>, Roll>> = {
  RECEIPT: { width: 80 * millimetre, margin: 4 * millimetre, body: 9, small: 7.5 },
  RECEIPT_58: { width: 58 * millimetre, margin: 5 * millimetre, body: 8, small: 7 },
};

/** Points between the margins. */
export function rollInside({ width, margin }: Roll): number {
  return width - 2 * margin;
}

/** One per page. */
export interface RollPage {
  readonly rows: readonly RollRow[];
  /** Sum of all rows up to the end of this page; absent on the last one. */
  readonly carried?: string | undefined;
}

export interface RollRow {
  readonly name: string;
  readonly detail: readonly string[];
  /** "12 h × 65,00 · IVA 23 %", one entry per printed line. */
  readonly terms: readonly string[];
  /** The quantity, where the document tells no prices. */
  readonly amount: string;
  /** The amount has a line of its own. */
  readonly isStacked: boolean;
}

/** A fact whose value stands beside its label when both fit on a line, else below it. */
export interface RollFact {
  readonly label: string;
  readonly value: string;
  readonly isLiteral: boolean;
  readonly isStacked: boolean;
}

export interface RollTable {
  readonly facts: readonly RollFact[];
  /** Of names and of amounts, one line per language. */
  readonly heads: readonly (readonly string[])[];
  readonly pages: readonly RollPage[];
  /** The final sum: its size in points, and whether it stands below its label. */
  readonly final?: { readonly size: number; readonly isStacked: boolean } | undefined;
  /** VAT per rate does not fit in three columns: each figure on a line of its own, with its label. */
  readonly vatIsStacked: boolean;
}

interface Entry extends Omit<RollRow, 'isStacked'> {
  readonly carried?: string | undefined;
}

const gap = 8;

/** A text of more lines runs on: as they are, a thousand of a letter each would take more than a page may have. */
const mostLines = 100;

/** A document may withhold in as many ways as it has lines, and all totals stand on one page. */
export const mostWithheldOnRoll = 20;

/** Small text with line breaks, as it stands on a roll. */
export function rollLines(text: string | undefined, roll: Roll, pen: Pen): string[] {
  const lines = pen.writeLinesWithin(rollInside(roll) / roll.small, text);
  return lines.length > mostLines ? [lines.filter((one) => one.trim() !== '').join('\u00a0· ')] : lines;
}

/** The lines, or what a receipt settles. `texts`: the small text that stands before and behind them. */
export function rollTable(
  content: Content,
  facts: readonly Fact[],
  totals: PaperTotals | undefined,
  texts: readonly string[],
  roll: Roll,
  pen: Pen,
): RollTable {
  const isReceipt = content.type === 'RECEIPT';
  const entries = isReceipt ? settledEntries(content, pen) : lineEntries(content, pen);
  const inside = rollInside(roll);
  const heads: [Word, Word] = isReceipt
    ? ['settledDocument', 'receivedPart']
    : ['line', isValued(content) ? 'lineTotal' : 'quantity'];
  return {
    facts: facts.map((fact) => rollFact(fact, inside / roll.small, pen)),
    heads: heads.map(pen.labelLines),
    pages: pagesOf(
      entries.map((entry) => ({ ...entry, ...written(entry, roll, inside, pen) })),
      longestLines - heightOf(texts, roll, pen),
      roll,
      pen,
    ),
    final: totals === undefined ? undefined : finalPlace(totals.final, roll, inside, pen),
    vatIsStacked: totals?.vat !== undefined && !fitsBeside(totals.vat, roll.small, inside, pen),
  };
}

/** A sum of many digits gets smaller type: nothing runs over the margin. */
function finalPlace({ label, value }: PaperTotals['final'], { body }: Roll, inside: number, pen: Pen) {
  const ems = pen.width(value) * heavier;
  const size = Math.min(body * 1.44, inside / ems);
  return { size, isStacked: pen.width(label) * heavier * body * 1.2 + gap + ems * size > inside };
}

function rollFact({ label: labels, ...fact }: Fact, ems: number, pen: Pen): RollFact {
  const label = labels.join(' / ');
  return { label, ...fact, isStacked: pen.width(label) + pen.width(fact.value) * heavier + gap / 6 > ems };
}

function lineEntries(content: Content, pen: Pen): Entry[] {
  const { lines, currency } = content;
  let carried = '0.00';
  return lines.map((line): Entry => {
    const detail = (line.description ?? '').trim() === '' ? [] : [line.description!];
    if (!isValued(content)) return { name: line.name, detail, terms: [], amount: pen.write(quantityWithUnit(line)) };
    const discount = discountOf(line, content);
    const terms = [
      `${pen.write(quantityWithUnit(line))} × ${price(line.unitPrice)}`,
      ...(discount === '' ? [] : [`${pen.label('discount')} ${discount}`]),
      `${pen.label('vat')}\u00a0${percent(line.rate)}${line.exemptionCode === undefined ? '' : ` ${line.exemptionCode}`}`,
    ];
    carried = add(carried, line.net);
    return { name: line.name, detail, terms, amount: money(line.net, currency), carried: money(carried, currency) };
  });
}

function settledEntries(content: Content, pen: Pen): Entry[] {
  return settledRows(content).map(({ document, gross, withheld, received, carried }) => ({
    name: quotedNumber(document),
    detail: [],
    terms: [
      day(document.date),
      ...(withheld === undefined
        ? []
        : [`${pen.label('settledAmount')} ${gross}`, `${pen.label('withheld')} ${withheld}`]),
    ],
    amount: received,
    carried,
  }));
}

/** Drawable, with the terms on one line when they fit beside the amount. */
function written(entry: Entry, roll: Roll, inside: number, pen: Pen): Omit<RollRow, 'amount'> {
  const { body, small } = roll;
  const amount = pen.width(entry.amount) * body + gap;
  const widest = Math.max(0, ...entry.terms.map(pen.width)) * small;
  const isStacked = widest * 1.02 + amount > inside;
  const ems = (isStacked ? inside : inside - amount) / small;
  return {
    name: pen.writeWithin(inside / body / heavier, entry.name),
    detail: rollLines(entry.detail.join('\n'), roll, pen),
    terms: inLines(entry.terms, ems, pen),
    isStacked,
  };
}

/** As many terms on a line as fit, a middle dot between them. */
function inLines(terms: readonly string[], ems: number, pen: Pen): string[] {
  const lines: string[] = [];
  for (const term of terms) {
    const longer = lines.length === 0 ? undefined : `${lines.at(-1)} · ${term}`;
    if (longer !== undefined && pen.width(longer) * 1.02 <= ems) lines[lines.length - 1] = longer;
    else lines.push(pen.writeWithin(ems, term));
  }
  return lines;
}

function fitsBeside({ heads, rows }: NonNullable<PaperTotals['vat']>, size: number, inside: number, pen: Pen): boolean {
  const width = (column: number) =>
    Math.max(...[...heads[column]!, ...rows.map((row) => row[column]!)].map((text) => pen.width(text)));
  return (width(0) + width(1) + width(2)) * size * 1.02 + 2 * gap <= inside;
}

/**
 * ISO 19005-3 allows pages of 14,400 points; a third is left for what stands above and below the lines, but for texts, which
 * may be as long as they.
 */
const longestLines = 9600;

/** Rather too high. */
const pitch = ({ body }: Roll): number => body * 1.5;

/** Of small text. */
function heightOf(texts: readonly string[], roll: Roll, pen: Pen): number {
  const lines = texts.reduce((all, one) => all + 1 + (pen.width(one) * roll.small * 1.1) / rollInside(roll), 0);
  return lines * pitch(roll);
}

function pagesOf(rows: readonly (RollRow & Entry)[], longest: number, roll: Roll, pen: Pen): RollPage[] {
  const pages: { rows: RollRow[]; carried?: string | undefined }[] = [{ rows: [] }];
  let height = 0;
  let carried: string | undefined;
  for (const { carried: sum, ...row } of rows) {
    const lines = Math.ceil((pen.width(row.name) * roll.body * 1.1) / rollInside(roll)) + row.terms.length + 1;
    const more = lines * pitch(roll) + heightOf(row.detail, roll, pen);
    if (height + more > longest && pages.at(-1)!.rows.length > 0) {
      pages.at(-1)!.carried = carried;
      pages.push({ rows: [] });
      height = 0;
    }
    pages.at(-1)!.rows.push(row);
    height += more;
    carried = sum;
  }
  return pages;
}

/** The table of a paper: the lines of a document, or what a receipt settles. */
import { add, compare, isZero, percentOf, round2, subtract } from '../fiscal/decimal.ts';
import type { Content, Decimal, PricedLine, Settled } from '../fiscal/document.ts';
import { worthOf } from '../fiscal/open-line.ts';
import { quotedNumber } from '../fiscal/recovery.ts';
import { unitText } from '../fiscal/units.ts';
import { fitColumns } from './columns.ts';
import { day, money, percent, price, quantity } from './format.ts';
import type { Pen } from './pen.ts';
import type { Word } from './words.ts';

/** The figures of a row, and its words as they stand in the document. */
interface Row {
  readonly name: string;
  readonly description?: string | undefined;
  /** One per figure column. */
  readonly figures: readonly string[];
  /** Code of an exemption, beside the rate. */
  readonly exemption?: string | undefined;
  /** Sum of this row and all before it, for "a transportar"; absent where nothing has a price. */
  readonly carried?: string | undefined;
}

export interface PaperRow extends Omit<Row, 'description'> {
  /** The line's description, one entry per printed line. */
  readonly detail: readonly string[];
  /** The name and each line of the detail fit one line, so the row's height is known. */
  readonly isFlat: boolean;
}

export interface PaperTable {
  /** Label of the first, wide column: one line per language, as in `columns`. */
  readonly label: readonly string[];
  /** The right-aligned columns after it. */
  readonly columns: readonly {
    readonly label: readonly string[];
    /** In points, gutter included. */
    readonly width: number;
    readonly isRate: boolean;
  }[];
  /** Size of the figures in points. */
  readonly size: number;
  readonly rows: readonly PaperRow[];
  /** How many of the last rows go to the next page with the totals where all of that fits it: those rather not stand alone. */
  readonly kept: number;
}

/** Whether a document tells prices: transport documents may tell the goods alone. */
export function isValued({ transport }: Content): boolean {
  return transport?.valued !== false;
}

/** Prices and totals without VAT; the discount of a line is all that was taken from it, its global share included. */
export function lineTable(content: Content, pen: Pen): PaperTable {
  const { lines, currency } = content;
  if (!isValued(content)) {
    const rows = lines.map((line): Row => {
      return { name: line.name, description: line.description, figures: [pen.write(quantityWithUnit(line))] };
    });
    return tableOf('line', ['quantity'], rows, pen);
  }
  const hasDiscount = lines.some((line) => !isZero(line.discountAmount));
  const words: Word[] = ['quantity', 'unitPrice', ...(hasDiscount ? (['discount'] as const) : []), 'vat', 'lineTotal'];
  let carried: Decimal = '0.00';
  const rows = lines.map((line): Row => {
    carried = add(carried, line.net);
    return {
      name: line.name,
      description: line.description,
      figures: [
        pen.write(quantityWithUnit(line)),
        price(line.unitPrice),
        ...(hasDiscount ? [discountOf(line, content)] : []),
        percent(line.rate),
        money(line.net, currency),
      ],
      exemption: line.exemptionCode,
      carried: money(carried, currency),
    };
  });
  return tableOf('line', words, rows, pen);
}

/** The units that are words and not abbreviations; Portuguese counts in the plural from two on. */
const plurals: Readonly<Record<string, string>> = { dia: 'dias', mês: 'meses' };

/** "12 h", "3 dias", "1,5 mês"; the quantity alone where there is no unit. */
export function quantityWithUnit(line: PricedLine): string {
  const unit = unitText(line.unit);
  if (unit === unitText('NA')) return quantity(line.quantity);
  const counted = compare(line.quantity, '2') >= 0 ? (plurals[unit] ?? unit) : unit;
  return `${quantity(line.quantity)}\u00a0${counted}`;
}

/**
 * Percentages as agreed ("8,8 % + 10 %"); as soon as money was agreed, or where they do not make the line, the money that
 * came off it.
 */
export function discountOf(line: PricedLine, content: Content): string {
  if (isZero(line.discountAmount)) return '';
  const agreed = [line.discount, content.globalDiscount].filter((one) => one !== undefined && !isZero(one.value));
  if (agreed.length === 0 || agreed.some((one) => one?.type === 'AMOUNT') || !makeTheLine(line, content)) {
    return money(line.discountAmount, content.currency);
  }
  return agreed.map((one) => percent(one!.value)).join(' + ');
}

/**
 * Whether the percentages make the line's net. Those of a credit note may not: it takes a part of the original's line in
 * whole cents, and notes that were issued before they kept its global discount do not tell that.
 */
function makeTheLine(line: PricedLine, { type, globalDiscount }: Content): boolean {
  if (type !== 'CREDIT_NOTE') return true;
  const kept = subtract('100', globalDiscount?.value ?? '0');
  return compare(round2(percentOf(kept, worthOf(line))), line.net) === 0;
}

/** One document that a receipt settles. */
interface SettledRow {
  readonly document: Settled['document'];
  readonly gross: string;
  /** Absent where the payer withheld nothing. */
  readonly withheld?: string | undefined;
  readonly received: string;
  readonly carried: string;
}

/**
 * What a receipt settles. Of one document in the receipt's currency; of several in euros, as the books keep them.
 */
export function settledRows({ settles = [], totals, currency }: Content): SettledRow[] {
  const inOwn = settles.length === 1;
  const shown = (value: Decimal) => money(value, inOwn ? currency : 'EUR');
  const hasWithholding = settles.some(({ withholding }) => !isZero(withholding));
  let carried: Decimal = '0.00';
  return settles.map(({ document, ...eur }) => {
    const { gross, withholding } = inOwn ? totals : eur;
    const received = subtract(gross, withholding);
    carried = add(carried, received);
    return {
      document,
      gross: shown(gross),
      ...(hasWithholding ? { withheld: shown(withholding) } : {}),
      received: shown(received),
      carried: shown(carried),
    };
  });
}

/** The table of a receipt: document, its date, what is settled of it; with tax withheld also what was received. */
export function settledTable(content: Content, pen: Pen): PaperTable {
  const settled = settledRows(content);
  const isWithheld = settled.some(({ withheld }) => withheld !== undefined);
  const rows = settled.map(
    ({ document, gross, withheld, received, carried }): Row => ({
      name: quotedNumber(document),
      figures: [day(document.date), gross, ...(withheld === undefined ? [] : [withheld, received])],
      carried,
    }),
  );
  const more: Word[] = isWithheld ? ['withheld', 'receivedPart'] : [];
  return tableOf('settledDocument', ['settledDate', 'settledAmount', ...more], rows, pen);
}

/** Heads and details are set at 7.5 points, the rest at 9. */
const smallScale = 7.5 / 9;

function tableOf(first: Word, words: readonly Word[], rows: readonly Row[], pen: Pen): PaperTable {
  const beside = rows.some((row) => row.exemption !== undefined) ? pen.width(' M00') : 0;
  const widest = words.map((word, column) => {
    const head = Math.max(...pen.labelLines(word).map(pen.width)) * smallScale;
    const figures = rows.reduce((wide, row) => Math.max(wide, pen.width(row.figures[column]!)), 0);
    return Math.max(head, figures + (word === 'vat' ? beside : 0));
  });
  const { size, widths, description } = fitColumns(widest);
  return {
    label: pen.labelLines(first),
    columns: words.map((word, column) => ({
      label: pen.labelLines(word),
      width: widths[column]!,
      isRate: word === 'vat',
    })),
    size,
    rows: rows.map((row) => paperRow(row, description, pen)),
    kept: rowsKept(rows, description, pen),
  };
}

/** What goes along with the totals must leave them room on a page: so many lines of text, of one row alone some more. */
export const mostKeptLines = 10;
const mostOfOne = 30;

function rowsKept(rows: readonly Row[], ems: number, pen: Pen): number {
  const printed = (some: readonly Row[]) =>
    some.reduce(
      (lines, { name, description }) =>
        lines +
        linesIn(name, ems, pen) +
        (description ?? '').split('\n').reduce((all, one) => all + linesIn(one, ems / smallScale, pen), 0),
      0,
    );
  // The first row stays with the heads.
  if (rows.length > 2 && printed(rows.slice(-2)) <= mostKeptLines) return 2;
  return rows.length > 1 && printed(rows.slice(-1)) <= mostOfOne ? 1 : 0;
}

/** How many lines a text takes, at least: words break it earlier. */
function linesIn(text: string, ems: number, pen: Pen): number {
  return text === '' ? 0 : Math.ceil(pen.width(pen.writeWithin(ems, text)) / ems);
}

function paperRow({ description, ...row }: Row, ems: number, pen: Pen): PaperRow {
  const name = pen.writeWithin(ems, row.name);
  const detail = pen.writeLinesWithin(ems / smallScale, description);
  // Kerning may add a little to the sum of the advances.
  const fits = (text: string, width: number) => pen.width(text) * 1.02 < width;
  return { ...row, name, detail, isFlat: fits(name, ems) && detail.every((one) => fits(one, ems / smallScale)) };
}

/** The table of a paper: the lines of a document, or what a receipt settles. */
import { add, compare, isZero } from '../fiscal/decimal.ts';
import type { Content, Decimal, PricedLine } from '../fiscal/document.ts';
import { unitText } from '../fiscal/units.ts';
import { fitColumns } from './columns.ts';
import { day, money, percent, price, quantity } from './format.ts';
import type { PrintInput, SettledDocument } from './input.ts';
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
  /** Sum of this row and all before it, for "a transportar". */
  readonly carried: string;
}

export interface PaperRow extends Omit<Row, 'description'> {
  /** The line's description, one entry per printed line. */
  readonly detail: readonly string[];
  /** All fits one line, so the row's height is known. */
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
}

/** Prices and totals without VAT; the discount of a line is all that was taken from it, its global share included. */
export function lineTable(content: Content, pen: Pen): PaperTable {
  const { lines, currency } = content;
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
function quantityWithUnit(line: PricedLine): string {
  const unit = unitText(line.unit);
  if (unit === unitText('NA')) return quantity(line.quantity);
  const counted = compare(line.quantity, '2') >= 0 ? (plurals[unit] ?? unit) : unit;
  return `${quantity(line.quantity)}\u00a0${counted}`;
}

/** Percentages as agreed ("8,8 % + 10 %"); as soon as money was agreed, the money that came off the line. */
function discountOf(line: PricedLine, content: Content): string {
  if (isZero(line.discountAmount)) return '';
  const agreed = [line.discount, content.globalDiscount].filter((one) => one !== undefined && !isZero(one.value));
  if (agreed.length === 0 || agreed.some((one) => one?.type === 'AMOUNT')) {
    return money(line.discountAmount, content.currency);
  }
  return agreed.map((one) => percent(one!.value)).join(' + ');
}

/** What a receipt settles: document, its date, its total when known, and the part that is settled now. */
export function settledTable(input: PrintInput, pen: Pen): PaperTable {
  const { currency } = input.content;
  const settles = input.settles ?? settledByParent(input.content);
  const hasTotal = settles.some(({ total }) => total !== undefined);
  let carried: Decimal = '0.00';
  const rows = settles.map(({ number, date, total, settled }): Row => {
    carried = add(carried, settled);
    return {
      name: number,
      figures: [
        day(date),
        ...(hasTotal ? [total === undefined ? '' : money(total, currency)] : []),
        money(settled, currency),
      ],
      carried: money(carried, currency),
    };
  });
  const words: Word[] = ['settledDate', ...(hasTotal ? (['settledTotal'] as const) : []), 'settledAmount'];
  return tableOf('settledDocument', words, rows, pen);
}

function settledByParent({ parent, totals }: Content): SettledDocument[] {
  return parent === undefined ? [] : [{ number: parent.number, date: parent.date, settled: totals.gross }];
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
  };
}

function paperRow({ description, ...row }: Row, ems: number, pen: Pen): PaperRow {
  const name = pen.writeWithin(ems, row.name);
  const detail = pen.writeLinesWithin(ems / smallScale, description);
  // Kerning may add a little to the sum of the advances.
  return { ...row, name, detail, isFlat: detail.length === 0 && pen.width(name) * 1.02 < ems };
}

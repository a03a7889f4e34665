/** Widths of the columns of figures beside the table on an A4 page: from them follows how high the end of a paper is. */
import type { PaperTotals, Sum } from './paper-totals.ts';
import type { Pen } from './pen.ts';

/** In points. */
export interface Measures {
  /** VAT per rate: its two columns of figures; whether each of its rows stands on one line. */
  readonly vat?: { readonly widths: readonly number[]; readonly isFlat: boolean } | undefined;
  /** Of the figures of the sums, of the total, and of what it is in euros. */
  readonly sums: number;
  readonly final: number;
  readonly euros: number;
}

/** The columns of an A4 page at the left and at the right, in points. */
export const leftColumn = 224;
export const rightColumn = 226;
/** Between the columns of VAT per rate. */
export const vatGap = 14;
/** Of type. */
export const sizes = { small: 7.5, body: 9, large: 10.8, largest: 15.6 } as const;
const { small, body, largest } = sizes;
/** The total is set in a heavier weight, some 8 % wider than what is measured. */
export const heavier = 1.1;
/** Kerning may add a little to the sum of the advances. */
const kerned = 1.02;

/** Of one paper's totals. */
export function measuresOf({ vat, sums, afterGross, final, euros }: PaperTotals, pen: Pen): Measures {
  return {
    vat: vat === undefined ? undefined : vatColumns(vat, pen),
    sums: columnWidth(valuesOf([...sums, ...afterGross]), body, pen),
    final: Math.ceil(pen.width(final.value) * heavier * largest),
    euros: columnWidth(valuesOf(euros), small, pen),
  };
}

function valuesOf(sums: readonly Sum[]): string[] {
  return sums.map(({ value }) => value);
}

function vatColumns({ heads, rows }: NonNullable<PaperTotals['vat']>, pen: Pen) {
  const column = (index: number) => columnWidth([...heads[index]!, ...rows.map((row) => row[index]!)], small, pen);
  const [rate, base, tax] = [column(0), column(1), column(2)];
  return { widths: [base, tax], isFlat: rate * kerned + 2 * vatGap + base + tax <= leftColumn };
}

/** Of figures, which have no kerning. */
function columnWidth(texts: readonly string[], size: number, pen: Pen): number {
  return Math.ceil(texts.reduce((most, text) => Math.max(most, pen.width(text)), 0) * size);
}

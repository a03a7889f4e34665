/**
 * Measures of what stands beside the table on an A4 page, so that the typesetter has none to find. A row or column that
 * it fits to its content has its cells laid out once more, and what is nested in them as often again.
 */
import type { Fact } from './paper-facts.ts';
import { heavier } from './paper-roll.ts';
import type { PaperTotals, Sum } from './paper-totals.ts';
import type { Pen } from './pen.ts';

/** A column of labels and one of figures. */
interface Pairs {
  /** Of the figures, in points. */
  readonly width: number;
  /** Each entry has one line, so the heights are known. */
  readonly isFlat: boolean;
}

export interface Measures {
  /** Labels and values of all facts have one line per language. */
  readonly factsAreFlat: boolean;
  /** VAT per rate: `widths` of its two columns of figures, in points. */
  readonly vat?: { readonly widths: readonly number[]; readonly isFlat: boolean } | undefined;
  readonly sums?: Pairs | undefined;
  readonly final?: Pairs | undefined;
  readonly euros?: Pairs | undefined;
}

/** The columns of a4.typ: `left-column`, `right-column`, and half of the latter for a fact, in points. */
export const leftColumn = 224;
export const rightColumn = 226;
const factColumn = 107;
/** Between labels and figures; between the columns of VAT per rate. */
const gap = 12;
const vatGap = 14;
/** Of type: see parts.typ. */
export const sizes = { small: 7.5, body: 9, large: 10.8, largest: 15.6 } as const;
const { small, body, large, largest } = sizes;
/** Kerning may add a little to the sum of the advances. */
const kerned = 1.02;

/** For one paper's facts and totals (none where no prices are told). */
export function measuresOf(facts: readonly Fact[], totals: PaperTotals | undefined, pen: Pen): Measures {
  const fits = ({ label, value }: Fact) =>
    label.every((one) => pen.width(one) * kerned * small <= factColumn) &&
    pen.width(value) * heavier * body <= factColumn;
  return { factsAreFlat: facts.every(fits), ...(totals === undefined ? {} : measuresOfTotals(totals, pen)) };
}

function measuresOfTotals(
  { vat, sums, afterGross, final, euros }: PaperTotals,
  pen: Pen,
): Omit<Measures, 'factsAreFlat'> {
  const value = Math.ceil(pen.width(final.value) * heavier * largest);
  const label = pen.width(final.label) * heavier * large;
  return {
    vat: vat === undefined ? undefined : vatColumns(vat, pen),
    sums: pairs([...sums, ...afterGross], body, pen),
    final: { width: value, isFlat: final.english === undefined && label + gap + value <= rightColumn },
    euros: pairs(euros, small, pen),
  };
}

function pairs(entries: readonly Sum[], size: number, pen: Pen): Pairs {
  const width = columnWidth(
    entries.map(({ value }) => value),
    size,
    pen,
  );
  const fits = ({ label, note }: Sum) =>
    note === undefined && pen.width(label) * kerned * size + gap + width <= rightColumn;
  return { width, isFlat: entries.every(fits) };
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

/** Widths of the figure columns of an A4 table, from those of the figures. */

/** Points between the margins, and what the description keeps of them. */
const paperWidth = 482;
const leastDescription = 110;
/** White before each figure column. */
const gutter = 14;
/** Of the text. */
const bodySize = 9;
/** Tried in turn for the figures, in points: rather smaller figures than one over another. */
const sizes = [bodySize, 8, 7, 6, 5] as const;

export interface Columns {
  /** Of the figures, in points. */
  readonly size: number;
  /** Of each column, gutter included, in points. */
  readonly widths: readonly number[];
  /** What is left for the description, in ems of the text. */
  readonly description: number;
}

/** Columns for figures of these widths (in ems): the largest size at which all fit. */
export function fitColumns(widest: readonly number[]): Columns {
  const at = (size: number) => widest.map((ems) => Math.ceil(ems * size) + gutter);
  const total = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width, 0);
  const size = sizes.find((one) => total(at(one)) <= paperWidth - leastDescription) ?? sizes[sizes.length - 1]!;
  const widths = at(size);
  return { size, widths, description: (paperWidth - total(widths)) / bodySize };
}

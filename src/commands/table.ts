/** Aligned columns for people. */

/** Each row a list of cells; numbers are put to the right. Without rows: what to say instead. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => width(String(row[column] ?? '')))));
  const right = headings.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  return all
    .map((row) =>
      headings
        .map((_, column) => pad(String(row[column] ?? ''), widths[column]!, right[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values, one pair a line. */
export function pairs(entries: readonly (readonly [string, string])[]): string {
  const widest = Math.max(...entries.map(([name]) => width(name)));
  return entries.map(([name, value]) => `${pad(name, widest, false)}  ${value}`.trimEnd()).join('\n');
}

function pad(cell: string, to: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, to - width(cell)));
  return right ? space + cell : cell + space;
}

/** Characters as a person counts them: an accent put beside its letter takes no room. */
function width(text: string): number {
  return [...text.normalize('NFC')].length;
}

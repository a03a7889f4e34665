/** Which numbers of a series have arrived, as ranges: a series without gaps is one range, whatever its length. */

export interface Ranges {
  /** Sorted, disjoint and not adjacent. */
  readonly ranges: readonly (readonly [number, number])[];
  readonly count: number;
}

export const emptyRanges: Ranges = { ranges: [], count: 0 };

/** Adds a number; a known one changes nothing. */
export function include(known: Ranges, value: number): Ranges {
  const last = known.ranges.at(-1);
  // The usual case first: the next number.
  if (last !== undefined && last[1] + 1 === value) {
    return { ranges: [...known.ranges.slice(0, -1), [last[0], value]], count: known.count + 1 };
  }
  if (known.ranges.some(([from, to]) => from <= value && value <= to)) return known;
  const ranges: (readonly [number, number])[] = [];
  let merged: readonly [number, number] = [value, value];
  for (const range of known.ranges) {
    if (range[1] + 1 === merged[0]) merged = [range[0], merged[1]];
    else if (merged[1] + 1 === range[0]) merged = [merged[0], range[1]];
    else ranges.push(range);
  }
  ranges.push(merged);
  return { ranges: ranges.sort((a, b) => a[0] - b[0]), count: known.count + 1 };
}

/** Numbers missing from `first` up to the highest that arrived. */
export function gapsOf(known: Ranges, first: number): readonly (readonly [number, number])[] {
  const gaps: [number, number][] = [];
  let expected = first;
  for (const [from, to] of known.ranges) {
    if (from > expected) gaps.push([expected, from - 1]);
    expected = to + 1;
  }
  return gaps;
}

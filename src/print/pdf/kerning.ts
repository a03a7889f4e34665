/** Pairs that stand closer or wider, from the font's GPOS table (OpenType 1.9): lookups of type 2, as `kern` names them. */
import { table } from '../font.ts';
import { coverageIndex, glyphClass, lookupsOf, type Subtable } from './lookups.ts';

/** What is added to the advance of the left glyph, in units of the font. */
export type Kerning = (left: number, right: number) => number;

/** Reads a font's kerning. Fonts without any have none. */
export function readKerning(view: DataView): Kerning {
  const lookups = lookupsOf(view, table(view, 'GPOS'), 'kern', { pairs: 2, extension: 9 });
  return (left, right) => {
    let sum = 0;
    for (const subtables of lookups) sum += ofLookup(view, subtables, left, right);
    return sum;
  };
}

/** The first subtable that knows the pair decides. */
function ofLookup(view: DataView, subtables: readonly Subtable[], left: number, right: number): number {
  for (const at of subtables) {
    const covered = coverageIndex(view, at + view.getUint16(at + 2), left);
    if (covered === undefined) continue;
    const sizes: readonly [number, number] = [valueSize(view.getUint16(at + 4)), valueSize(view.getUint16(at + 6))];
    if (view.getUint16(at) === 2) return ofClasses(view, at, left, right, sizes);
    const value = ofPairs(view, at + view.getUint16(at + 10 + covered * 2), right, sizes);
    if (value !== undefined) return advanceIn(view, value, view.getUint16(at + 4));
  }
  return 0;
}

function ofClasses(
  view: DataView,
  at: number,
  left: number,
  right: number,
  [first, second]: readonly [number, number],
): number {
  const row = glyphClass(view, at + view.getUint16(at + 8), left);
  const column = glyphClass(view, at + view.getUint16(at + 10), right);
  const columns = view.getUint16(at + 14);
  return advanceIn(view, at + 16 + (row * columns + column) * (first + second), view.getUint16(at + 4));
}

/** Where the values of the pair begin. The right glyphs are sorted. */
function ofPairs(
  view: DataView,
  set: number,
  right: number,
  [first, second]: readonly [number, number],
): number | undefined {
  const size = 2 + first + second;
  let [low, high] = [0, view.getUint16(set) - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const glyph = view.getUint16(set + 2 + middle * size);
    if (glyph === right) return set + 4 + middle * size;
    if (glyph < right) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** A value record has two bytes for each bit of its format. */
function valueSize(format: number): number {
  let bits = 0;
  for (let rest = format; rest > 0; rest >>= 1) bits += rest & 1;
  return 2 * bits;
}

const placements = 3;
const advance = 4;

function advanceIn(view: DataView, value: number, format: number): number {
  return (format & advance) === 0 ? 0 : view.getInt16(value + valueSize(format & placements));
}

/** Letters that are drawn as one glyph, from the font's GSUB table (OpenType 1.9): lookups of type 4 of `liga`. */
import { table } from '../font.ts';
import { listAt, lookupsOf } from './lookups.ts';

/** The glyphs after the first one, and the one that stands for all. */
export interface Ligature {
  readonly rest: readonly number[];
  readonly glyph: number;
}

/** By the first glyph, those of most letters first. */
export function readLigatures(view: DataView): ReadonlyMap<number, readonly Ligature[]> {
  const all = new Map<number, Ligature[]>();
  for (const at of lookupsOf(view, table(view, 'GSUB'), 'liga', { pairs: 4, extension: 7 }).flat()) {
    const firsts = covered(view, at + view.getUint16(at + 2));
    for (const [index, set] of listAt(view, at + 4).entries()) {
      const ligatures = listAt(view, at + set).map((offset) => ligatureAt(view, at + set + offset));
      all.set(
        firsts[index]!,
        ligatures.sort((a, b) => b.rest.length - a.rest.length),
      );
    }
  }
  return all;
}

function ligatureAt(view: DataView, at: number): Ligature {
  const count = view.getUint16(at + 2) - 1;
  const rest = Array.from({ length: count }, (_, index) => view.getUint16(at + 4 + index * 2));
  return { glyph: view.getUint16(at), rest };
}

function covered(view: DataView, at: number): number[] {
  if (view.getUint16(at) === 1) return listAt(view, at + 2);
  return Array.from({ length: view.getUint16(at + 2) }, (_, index) => at + 4 + index * 6).flatMap((range) => {
    const [first, last] = [view.getUint16(range), view.getUint16(range + 2)];
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

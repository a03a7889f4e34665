/**
 * Where marks stand that Unicode composes with no letter, from the font's GPOS table (OpenType 1.9): lookups of type 4 put
 * them on letters, those of type 6 on other marks.
 */
import { table } from '../font.ts';
import { coverageIndex, lookupsOf, type Subtable } from './lookups.ts';

/** How far a mark's origin lies from that of what carries it, in units of the font; undefined where neither knows. */
export type Marks = (carrier: number, mark: number) => readonly [x: number, y: number] | undefined;

/** Reads a font's marks. */
export function readMarks(view: DataView): Marks {
  const at = table(view, 'GPOS');
  const subtables = [
    ...lookupsOf(view, at, 'mark', { pairs: 4, extension: 9 }),
    ...lookupsOf(view, at, 'mkmk', { pairs: 6, extension: 9 }),
  ].flat();
  return (carrier, mark) => {
    for (const subtable of subtables) {
      const offset = offsetIn(view, subtable, carrier, mark);
      if (offset !== undefined) return offset;
    }
    return undefined;
  };
}

function offsetIn(view: DataView, at: Subtable, carrier: number, mark: number): readonly [number, number] | undefined {
  const markIndex = coverageIndex(view, at + view.getUint16(at + 2), mark);
  const carrierIndex = coverageIndex(view, at + view.getUint16(at + 4), carrier);
  if (markIndex === undefined || carrierIndex === undefined) return undefined;
  const classes = view.getUint16(at + 6);
  const marks = at + view.getUint16(at + 8);
  const carriers = at + view.getUint16(at + 10);
  const kind = view.getUint16(marks + 2 + markIndex * 4);
  const anchor = view.getUint16(carriers + 2 + (carrierIndex * classes + kind) * 2);
  if (anchor === 0) return undefined;
  const [from, to] = [marks + view.getUint16(marks + 4 + markIndex * 4), carriers + anchor];
  return [view.getInt16(to + 2) - view.getInt16(from + 2), view.getInt16(to + 4) - view.getInt16(from + 4)];
}

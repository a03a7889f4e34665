/** What the layout tables GPOS and GSUB of a font have in common (OpenType 1.9, "Common Table Formats"). */

/** Offset of a subtable. */
export type Subtable = number;

/**
 * The subtables of each lookup of one type that a feature of the Latin script names, in the order in which they apply.
 * Lookups of type `extension` only point on.
 */
export function lookupsOf(
  view: DataView,
  at: number,
  feature: string,
  { pairs: wanted, extension }: { readonly pairs: number; readonly extension: number },
): Subtable[][] {
  const lookups = at + view.getUint16(at + 8);
  return [...new Set(lookupNumbers(view, at, feature))]
    .sort((a, b) => a - b)
    .map((number) => {
      const lookup = lookups + view.getUint16(lookups + 2 + number * 2);
      const type = view.getUint16(lookup);
      const subtables = listAt(view, lookup + 4).map((offset) => lookup + offset);
      return subtables.flatMap((subtable) => {
        if (type !== extension) return type === wanted ? [subtable] : [];
        return view.getUint16(subtable + 2) === wanted ? [subtable + view.getUint32(subtable + 4)] : [];
      });
    })
    .filter((subtables) => subtables.length > 0);
}

/** Of the features of that name; each script of our fonts names the same ones. */
function lookupNumbers(view: DataView, at: number, feature: string): number[] {
  const script = scriptAt(view, at + view.getUint16(at + 4), 'latn');
  const features = at + view.getUint16(at + 6);
  if (script === undefined) return [];
  return listAt(view, script + view.getUint16(script) + 4).flatMap((index) => {
    const record = features + 2 + index * 6;
    return tagAt(view, record) === feature ? listAt(view, features + view.getUint16(record + 4) + 2) : [];
  });
}

function scriptAt(view: DataView, list: number, tag: string): number | undefined {
  for (let index = 0; index < view.getUint16(list); index++) {
    const record = list + 2 + index * 6;
    if (tagAt(view, record) === tag) return list + view.getUint16(record + 4);
  }
  return undefined;
}

function tagAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

/** Numbers of 16 bits behind their count. */
export function listAt(view: DataView, at: number): number[] {
  return Array.from({ length: view.getUint16(at) }, (_, index) => view.getUint16(at + 2 + index * 2));
}

/** A glyph's place in a coverage table; undefined where it is not in it. */
export function coverageIndex(view: DataView, at: number, glyph: number): number | undefined {
  const isRanges = view.getUint16(at) === 2;
  const size = isRanges ? 6 : 2;
  let [low, high] = [0, view.getUint16(at + 2) - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const entry = at + 4 + middle * size;
    const first = view.getUint16(entry);
    const last = isRanges ? view.getUint16(entry + 2) : first;
    if (glyph < first) high = middle - 1;
    else if (glyph > last) low = middle + 1;
    else return isRanges ? view.getUint16(entry + 4) + glyph - first : middle;
  }
  return undefined;
}

/** The class of a glyph in a class definition; 0 where it is not in it. */
export function glyphClass(view: DataView, at: number, glyph: number): number {
  if (view.getUint16(at) === 1) {
    const place = glyph - view.getUint16(at + 2);
    return place >= 0 && place < view.getUint16(at + 4) ? view.getUint16(at + 6 + place * 2) : 0;
  }
  let [low, high] = [0, view.getUint16(at + 2) - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const entry = at + 4 + middle * 6;
    if (glyph < view.getUint16(entry)) high = middle - 1;
    else if (glyph > view.getUint16(entry + 2)) low = middle + 1;
    else return view.getUint16(entry + 4);
  }
  return 0;
}

/**
 * What a bundled font can draw and how wide, read from its file (OpenType 1.9).
 *
 * PDF/A forbids missing glyphs (ISO 19005-3, 6.2.11.8), so one emoji in a customer's name would make an issued document
 * unprintable: text is checked beforehand. Widths decide columns before anything is laid out.
 */
import { assert } from '../fiscal/refusal.ts';

export interface Font {
  /** Whether there is a glyph for a code point. */
  readonly covers: (codePoint: number) => boolean;
  /** Width of a text in ems, without kerning. */
  readonly width: (text: string) => number;
}

const uncovered = 0xffff;

/** Reads a TrueType or OpenType font. Code points beyond U+FFFF count as not covered. */
export function readFont(file: Uint8Array): Font {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const advances = readAdvances(view);
  const em = view.getUint16(table(view, 'head') + 18);
  const advance = (codePoint: number) => advances[codePoint] ?? uncovered;
  return {
    covers: (codePoint) => advance(codePoint) !== uncovered,
    width: (text) => {
      let units = 0;
      for (let at = 0; at < text.length; at++) {
        units += advances[text.charCodeAt(at)]!;
        // Beyond U+FFFF two halves are one character.
        if ((text.charCodeAt(at) & 0xfc00) === 0xd800) at++;
      }
      return units / em;
    },
  };
}

/** A font whose gaps another one fills. */
export function together(first: Font, second: Font): Font {
  return {
    covers: (codePoint) => first.covers(codePoint) || second.covers(codePoint),
    width: (text) => {
      let ems = 0;
      for (const character of text) {
        ems += (first.covers(character.codePointAt(0)!) ? first : second).width(character);
      }
      return ems;
    },
  };
}

/** The advance of each code point up to U+FFFF, from `cmap` (format 12) and `hmtx`. */
function readAdvances(view: DataView): Uint16Array {
  const advances = new Uint16Array(0x10000).fill(uncovered);
  const metrics = table(view, 'hmtx');
  const lastMetric = view.getUint16(table(view, 'hhea') + 34) - 1;
  const coverage = segmentedCoverage(view);
  const groups = view.getUint32(coverage + 12);
  for (let index = 0; index < groups; index++) {
    const group = coverage + 16 + index * 12;
    const [first, last, glyph] = [view.getUint32(group), view.getUint32(group + 4), view.getUint32(group + 8)];
    for (let codePoint = first; codePoint <= Math.min(last, 0xffff); codePoint++) {
      advances[codePoint] = view.getUint16(metrics + Math.min(glyph + codePoint - first, lastMetric) * 4);
    }
  }
  return advances;
}

/** Offset of the `cmap` subtable of format 12, which our fonts have. */
export function segmentedCoverage(view: DataView): number {
  const cmap = table(view, 'cmap');
  const subtables = Array.from(
    { length: view.getUint16(cmap + 2) },
    (_, index) => cmap + view.getUint32(cmap + 8 + index * 8),
  );
  const found = subtables.find((subtable) => view.getUint16(subtable) === 12);
  assert(found !== undefined, 'the font has a segmented coverage');
  return found;
}

/** Offset of a table by its tag. */
export function table(view: DataView, tag: string): number {
  const records = Array.from({ length: view.getUint16(4) }, (_, index) => 12 + index * 16);
  const found = records.find((record) =>
    [...tag].every((letter, at) => view.getUint8(record + at) === letter.charCodeAt(0)),
  );
  assert(found !== undefined, `the font has a ${tag} table`);
  return view.getUint32(found + 8);
}

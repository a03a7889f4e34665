/** One font file as drawing needs it: glyphs of characters, advances, kerning, ligatures and heights. */
import { segmentedCoverage, table } from '../font.ts';
import { type Kerning, readKerning } from './kerning.ts';
import { type Ligature, readLigatures } from './ligatures.ts';
import { type Marks, readMarks } from './marks.ts';

/** Measures are in thousandths of the size, as a PDF has them. */
export interface Face {
  readonly file: Uint8Array;
  /** Its name in a PDF. */
  readonly name: string;
  /** 0 where there is none; up to U+FFFF. */
  readonly glyphOf: (codePoint: number) => number;
  readonly advanceOf: (glyph: number) => number;
  readonly kerning: Kerning;
  readonly marks: Marks;
  readonly ligatures: ReadonlyMap<number, readonly Ligature[]>;
  /** Height of capitals. */
  readonly capitals: number;
  readonly ascent: number;
  readonly descent: number;
  readonly box: readonly number[];
}

/** Reads a font file whose em has a thousand units. */
export function readFace(file: Uint8Array, name: string): Face {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const [head, hhea, hmtx] = [table(view, 'head'), table(view, 'hhea'), table(view, 'hmtx')];
  const lastMetric = view.getUint16(hhea + 34) - 1;
  const glyphs = readGlyphs(view);
  return {
    file,
    name,
    glyphOf: (codePoint) => glyphs[codePoint] ?? 0,
    advanceOf: (glyph) => view.getUint16(hmtx + Math.min(glyph, lastMetric) * 4),
    kerning: readKerning(view),
    marks: readMarks(view),
    ligatures: readLigatures(view),
    capitals: view.getInt16(table(view, 'OS/2') + 88),
    ascent: view.getInt16(hhea + 4),
    descent: view.getInt16(hhea + 6),
    box: [36, 38, 40, 42].map((at) => view.getInt16(head + at)),
  };
}

function readGlyphs(view: DataView): Uint16Array {
  const glyphs = new Uint16Array(0x10000);
  const coverage = segmentedCoverage(view);
  for (let index = 0; index < view.getUint32(coverage + 12); index++) {
    const group = coverage + 16 + index * 12;
    const [first, last, glyph] = [view.getUint32(group), view.getUint32(group + 4), view.getUint32(group + 8)];
    for (let codePoint = first; codePoint <= Math.min(last, 0xffff); codePoint++) {
      glyphs[codePoint] = glyph + codePoint - first;
    }
  }
  return glyphs;
}

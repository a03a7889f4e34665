/** The fonts of a file: composite ones, embedded, each with what its glyphs mean (ISO 32000-1, 9.7; ISO 19005-3, 6.2.11). */
import { compactOf } from './compact.ts';
import type { Face } from './face.ts';
import { type PdfFile, textString } from './file.ts';
import { codeOf, type Repertoire } from './repertoire.ts';
import type { Beside } from './shaper.ts';
import { trueTypeOf } from './truetype.ts';

/** A face with the glyphs that a file embeds of it, by number from 1. */
interface Embedded {
  readonly face: Face;
  readonly glyphs: readonly number[];
  /** What each glyph stands for. */
  readonly texts: readonly string[];
}

/** Adds a face with its repertoire. Returns its object. */
export function addRepertoire(file: PdfFile, face: Face, { members }: Repertoire): number {
  return addFont(file, { face, glyphs: members.map(({ glyph }) => glyph), texts: members.map(({ text }) => text) });
}

/** Adds a face with some characters beside its repertoire, or those of the second font. Returns its object. */
export function addBeside(file: PdfFile, { face, characters }: Beside): number {
  const texts = characters.map((character) => String.fromCharCode(character));
  return addFont(file, { face, glyphs: characters.map(face.glyphOf), texts });
}

function addFont(file: PdfFile, embedded: Embedded): number {
  const { face, glyphs, texts } = embedded;
  const isCompact = face.file[0] === 0x4f;
  const program = isCompact
    ? file.stream('/Subtype/CIDFontType0C', compactOf(face.file, glyphs))
    : file.stream('', trueTypeOf(face.file, glyphs));
  const unicode = file.stream('', Buffer.from(meaningOf(texts), 'latin1'));
  const name = `${tagOf(texts)}+${face.name}`;
  const measures = `/Ascent ${face.ascent}/Descent ${face.descent}/CapHeight ${face.capitals}/FontBBox[${face.box.join(' ')}]`;
  const descriptor = file.add(
    `<</Type/FontDescriptor/FontName/${name}/Flags 4/ItalicAngle 0/StemV 80${measures}/FontFile${isCompact ? 3 : 2} ${program} 0 R>>`,
  );
  const widths = [0, ...glyphs].map(face.advanceOf).join(' ');
  const system = `/CIDSystemInfo<</Registry${textString('Adobe')}/Ordering${textString('Identity')}/Supplement 0>>`;
  const drawn = file.add(
    `<</Type/Font/Subtype/CIDFontType${isCompact ? 0 : 2}/BaseFont/${name}${system}/FontDescriptor ${descriptor} 0 R/DW 0/W[0[${widths}]]${isCompact ? '' : '/CIDToGIDMap/Identity'}>>`,
  );
  const composite = `${name}${isCompact ? '-Identity-H' : ''}`;
  return file.add(
    `<</Type/Font/Subtype/Type0/BaseFont/${composite}/Encoding/Identity-H/DescendantFonts[${drawn} 0 R]/ToUnicode ${unicode} 0 R>>`,
  );
}

/** Six letters that tell one choice of glyphs from another. */
function tagOf(texts: readonly string[]): string {
  let hash = texts.length;
  for (const text of texts) hash = (Math.imul(hash, 31) + text.charCodeAt(0)) >>> 0;
  return Array.from({ length: 6 }, (_, index) => String.fromCharCode(65 + (Math.floor(hash / 26 ** index) % 26))).join(
    '',
  );
}

/** A program may ask for so many lines at once. */
const most_atOnce = 100;

/** Which text each code is. */
function meaningOf(texts: readonly string[]): string {
  const lines = texts.map(
    (text, index) => `<${codeOf(index + 1)}><${[...text].map((one) => codeOf(one.charCodeAt(0))).join('')}>`,
  );
  const blocks: string[] = [];
  for (let from = 0; from < lines.length; from += most_atOnce) {
    const some = lines.slice(from, from + most_atOnce);
    blocks.push(`${some.length} beginbfchar\n${some.join('\n')}\nendbfchar\n`);
  }
  return `/CIDInit/ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def
/CMapName/Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000><ffff>
endcodespacerange
${blocks.join('')}endcmap
CMapName currentdict/CMap defineresource pop
end
end`;
}

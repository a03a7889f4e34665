/** What an archive checks of a printed file (ISO 19005-3, level A), read from its objects; and its text as it is heard. */
import { expect } from 'vitest';
import { type Dict, dictOf, nameOf, PdfObjects, Ref, type Stream, type Value, valuesOf } from './pdf-objects.ts';

/** A piece of content: the text of its glyphs. */
interface Piece {
  text: string;
}

/** The texts of the structure in reading order, one per element with content, with the role of each. */
export interface Heard {
  readonly role: string;
  readonly text: string;
}

/** Checks all of it. Returns what is heard. */
export function checkedFile(pdf: Uint8Array): Heard[] {
  const objects = new PdfObjects(pdf);
  const catalog = objects.dict(objects.trailer.get('Root'));
  for (const value of objects.all()) checkReferences(objects, value);
  checkCatalog(objects, catalog);
  const pages = objects.dict(catalog.get('Pages')).get('Kids') as Ref[];
  const tree = objects.dict(catalog.get('StructTreeRoot'));
  const owners = dictOf(tree.get('ParentTree')).get('Nums') as Value[];
  const pieces = new Map<string, Piece>();
  for (const [index, ref] of pages.entries()) {
    const page = objects.dict(ref);
    expect(page.get('StructParents')).toBe(index);
    expect(nameOf(page.get('Tabs'))).toBe('S');
    const owned = objects.get(owners[index * 2 + 1]) as Ref[];
    const found = contentOf(objects, page);
    expect(found.length, 'pieces of the page').toBe(owned.length);
    for (const [id, piece] of found.entries()) pieces.set(`${ref.number} ${id} ${owned[id]!.number}`, piece);
  }
  const heard: Heard[] = [];
  const root = (tree.get('K') as Ref[])[0]!;
  hear(objects, root, tree, pieces, heard);
  expect([...pieces.keys()], 'pieces that no element has').toEqual([]);
  return heard;
}

/** No action, no script, no file, nothing from elsewhere; and no reference leads nowhere. */
function checkReferences(objects: PdfObjects, value: Value): void {
  if (value instanceof Ref) objects.get(value);
  else if (Array.isArray(value)) for (const one of value) checkReferences(objects, one);
  else if (value instanceof Map) {
    for (const [key, one] of value) {
      expect(['JS', 'AA', 'OpenAction', 'Launch', 'EF', 'URI', 'Encrypt', 'LZWDecode']).not.toContain(key);
      checkReferences(objects, one);
    }
  }
}

function checkCatalog(objects: PdfObjects, catalog: Dict): void {
  expect(catalog.get('Lang')).toBe('"pt-PT');
  expect(dictOf(catalog.get('MarkInfo')).get('Marked')).toBe(true);
  expect(dictOf(catalog.get('ViewerPreferences')).get('DisplayDocTitle')).toBe(true);
  const metadata = objects.stream(catalog.get('Metadata'));
  expect(metadata.dict.has('Filter')).toBe(false);
  const packet = metadata.bytes.toString('utf8');
  expect(packet).toContain('<pdfaid:part>3</pdfaid:part>\n<pdfaid:conformance>A</pdfaid:conformance>');
  const information = objects.dict(objects.trailer.get('Info'));
  const day = /<xmp:CreateDate>([^<]+)Z</.exec(packet)![1]!.replace(/[-:T]/g, '');
  expect(information.get('CreationDate')).toBe(`"D:${day}Z`);
  expect(information.get('ModDate')).toBe(`"D:${day}Z`);
  const unescaped = packet.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  for (const key of ['Title', 'Author', 'Producer', 'Creator']) {
    expect(unescaped).toContain(`>${(information.get(key) as string).slice(1)}<`);
  }
  expect((objects.trailer.get('ID') as string[]).length).toBe(2);
  const [intent] = catalog.get('OutputIntents') as Dict[];
  expect(nameOf(intent!.get('S'))).toBe('GTS_PDFA1');
  const profile = objects.stream(intent!.get('DestOutputProfile'));
  expect(profile.dict.get('N')).toBe(3);
  expect(profile.bytes.readUInt32BE(0)).toBe(profile.bytes.length);
  expect(profile.bytes.toString('latin1', 12, 20) + profile.bytes.toString('latin1', 36, 40)).toBe('mntrRGB acsp');
}

interface Font {
  readonly texts: ReadonlyMap<number, string>;
}

/** What our pages are drawn with. */
const operators = 'BDC BMC EMC BT ET Tf Td Tm TJ Ts rg RG g G w d q Q cm gs m l c h re f f* S W n Do'.split(' ');

/** The pieces of a page by their numbers. All that is shown is in one, or in an artifact; all fonts are there. */
function contentOf(objects: PdfObjects, page: Dict): Piece[] {
  const resources = objects.dict(page.get('Resources'));
  const fonts = new Map<string, Font>();
  for (const [name, font] of dictOf(resources.get('Font'))) fonts.set(name, fontOf(objects, objects.dict(font)));
  if (isTransparent(objects, resources)) {
    const group = dictOf(page.get('Group'));
    expect([nameOf(group.get('S')), nameOf(group.get('CS'))]).toEqual(['Transparency', 'DeviceRGB']);
  }
  const pieces: Piece[] = [];
  const marks: (Piece | undefined)[] = [];
  let operands: Value[] = [];
  let depth = 0;
  let font: Font | undefined;
  for (const value of valuesOf(objects.stream(page.get('Contents')).bytes.toString('latin1'))) {
    if (typeof value !== 'string' || value.startsWith('"')) {
      operands.push(value);
      continue;
    }
    expect(operators).toContain(value);
    if (value === 'BMC') marks.push(undefined);
    else if (value === 'BDC') {
      const id = dictOf(operands[1]).get('MCID');
      const piece = id === undefined ? undefined : { text: '' };
      if (piece !== undefined) {
        expect(id).toBe(pieces.length);
        expect(marks.length, 'a piece within another').toBe(0);
        pieces.push(piece);
      }
      marks.push(piece);
    } else if (value === 'EMC') expect(marks.length).toBeGreaterThan(0);
    if (value === 'EMC') marks.pop();
    if (value === 'q') depth++;
    if (value === 'Q') depth--;
    expect(depth).toBeGreaterThanOrEqual(0);
    if (value === 'Tf') font = fonts.get(nameOf(operands[0]));
    if (['TJ', 'f', 'f*', 'S', 'Do', 're'].includes(value))
      expect(marks.length, `${value} outside of all pieces`).toBeGreaterThan(0);
    if (value === 'TJ') {
      const text = (operands.at(-1) as Value[])
        .map((one) => (typeof one === 'string' ? glyphsOf(one, font!) : ''))
        .join('');
      const piece = marks.at(-1);
      // Lines and figures of one piece stand apart.
      if (piece !== undefined) piece.text += piece.text === '' ? text : ` ${text}`;
    }
    operands = [];
  }
  expect([depth, marks.length]).toEqual([0, 0]);
  return pieces;
}

function glyphsOf(codes: string, { texts }: Font): string {
  const bytes = Buffer.from(codes.slice(1), 'latin1');
  let text = '';
  for (let at = 0; at < bytes.length; at += 2) {
    const one = texts.get(bytes.readUInt16BE(at));
    expect(one, `glyph ${bytes.readUInt16BE(at)}`).toBeDefined();
    text += one;
  }
  return text;
}

/** Embedded, with its widths, each glyph with its meaning. */
function fontOf(objects: PdfObjects, font: Dict): Font {
  expect(nameOf(font.get('Encoding'))).toBe('Identity-H');
  const [drawn] = (font.get('DescendantFonts') as Ref[]).map((one) => objects.dict(one));
  const descriptor = objects.dict(drawn!.get('FontDescriptor'));
  const isTrueType = descriptor.has('FontFile2');
  const program = objects.stream(descriptor.get(isTrueType ? 'FontFile2' : 'FontFile3'));
  expect(nameOf(drawn!.get('Subtype'))).toBe(isTrueType ? 'CIDFontType2' : 'CIDFontType0');
  expect(nameOf(font.get('BaseFont'))).toMatch(/^[A-Z]{6}\+NotoSans/);
  const widths = (drawn!.get('W') as Value[])[1] as number[];
  if (isTrueType) expect(widths).toEqual(advancesOf(program).slice(0, widths.length));
  const meaning = objects.stream(font.get('ToUnicode')).bytes.toString('latin1');
  const texts = new Map<number, string>();
  for (const [, code, text] of meaning.matchAll(/^<([0-9a-f]{4})><([0-9a-f]+)>$/gm)) {
    // The range of all codes has the same form.
    if (code !== '0000') texts.set(Number.parseInt(code!, 16), Buffer.from(text!, 'hex').swap16().toString('utf16le'));
  }
  expect(texts.size).toBe(widths.length - 1);
  return { texts };
}

function advancesOf({ bytes }: Stream): number[] {
  const place = (tag: string) => {
    const at = bytes.indexOf(tag);
    return bytes.readUInt32BE(at + 8);
  };
  const count = bytes.readUInt16BE(place('hhea') + 34);
  return Array.from({ length: count }, (_, index) => bytes.readUInt16BE(place('hmtx') + index * 4));
}

function isTransparent(objects: PdfObjects, resources: Dict): boolean {
  const entries = (kind: string) => [...(resources.has(kind) ? objects.dict(resources.get(kind)).values() : [])];
  const states = entries('ExtGState').map((state) => objects.dict(state));
  if (states.some((state) => state.has('SMask') || Number(state.get('ca') ?? 1) < 1)) return true;
  return entries('XObject').some((one) => {
    const { dict } = objects.stream(one);
    return (
      dict.has('SMask') ||
      dict.has('Group') ||
      (dict.has('Resources') && isTransparent(objects, objects.dict(dict.get('Resources'))))
    );
  });
}

/** What may stand within what. */
const within: Readonly<Record<string, readonly string[]>> = {
  Document: ['P', 'H1', 'Table', 'Figure'],
  Table: ['THead', 'TBody'],
  THead: ['TR'],
  TBody: ['TR'],
  TR: ['TH', 'TD'],
  TH: [],
  TD: [],
  P: [],
  H1: [],
  Figure: [],
};

/** Takes the pieces of each element from those of the pages, in the order of the tree. */
function hear(objects: PdfObjects, ref: Ref, parent: Dict, pieces: Map<string, Piece>, heard: Heard[]): void {
  const element = objects.dict(ref);
  const role = nameOf(element.get('S'));
  expect(objects.dict(element.get('P'))).toBe(parent);
  if (role === 'Figure') expect((element.get('Alt') as string).length).toBeGreaterThan(1);
  if (role === 'TD') expect([...attributesOf(objects, element).keys()]).toContain('Headers');
  if (role === 'TH') {
    expect(nameOf(attributesOf(objects, element).get('Scope'))).toBe('Column');
    expect(element.has('ID')).toBe(true);
  }
  let text = '';
  for (const kid of element.get('K') as Value[]) {
    if (kid instanceof Ref) {
      const child = nameOf(objects.dict(kid).get('S'));
      expect(within[role], `${child} within ${role}`).toContain(child);
      hear(objects, kid, element, pieces, heard);
      continue;
    }
    const [page, id] =
      typeof kid === 'number' ? [element.get('Pg'), kid] : [dictOf(kid).get('Pg'), dictOf(kid).get('MCID')];
    const key = `${(page as Ref).number} ${id as number} ${ref.number}`;
    const piece = pieces.get(key);
    expect(piece, key).toBeDefined();
    pieces.delete(key);
    text += text === '' ? piece!.text : ` ${piece!.text}`;
  }
  if (within[role]!.length === 0) heard.push({ role, text });
}

function attributesOf(objects: PdfObjects, element: Dict): Dict {
  return objects.dict(element.get('A'));
}

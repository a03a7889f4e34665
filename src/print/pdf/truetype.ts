/** A TrueType font with some of another one's glyphs only, for a PDF to embed (OpenType 1.9; ISO 32000-1, 9.9). */
import { table } from '../font.ts';

/** Where a font's outlines lie. */
interface Outlines {
  readonly view: DataView;
  readonly glyf: number;
  /** Offset of a glyph's outline in `glyf`; the next one's is its end. */
  readonly place: (glyph: number) => number;
}

/**
 * The font whose glyph 0 is the original's, and whose others are the given ones in their order. Parts that composed
 * letters are made of come behind them.
 */
export function trueTypeOf(file: Uint8Array, glyphs: readonly number[]): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const outlines = outlinesOf(view);
  const all = [0, ...glyphs];
  const places = new Map<number, number>();
  for (const [index, glyph] of all.entries()) if (!places.has(glyph)) places.set(glyph, index);
  const drawn: Buffer[] = [];
  for (let index = 0; index < all.length; index++) drawn.push(outlineOf(outlines, all, places, all[index]!));
  return assembled(view, all, drawn);
}

function outlinesOf(view: DataView): Outlines {
  const loca = table(view, 'loca');
  const isLong = view.getUint16(table(view, 'head') + 50) === 1;
  return {
    view,
    glyf: table(view, 'glyf'),
    place: (glyph) => (isLong ? view.getUint32(loca + glyph * 4) : view.getUint16(loca + glyph * 2) * 2),
  };
}

const flag = { words: 1, scale: 8, more: 32, twoScales: 64, matrix: 128 } as const;

/** The outline, its parts pointing to their new places. */
function outlineOf({ view, glyf, place }: Outlines, all: number[], places: Map<number, number>, glyph: number): Buffer {
  const [start, end] = [place(glyph), place(glyph + 1)];
  const outline = Buffer.from(new Uint8Array(view.buffer, view.byteOffset + glyf + start, end - start));
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return outline;
  for (let at = 10, flags = flag.more as number; (flags & flag.more) !== 0; ) {
    flags = outline.readUInt16BE(at);
    const part = outline.readUInt16BE(at + 2);
    let index = places.get(part);
    if (index === undefined) {
      index = all.push(part) - 1;
      places.set(part, index);
    }
    outline.writeUInt16BE(index, at + 2);
    at += 4 + ((flags & flag.words) === 0 ? 2 : 4);
    if ((flags & flag.scale) !== 0) at += 2;
    else if ((flags & flag.twoScales) !== 0) at += 4;
    else if ((flags & flag.matrix) !== 0) at += 8;
  }
  return outline;
}

function assembled(view: DataView, all: readonly number[], drawn: readonly Buffer[]): Uint8Array {
  const loca = Buffer.alloc((all.length + 1) * 4);
  let end = 0;
  const glyf = drawn.map((outline, index) => {
    end += outline.length + (outline.length % 2);
    loca.writeUInt32BE(end, (index + 1) * 4);
    return outline.length % 2 === 0 ? outline : Buffer.concat([outline, Buffer.alloc(1)]);
  });
  const head = copied(view, 'head', 54);
  head.writeUInt16BE(1, 50);
  const maxp = copied(view, 'maxp', 32);
  maxp.writeUInt16BE(all.length, 4);
  const hhea = copied(view, 'hhea', 36);
  hhea.writeUInt16BE(all.length, 34);
  return fileOf([
    ['glyf', Buffer.concat(glyf)],
    ['head', head],
    ['hhea', hhea],
    ['hmtx', metricsOf(view, all)],
    ['loca', loca],
    ['maxp', maxp],
  ]);
}

function copied(view: DataView, tag: string, length: number): Buffer {
  return Buffer.from(new Uint8Array(view.buffer, view.byteOffset + table(view, tag), length));
}

function metricsOf(view: DataView, all: readonly number[]): Buffer {
  const hmtx = table(view, 'hmtx');
  const long = view.getUint16(table(view, 'hhea') + 34);
  const metrics = Buffer.alloc(all.length * 4);
  for (const [index, glyph] of all.entries()) {
    metrics.writeUInt16BE(view.getUint16(hmtx + Math.min(glyph, long - 1) * 4), index * 4);
    const side = glyph < long ? hmtx + glyph * 4 + 2 : hmtx + long * 4 + (glyph - long) * 2;
    metrics.writeInt16BE(view.getInt16(side), index * 4 + 2);
  }
  return metrics;
}

/** Tables, sorted by their tags, behind their directory. Sums of checks are those of the tables; of the whole, of `head`. */
function fileOf(tables: readonly (readonly [tag: string, content: Buffer])[]): Uint8Array {
  const directory = Buffer.alloc(12 + tables.length * 16);
  directory.writeUInt32BE(0x00010000, 0);
  directory.writeUInt16BE(tables.length, 4);
  const log = Math.floor(Math.log2(tables.length));
  directory.writeUInt16BE(16 << log, 6);
  directory.writeUInt16BE(log, 8);
  directory.writeUInt16BE(tables.length * 16 - (16 << log), 10);
  const parts: Buffer[] = [directory];
  let at = directory.length;
  let headAt = 0;
  for (const [index, [tag, content]] of tables.entries()) {
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 3)]);
    if (tag === 'head') {
      padded.writeUInt32BE(0, 8);
      headAt = at;
    }
    const record = 12 + index * 16;
    directory.write(tag, record, 'latin1');
    directory.writeUInt32BE(sumOf(padded), record + 4);
    directory.writeUInt32BE(at, record + 8);
    directory.writeUInt32BE(content.length, record + 12);
    parts.push(padded);
    at += padded.length;
  }
  const file = Buffer.concat(parts);
  file.writeUInt32BE((0xb1b0afba - sumOf(file)) >>> 0, headAt + 8);
  return file;
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
}

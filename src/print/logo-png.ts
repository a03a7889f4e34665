/** PNG (ISO/IEC 15948): the header, palette, transparency and pixels, with checksums made anew. */
import { crc32, inflateSync } from 'node:zlib';
import { checkSides, LogoRefused } from './logo-limits.ts';

/** The first eight bytes. */
export const pngMark = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] as const;

const kept: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
/** Samples per pixel by colour type: grey, colours, palette, grey and alpha, colours and alpha. */
export const samples: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Bits that a sample may have, by colour type. */
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
/** Colour type of pixels that are places in a palette. */
const indexed = 3;

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The picture without what it does not need. Throws LogoRefused when it is no whole PNG, or too large. */
export function cleanPng(bytes: Uint8Array): Uint8Array {
  const chunks = chunksOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const [header] = chunks;
  if (header?.type !== 'IHDR' || header.data.length !== 13 || chunks.at(-1)?.type !== 'IEND') throw broken();
  const dataOf = (wanted: string) => chunks.filter(({ type }) => type === wanted).map(({ data }) => data);
  checkPixels(header.data, Buffer.concat(dataOf('IDAT')));
  checkColours(header.data, dataOf('PLTE')[0], dataOf('tRNS')[0]);
  return Buffer.concat([Buffer.from(pngMark), ...chunks.filter(({ type }) => kept.has(type)).map(written)]);
}

function chunksOf(file: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = pngMark.length; at < file.length && chunks.at(-1)?.type !== 'IEND'; ) {
    if (at + 12 > file.length) throw broken();
    const length = file.readUInt32BE(at);
    if (at + 12 + length > file.length) throw broken();
    const type = file.toString('latin1', at + 4, at + 8);
    if (file.readUInt32BE(at + 8 + length) !== crc32(file.subarray(at + 4, at + 8 + length))) throw broken();
    chunks.push({ type, data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

/** The pixels are there, all of them, and no more: a small file must not grow without bound when it is read. */
function checkPixels(header: Buffer, packed: Buffer): void {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, colour] = [header[8]!, header[9]!];
  checkSides(width, height);
  const perPixel = samples[colour];
  if (perPixel === undefined || !depths[colour]!.includes(depth)) throw broken();
  if (header[12] !== 0) throw new LogoRefused('The logo is an interlaced PNG: save it without interlacing.');
  const expected = (1 + Math.ceil((width * perPixel * depth) / 8)) * height;
  let pixels: Buffer;
  try {
    pixels = inflateSync(packed, { maxOutputLength: expected });
  } catch {
    throw broken();
  }
  if (pixels.length !== expected) throw broken();
}

/** What drawing looks up is there: entries of the palette, no more than a pixel can name, and the one colour that shines through. */
function checkColours(header: Buffer, palette: Buffer | undefined, transparency: Buffer | undefined): void {
  const colour = header[9]!;
  if (colour === indexed) {
    const entries = Math.floor((palette?.length ?? 0) / 3);
    if (entries < 1 || entries > 256) throw broken();
  } else if (colour < indexed && transparency !== undefined && transparency.length < 2 * samples[colour]!)
    throw broken();
}

function written({ type, data }: Chunk): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

function broken(): LogoRefused {
  return new LogoRefused('The logo is a damaged PNG: save it again.');
}

/**
 * A PNG (ISO/IEC 15948). Without transparency its pixels stay packed as they are: PDF knows their filters. Where something
 * shines through, colours and transparency are taken apart, as PDF wants them.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import { pngMark, samples } from '../logo-png.ts';
import type { Picture } from './picture.ts';

interface Png {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colour: number;
  readonly palette: Buffer;
  readonly transparency: Buffer | undefined;
  readonly packed: Buffer;
}

/** Of a cleaned file. */
export function pngPicture(bytes: Uint8Array): Picture {
  const png = read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { width, height } = png;
  return { width, height, add: png.transparency === undefined && png.colour < 4 ? opaque(png) : transparent(png) };
}

function read(file: Buffer): Png {
  const parts: Record<string, Buffer[]> = {};
  for (let at: number = pngMark.length; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    parts[type] ??= [];
    parts[type].push(data);
    at += 12 + length;
  }
  const header = parts['IHDR']![0]!;
  return {
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    depth: header[8]!,
    colour: header[9]!,
    palette: parts['PLTE']?.[0] ?? Buffer.alloc(3),
    transparency: parts['tRNS']?.[0],
    packed: Buffer.concat(parts['IDAT'] ?? []),
  };
}

function opaque({ width, height, depth, colour, palette, packed }: Png): Picture['add'] {
  const filter = `/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors ${samples[colour]}/BitsPerComponent ${depth}/Columns ${width}>>`;
  const indexed = `[/Indexed/DeviceRGB ${Math.floor(palette.length / 3) - 1}<${palette.toString('hex')}>]`;
  const space = colour === 3 ? indexed : colour === 0 ? '/DeviceGray' : '/DeviceRGB';
  const dictionary = `${image(width, height)}/ColorSpace${space}/BitsPerComponent ${depth}${filter}`;
  return ({ file }) => file.raw(dictionary, packed);
}

function transparent(png: Png): Picture['add'] {
  const { width, height } = png;
  const { colours, alpha, isGrey } = takenApart(png);
  const packed = '/BitsPerComponent 8/Filter/FlateDecode';
  const [inks, mask] = [deflateSync(colours), deflateSync(alpha)];
  return (document) => {
    document.isTransparent = true;
    const through = document.file.raw(`${image(width, height)}/ColorSpace/DeviceGray${packed}`, mask);
    const space = isGrey ? '/DeviceGray' : '/DeviceRGB';
    return document.file.raw(`${image(width, height)}/ColorSpace${space}${packed}/SMask ${through} 0 R`, inks);
  };
}

function image(width: number, height: number): string {
  return `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}`;
}

/** Eight bits of each; of deeper ones the upper half, which no screen and no printer goes beyond. */
function takenApart(png: Png): { readonly colours: Buffer; readonly alpha: Buffer; readonly isGrey: boolean } {
  const { width, height, depth, colour, palette, transparency } = png;
  const channels = samples[colour]!;
  const row_bytes = Math.ceil((width * channels * depth) / 8);
  const pixels = unfiltered(inflateSync(png.packed), row_bytes, height, Math.max(1, (channels * depth) >> 3));
  const isGrey = colour === 0 || colour === 4;
  const inks = isGrey ? 1 : 3;
  const colours = Buffer.alloc(width * height * inks);
  const alpha = Buffer.alloc(width * height, 255);
  const largest = 2 ** depth - 1;
  const sample = (y: number, index: number): number => {
    const row = y * row_bytes;
    if (depth === 8) return pixels[row + index]!;
    if (depth === 16) return pixels.readUInt16BE(row + index * 2);
    const bit = index * depth;
    return (pixels[row + (bit >> 3)]! >> (8 - depth - (bit & 7))) & largest;
  };
  const key =
    colour < 3 && transparency !== undefined
      ? Array.from({ length: inks }, (_, i) => transparency.readUInt16BE(i * 2))
      : [];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const first = x * channels;
      if (colour === 3) {
        const index = sample(y, first);
        for (let ink = 0; ink < 3; ink++) colours[at * 3 + ink] = palette[index * 3 + ink] ?? 0;
        alpha[at] = transparency?.[index] ?? 255;
        continue;
      }
      let isKey = key.length > 0;
      for (let ink = 0; ink < inks; ink++) {
        const value = sample(y, first + ink);
        colours[at * inks + ink] = depth === 16 ? value >> 8 : Math.round((value * 255) / largest);
        isKey &&= value === key[ink];
      }
      if (isKey) alpha[at] = 0;
      if (colour > 3) alpha[at] = depth === 16 ? sample(y, first + inks) >> 8 : sample(y, first + inks);
    }
  }
  return { colours, alpha, isGrey };
}

/** The rows without the byte that tells their filter (ISO/IEC 15948, 9). */
function unfiltered(filtered: Buffer, row_bytes: number, height: number, step: number): Buffer {
  const pixels = Buffer.alloc(row_bytes * height);
  for (let y = 0; y < height; y++) {
    const filter = filtered[y * (row_bytes + 1)]!;
    const [from, to] = [y * (row_bytes + 1) + 1, y * row_bytes];
    for (let x = 0; x < row_bytes; x++) {
      const left = x < step ? 0 : pixels[to + x - step]!;
      const up = y === 0 ? 0 : pixels[to + x - row_bytes]!;
      const corner = y === 0 || x < step ? 0 : pixels[to + x - row_bytes - step]!;
      pixels[to + x] = filtered[from + x]! + predicted(filter, left, up, corner);
    }
  }
  return pixels;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/**
 * The QR code of a document, as vector. Physical rules: AT "Especificações Técnicas Código QR" 1.0 (13-08-2020):
 * error correction M, byte mode, version 9 at least, a quiet margin around it.
 */
import encodeQr from 'qr';
import { outline } from './outline.ts';

/** Light modules around the symbol (ISO/IEC 18004 asks for 4; at 2 points each: 2.8 mm, AT asks for 2.5 mm). */
export const quietModules = 4;

/**
 * Trying all eight masks takes ten times as long as one (0.1 ms on the slowest machine it was measured on), and the reply
 * to each issued document carries a QR. Over 150 random payloads of this shape, mask 2 had the lowest mean penalty of
 * ISO/IEC 18004 and was never more than 7 % above the best of the eight; readers take any mask.
 */
const mask = 2;

export interface Qr {
  /** Modules per side, quiet margin included: 61 for version 9. */
  readonly modules: number;
  /** The dark modules as a path of PDF, one unit per module, downwards, to be filled by the even-odd rule. */
  readonly path: string;
}

/** Bytes that version 9 holds, and the largest version, at level M (ISO/IEC 18004, table 7). */
const fits_version_9 = 180;
const most_bytes = 2_331;

/** The symbol within light modules, row by row; true is dark. Throws RangeError beyond 2,331 bytes of UTF-8. */
export function modulesOf(message: string, border = quietModules): readonly (readonly boolean[])[] {
  const bytes = Buffer.byteLength(message);
  if (bytes > most_bytes) throw new RangeError(`a QR code of level M holds ${most_bytes} bytes, not ${bytes}`);
  // Without a version the smallest that holds it is taken.
  const least = bytes > fits_version_9 ? {} : { version: 9 };
  return encodeQr(message, 'raw', { ecc: 'medium', encoding: 'byte', mask, border, ...least });
}

/** Draws a message of at most 2,331 bytes of UTF-8 (AT's fields end far below). Throws RangeError beyond. */
export function drawQr(message: string): Qr {
  const data = modulesOf(message);
  return { modules: data.length, path: outline(data) };
}

/**
 * The SVG of a message's QR code, for screens: drawn in strokes along the rows, two thirds of the bytes of outlines, which
 * paper gets because adjoining strokes may show seams there.
 */
export function qrSvg(message: string): string {
  return drawn(message).join('');
}

/**
 * The same as a `data:` address, for the API's `qrCode.imageData`. What is percent-encoded leaves nothing in it that HTML,
 * CSS, XML or JSON would have to escape, in quotation marks of either kind; no second comma, which would lose whoever
 * splits it at that; and it is a quarter shorter than base64.
 */
export function qrDataUri(message: string): string {
  const [before, path, behind] = drawn(message);
  // Nothing in the path is to be encoded, and it is nearly all of the text.
  return `data:image/svg+xml,${encodeURI(before)}${path}${encodeURI(behind)}`;
}

/** The SVG in three pieces, of which the second is the path of the dark modules. No `#`: it would end an address. */
function drawn(message: string): readonly [before: string, path: string, behind: string] {
  // The library always wants a margin. It is not looked at, so it is as narrow as can be.
  const rows = modulesOf(message, 1);
  const size = rows.length - 2 + 2 * quietModules;
  const before =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="white" d="M0 0h${size}v${size}H0z"/><path stroke="black" d="M${quietModules} ${size - quietModules - 0.5}`;
  return [before, strokes(rows), '"/></svg>'];
}

/** Characters a symbol may need: a stroke and the way to it stand for two modules and are mostly six, never above twelve. */
const charactersOf = (modules: number): number => 6 * modules * modules;
let written = Buffer.alloc(charactersOf(55));

/**
 * One horizontal stroke per run of dark modules, each placed from the end of the one before, from the lower left corner
 * (which is dark) upwards: so each move has a minus between its numbers, and the path neither a space nor a comma. The
 * margin of one module stands for the quiet one. Written as bytes: joining some 700 small texts takes four times as long.
 */
function strokes(rows: readonly (readonly boolean[])[]): string {
  const end = rows.length - 1;
  if (written.length < charactersOf(rows.length)) written = Buffer.alloc(charactersOf(rows.length));
  const to = written;
  let at = 0;
  let [penX, penY] = [1, end - 1];
  for (let y = end - 1; y > 0; y--) {
    const row = rows[y]!;
    for (let x = 1; x < end; x++) {
      if (!row[x]) continue;
      const start = x;
      // The margin ends the last run.
      while (row[x]) x++;
      if (at > 0) {
        to[at++] = letter.m;
        if (start < penX) to[at++] = letter.minus;
        at = digits(to, at, Math.abs(start - penX));
        to[at++] = letter.minus;
        at = digits(to, at, penY - y);
      }
      to[at++] = letter.h;
      at = digits(to, at, x - start);
      penX = x;
      penY = y;
    }
  }
  return to.toString('latin1', 0, at);
}

const letter = { m: 0x6d, h: 0x68, minus: 0x2d, zero: 0x30 } as const;

/** A whole number below 1,000. Returns where it ends. */
function digits(to: Uint8Array, start: number, value: number): number {
  let at = start;
  if (value > 9) {
    if (value > 99) to[at++] = letter.zero + ((value / 100) | 0);
    to[at++] = letter.zero + (((value / 10) | 0) % 10);
  }
  to[at++] = letter.zero + (value % 10);
  return at;
}

/**
 * The QR code of a document, as vector. Physical rules: AT "Especificações Técnicas Código QR" 1.0 (13-08-2020):
 * error correction M, byte mode, version 9 at least, a quiet margin around it.
 */
import { encode } from 'uqr';
import { outline } from './outline.ts';

/** Light modules around the symbol (ISO/IEC 18004 asks for 4; at 2 points each: 2.8 mm, AT asks for 2.5 mm). */
export const quietModules = 4;

/**
 * Trying all eight masks takes 1.5 ms, one mask 0.14 ms, and the reply to each issued document carries a QR. Over 150
 * random payloads of this shape, mask 2 had the lowest mean penalty of ISO/IEC 18004 and was never more than 7 % above
 * the best of the eight; readers take any mask.
 */
const mask = 2;

export interface Qr {
  /** Modules per side, quiet margin included: 61 for version 9. */
  readonly modules: number;
  /** A whole SVG document, one unit per module. */
  readonly svg: string;
}

function modulesOf(message: string): { readonly data: readonly (readonly boolean[])[]; readonly size: number } {
  const bytes = Array.from(new TextEncoder().encode(message));
  return encode(bytes, { ecc: 'M', minVersion: 9, maskPattern: mask, border: quietModules });
}

/** Draws a message of at most 2,331 bytes of UTF-8 (AT's fields end far below); throws RangeError beyond. */
export function drawQr(message: string): Qr {
  const { data, size } = modulesOf(message);
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/><path d="${outline(data)}"/></svg>`;
  return { modules: size, svg };
}

/**
 * The SVG of a message's QR code, for screens: drawn in strokes along the rows, two thirds of the bytes of outlines, which
 * paper gets because adjoining strokes may show seams there.
 */
export function qrSvg(message: string): string {
  const { data, size } = modulesOf(message);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${strokes(data)}"/></svg>`
  );
}

/** One horizontal stroke per run of dark modules, each placed from the end of the one before. */
function strokes(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  let [penX, penY] = [0, -0.5];
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x++;
      const length = x + 1 - start;
      path += `m${start - penX} ${y - penY}h${length}`;
      [penX, penY] = [start + length, y];
    }
  });
  return path;
}

/** The same as a `data:` address, for the API's `qrCode.imageData`. */
export function qrDataUri(message: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(qrSvg(message)).toString('base64')}`;
}

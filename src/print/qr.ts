/**
 * The QR code of a document, as vector. Physical rules: AT "Especificações Técnicas Código QR" 1.0 (13-08-2020):
 * error correction M, byte mode, version 9 at least, a quiet margin around it.
 */
import type { Written } from '../fiscal/utf8.ts';
import { outline } from './outline.ts';
import { type QrSymbol, sizeOf, symbolOf } from './qr-symbol.ts';

/** Light modules around the symbol (ISO/IEC 18004 asks for 4; at 2 points each: 2.8 mm, AT asks for 2.5 mm). */
export const quietModules = 4;

export interface Qr {
  /** Modules per side, quiet margin included: 61 for version 9. */
  readonly modules: number;
  /** The dark modules as a path of PDF, one unit per module, downwards, to be filled by the even-odd rule. */
  readonly path: string;
}

/** The symbol within light modules, row by row; true is dark. Throws RangeError beyond 2,331 bytes of UTF-8. */
export function modulesOf(message: string): readonly (readonly boolean[])[] {
  const { size, modules } = symbolOf(message);
  const side = Array.from({ length: size + 2 * quietModules }, (_, i) => i - quietModules);
  const isInside = (at: number) => at >= 0 && at < size;
  return side.map((y) => side.map((x) => isInside(x) && isInside(y) && modules[y * (size + 1) + x] === 1));
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
  const symbol = symbolOf(message);
  const frame = frameOf(symbol.size);
  return textOf({ most: bytesOf(symbol.size, frame), writeTo: (to, start) => draw(to, start, symbol, frame) });
}

/**
 * The same as a `data:` address, for the API's `qrCode.imageData`. What is percent-encoded leaves nothing in it that HTML,
 * CSS, XML or JSON would have to escape, in quotation marks of either kind; no second comma, which would lose whoever
 * splits it at that; and it is a quarter shorter than base64.
 */
export const qrDataUri = (message: string): string => textOf(new QrAddress(message));

/** The same, drawn where it is to stand. Its making throws as `qrDataUri` does, and nothing afterwards. */
export class QrAddress implements Written {
  readonly most: number;
  readonly #message: string;
  readonly #frame: Frame;

  constructor(message: string) {
    const size = sizeOf(message);
    addressFrames[size] ??= addressFrameOf(size);
    this.#message = message;
    this.#frame = addressFrames[size];
    this.most = bytesOf(size, this.#frame);
  }

  writeTo(to: Buffer, start: number): number {
    return draw(to, start, symbolOf(this.#message), this.#frame);
  }
}

function textOf(drawing: Written): string {
  const to = Buffer.allocUnsafe(drawing.most);
  return to.toString('latin1', 0, drawing.writeTo(to, 0));
}

/** What stands before and behind the path of the dark modules. */
type Frame = readonly [before: Buffer, behind: Buffer];

/** Of an SVG whose symbol has a number of modules per side. No `#`: it would end an address. */
function frameOf(modules: number): Frame {
  const size = modules + 2 * quietModules;
  const before =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="white" d="M0 0h${size}v${size}H0z"/><path stroke="black" d="M${quietModules} ${size - quietModules - 0.5}`;
  return [Buffer.from(before), Buffer.from('"/></svg>')];
}

/** By modules per side. They are as few as versions. */
const addressFrames: (Frame | undefined)[] = [];

/** Nothing in the path is to be encoded, and it is nearly all of the text. */
function addressFrameOf(modules: number): Frame {
  const [before, behind] = frameOf(modules).map((text) => encodeURI(text.toString()));
  return [Buffer.from(`data:image/svg+xml,${before}`), Buffer.from(behind!)];
}

/** Bytes a symbol may need: a stroke and the way to it stand for two modules and are mostly six, never above twelve. */
const bytesOf = (size: number, [before, behind]: Frame): number => 6 * size * size + before.length + behind.length;

/**
 * One horizontal stroke per run of dark modules, each placed from the end of the one before, from the lower left corner
 * (which is dark) upwards: so each move has a minus between its numbers, and the path neither a space nor a comma. As bytes:
 * to join some 700 small texts takes five times as long. Returns where it ends.
 */
function draw(to: Buffer, start: number, { size, modules }: QrSymbol, [before, behind]: Frame): number {
  to.set(before, start);
  let at = start + before.length;
  let penX = 0;
  let penY = size;
  for (let y = size - 1; y >= 0; y--) {
    const count = edgesOf(modules, y * (size + 1), size);
    for (let i = 0; i < count; i += 2) {
      const right = edges[i]! - penX;
      const length = edges[i + 1]! - edges[i]!;
      if (y === penY && right < 10 && length < 10) {
        // Nine in ten: the other way for all of them takes half as long again.
        to[at] = letter.m;
        to[at + 1] = letter.zero + right;
        to[at + 2] = letter.minus;
        to[at + 3] = letter.zero;
        to[at + 4] = letter.h;
        to[at + 5] = letter.zero + length;
        at += 6;
      } else {
        // The way to the first one stands in the frame.
        if (penY < size) at = move(to, at, right, penY - y);
        to[at++] = letter.h;
        at = digits(to, at, length);
      }
      penX = edges[i + 1]!;
      penY = y;
    }
  }
  to.set(behind, at);
  return at + behind.length;
}

/** Where the runs of a row begin and end, in turn. A row has at most 178 such edges. */
const edges = new Uint8Array(256);

/** Finds the edges of a row, and returns how many there are. Without a branch: what a module is can't be guessed (11 µs). */
function edgesOf(modules: Uint8Array, start: number, size: number): number {
  let count = 0;
  let before = 0;
  // The light module behind the row ends its last run.
  for (let x = 0; x <= size; x++) {
    const module = modules[start + x]!;
    edges[count] = x;
    count += module ^ before;
    before = module;
  }
  return count;
}

const letter = { m: 0x6d, h: 0x68, minus: 0x2d, zero: 0x30 } as const;

/** To the right, or with a minus to the left, and upwards. Returns where it ends. */
function move(to: Uint8Array, start: number, right: number, up: number): number {
  let at = start;
  to[at++] = letter.m;
  if (right < 0) to[at++] = letter.minus;
  at = digits(to, at, Math.abs(right));
  to[at++] = letter.minus;
  return digits(to, at, up);
}

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

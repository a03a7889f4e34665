/**
 * A compact font (CFF, Adobe Technical Note 5176) with some of another one's glyphs only. The original is one of many
 * glyphs in several groups (CID-keyed), each with its own hints and subroutines; so is what comes of it.
 */
import { table } from '../font.ts';
import { inlined, type Subroutines } from './charstring.ts';

type Dict = ReadonlyMap<number, readonly number[]>;

const key = {
  box: 5,
  charset: 15,
  charstrings: 17,
  private: 18,
  subroutines: 19,
  escape: 12,
  registry: 1230,
  count: 1234,
  groups: 1236,
  selection: 1237,
} as const;

/** What of the original is needed. */
interface Original {
  readonly bytes: Uint8Array;
  readonly charstrings: Subroutines;
  readonly global: Subroutines;
  readonly groups: readonly { readonly hints: Uint8Array; readonly local: Subroutines }[];
  readonly groupOf: (glyph: number) => number;
  readonly box: readonly number[];
}

/** The font of an OpenType file whose glyph 0 is the original's, and whose others are the given ones in their order. */
export function compactOf(file: Uint8Array, glyphs: readonly number[]): Uint8Array {
  const original = read(file);
  const all = [0, ...glyphs];
  const used = [...new Set(all.map(original.groupOf))];
  const charstrings = all.map((glyph) =>
    inlined(original.charstrings.at(glyph), original.groups[original.groupOf(glyph)]!.local, original.global),
  );
  return assembled(
    original,
    charstrings,
    used,
    Uint8Array.from(all, (glyph) => used.indexOf(original.groupOf(glyph))),
  );
}

function read(file: Uint8Array): Original {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const start = table(view, 'CFF ');
  const bytes = file.subarray(start);
  const names = indexAt(bytes, bytes[2]!);
  const tops = indexAt(bytes, names.end);
  const strings = indexAt(bytes, tops.end);
  const global = indexAt(bytes, strings.end);
  const top = dictOf(tops.at(0));
  const groups = indexAt(bytes, top.get(key.groups)![0]!);
  return {
    bytes,
    charstrings: indexAt(bytes, top.get(key.charstrings)![0]!),
    global,
    groups: Array.from({ length: groups.count }, (_, index) => groupAt(bytes, dictOf(groups.at(index)))),
    groupOf: (glyph) => groupIn(bytes, top.get(key.selection)![0]!, glyph),
    box: top.get(key.box)!,
  };
}

function groupAt(bytes: Uint8Array, group: Dict) {
  const [size, at] = group.get(key.private) as readonly [number, number];
  const hints = bytes.subarray(at, at + size);
  const subroutines = dictOf(hints).get(key.subroutines)?.[0];
  const none: Subroutines = { count: 0, at: () => new Uint8Array() };
  return {
    hints: withoutSubroutines(hints),
    local: subroutines === undefined ? none : indexAt(bytes, at + subroutines),
  };
}

/** Of format 3: ranges of glyphs, sorted. */
function groupIn(bytes: Uint8Array, at: number, glyph: number): number {
  const number = (place: number) => (bytes[place]! << 8) | bytes[place + 1]!;
  let [low, high] = [0, number(at + 1) - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (number(at + 3 + middle * 3) <= glyph) low = middle;
    else high = middle - 1;
  }
  return bytes[at + 3 + low * 3 + 2]!;
}

function indexAt(bytes: Uint8Array, at: number): Subroutines & { readonly end: number } {
  const count = (bytes[at]! << 8) | bytes[at + 1]!;
  if (count === 0) return { count, at: () => new Uint8Array(), end: at + 2 };
  const size = bytes[at + 2]!;
  const offset = (index: number) => {
    let value = 0;
    for (let byte = 0; byte < size; byte++) value = value * 256 + bytes[at + 3 + index * size + byte]!;
    return at + 2 + (count + 1) * size + value;
  };
  return { count, at: (index) => bytes.subarray(offset(index), offset(index + 1)), end: offset(count) };
}

/** Keys of two bytes as 1200 and the second. Real numbers are passed over: none of them is asked for. */
function dictOf(bytes: Uint8Array): Dict {
  const dict = new Map<number, readonly number[]>();
  let operands: number[] = [];
  for (const { number, value } of tokensOf(bytes)) {
    if (number === undefined) operands.push(value);
    else {
      dict.set(number, operands);
      operands = [];
    }
  }
  return dict;
}

interface Token {
  /** Of a key. */
  readonly number?: number | undefined;
  /** Of an operand. */
  readonly value: number;
  readonly end: number;
}

function* tokensOf(bytes: Uint8Array): Generator<Token> {
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    const second = bytes[at + 1]!;
    let token: Token;
    if (byte === key.escape) token = { number: 1200 + second, value: 0, end: at + 2 };
    else if (byte <= 21) token = { number: byte, value: 0, end: at + 1 };
    else if (byte === 28) token = { value: (((second << 8) | bytes[at + 2]!) << 16) >> 16, end: at + 3 };
    else if (byte === 29) token = { value: Buffer.from(bytes).readInt32BE(at + 1), end: at + 5 };
    else if (byte === 30) token = { value: 0, end: realEnd(bytes, at + 1) };
    else if (byte <= 246) token = { value: byte - 139, end: at + 1 };
    else if (byte <= 250) token = { value: (byte - 247) * 256 + second + 108, end: at + 2 };
    else token = { value: -(byte - 251) * 256 - second - 108, end: at + 2 };
    yield token;
    at = token.end;
  }
}

/** A real number ends with the half byte 15. */
function realEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at]! & 15) !== 15 && bytes[at]! >> 4 !== 15) at++;
  return at + 1;
}

function withoutSubroutines(hints: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { number, end } of tokensOf(hints)) {
    if (number === undefined) continue;
    if (number !== key.subroutines) parts.push(hints.subarray(from, end));
    from = end;
  }
  return Buffer.concat(parts);
}

/** Offsets take five bytes each, so that the length of what holds them is known before they are. */
function assembled(
  { groups, box }: Original,
  charstrings: readonly Uint8Array[],
  used: readonly number[],
  selected: Uint8Array,
): Uint8Array {
  const head = Buffer.from([1, 0, 4, 4]);
  const names = indexOf([Buffer.from('Han')]);
  const strings = indexOf([Buffer.from('Adobe'), Buffer.from('Identity')]);
  const noGlobals = Buffer.from([0, 0]);
  const last = charstrings.length - 2;
  // All glyphs but the first are one range, numbered as they stand.
  const charset = Buffer.from(last < 0 ? [0] : [2, 0, 1, last >> 8, last & 255]);
  const selection = Buffer.from([0, ...selected]);
  const drawn = indexOf(charstrings);
  const hints = used.map((group) => groups[group]!.hints);
  const top = (at: { charset: number; selection: number; drawn: number; groups: number }) =>
    indexOf([
      Buffer.from([
        ...[391, 392, 0].flatMap(whole),
        ...name(key.registry),
        ...box.flatMap(whole),
        key.box,
        ...whole(charstrings.length),
        ...name(key.count),
        ...whole(at.charset),
        key.charset,
        ...whole(at.selection),
        ...name(key.selection),
        ...whole(at.drawn),
        key.charstrings,
        ...whole(at.groups),
        ...name(key.groups),
      ]),
    ]);
  const start = head.length + names.length + top({ charset: 0, selection: 0, drawn: 0, groups: 0 }).length;
  const charsetAt = start + strings.length + noGlobals.length;
  const selectionAt = charsetAt + charset.length;
  const drawnAt = selectionAt + selection.length;
  let hintsAt = drawnAt + drawn.length;
  const dicts = hints.map((one) => {
    const dict = Buffer.from([...whole(one.length), ...whole(hintsAt), key.private]);
    hintsAt += one.length;
    return dict;
  });
  const places = { charset: charsetAt, selection: selectionAt, drawn: drawnAt, groups: hintsAt };
  return Buffer.concat([
    ...[head, names, top(places), strings, noGlobals, charset, selection, drawn],
    ...hints,
    indexOf(dicts),
  ]);
}

const name = (two: number): number[] => [key.escape, two - 1200];

function whole(value: number): number[] {
  return [29, (value >> 24) & 255, (value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function indexOf(items: readonly Uint8Array[]): Buffer {
  const offsets = Buffer.alloc(3 + (items.length + 1) * 4);
  offsets.writeUInt16BE(items.length, 0);
  offsets[2] = 4;
  let end = 1;
  for (const [index, item] of items.entries()) {
    offsets.writeUInt32BE(end, 3 + index * 4);
    end += item.length;
  }
  offsets.writeUInt32BE(end, 3 + items.length * 4);
  return Buffer.concat([offsets, ...items]);
}

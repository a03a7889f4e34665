/**
 * JSON as strictly as money needs it: one value in UTF-8 (RFC 8259), no duplicate members, no number that JavaScript
 * would change in silence. `JSON.parse` does the parsing; a scan of the same text finds what it hides.
 */
import { isAscii } from 'node:buffer';
import { shortened } from '../fiscal/cut.ts';
import { most_problems, type Problem, Refusal, refuseAll, type Words } from '../fiscal/refusal.ts';

const deepest = 32;
const tooDeep: Words = {
  en: `nested deeper than ${deepest} levels`,
  pt: `tem mais de ${deepest} níveis encaixados`,
};
/** Of a member's name in a pointer: those of ours are shorter. */
const longest_name = 200;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** The parsed value, or `{}` for an empty body. Refuses MALFORMED_JSON, or INVALID_REQUEST with each duplicate and inexact number. */
export function parseStrictJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal('MALFORMED_JSON', { problem: problemOf(error) });
  }
  refuseAll(scan(text));
  return value;
}

function decode(bytes: Buffer): string {
  // Most small bodies are: then each byte is a character, and the decoder, which takes 1 µs to begin, has nothing to do.
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal('MALFORMED_JSON', { problem: { en: 'it is not UTF-8', pt: 'não está em UTF-8' } });
  }
}

/** V8's sentence quotes the body; only its position is passed on. */
function problemOf(error: unknown): Words {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined
    ? { en: 'it ends too early or has a stray character', pt: 'termina cedo demais ou tem um carácter a mais' }
    : { en: `unexpected text at position ${position}`, pt: `texto inesperado na posição ${position}` };
}

interface Level {
  /** Names so far; undefined in an array. */
  readonly keys: Names | undefined;
  name: string;
  index: number;
}

/** Beyond so many names looking them through takes longer than a set does. */
const few = 8;

/** Names of one object. Most objects have few: a set of its own for each is 200 bytes. */
class Names {
  readonly #first: string[] = [];
  #all: Set<string> | undefined;

  /** False when it was there already. */
  add(name: string): boolean {
    if (this.#all === undefined) {
      if (this.#first.includes(name)) return false;
      if (this.#first.push(name) > few) this.#all = new Set(this.#first);
      return true;
    }
    const { size } = this.#all;
    return this.#all.add(name).size > size;
  }
}

/** Walks valid JSON once; `text` has passed JSON.parse, so only its tokens matter. */
function scan(text: string): Problem[] {
  const problems: Problem[] = [];
  const levels: Level[] = [];
  const found = (code: 'DUPLICATE_FIELD' | 'NUMBER_NOT_EXACT'): void => {
    if (problems.length <= most_problems) problems.push({ code, pointer: pointer(levels) });
  };
  let expectKey = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      const start = i;
      for (i++; text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
      if (expectKey) {
        const level = levels[levels.length - 1]!;
        const raw = text.slice(start, i + 1);
        level.name = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
        if (!level.keys!.add(level.name)) found('DUPLICATE_FIELD');
        expectKey = false;
      }
    } else if (c === 0x7b || c === 0x5b) {
      const isObject = c === 0x7b;
      levels.push({ keys: isObject ? new Names() : undefined, name: '', index: 0 });
      expectKey = isObject;
      if (levels.length > deepest) throw new Refusal('MALFORMED_JSON', { problem: tooDeep });
    } else if (c === 0x7d || c === 0x5d) {
      levels.pop();
    } else if (c === 0x2c) {
      const level = levels[levels.length - 1]!;
      level.index++;
      expectKey = level.keys !== undefined;
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const start = i;
      let isPower = false;
      for (let next = text.charCodeAt(i + 1); isOfNumber(next); next = text.charCodeAt(i + 1)) {
        if (next === 0x65 || next === 0x45) isPower = true;
        i++;
      }
      if ((isPower || i - start >= 15) && !exact(text.slice(start, i + 1))) found('NUMBER_NOT_EXACT');
    }
  }
  return problems;
}

/** Digits, point, signs and the letter before an exponent. */
function isOfNumber(unit: number): boolean {
  return (
    (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2b || unit === 0x2d || unit === 0x65 || unit === 0x45
  );
}

/** Whether the double nearest to this literal, written out again, is the same number. */
function exact(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  return digits(literal) === digits(String(value));
}

/** Significant digits and magnitude of a decimal literal: "1.50e3" and "1500" are equal. */
function digits(literal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (match === null) return literal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const all = (whole + fraction).replace(/^0+/, '');
  // Not by /0+$/: that begins again at each of a million zeros in the middle.
  let end = all.length;
  while (all.charCodeAt(end - 1) === 0x30) end--;
  const trimmed = all.slice(0, end);
  if (trimmed === '') return '0';
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + (all.length - trimmed.length)}`;
}

function pointer(levels: readonly Level[]): string {
  return levels.map((level) => `/${level.keys === undefined ? level.index : escapePointer(level.name)}`).join('');
}

/** RFC 6901, section 3; a name of any length is told as far as anybody reads it. */
export function escapePointer(name: string): string {
  return shortened(name, longest_name).replaceAll('~', '~0').replaceAll('/', '~1');
}

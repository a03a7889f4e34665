/**
 * JSON as strictly as money needs it: one value in UTF-8 (RFC 8259), no duplicate members, no number that JavaScript
 * would change in silence. `JSON.parse` does the parsing; a scan of the same text finds what it hides.
 */
import { isAscii } from 'node:buffer';
import { shortened } from '../fiscal/cut.ts';
import { invalid, most_problems, type Problem, Refusal, refuseAll, type Words } from '../fiscal/refusal.ts';

const deepest = 32;
const tooDeep: Words = {
  en: `nested deeper than ${deepest} levels`,
  pt: `tem mais de ${deepest} níveis encaixados`,
};
/** Of a member's name in a pointer: those of ours are shorter. */
const longest_name = 200;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * The parsed value, or `{}` for an empty body. Refuses MALFORMED_JSON, or INVALID_REQUEST with each duplicate and inexact number,
 * or with TOO_MANY where there are more than `most_values` of them: commas and levels, which is hardly less than its values.
 */
export function parseStrictJson(bytes: Buffer, most_values = Number.POSITIVE_INFINITY): unknown {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  // First, since JSON.parse takes ten times as long for as many members or levels as there may be in a megabyte.
  const problems = scan(text, most_values);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal('MALFORMED_JSON', { problem: problemOf(error) });
  }
  refuseAll(problems);
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
  readonly isObject: boolean;
  /** Names so far, of an object that has any. */
  keys: Names | undefined;
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

/** No field takes a number of more than 15 digits: of longer ones only so many are compared with what would be kept. */
const most_compared = 100;

/**
 * Walks JSON once. What it finds counts only where JSON.parse takes the text; of any other it may find anything, but ends. Throws
 * MALFORMED_JSON for too many levels and INVALID_REQUEST for too many values.
 */
function scan(text: string, most_values: number): Problem[] {
  const problems: Problem[] = [];
  const levels: Level[] = [];
  let level: Level | undefined;
  const found = (code: 'DUPLICATE_FIELD' | 'NUMBER_NOT_EXACT'): void => {
    // With one more than are told it is known that there are more.
    if (problems.length <= most_problems) problems.push({ code, pointer: pointer(levels) });
  };
  const count = (): void => {
    if (++values > most_values) throw invalid([{ code: 'TOO_MANY', pointer: '', facts: { limit: most_values } }]);
  };
  let expectKey = false;
  let values = 0;
  let compared = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      const start = i;
      i = endOfText(text, i);
      if (expectKey && level !== undefined) {
        const name = nameOf(text.slice(start, i + 1));
        // No JSON, which JSON.parse says of all of it.
        if (name === undefined) break;
        level.name = name;
        level.keys ??= new Names();
        if (!level.keys.add(level.name)) found('DUPLICATE_FIELD');
        expectKey = false;
      }
    } else if (c === 0x7b || c === 0x5b) {
      expectKey = c === 0x7b;
      level = { isObject: expectKey, keys: undefined, name: '', index: 0 };
      if (levels.push(level) > deepest) throw new Refusal('MALFORMED_JSON', { problem: tooDeep });
      count();
    } else if (c === 0x7d || c === 0x5d) {
      levels.pop();
      level = levels[levels.length - 1];
    } else if (c === 0x2c) {
      if (level === undefined) continue;
      level.index++;
      expectKey = level.isObject;
      count();
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const start = i;
      let isPower = false;
      for (let next = text.charCodeAt(i + 1); isOfNumber(next); next = text.charCodeAt(i + 1)) {
        if (next === 0x65 || next === 0x45) isPower = true;
        i++;
      }
      if ((!isPower && i - start < 15) || compared > most_compared) continue;
      const literal = text.slice(start, i + 1);
      const significant = significantDigits(literal);
      if (significant > digits_of_a_double.always) compared++;
      if (!exact(literal, significant)) found('NUMBER_NOT_EXACT');
    }
  }
  return problems;
}

/** Where the text that begins at a quote ends: its last quote, or the end of all where there is none. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslash = end - 1;
    while (text.charCodeAt(backslash) === 0x5c) backslash--;
    // An even number of them are escapes of each other.
    if ((end - backslash) % 2 === 1) return end;
  }
  return text.length;
}

/** Undefined: it is no JSON. */
function nameOf(raw: string): string | undefined {
  if (!raw.includes('\\')) return raw.slice(1, -1);
  try {
    return JSON.parse(raw) as string;
  } catch {
    return undefined;
  }
}

/** Digits, point, signs and the letter before an exponent. */
function isOfNumber(unit: number): boolean {
  return (
    (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2b || unit === 0x2d || unit === 0x65 || unit === 0x45
  );
}

/** A double keeps so many digits of any number, and is written with so many at most (IEEE 754, binary64). */
const digits_of_a_double = { always: 15, most: 17 };
/** Numbers that are neither too large nor too small for a double, by far. */
const plain = /^[\d.+-]{1,40}(?:[eE][+-]?\d{1,2})?$/;

/** Whether the double nearest to this literal, written out again, is the same number. */
function exact(literal: string, significant: number): boolean {
  if (significant > digits_of_a_double.most) return false;
  if (significant <= digits_of_a_double.always && plain.test(literal)) return true;
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  return digits(literal) === digits(String(value));
}

/** From the first digit that is not 0 to the last one. */
function significantDigits(literal: string): number {
  let [first, last, count] = [0, 0, 0];
  for (let i = 0; i < literal.length; i++) {
    const c = literal.charCodeAt(i);
    if (c === 0x65 || c === 0x45) break;
    if (c < 0x30 || c > 0x39) continue;
    count++;
    if (c === 0x30) continue;
    if (first === 0) first = count;
    last = count;
  }
  return first === 0 ? 0 : last - first + 1;
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
  return levels.map((level) => `/${level.isObject ? escapePointer(level.name) : level.index}`).join('');
}

/** RFC 6901, section 3; a name of any length is told as far as anybody reads it. */
export function escapePointer(name: string): string {
  return shortened(name, longest_name).replaceAll('~', '~0').replaceAll('/', '~1');
}

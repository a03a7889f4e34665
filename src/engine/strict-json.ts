/**
 * JSON as strictly as money needs it: one value in UTF-8 (RFC 8259), no duplicate members, no number that JavaScript
 * would change in silence. `JSON.parse` does the parsing; a scan of the same text finds what it hides.
 */
import { shortened } from '../fiscal/cut.ts';
import { most_problems, type Problem, Refusal, refuseAll } from '../fiscal/refusal.ts';

const deepest = 32;
/** Of a member's name in a pointer: those of ours are shorter. */
const longest_name = 200;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** The parsed value, or `{}` for an empty body. Refuses MALFORMED_JSON, or INVALID_REQUEST with each duplicate and inexact number. */
export function parseStrictJson(bytes: Uint8Array): unknown {
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

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal('MALFORMED_JSON', { problem: 'it is not UTF-8' });
  }
}

/** V8's sentence quotes the body; only its position is passed on. */
function problemOf(error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined
    ? 'it ends too early or has a stray character'
    : `unexpected text at position ${position}`;
}

interface Level {
  readonly keys: Set<string> | undefined;
  name: string;
  index: number;
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
        if (level.keys!.has(level.name)) found('DUPLICATE_FIELD');
        level.keys!.add(level.name);
        expectKey = false;
      }
    } else if (c === 0x7b || c === 0x5b) {
      const isObject = c === 0x7b;
      levels.push({ keys: isObject ? new Set() : undefined, name: '', index: 0 });
      expectKey = isObject;
      if (levels.length > deepest)
        throw new Refusal('MALFORMED_JSON', { problem: `nested deeper than ${deepest} levels` });
    } else if (c === 0x7d || c === 0x5d) {
      levels.pop();
      expectKey = false;
    } else if (c === 0x2c) {
      const level = levels[levels.length - 1]!;
      level.index++;
      expectKey = level.keys !== undefined;
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const start = i;
      while (/[0-9eE.+-]/.test(text[i + 1] ?? '')) i++;
      if (i - start >= 15 || /[eE]/.test(text.slice(start, i + 1))) {
        if (!exact(text.slice(start, i + 1))) found('NUMBER_NOT_EXACT');
      }
    }
  }
  return problems;
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

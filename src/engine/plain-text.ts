/** What text may hold: what can be printed and exported, is seen, and costs no more to fold and compare than it is long. */
import { printedRanges } from './printed-ranges.ts';

/** What XML 1.0 can't hold (section 2.2, Char), plus lone surrogates: nothing of that may ever be stored. */
const controls = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\ufffe\\uffff';
const unprintable = new RegExp(
  `[${controls}]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]`,
);

/**
 * Text without any of these is ASCII and Latin, with the quotes, dashes and currencies that stand in it, and nothing is wrong
 * with it. This alone is asked of almost all text, and takes what `unprintable` takes: 30 ns of 40 characters.
 */
const unusual = new RegExp(`[${controls}\\u007f-\\u009f\\u00ad\\u0300-\\u200f\\u2028-\\u209f\\u20c0-\\uffff]`);

/** Nothing but what nobody sees: controls, format characters, private use. A name of these alone prints as none. Blanks clear. */
const unseen = /^[\s\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]+$/u;

/**
 * Marks on one character at most, taken apart (UAX #15, Stream-Safe Text Format). They are sorted in the square of their
 * number: 2,000 took PostgreSQL 57 ms, for each row of a list. The two halfwidth ones become marks only then.
 */
const crowded = /[\p{M}\uff9e\uff9f]{31}/u;
/** Taken apart (NFKD) a text may be so many times as long; most characters that become more are signs for a whole word. */
const most_times = 4;
/** So that a short text may be such a sign, or a few. */
const always_allowed = 100;
/** No field has room for more UTF-16 units: what is longer is refused for that, and not taken apart. */
const longest = 4_000;

/** What is wrong with a text, and the character ("U+0001") by which it is seen. */
export interface Wrong {
  readonly code: 'INVALID_CHARACTER' | 'OVERLOADED_TEXT';
  readonly character: string;
}

/**
 * The first thing that is wrong with a text that is to be kept; undefined: nothing. Beside what `wrongWith` tells: what
 * turns text around (bidirectional controls), and what no bundled font prints, which would stand on paper as U+FFFD.
 */
export function wrongWithKept(text: string): Wrong | undefined {
  if (!unusual.test(text)) return undefined;
  const wrong = wrongWith(text);
  if (wrong !== undefined) return wrong;
  const missing = unprintedIn(text.slice(0, longest).normalize('NFC'));
  return missing === undefined ? undefined : { code: 'INVALID_CHARACTER', character: shown(missing) };
}

/** The first thing that is wrong with a text that is only compared, or was printed already; undefined: nothing. */
export function wrongWith(text: string): Wrong | undefined {
  if (!unusual.test(text)) return undefined;
  const odd = unprintable.exec(text);
  if (odd !== null) return { code: 'INVALID_CHARACTER', character: named(odd[0]) };
  const overload = overloadOf(text.slice(0, longest));
  if (overload !== undefined) return { code: 'OVERLOADED_TEXT', character: named(overload) };
  const isUnseen = unseen.test(text) && text.trim() !== '';
  return isUnseen ? { code: 'INVALID_CHARACTER', character: named(text.trim()) } : undefined;
}

function overloadOf(text: string): string | undefined {
  // Before it is taken apart: that sorts the marks, here as well.
  const written = crowded.exec(text);
  if (written !== null) return written[0];
  const apart = text.normalize('NFKD');
  const crowd = crowded.exec(apart);
  if (crowd !== null) return crowd[0];
  if (apart.length <= most_times * text.length + always_allowed) return undefined;
  return [...text].find((character) => character.normalize('NFKD').length > most_times * character.length);
}

/** Nothing is printed in its place, and the text says the same: places to break and to join, and forms of what stands before. */
const passedOver = '\u00ad\u034f\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff';
/** Ends of lines: in texts that have several. Tabs and the usual ones are `unusual` nowhere. */
const lineEnds = '\u0085\u2028\u2029';
const replacement = 0xfffd;
const first_form = 0xfe00;
const last_form = 0xfe0f;
const first_more = 0xe0100;
const last_more = 0xe01ef;

/** For each UTF-16 unit whether it is a character that may stand in a text. Made for the first text that asks. */
let printed: Uint8Array | undefined;

function readPrinted(): Uint8Array {
  const all = new Uint8Array(0x10000);
  let at = 0;
  for (const range of printedRanges.trim().split(/\s+/)) {
    const [gap, more = '0'] = range.split('-') as [string, string?];
    const from = at + Number.parseInt(gap, 36);
    at = from + Number.parseInt(more, 36);
    all.fill(1, from, at + 1);
  }
  for (const character of `\t\n\r${lineEnds}${passedOver}`) all[character.charCodeAt(0)] = 1;
  all.fill(1, first_form, last_form + 1);
  // Every font has it, and it stands for a character that was lost before it came here.
  all[replacement] = 0;
  return all;
}

/** `text`: composed (NFC), as it is printed. */
function unprintedIn(text: string): string | undefined {
  printed ??= readPrinted();
  for (let at = 0; at < text.length; at += 1) {
    if (printed[text.charCodeAt(at)] === 1) continue;
    const code = text.codePointAt(at)!;
    if (code < first_more || code > last_more) return String.fromCodePoint(code);
    at += 1;
  }
  return undefined;
}

/** As "U+1F600 (😀)", or "U+202E" where the character is not seen, or turns or joins what stands around it. */
function shown(character: string): string {
  return /^(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)
    ? `${named(character)} (${character})`
    : named(character);
}

/** As "U+00E9": of its first character. */
function named(text: string): string {
  return `U+${text.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

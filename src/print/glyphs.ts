/** Text made fit for the bundled fonts. What they lack prints as U+FFFD; the books keep the true text. */
import type { Font } from './font.ts';

/** Nothing to do for most text: ASCII and Latin-1, without the soft hyphen. */
const plain = /^[ -~\u00a0-\u00ac\u00ae-\u00ff]*$/;
/**
 * Controls, format characters (with the bidirectional overrides, which can disguise text), surrogates, private use, and
 * what is never seen by itself: variation selectors, fillers.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/u;
/** Tabs and line breaks, where one line is wanted. */
const blank = /[\t\n\r\u0085\u2028\u2029]/;
export const replacement = '\ufffd';
/** U+200B: the line may break here. Nothing is drawn in its place (pdf/lines.ts). */
export const breakHere = '\u200b';
/** Where what is no word is rather broken: numbers of documents, addresses of mail and pages. */
const separator = /[-._/@]/;
/**
 * One line of text, drawable: composed (NFC), without invisible characters. A word wider than `widest` (in ems) gets
 * places to break at, so that it does not run into the next column.
 */
export function printable(text: string, font: Font, widest: number): string {
  const drawable = plain.test(text) ? text : substituted(text.normalize('NFC'), font);
  // No character is wider than 1.5 em, so most text needs no measuring.
  if (drawable.length * 1.5 <= widest) return drawable;
  return drawable.replace(/\S+/g, (word) =>
    font.width(word) > widest ? pieces(word, font, widest).join(breakHere) : word,
  );
}

/**
 * A word in pieces that fit, one em spared for heavier type; in its second half a piece rather ends behind a separator.
 * Breaks between all letters would fill the lines better, but not end them behind separators.
 */
function pieces(word: string, font: Font, widest: number): string[] {
  const all: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of word) {
    const advance = font.width(character);
    if (width + advance > widest - 1 && !/\p{M}/u.test(character)) {
      const end = pieceEnd(piece);
      all.push(piece.slice(0, end));
      piece = piece.slice(end);
      width = font.width(piece);
    }
    piece += character;
    width += advance;
  }
  return [...all, piece];
}

function pieceEnd(piece: string): number {
  const half = piece.length / 2;
  for (let end = piece.length; end > half; end--) if (separator.test(piece[end - 1]!)) return end;
  return piece.length;
}

/** Text with line breaks, as drawable lines. */
export function printableLines(text: string, font: Font, widest: number): string[] {
  return text.split(/\r\n|[\n\r\u0085\u2028\u2029]/).map((line) => printable(line, font, widest));
}

function substituted(text: string, font: Font): string {
  let drawable = '';
  for (const character of text) {
    if (blank.test(character)) drawable += ' ';
    else if (invisible.test(character)) continue;
    else drawable += font.covers(character.codePointAt(0)!) ? character : replacement;
  }
  return drawable;
}

/** Text made fit for the bundled font. What the font lacks prints as U+FFFD; the books keep the true text. */
import type { Font } from './font.ts';

/** Nothing to do for most text: ASCII and Latin-1, without the soft hyphen. */
const plain = /^[ -~\u00a0-\u00ac\u00ae-\u00ff]*$/;
/** Controls, format characters (with the bidirectional overrides, which can disguise text), surrogates, private use. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/u;
const replacement = '\ufffd';
/** U+200B: the line may break here, and nothing is drawn. */
const breakHere = '\u200b';
/** A character that another follows in the same word, without parting letters from their marks. */
const within = /\S(?=\S)(?!\p{M})/gu;

/**
 * One line of text, drawable: composed (NFC), without invisible characters. A word wider than `widest` (in ems) may be
 * broken anywhere, so that it does not run into the next column.
 */
export function printable(text: string, font: Font, widest: number): string {
  const drawable = plain.test(text) ? text : substituted(text.normalize('NFC'), font);
  // No character is wider than 1.5 em, so most text needs no measuring.
  if (drawable.length * 1.5 <= widest) return drawable;
  return drawable.replace(/\S+/g, (word) =>
    font.width(word) > widest ? word.replace(within, `$&${breakHere}`) : word,
  );
}

/** Text with line breaks, as drawable lines. */
export function printableLines(text: string, font: Font, widest: number): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => printable(line, font, widest));
}

function substituted(text: string, font: Font): string {
  let drawable = '';
  for (const character of text) {
    if (character === '\t') drawable += ' ';
    else if (invisible.test(character)) continue;
    else drawable += font.covers(character.codePointAt(0)!) ? character : replacement;
  }
  return drawable;
}

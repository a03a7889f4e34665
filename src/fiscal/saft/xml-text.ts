/**
 * Text into XML, escaped in this one place. Elements stand one to a line without indentation: a line number then names
 * an element, for a tenth of the size that indenting would add.
 */
import { cut } from '../cut.ts';

// Everything that needs a second look; most texts have none of it and are returned as they are.
const special = /[<>&\r\ud800-\udfff\ufffe\uffff]|[^\P{Cc}\t\n\x7f-\x9f]/u;
// Matched by code point, so a surrogate here is a lone one.
const forbidden = /[\ud800-\udfff\ufffe\uffff]|[^\P{Cc}\t\n\r\x7f-\x9f]/gu;
const escapes: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '\r': '&#13;' };

/**
 * Text for element content. The doors refuse what XML 1.0 can't hold; should such a character be in the books all the
 * same, it becomes U+FFFD: an export that the law demands at any time must not fail over it.
 */
export function escaped(text: string): string {
  if (!special.test(text)) return text;
  return text.replace(/[<>&\r]/g, (found) => escapes[found] ?? found).replace(forbidden, '\ufffd');
}

/** One element with text. `name` is ours. */
export function leaf(name: string, text: string): string {
  return `<${name}>${escaped(text)}</${name}>\n`;
}

/** One element with text that holds nothing to escape: numbers, codes, dates and signatures of our own making. */
export function plain(name: string, text: string): string {
  return `<${name}>${text}</${name}>\n`;
}

/** The element, cut to what the schema takes; nothing for an absent or empty text, since SAF-T has no empty elements. */
export function optional(name: string, text: string | undefined, longest: number): string {
  return text === undefined || text === '' ? '' : leaf(name, cut(text, longest));
}

/** The element, or nothing when there is no text or it does not fit: an address that is cut is another address. */
export function whole(name: string, text: string | undefined, longest: number): string {
  return text === undefined || text === '' || cut(text, longest) !== text ? '' : leaf(name, text);
}

/** An element around elements. */
export function group(name: string, children: string): string {
  return `<${name}>\n${children}</${name}>\n`;
}

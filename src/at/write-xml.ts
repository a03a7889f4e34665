/**
 * The XML writer of the AT's messages: text in, text out, escaping in this one place.
 * Own and tiny because a message is 2 KB of fixed order: a tree builder (xmlbuilder2) took 83 times as long, and a
 * library that turns objects into XML would decide about order and empty elements, which the WSDL decides.
 */

// Everything that needs a second look; most texts have none of it and are returned as they are.
const special = /[<>&\r\ud800-\udfff\ufffe\uffff]|[^\P{Cc}\t\n\x7f-\x9f]/u;

/**
 * Text for element content. Throws on what XML 1.0 can't hold (control characters, lone surrogates, U+FFFE, U+FFFF):
 * the doors refuse those, so here they are a fault of ours.
 */
export function escapeText(value: string): string {
  if (!special.test(value)) return value;
  return value.replace(/[<>&\r]/g, (c) => escapes[c] ?? c).replace(forbidden, refuse);
}

const escapes: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '\r': '&#13;' };
const forbidden = /[\ud800-\udfff\ufffe\uffff]|[^\P{Cc}\t\n\r\x7f-\x9f]/gu;

function refuse(character: string): never {
  throw new Error(`assertion failed: XML cannot hold U+${character.codePointAt(0)?.toString(16).padStart(4, '0')}`);
}

/** One element with text content. `name` is ours and trusted. */
export function leaf(name: string, value: string): string {
  return `<${name}>${escapeText(value)}</${name}>`;
}

/** The element, or nothing when there is no value: the WSDLs allow absent elements, never empty ones. */
export function optional(name: string, value: string | undefined): string {
  return value === undefined || value === '' ? '' : leaf(name, value);
}

/** An element around children that are already XML. */
export function group(name: string, ...children: string[]): string {
  return `<${name}>${children.join('')}</${name}>`;
}

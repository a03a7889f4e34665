/** The two encodings of a SAF-T file: UTF-8, and Windows-1252, which the AT's older uploader expects. */

/** As the XML declaration names them. */
export type SaftEncoding = 'UTF-8' | 'Windows-1252';

/** Bytes 0x80 to 0x9F of Windows-1252; five of them stand for nothing (WHATWG Encoding, index windows-1252). */
const upper =
  '\u20ac\0\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\0\u017d\0\0\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\0\u017e\u0178';
const bytes = new Map([...upper].flatMap((character, at) => (character === '\0' ? [] : [[character, 0x80 + at]])));
// Beyond Latin-1's own 7-bit and upper half: what latin1 would write as another character.
const foreign = /[\u0080-\u009f]|[^\0-\u00ff]/gu;

/** The encoder of an encoding. Nothing is lost in Windows-1252 either: what it lacks becomes a character reference. */
export function encoderOf(encoding: SaftEncoding): (xml: string) => Uint8Array {
  if (encoding === 'UTF-8') {
    const utf8 = new TextEncoder();
    return (xml) => utf8.encode(xml);
  }
  return windows1252;
}

/**
 * XML as Windows-1252. References (XML 1.0, 4.1) are allowed in element content only, and there alone the data's
 * characters stand; names are ours and ASCII. The schema's lengths count the characters that are meant.
 */
function windows1252(xml: string): Uint8Array {
  const mapped = xml.replace(foreign, (character) => {
    const byte = bytes.get(character);
    return byte === undefined ? `&#${character.codePointAt(0)};` : String.fromCharCode(byte);
  });
  const out = new Uint8Array(mapped.length);
  for (let at = 0; at < mapped.length; at += 1) out[at] = mapped.charCodeAt(at);
  return out;
}

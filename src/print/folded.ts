/**
 * Answers as they are recorded: pictures of QR codes, the larger half of an issued document's, are left out, and drawn
 * again from the message beside them when the answer is replayed. The drawing of a message never changes
 * (print/qr.test.ts holds its bytes), so a replay has the bytes of the first answer.
 *
 * In JSON a quotation mark within a text is escaped: what is looked for here is a member and nothing a caller wrote.
 */
import { assert } from '../fiscal/refusal.ts';
import type { Utf8 } from '../fiscal/utf8.ts';
import { qrDataUri } from './qr.ts';

const picture = '"imageData":"data:image/svg+xml,';
/** Stands where a picture was. */
export const leftOut = 'qr:1';
const folded = `"imageData":"${leftOut}"`;
const message = '"data":';

/** An answer without its pictures. */
export function fold(body: Utf8): Utf8 {
  let text = '';
  let from = 0;
  for (let at = body.indexOf(picture); at !== -1; at = body.indexOf(picture, from)) {
    text += body.slice(from, at) + folded;
    // Nothing in a picture is escaped.
    from = body.indexOf('"', at + picture.length) + 1;
  }
  return from === 0 ? body : ((text + body.slice(from)) as Utf8);
}

/** The answer as it went out. */
export function unfold(text: string): string {
  let body = '';
  let from = 0;
  for (let at = text.indexOf(folded); at !== -1; at = text.indexOf(folded, from)) {
    const begins = text.lastIndexOf(message, at);
    assert(begins >= from, 'a picture stands behind its message');
    const drawn = qrDataUri(JSON.parse(text.slice(begins + message.length, at - 1)) as string);
    body += `${text.slice(from, at)}"imageData":"${drawn}"`;
    from = at + folded.length;
  }
  return body + text.slice(from);
}

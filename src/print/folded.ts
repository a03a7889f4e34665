/**
 * Answers as they are recorded: pictures of QR codes, the larger half of an issued document's, are left out, and drawn
 * again from the message beside them when the answer is replayed. The drawing of a message never changes
 * (print/qr.test.ts holds its bytes), so a replay has the bytes of the first answer. Of the rest, what every answer of a
 * document is full of is one or two characters each, which leaves little more than half of it
 * (docs/decisions/0071-less-to-write.md, 0074-answers-as-bytes.md).
 *
 * In JSON a quotation mark within a text is escaped: what is looked for here is a member and nothing a caller wrote.
 */
import { assert } from '../fiscal/refusal.ts';
import type { Utf8, Written } from '../fiscal/utf8.ts';
import { qrDataUri } from './qr.ts';

const picture = '"imageData":"data:image/svg+xml,';
/** Stands where a picture was. */
const leftOut = 'qr:1';
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

/**
 * Each stands in a recorded answer as a control character, which JSON has none of. Its place here is its code: what was
 * recorded has to be read for as long as it is kept, so nothing is taken out or moved, and what is new comes last.
 */
const frequent = [
  '"discountAmount":0,"unitItemDiscountPercent":0,"unitItemDiscountAmount":0,"unitDiscountPercent":0,"unitDiscountAmount":0,',
  '"withholdingTaxAmount":0,"withholdingTaxEnabled":false},"data":{"name":',
  '"unitDiscountPercent":0,"unitDiscountAmount":0}',
  '"meta":{"quantity":',
  '"amountWithoutTax":',
  '"amountWithTax":',
  '"taxAmount":',
  '"discountAmount":',
  '"unitItemDiscountPercent":',
  '"unitItemDiscountAmount":',
  '"unitDiscountPercent":',
  '"unitDiscountAmount":',
  '"unitAmountWithoutTax":',
  '"unitAmountWithTax":',
  '"withholdingTaxAmount":',
  '"withholdingTaxEnabled":',
  '"unitPrice":',
  '"vatRate":',
  '"vatExemptionReason":',
  '"taxRate":',
  '"unitType":',
  '"description":',
  '"taxpayerNumber":',
  '"address":',
  '"postalCode":',
  '"amountWithoutTaxWithoutDiscount":',
  '"globalDiscountPercent":0,"globalDiscountAmount":0,"total":',
  '"totalToPay":',
  '"creditNotesTotal":0},"items":[',
];
/** The same of what stands in an answer once: the last control character, and a letter behind it. Nothing moves here either. */
const less_frequent = [
  '{"id":"',
  '","number":"',
  '","atcud":"',
  '","shortHash":"',
  '","signature":{"text":"',
  '","value":"',
  '","keyVersion":',
  '},"documentType":"',
  '","status":"',
  '","updatedAt":"',
  '","date":"',
  'T00:00:00.000',
  ',"taxPointDate":null,"dueDate":"',
  ',"taxPointDate":',
  ',"dueDate":',
  ',"createdAt":"',
  '","issuedAt":"',
  '","parentInvoiceId":null,"parentInvoiceNumber":null,"parentInvoiceDate":null,"parentInvoiceType":null,"syncWithAt":{"status":"',
  '"},"series":{"ref":"',
  '","name":"',
  '"qrCode":{"url":"',
  '","data":"',
  `","imageData":"${leftOut}"},`,
];
const rare = '\x1f';
/** All but the line break and the one before letters. */
const codes = Array.from({ length: 0x1e }, (_, i) => String.fromCharCode(i + 1)).filter((code) => code !== '\n');
const codeOf = new Map([
  ...frequent.map((text, i) => [text, codes[i]!] as const),
  ...less_frequent.map((text, i) => [text, rare + String.fromCharCode(0x41 + i)] as const),
]);
const textOf = new Map([...codeOf].map(([text, code]) => [code, text]));
/** The longest of those that begin alike. */
const anyFrequent = new RegExp(
  [...codeOf.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((text) => text.replace(/[[{}.]/g, '\\$&'))
    .join('|'),
  'g',
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const anyCode = /\x1f[A-Z]|[\x01-\x09\x0b-\x1e]/g;

/** JSON, or members of it, with what is frequent in it as one or two characters each. */
export const foldNames = (json: Utf8): Utf8 => json.replace(anyFrequent, (text) => codeOf.get(text)!) as Utf8;

/** Bytes of what each code stands for: by the code, and of the rare ones by the letter. */
const bytesOfCode: Buffer[] = [];
const bytesOfRare: Buffer[] = [];
for (const [text, code] of codeOf) {
  if (code.startsWith(rare)) bytesOfRare[code.charCodeAt(1)] = Buffer.from(text);
  else bytesOfCode[code.charCodeAt(0)] = Buffer.from(text);
}
const first_printed = 0x20;
const rare_byte = rare.charCodeAt(0);
/** Shorter texts are written byte by byte: a call that copies them takes longer. */
const shortest_copied = 24;

/** What `foldNames` was asked to fold, of what it made of it. */
export class UnfoldedNames implements Written {
  readonly most: number;
  readonly #folded: Uint8Array;

  /** `most`: bytes of what it was. */
  constructor(folded: Uint8Array, most: number) {
    this.#folded = folded;
    this.most = most;
  }

  writeTo(to: Buffer, start: number): number {
    const folded = this.#folded;
    let at = start;
    for (let i = 0; i < folded.length; i += 1) {
      const byte = folded[i]!;
      if (byte >= first_printed) {
        to[at++] = byte;
        continue;
      }
      const text = byte === rare_byte ? bytesOfRare[folded[++i]!]! : bytesOfCode[byte]!;
      const { length } = text;
      if (length >= shortest_copied) to.set(text, at);
      else for (let j = 0; j < length; j += 1) to[at + j] = text[j]!;
      at += length;
    }
    return at;
  }
}

/** The answer as it went out. */
export function unfold(recorded: string): string {
  const text = recorded.replace(anyCode, (code) => textOf.get(code) ?? code);
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

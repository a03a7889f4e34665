/**
 * A message as a QR symbol: level M, byte mode, version 9 at least, mask 2 (ISO/IEC 18004:2015, to whose clauses the
 * comments point). UTF-8 without a designator of it (ECI), as readers expect it. Everything is done in memory that is kept:
 * a symbol is made for each document that is issued, and what it leaves behind has to be collected.
 */
import { writeParity } from './qr-parity.ts';
import { most_bytes, type Template, templateFor } from './qr-template.ts';

/** Codewords of version 40, the most there are (table 1). */
const most_codewords = 3_706;

/** Mode and length, the message's bytes, the end: half a byte before what the codewords will be. */
const content = new Uint8Array(3 + most_bytes + 1);
const text = content.subarray(3);
const utf8 = new TextEncoder();
const codewords = new Uint8Array(most_codewords);

/** A symbol as it is drawn. */
export type QrSymbol = Pick<Template, 'size' | 'modules'>;

/**
 * The symbol of a message. Its modules hold until the next symbol is asked for. Lone surrogates become U+FFFD. Throws
 * RangeError beyond 2,331 bytes of UTF-8.
 */
export function symbolOf(message: string): QrSymbol {
  const bytes = lengthOf(message);
  const template = templateFor(bytes);
  writeData(message, bytes, template);
  writeBlocks(template);
  place(template);
  return template;
}

/** Modules per side of a message's symbol. Throws RangeError where there is none: beyond 2,331 bytes of UTF-8. */
export const sizeOf = (message: string): number => templateFor(lengthOf(message)).size;

function lengthOf(message: string): number {
  const bytes = Buffer.byteLength(message);
  if (bytes > most_bytes) throw new RangeError(`a QR code of level M holds ${most_bytes} bytes, not ${bytes}`);
  return bytes;
}

const byteMode = 0b0100;

/** The codewords of data: mode, length, message, end, and the padding in turn (7.4). */
function writeData(message: string, bytes: number, { lengthBits, data }: Template): void {
  content[0] = byteMode;
  content[1] = bytes >> 8;
  // A length of one byte leaves the place before it to the mode.
  if (lengthBits === 8) content[1] = byteMode;
  content[2] = bytes;
  utf8.encodeInto(message, text);
  content[3 + bytes] = 0;
  const from = lengthBits === 8 ? 1 : 0;
  const used = 3 - from + bytes;
  for (let i = 0; i < used; i++) codewords[i] = (content[from + i]! << 4) | (content[from + i + 1]! >> 4);
  for (let i = used; i < data; i += 2) {
    codewords[i] = 0b11101100;
    // Behind the last one parity is written afterwards.
    codewords[i + 1] = 0b00010001;
  }
}

/** The parity of each block, behind all data (7.5). */
function writeBlocks({ blocks, data, parity }: Template): void {
  const shortBlocks = blocks - (data % blocks);
  let start = 0;
  for (let block = 0; block < blocks; block++) {
    const end = start + Math.floor(data / blocks) + (block < shortBlocks ? 0 : 1);
    writeParity(codewords, start, end, data + block * parity, parity);
    start = end;
  }
}

/** The bits of every codeword, masked, onto their modules (7.7.3, 7.8). */
function place({ modules, places, masks }: Template): void {
  for (let i = 0, at = 0; i < masks.length; i++, at += 8) {
    const bits = codewords[i]! ^ masks[i]!;
    modules[places[at]!] = bits >> 7;
    modules[places[at + 1]!] = (bits >> 6) & 1;
    modules[places[at + 2]!] = (bits >> 5) & 1;
    modules[places[at + 3]!] = (bits >> 4) & 1;
    modules[places[at + 4]!] = (bits >> 3) & 1;
    modules[places[at + 5]!] = (bits >> 2) & 1;
    modules[places[at + 6]!] = (bits >> 1) & 1;
    modules[places[at + 7]!] = bits & 1;
  }
}

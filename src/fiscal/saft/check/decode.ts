/** Bytes to text: the encoding that the file declares, and nothing guessed. */
import { cut } from '../../cut.ts';
import type { FindingCode } from './findings.ts';

/** Encodings that a SAF-T file is met in. The WHATWG reads ISO-8859-1 as Windows-1252, which holds it. */
const known: Readonly<Record<string, string>> = {
  'utf-8': 'utf-8',
  'windows-1252': 'windows-1252',
  'iso-8859-1': 'windows-1252',
  'iso-8859-15': 'iso-8859-15',
  'us-ascii': 'utf-8',
};
/** An XML declaration is shorter. */
const headLength = 256;

type Report = (code: FindingCode, line: number, facts?: Readonly<Record<string, string>>) => void;

/**
 * The file's text. What can't be read in its encoding is reported once, with its line, and stands as U+FFFD from there
 * on; an encoding that is not known is reported and read as UTF-8.
 */
export async function* decoded(chunks: AsyncIterable<Uint8Array>, report: Report): AsyncGenerator<string> {
  let head = new Uint8Array(0);
  let decode: ((chunk: Uint8Array, last: boolean) => string) | undefined;
  for await (const chunk of chunks) {
    if (decode === undefined) {
      head = joined(head, chunk);
      if (head.length < headLength) continue;
      decode = decoderOf(head, report);
      yield decode(head, false);
    } else yield decode(chunk, false);
  }
  if (decode === undefined) yield decoderOf(head, report)(head, true);
  else yield decode(new Uint8Array(0), true);
}

function decoderOf(head: Uint8Array, report: Report): (chunk: Uint8Array, last: boolean) => string {
  const label = encodingOf(head);
  const encoding = known[label.toLowerCase()];
  if (encoding === undefined) report('ENCODING_UNKNOWN', 1, { encoding: cut(label, 40) });
  let decoder = new TextDecoder(encoding ?? 'utf-8', { fatal: true });
  let line = 1;
  let strict = true;
  const read = (chunk: Uint8Array, last: boolean) => decoder.decode(chunk, { stream: !last });
  return (chunk, last) => {
    let text: string;
    try {
      text = read(chunk, last);
    } catch (error) {
      if (!(error instanceof TypeError) || !strict) throw error;
      strict = false;
      decoder = new TextDecoder(encoding ?? 'utf-8');
      text = read(chunk, last);
      const bad = text.indexOf('\ufffd');
      report('ENCODING_WRONG', line + newlines(text.slice(0, Math.max(bad, 0))), { encoding: label });
    }
    if (strict) line += newlines(text);
    return text;
  };
}

/** As declared, or by the byte order mark; UTF-8 where nothing is said (XML 1.0, 4.3.3). */
function encodingOf(head: Uint8Array): string {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return 'UTF-16';
  const start = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const text = String.fromCharCode(...head.subarray(start, start + headLength));
  return /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']/.exec(text)?.[1] ?? 'UTF-8';
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/**
 * Bytes of an export to its lines. UTF-8 or Windows-1252 (which holds Latin-1): the first character that is not ASCII
 * says which. A value never spans lines, so a stray quotation mark spoils one line and not the rest of the file.
 */
import { TextDecoder } from 'node:util';
import type { EfaturaProblem } from './problems.ts';

/** Characters; e-Fatura's own lines have some 200. */
export const longest_line = 65_536;

export interface TextLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** False for a last line without a line break behind it. */
  readonly ended: boolean;
}

/** Nothing behind it can be read. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly problem: EfaturaProblem;

  constructor(problem: EfaturaProblem) {
    super(problem.code);
    this.problem = problem;
  }
}

/** The lines in portions, empty ones too. Throws Unreadable. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  let line = 1;
  let rest = '';
  try {
    for await (const text of textOf(chunks)) {
      const parts = (rest + text).split('\n');
      rest = parts.pop()!;
      yield parts.map((part) => ({ line: line++, text: part.replace(/\r$/, ''), ended: true }));
      if (rest.length > longest_line) throw unreadable('LINE_TOO_LONG', { limit: longest_line });
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Unreadable({ ...error.problem, line });
  }
  if (rest !== '') yield [{ line, text: rest.replace(/\r$/, ''), ended: false }];
}

const unreadable = (code: EfaturaProblem['code'], facts = {}): Unreadable => new Unreadable({ line: 1, code, facts });

async function* textOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let waiting: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let begun = false;
  const decode = (bytes: Uint8Array, last: boolean): string => {
    try {
      return decoder!.decode(bytes, { stream: !last });
    } catch {
      throw unreadable('ENCODING_MIXED');
    }
  };
  for await (const chunk of chunks) {
    waiting = Buffer.concat([waiting, chunk]);
    // Signatures of files and UTF-8 sequences have at most four bytes.
    if (!begun && waiting.length < 4) continue;
    if (!begun) refuseOtherFiles(waiting);
    begun = true;
    const at = decoder === undefined ? firstBeyondAscii(waiting) : 0;
    if (at === -1) yield waiting.toString('latin1');
    else if (decoder === undefined && waiting.length - at < 4) continue;
    else {
      decoder ??= new TextDecoder(isUtf8At(waiting, at) ? 'utf-8' : 'windows-1252', { fatal: true });
      yield decode(waiting, false);
    }
    waiting = Buffer.alloc(0);
  }
  if (!begun) refuseOtherFiles(waiting);
  const at = firstBeyondAscii(waiting);
  decoder ??= new TextDecoder(at === -1 || isUtf8At(waiting, at) ? 'utf-8' : 'windows-1252', { fatal: true });
  yield decode(waiting, true);
}

function refuseOtherFiles(head: Buffer): void {
  const hex = head.subarray(0, 4).toString('hex');
  if (/^(fffe|feff)/.test(hex)) throw unreadable('FILE_UTF16');
  // ZIP (xlsx, ods) and the older binary workbook.
  if (hex === '504b0304' || hex === 'd0cf11e0') throw unreadable('FILE_WORKBOOK');
  if (/^(\xef\xbb\xbf)?\s*</.test(head.toString('latin1', 0, 64))) throw unreadable('FILE_PAGE');
}

function firstBeyondAscii(bytes: Buffer): number {
  return bytes.findIndex((byte) => byte > 0x7f);
}

/** Whether a UTF-8 sequence of two to four bytes stands here. */
function isUtf8At(bytes: Buffer, at: number): boolean {
  const lead = bytes[at]!;
  const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc2 ? 1 : 0;
  const behind = bytes.subarray(at + 1, at + 1 + more);
  return more > 0 && behind.length === more && behind.every((byte) => byte >> 6 === 0b10);
}

/** The values of a line: separated by semicolons, perhaps in quotation marks. Undefined when these do not pair. */
export function valuesOf(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(';');
  const values: string[] = [];
  const value = /"((?:[^"]|"")*)"|([^;]*)/y;
  for (let at = 0; ; at = value.lastIndex + 1) {
    value.lastIndex = at;
    const found = value.exec(text)!;
    const end = value.lastIndex;
    if (end < text.length && text[end] !== ';') return undefined;
    if (found[1] === undefined && found[2]!.startsWith('"')) return undefined;
    values.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
    if (end >= text.length) return values;
  }
}

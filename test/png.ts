/** Making PNG files, sound ones and others (PNG, third edition, section 5). */
import { crc32 } from 'node:zlib';

/** A chunk with its sum. */
export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

interface Form {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** 0 grey, 2 RGB, 3 palette, 4 and 6 with alpha. */
  readonly colour: number;
  readonly interlace?: number | undefined;
}

/** A file of this form; `packed`: its rows, each with its filter in front, deflated. `before` stands in front of them. */
export function pngFile(
  { width, height, depth, colour, interlace = 0 }: Form,
  packed: Buffer,
  before: readonly Buffer[],
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, interlace], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...before,
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

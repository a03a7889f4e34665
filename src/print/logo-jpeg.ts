/** JPEG (ISO/IEC 10918-1): frame, tables and scans, in grey or colour; without Exif, profiles and comments. */
import { checkSides, LogoRefused } from './logo-limits.ts';

const frames: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);
/** Tables, restart interval, frames, start of scan; APP14 tells how colours are coded. */
const kept: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xda, 0xdb, 0xdd, 0xee]);

/** The picture without what it does not need. Throws LogoRefused when it is no whole JPEG, or too large. */
export function cleanJpeg(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Buffer[] = [file.subarray(0, 2)];
  let hasFrame = false;
  let at = 2;
  for (;;) {
    if (at + 4 > file.length || file[at] !== 0xff) throw broken();
    const marker = file[at + 1]!;
    const end = at + 2 + file.readUInt16BE(at + 2);
    if (end > file.length || end < at + 4) throw broken();
    if (frames.has(marker)) {
      checkFrame(file.subarray(at, end), hasFrame);
      hasFrame = true;
    }
    // What a scan codes, the frame before it says.
    if (marker === 0xda && !hasFrame) throw broken();
    const segmentEnd = marker === 0xda ? endOfScan(file, end) : end;
    if (kept.has(marker)) parts.push(file.subarray(at, segmentEnd));
    else if (!(marker >= 0xe0 && marker <= 0xef) && marker !== 0xfe) throw broken();
    at = segmentEnd;
    if (file[at] === 0xff && file[at + 1] === 0xd9) break;
  }
  if (!hasFrame) throw broken();
  return Buffer.concat([...parts, Buffer.from([0xff, 0xd9])]);
}

function checkFrame(segment: Buffer, isSecond: boolean): void {
  if (segment.length < 10 || segment[4] !== 8 || isSecond) throw broken();
  checkSides(segment.readUInt16BE(7), segment.readUInt16BE(5));
  // Of four, nobody can tell what they mean without a colour profile.
  if (segment[9] !== 1 && segment[9] !== 3) throw new LogoRefused('The logo is a CMYK picture: save it as RGB.');
}

/** Coded data goes on to the next marker that is neither a stuffed byte nor a restart. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = from; at + 1 < file.length; at++) {
    const next = file[at + 1]!;
    if (file[at] === 0xff && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw broken();
}

function broken(): LogoRefused {
  return new LogoRefused('The logo is a damaged JPEG, or of a kind that is not taken: save it again as baseline RGB.');
}

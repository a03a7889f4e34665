/**
 * HMAC-SHA256 (RFC 2104; FIPS 198-1) of two digests that are each one call. Node's `createHmac` makes an object of the
 * library's for each, looks the digest up again and hands the pieces over one by one: twice as long, and there are four for
 * each document that is issued (docs/decisions/0071-less-to-write.md).
 */
import { hash } from 'node:crypto';
import { mostOfAll, type Piece, writePieces } from '../fiscal/utf8.ts';

/** Of a text in one piece or several: 32 bytes. */
export type Hmac = (pieces: readonly Piece[]) => Buffer;

/** Of SHA-256, in bytes. */
const block = 64;
const digest = 32;
/** Longer texts have a buffer of their own. */
const most_kept = 256 * 1024;

/** What is hashed, kept from one call to the next: nothing waits between its writing and its reading. */
let kept = Buffer.alloc(16 * 1024);

function room(bytes: number): Buffer {
  if (bytes <= kept.length) return kept;
  const made = Buffer.alloc(2 * bytes);
  if (made.length <= most_kept) kept = made;
  return made;
}

/** Under one key, of at most a block. */
export function hmacOf(key: Uint8Array): Hmac {
  if (key.length > block) throw new Error('a key of more than a block would be hashed first');
  const before = (padding: number) =>
    Buffer.from(Uint8Array.from({ length: block }, (_, i) => (key[i] ?? 0) ^ padding));
  const inner = before(0x36);
  const outer = Buffer.concat([before(0x5c), Buffer.alloc(digest)]);
  return (pieces) => {
    const text = room(block + mostOfAll(pieces));
    text.set(inner);
    const end = writePieces(text, block, pieces);
    outer.write(hash('sha256', text.subarray(0, end), 'binary'), block, 'latin1');
    return Buffer.from(hash('sha256', outer, 'binary'), 'binary');
  };
}

import { mostOfAll, type Piece, writePieces } from '../src/fiscal/utf8.ts';

/** The bytes of pieces, one behind the other. */
export function bytesOf(pieces: readonly Piece[]): Buffer {
  const to = Buffer.alloc(mostOfAll(pieces));
  return to.subarray(0, writePieces(to, 0, pieces));
}

/**
 * Replies in JSON, as they go out. One of many long parts is put together once, as the bytes of the answer: as texts that are
 * joined, each part would be copied three times on its way to the socket (docs/decisions/0074-answers-as-bytes.md).
 */
import { assert } from '../fiscal/refusal.ts';
import { mostOfAll, type Piece, type Utf8, utf8, writePieces } from '../fiscal/utf8.ts';
import { fold, foldNames } from '../print/folded.ts';

/** JSON as it goes out: of one byte a character, or the bytes themselves. */
export type Body = Utf8 | Buffer;

/**
 * A reply that is JSON. Its parts are put together when it is asked for, of what is written behind the write: nothing that may
 * fail is left for then.
 */
export class Rendered {
  readonly #pieces: readonly Piece[];
  readonly #folded: readonly Piece[] | undefined;
  #body: Body | undefined;

  /** `folded`: the same as `fold` (print/folded.ts) makes it, or shorter, where it is known; pieces of more than one need it. */
  constructor(pieces: readonly Piece[], folded?: readonly Piece[]) {
    this.#pieces = pieces;
    this.#folded = folded;
  }

  /** How it is recorded. */
  folded(): readonly Piece[] {
    return this.#folded ?? this.#pieces.map(foldPiece);
  }

  /** Bytes that it takes at most. */
  get most(): number {
    return mostOfAll(this.#pieces);
  }

  /** As it goes out. What is one text stays one: Node writes it with the headers. */
  body(): Body {
    this.#body ??= bodyOf(this.#pieces);
    return this.#body;
  }
}

function foldPiece(piece: Piece): Piece {
  assert(typeof piece === 'string', 'what is written as bytes is recorded otherwise than it is told');
  return foldNames(fold(piece));
}

/** What `show` has made in JSON, unless that is a Download. */
export const renderedOf = (shown: unknown): Rendered =>
  shown instanceof Rendered ? shown : new Rendered([utf8(JSON.stringify(shown))]);

function bodyOf(pieces: readonly Piece[]): Body {
  const [first] = pieces;
  return pieces.length === 1 && typeof first === 'string' ? first : assembled(pieces);
}

/** Answers are cut from pieces of so many bytes, none of which is written twice: to ask for memory takes longer than a copy. */
const slab_bytes = 96 * 1024;
let slab = Buffer.alloc(0);
let used = 0;

function assembled(pieces: readonly Piece[]): Buffer {
  const most = mostOfAll(pieces);
  if (most > slab_bytes / 2) return cut(Buffer.allocUnsafeSlow(most), 0, most, pieces);
  if (most > slab.length - used) {
    slab = Buffer.allocUnsafeSlow(slab_bytes);
    used = 0;
  }
  const made = cut(slab, used, most, pieces);
  used += made.length;
  return made;
}

function cut(to: Buffer, start: number, most: number, pieces: readonly Piece[]): Buffer {
  const end = writePieces(to, start, pieces);
  assert(end - start <= most, 'a piece takes no more than it says');
  return to.subarray(start, end);
}

/**
 * Texts as the bytes of their UTF-8, in a string of one character per byte. What is sealed, recorded and answered is put
 * together of the same long texts, and each of the three would encode them anew; such a string is joined and cut like any
 * other, its length is that of its bytes, and it goes out as "latin1", which copies.
 */

declare const utf8Encoded: unique symbol;
/** Made here only. Where text is asked for it means something else: what is not ASCII in it is two characters or more. */
export type Utf8 = string & { readonly [utf8Encoded]: true };

/** Of a text; half of a surrogate pair becomes U+FFFD, as wherever text is encoded. Not of what is encoded already. */
export function utf8<T extends string>(text: T extends Utf8 ? never : T): Utf8 {
  // ASCII, as most texts are, is its own encoding.
  return (Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')) as unknown as Utf8;
}

/** The same in one piece, for what is read often: text that was joined is a tree, which each reader would walk. */
export const flatUtf8 = (text: string): Utf8 => Buffer.from(text).toString('latin1') as Utf8;

/** A tag for templates: what stands between the pieces is ASCII. */
export function utf8Of(between: TemplateStringsArray, ...pieces: readonly Utf8[]): Utf8 {
  let whole = between[0]!;
  for (let at = 0; at < pieces.length; at += 1) whole += pieces[at]! + between[at + 1]!;
  return whole as Utf8;
}

/** Encoded texts one behind the other. `between` is ASCII. */
export const joinUtf8 = (pieces: readonly Utf8[], between: string): Utf8 => pieces.join(between) as Utf8;

/** What writes its bytes itself where it is asked to. */
export interface Written {
  /** So many bytes at most. */
  readonly most: number;
  /** Returns where they end. */
  readonly writeTo: (to: Buffer, start: number) => number;
}

/** A part of a text that is put together as bytes: none of its parts is copied for that but to its place. */
export type Piece = Utf8 | Written;

/** Shorter ones are copied one by one: to make a view of them takes longer. */
const shortest_viewed = 64;

/** Bytes of UTF-8 within others. */
export class Span implements Written {
  readonly #bytes: Buffer;
  readonly #from: number;
  readonly #to: number;

  constructor(bytes: Buffer, from: number, to: number) {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  get most(): number {
    return this.#to - this.#from;
  }

  view(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }

  writeTo(to: Buffer, start: number): number {
    const [bytes, from, length] = [this.#bytes, this.#from, this.#to - this.#from];
    if (length >= shortest_viewed) to.set(bytes.subarray(from, this.#to), start);
    else for (let i = 0; i < length; i += 1) to[start + i] = bytes[from + i]!;
    return start + length;
  }
}

/** Bytes that a piece takes at most. */
export const mostOf = (piece: Piece): number => (typeof piece === 'string' ? piece.length : piece.most);

/** Bytes that pieces take at most together. */
export function mostOfAll(pieces: readonly Piece[]): number {
  let most = 0;
  for (const piece of pieces) most += mostOf(piece);
  return most;
}

/** Writes pieces one behind the other, where there is room for the most they take. Returns where they end. */
export function writePieces(to: Buffer, start: number, pieces: readonly Piece[]): number {
  let at = start;
  for (const piece of pieces) {
    at = typeof piece === 'string' ? at + to.write(piece, at, 'latin1') : piece.writeTo(to, at);
  }
  return at;
}

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

/** Apart again where they were joined, by what is in none of them. */
export const splitUtf8 = (encoded: Utf8, between: string): Utf8[] => encoded.split(between) as Utf8[];

/** The codewords of error correction: Reed–Solomon over GF(256) (ISO/IEC 18004:2015, 7.5.2 and annex A). Pure. */

/** Parity codewords are held as eight words of 32 bits from the left: the longest in use are 30 bytes. */
const words = 8;

/** Of each number of parity codewords (22 to 30, 8 kB each), what a byte that leaves the register adds to it. */
const tables: (Int32Array | undefined)[] = [];

/**
 * Writes the parity of the bytes from `start` to `end` behind `to`, both in `bytes`. The division shifts all of the register
 * by one byte at a time: in words it takes a quarter of the steps that bytes take, and none of them has a branch.
 */
export function writeParity(bytes: Uint8Array, start: number, end: number, to: number, length: number): void {
  tables[length] ??= tableOf(length);
  const table = tables[length];
  let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let i = start; i < end; i++) {
    const at = ((a >>> 24) ^ bytes[i]!) * words;
    a = ((a << 8) | (b >>> 24)) ^ table[at]!;
    b = ((b << 8) | (c >>> 24)) ^ table[at + 1]!;
    c = ((c << 8) | (d >>> 24)) ^ table[at + 2]!;
    d = ((d << 8) | (e >>> 24)) ^ table[at + 3]!;
    e = ((e << 8) | (f >>> 24)) ^ table[at + 4]!;
    f = ((f << 8) | (g >>> 24)) ^ table[at + 5]!;
    g = ((g << 8) | (h >>> 24)) ^ table[at + 6]!;
    h = (h << 8) ^ table[at + 7]!;
  }
  register[0] = a;
  register[1] = b;
  register[2] = c;
  register[3] = d;
  register[4] = e;
  register[5] = f;
  register[6] = g;
  register[7] = h;
  for (let i = 0; i < length; i++) bytes[to + i] = register[i >> 2]! >>> (24 - 8 * (i & 3));
}

const register = new Int32Array(words);

/** Each byte times the generator polynomial, whose leading 1 is left out. */
function tableOf(length: number): Int32Array {
  const generator = generatorOf(length);
  const table = new Int32Array(256 * words);
  for (let byte = 0; byte < 256; byte++)
    for (let i = 0; i < length; i++)
      table[byte * words + (i >> 2)]! |= times(generator[i]!, byte) << (24 - 8 * (i & 3));
  return table;
}

/** The product of x − 2ⁱ for the first powers, from the second highest coefficient on (annex A). */
function generatorOf(length: number): Uint8Array {
  const generator = new Uint8Array(length);
  generator[length - 1] = 1;
  for (let i = 0, root = 1; i < length; i++, root = times(root, 2))
    for (let j = 0; j < length; j++) generator[j] = times(generator[j]!, root) ^ (generator[j + 1] ?? 0);
  return generator;
}

/** A product in GF(256), modulo x⁸ + x⁴ + x³ + x² + 1. */
function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    if ((other >> bit) & 1) product ^= one;
  }
  return product;
}

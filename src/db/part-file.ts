/** What a file is called until it is whole. */
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

/** Bytes; what file systems take. */
const longest_name = 255;

/**
 * A name that nobody has, beside the file's own: that, a dot, two signs for each of `bytes`, ".part". Of a long name there is
 * as much as fits.
 */
export function partOf(path: string, bytes: number): string {
  const end = `.${randomBytes(bytes).toString('hex')}.part`;
  const signs = [...basename(path)];
  while (Buffer.byteLength(signs.join('')) + end.length > longest_name) signs.pop();
  return join(dirname(path), `${signs.join('')}${end}`);
}

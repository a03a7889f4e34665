// A chain of signatures: the key's size and the way of signing are the product's (RSA-SHA1, 1024 bits, a kept key object), each
// text ends in the signature before it.
import { createSign, generateKeyPairSync } from 'node:crypto';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
let last = '';

/** Signs the n-th text of the chain. */
export function signNext(n) {
  const text = `2026-11-20;2026-11-20T10:00:00;FT A2026/${n};123.45;${last}`;
  last = createSign('RSA-SHA1').update(text, 'utf8').sign(privateKey, 'base64');
  return last;
}

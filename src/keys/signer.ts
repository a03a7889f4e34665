/**
 * The signer of the hash chain: RSA 1024 with SHA-1, PKCS#1 v1.5 (Despacho 8632/2014, points 4 to 7), handed in
 * wherever something is signed, so that it may run in this process, in a worker or elsewhere.
 */

import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import { type SignedParts, signedText } from '../fiscal/hash-chain.ts';
import { assert } from '../fiscal/refusal.ts';

export interface SignedChain {
  /** One signature per text, 172 characters of Base64 each. */
  readonly signatures: readonly string[];
  readonly keyVersion: number;
}

/**
 * Signs documents of one series in order: each text ends in the signature before it (hash chain, section 2). `before`: that
 * signature ('' before the first), or the call that is going to give it, which need not be answered yet.
 */
export type SignChain = (before: string | Promise<SignedChain>, parts: readonly SignedParts[]) => Promise<SignedChain>;

/** Signs with one version of the installation's key. */
export interface Signer {
  readonly keyVersion: number;
  readonly sign: SignChain;
}

/**
 * Signs in this process with a kept KeyObject (parsing the PEM at each call is 6 times slower).
 */
export function localSigner(privatePem: string, keyVersion: number): Signer {
  const key = createPrivateKey(privatePem);
  checkKey(key);
  return {
    keyVersion,
    async sign(before, parts) {
      const signatures: string[] = [];
      let last = typeof before === 'string' ? before : lastOf(await before);
      for (const part of parts) {
        last = createSign('RSA-SHA1').update(signedText(part, last), 'utf8').sign(key, 'base64');
        signatures.push(last);
      }
      return { signatures, keyVersion };
    },
  };
}

/** What the next one is signed behind. */
export function lastOf({ signatures }: SignedChain): string {
  const last = signatures.at(-1);
  assert(last !== undefined, 'what is signed behind others is signed behind one at least');
  return last;
}

/** A new 1024-bit pair: the length the SAF-T hash field holds (172 characters). PEM, PKCS#8 and SPKI. */
export function generateSigningKey(): { privatePem: string; publicPem: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 1024,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: pair.privateKey, publicPem: pair.publicKey };
}

/** The public half (SPKI PEM) of a private key in PEM; refuses a key that can't sign documents. */
export function publicPemOf(privatePem: string): string {
  const key = createPrivateKey(privatePem);
  checkKey(key);
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}

/** Proves at start that this machine's OpenSSL still permits SHA-1 with 1024 bits, and that the pair fits. */
export function proveSigner(privatePem: string, publicPem: string): void {
  const signature = createSign('RSA-SHA1').update('certo').sign(privatePem, 'base64');
  const good = createVerify('RSA-SHA1').update('certo').verify(publicPem, signature, 'base64');
  if (!good || signature.length !== 172)
    throw new Error('the signing key does not sign as the law asks (RSA 1024, SHA-1)');
}

function checkKey(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== 1024) {
    throw new Error('the signing key must be RSA with 1024 bits (Despacho 8632/2014)');
  }
}

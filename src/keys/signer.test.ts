import { createVerify, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { type SignedParts, signedText } from '../fiscal/hash-chain.ts';
import { generateSigningKey, localSigner, proveSigner, publicPemOf } from './signer.ts';

const pair = generateSigningKey();
const parts = (sequence: number): SignedParts => ({
  date: '2026-03-02',
  systemEntry: `2026-03-02T10:15:0${sequence}`,
  number: `FT A2026/${sequence}`,
  grossTotal: '166.22',
});
const verifies = (text: string, signature: string) =>
  createVerify('RSA-SHA1').update(text, 'utf8').verify(pair.publicPem, signature, 'base64');

function pemOf(type: 'rsa' | 'ec', modulusLength = 2048): string {
  const pair =
    type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

test('each signature verifies over its parts and the signature before it', async () => {
  const { sign } = localSigner(pair.privatePem, 3);
  const first = await sign('', [parts(1), parts(2)]);
  const more = await sign(first.signatures[1]!, [parts(3)]);
  const chain = [...first.signatures, ...more.signatures];
  chain.forEach((signature, at) => {
    expect(signature).toMatch(/^[A-Za-z0-9+/]{171}=$/);
    expect(verifies(signedText(parts(at + 1), chain[at - 1] ?? ''), signature)).toBe(true);
    expect(verifies(signedText({ ...parts(at + 1), grossTotal: '166.23' }, chain[at - 1] ?? ''), signature)).toBe(
      false,
    );
    expect(verifies(signedText(parts(at + 1), chain[at] ?? ''), signature)).toBe(false);
  });
  expect([first.keyVersion, more.keyVersion]).toEqual([3, 3]);
});

test('signing is deterministic (PKCS#1 v1.5) and signing nothing signs nothing', async () => {
  const { sign } = localSigner(pair.privatePem, 1);
  expect(await sign('', [parts(1)])).toEqual(await sign('', [parts(1)]));
  expect(await sign('', [])).toEqual({ signatures: [], keyVersion: 1 });
});

test('only RSA with 1024 bits signs documents', () => {
  expect(() => localSigner(pemOf('rsa', 2048), 1)).toThrow('RSA with 1024 bits');
  expect(() => publicPemOf(pemOf('rsa', 2048))).toThrow('RSA with 1024 bits');
  expect(() => localSigner(pemOf('ec'), 1)).toThrow('RSA with 1024 bits');
  expect(() => localSigner('nonsense', 1)).toThrow();
});

test('the public half of a private key is the published form', () => {
  expect(publicPemOf(pair.privatePem)).toBe(pair.publicPem);
  expect(pair.publicPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n[\s\S]+-----END PUBLIC KEY-----\n$/);
});

test('a pair that does not fit is found at start', () => {
  proveSigner(pair.privatePem, pair.publicPem);
  expect(() => proveSigner(pair.privatePem, generateSigningKey().publicPem)).toThrow('does not sign as the law asks');
});

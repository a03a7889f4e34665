/**
 * The WS-Security header that all three services of the AT ask for (integration manuals, generic part): a fresh
 * 16-byte key per request, encrypted with the AT's public key, encrypts the password and the time of the request.
 */

import type { KeyObject } from 'node:crypto';
import { constants, createCipheriv, createPublicKey, publicEncrypt, X509Certificate } from 'node:crypto';
import { group, leaf } from './write-xml.ts';

export const securityNamespace = 'http://schemas.xmlsoap.org/ws/2002/12/secext';

export interface SecurityInput {
  /** "NIF/n". */
  readonly username: string;
  readonly password: string;
  readonly atPublicKey: KeyObject;
  readonly now: Date;
  /** 16 random bytes, never used before: a repeat is refused with 12 (13 for transport). */
  readonly sessionKey: Uint8Array;
}

/** The whole `wss:Security` element. */
export function securityHeader(input: SecurityInput): string {
  if (input.sessionKey.length !== 16) throw new Error('assertion failed: the session key has 16 bytes');
  const token = group(
    'wss:UsernameToken',
    leaf('wss:Username', input.username),
    leaf('wss:Password', encrypt(input.sessionKey, input.password)),
    leaf('wss:Nonce', wrapKey(input.atPublicKey, input.sessionKey)),
    leaf('wss:Created', encrypt(input.sessionKey, input.now.toISOString())),
  );
  return `<wss:Security xmlns:wss="${securityNamespace}">${token}</wss:Security>`;
}

/** AES-128-ECB with PKCS#5 padding over UTF-8, in Base64: the AT's choice, safe only since each key is used once. */
export function encrypt(sessionKey: Uint8Array, text: string): string {
  const cipher = createCipheriv('aes-128-ecb', sessionKey, null);
  return cipher.update(text, 'utf8', 'base64') + cipher.final('base64');
}

// PKCS#1 v1.5: the manual names no padding; both public clients in production use this one.
function wrapKey(key: KeyObject, sessionKey: Uint8Array): string {
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, sessionKey).toString('base64');
}

/**
 * The AT's cipher key from the file the AT hands out: a certificate (PEM or DER; "Chave Cifra Publica AT 2027.cer")
 * or a public key in PEM. `validTo` is when the certificate ends. Throws on anything else.
 */
export function readAtPublicKey(file: Uint8Array): { key: KeyObject; validTo?: Date | undefined } {
  const text = Buffer.from(file).toString('latin1');
  if (text.includes('-----BEGIN PUBLIC KEY-----') || text.includes('-----BEGIN RSA PUBLIC KEY-----')) {
    return { key: checked(createPublicKey(text)) };
  }
  const certificate = new X509Certificate(file);
  return { key: checked(certificate.publicKey), validTo: new Date(certificate.validTo) };
}

function checked(key: KeyObject): KeyObject {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== 'rsa' || bits < 2048)
    throw new Error('the AT cipher key must be RSA with 2048 bits or more');
  return key;
}

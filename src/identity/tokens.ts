/**
 * Opaque tokens: a prefix that says what it is, 256 random bits in base62, and a checksum so that a mistyped or
 * truncated token is told apart without asking the database. Only the SHA-256 of a token is ever stored.
 */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** API key, client secret, access token, refresh token, authorization code. */
export type TokenPrefix = 'svc_sk_' | 'svc_cs_' | 'svc_at_' | 'svc_rt_' | 'svc_ac_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 43; // 62^43 > 2^256
const checksumLength = 6; // 62^6 > 2^32

/** A new token from 32 random bytes (handed in: chance is never taken inside). */
export function mintToken(prefix: TokenPrefix, random: Uint8Array): string {
  if (random.length !== 32) throw new Error('a token needs 32 random bytes');
  const body = prefix + base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), randomLength);
  return body + checksum(body);
}

/** Whether the text has the form of a token of this kind, checksum included. */
export function looksLikeToken(prefix: TokenPrefix, text: string): boolean {
  if (text.length !== prefix.length + randomLength + checksumLength || !text.startsWith(prefix)) return false;
  const body = text.slice(0, -checksumLength);
  return checksum(body) === text.slice(-checksumLength);
}

/** What is stored of a token: its SHA-256. A fast hash is enough for 256 random bits. */
export function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** The part of a token that may be shown in lists to recognise it. */
export function tokenHint(token: string): string {
  return token.slice(0, 'svc_sk_'.length + 6);
}

// In plain numbers: each request with a credential comes by here.
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}

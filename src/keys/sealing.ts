/**
 * Sealing of secrets at rest: AES-256-GCM under keys derived from one master key (HKDF-SHA256, RFC 5869), one per
 * purpose, so that a sealed AT password can't be opened as a signing key. Form: version byte, 12-byte nonce,
 * ciphertext, 16-byte tag; the purpose is also bound as associated data.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Mac } from '../fiscal/seal.ts';
import { type Piece, utf8 } from '../fiscal/utf8.ts';
import { type Hmac, hmacOf } from './hmac.ts';

/** What is sealed or proved under one purpose's key means nothing under another's. */
export type Purpose = 'at-password' | 'signing-key' | 'links' | 'books-seal' | 'backup' | 'fingerprint';

export interface MasterKey {
  seal(purpose: Purpose, clear: Uint8Array): Buffer;
  /** Throws when the text was sealed under another master key or changed. */
  open(purpose: Purpose, sealed: Uint8Array): Buffer;
  /** HMAC-SHA256 under the purpose's key, of a text in one piece or several. */
  mac(purpose: Purpose, ...pieces: readonly Piece[]): Buffer;
}

/** The master key from its 32 bytes. */
export function masterKey(secret: Uint8Array): MasterKey {
  if (secret.length !== 32) throw new Error('the master key must have 32 bytes');
  const derived = new Map<Purpose, Buffer>();
  const macs = new Map<Purpose, Hmac>();
  const keyFor = (purpose: Purpose): Buffer => {
    let key = derived.get(purpose);
    if (key === undefined) {
      key = Buffer.from(hkdfSync('sha256', secret, 'certo', purpose, 32));
      derived.set(purpose, key);
    }
    return key;
  };
  return {
    seal(purpose, clear) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce);
      cipher.setAAD(Buffer.from(purpose));
      return Buffer.concat([Buffer.of(1), nonce, cipher.update(clear), cipher.final(), cipher.getAuthTag()]);
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed);
      if (bytes.length < 29 || bytes[0] !== 1) throw new Error(`not a sealed ${purpose}`);
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), bytes.subarray(1, 13));
      decipher.setAAD(Buffer.from(purpose));
      decipher.setAuthTag(bytes.subarray(-16));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(13, -16)), decipher.final()]);
      } catch {
        throw new Error(`the sealed ${purpose} cannot be opened: it was sealed under another master key or changed`);
      }
    },
    mac(purpose, ...pieces) {
      let mac = macs.get(purpose);
      if (mac === undefined) {
        mac = hmacOf(keyFor(purpose));
        macs.set(purpose, mac);
      }
      return mac(pieces);
    },
  };
}

/** What seals the books: their own key, derived from the master key. */
export function booksSeal(master: MasterKey): Mac {
  return (...pieces) => master.mac('books-seal', ...pieces);
}

/** What seals a backup: it was written by an installation with this master key. */
export function backupSeal(master: MasterKey): (text: string) => Buffer {
  return (text) => master.mac('backup', utf8(text));
}

/** Tells this master key from any other, and nothing of it: 32 bytes. */
export function keyFingerprint(master: MasterKey): Buffer {
  return master.mac('fingerprint', utf8('certo'));
}

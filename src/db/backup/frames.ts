/**
 * The form of a backup file. It begins with a line that names it, then come frames: one byte that says what it is, four
 * bytes of length (big-endian), and so many bytes.
 *
 *   M  the manifest, JSON
 *   T  a table begins: its name
 *   D  a piece of its rows, PostgreSQL's COPY text under gzip
 *   E  the table's end: SHA-256 of its rows before compression, 32 bytes
 *   Z  the end: SHA-256 of every byte before this frame, the HMAC of it under the installation's master key, and SHA-256 of
 *      these two, by which a damaged HMAC is told from another key's
 *
 * One manifest, each table of it in its order, one end, and nothing behind it. The form before this one has an end without
 * the last checksum, and is read still.
 */
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** The first line; its number is the version of this form. */
export const firstLine = Buffer.from('CERTO BACKUP 2\n');
export const firstLineBefore = Buffer.from('CERTO BACKUP 1\n');
/** Bytes of a frame's content, at most: a length that was changed may not ask for more memory. */
export const most_bytes = 4 * 1024 * 1024;
/** What is before a frame's content: its kind and its length. */
export const head_bytes = 5;

export type Kind = 'M' | 'T' | 'D' | 'E' | 'Z';

export interface Frame {
  readonly kind: Kind;
  readonly bytes: Buffer;
}

/** Writes frames one after the other into an open file and digests what it writes. */
export class FrameWriter {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  written = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async begin(): Promise<void> {
    await this.#put(firstLine);
  }

  async write(kind: Exclude<Kind, 'Z'>, bytes: Buffer): Promise<void> {
    await this.#put(frameOf(kind, bytes));
  }

  /** The last frame; `seal` is the HMAC under the master key. Returns the digest of the file. */
  async end(seal: (text: string) => Buffer): Promise<string> {
    const digest = this.#hash.copy().digest();
    const sealed = Buffer.concat([digest, seal(digest.toString('hex'))]);
    await this.#put(frameOf('Z', Buffer.concat([sealed, createHash('sha256').update(sealed).digest()])));
    return digest.toString('hex');
  }

  async #put(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    // A file system may take a part only.
    for (let at = 0; at < bytes.length; )
      at += (await this.#file.write(bytes, at, bytes.length - at, null)).bytesWritten;
    this.written += bytes.length;
  }
}

function frameOf(kind: Kind, bytes: Buffer): Buffer {
  if (bytes.length > most_bytes) throw new Error(`a frame of ${bytes.length} bytes is too large`);
  const head = Buffer.alloc(head_bytes);
  head.write(kind, 0, 'latin1');
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

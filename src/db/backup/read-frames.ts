/** Reading a backup file frame by frame. Nothing of it is believed: every length, order and digest is checked. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Refusal } from '../../fiscal/refusal.ts';
import { type Frame, firstLine, firstLineBefore, head_bytes, type Kind, most_bytes } from './frames.ts';

/** The end of the file, checked against everything before it. */
export interface FileEnd {
  /** SHA-256 of every byte before the last frame, in hexadecimal. */
  readonly digest: string;
  /** HMAC of it under the master key of whoever wrote the file. */
  readonly seal: Buffer;
}

/** BACKUP_DAMAGED with what is wrong. */
export function damaged(problem: string): Refusal {
  return new Refusal('BACKUP_DAMAGED', { problem });
}

/**
 * The frames up to the last one, whose content is returned. `passed` hears how many bytes were read. Throws NOT_A_BACKUP,
 * BACKUP_DAMAGED, and what the file system throws.
 */
export async function* readFrames(path: string, passed: (bytes: number) => void): AsyncGenerator<Frame, FileEnd> {
  const input = new Input(path, passed);
  const first = await input.take(firstLine.length);
  const isOfBefore = first?.equals(firstLineBefore) === true;
  if (!isOfBefore && first?.equals(firstLine) !== true) throw new Refusal('NOT_A_BACKUP', { file: path });
  try {
    for (;;) {
      // The last frame holds the digest of what stands before it.
      const before = input.hash.copy();
      const frame = await nextFrame(input);
      if (frame.kind !== 'Z') {
        yield frame;
        continue;
      }
      const end = endOf(frame.bytes, before, isOfBefore);
      if ((await input.take(1)) !== undefined) throw damaged('something stands behind its end');
      return end;
    }
  } finally {
    input.close();
  }
}

async function nextFrame(input: Input): Promise<Frame> {
  const head = await input.take(head_bytes);
  if (head === undefined) throw damaged('it ends early');
  const kind = head.toString('latin1', 0, 1);
  const length = head.readUInt32BE(1);
  if (!/^[MTDEZ]$/.test(kind) || length > most_bytes) throw damaged('a piece of it has no known form');
  const bytes = await input.take(length);
  if (bytes === undefined) throw damaged('it ends early');
  return { kind: kind as Kind, bytes };
}

function endOf(bytes: Buffer, before: Hash, isOfBefore: boolean): FileEnd {
  const digest = before.digest();
  const sealed = bytes.subarray(0, 64);
  const rest = isOfBefore ? Buffer.alloc(0) : createHash('sha256').update(sealed).digest();
  if (sealed.length !== 64 || !sealed.subarray(0, 32).equals(digest) || !bytes.subarray(64).equals(rest))
    throw damaged('its checksum does not fit its content');
  return { digest: digest.toString('hex'), seal: sealed.subarray(32) };
}

/** A file's bytes in the lengths that are asked for. */
class Input {
  readonly hash = createHash('sha256');
  readonly #stream;
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #passed: (bytes: number) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string, passed: (bytes: number) => void) {
    this.#stream = createReadStream(path, { highWaterMark: 1 << 18 });
    this.#pieces = this.#stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#passed = passed;
  }

  /** Undefined when so many are not left. */
  async take(length: number): Promise<Buffer | undefined> {
    // What is left of a piece stays where it is: copied for each frame, a megabyte of empty ones took six seconds.
    const parts: Buffer[] = [];
    for (let missing = length; ; ) {
      const part = this.#rest.subarray(0, missing);
      parts.push(part);
      missing -= part.length;
      this.#rest = this.#rest.subarray(part.length);
      if (missing === 0) break;
      const { value, done } = await this.#pieces.next();
      if (done === true) return undefined;
      this.#passed(value.length);
      this.#rest = value;
    }
    const taken = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    this.hash.update(taken);
    return taken;
  }

  close(): void {
    this.#stream.destroy();
  }
}

/**
 * Files on their way to a caller. A file is written whole into a temporary one before its answer begins: an error on the
 * way is still a refusal, and a slow caller holds a file, not a snapshot of the database. The temporary file has no
 * name once it is open, so the system frees it with the last handle, also when the process is killed.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { giveToOwner } from '../db/belongings.ts';
import { isForWantOfRoom } from '../db/data-directory.ts';
import { type Patience, Turns } from '../db/turns.ts';
import { Refusal } from '../fiscal/refusal.ts';
import type { Download } from '../operations/operation.ts';
import { retry_seconds } from './guarded.ts';

export interface SpoolOptions {
  /** Folder of the temporary files; made when it is missing. */
  readonly directory: string;
  /** Downloads of one company at once, from the request to the last byte sent. */
  readonly perCompany: number;
  /** Files being written at once, one of each company. */
  readonly writing: number;
  /** Downloads of all companies at once, those that wait to be written too. */
  readonly together: number;
}

export interface Spool {
  /**
   * Writes the download when its turn has come and hands back the file. Throws TOO_MANY_DOWNLOADS, DOWNLOADS_BUSY,
   * UNAVAILABLE when the disk is full, CallerGone once `gone` is aborted, and what the download throws; nothing is left
   * behind then.
   */
  fill(companyId: string, download: Download, gone: AbortSignal): Promise<SpooledFile>;
}

/** The caller hung up while the answer was being made: there is nobody to answer. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** A file that is whole. Its place is free again once the stream of its content is closed. */
export class SpooledFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly #file: FileHandle;
  readonly #freed: () => void;

  constructor(name: string, size: number, file: FileHandle, freed: () => void) {
    this.name = name;
    this.size = size;
    this.#file = file;
    this.#freed = freed;
  }

  /** Its bytes, once. Destroyed when the caller goes. */
  content(gone: AbortSignal): Readable {
    const stream = this.#file.createReadStream({ start: 0, highWaterMark: 1 << 18 });
    stream.once('close', this.#freed);
    const end = () => void stream.destroy();
    if (gone.aborted) end();
    else gone.addEventListener('abort', end, { once: true });
    return stream;
  }
}

const busy_seconds = 5;

/** As `randomUUID` writes one: what a temporary file is called while it has a name. */
const ownName = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Removes what a process that was killed between opening a file and taking its name away has left there. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await giveToOwner(directory);
  // Another process's files have no names any more: what has one of ours is nobody's. Nothing else is removed, nor any folder:
  // whose the data folder is may have put a link to another one here, and root would empty that.
  for (const left of await readdir(directory, { withFileTypes: true })) {
    if (left.isFile() && ownName.test(left.name)) await rm(join(directory, left.name), { force: true });
  }
  const held = new Map<string, number>();
  let together = 0;
  // One of each company, so that none has all places.
  const turns = new Turns({ perSubject: 1, together: options.writing });

  function enter(companyId: string): () => void {
    const own = held.get(companyId) ?? 0;
    if (own >= options.perCompany) {
      throw new Refusal('TOO_MANY_DOWNLOADS', { limit: options.perCompany }, { retryAfterSeconds: busy_seconds });
    }
    if (together >= options.together) {
      throw new Refusal('DOWNLOADS_BUSY', {}, { retryAfterSeconds: busy_seconds });
    }
    held.set(companyId, own + 1);
    together += 1;
    return () => {
      together -= 1;
      const left = held.get(companyId)! - 1;
      if (left === 0) held.delete(companyId);
      else held.set(companyId, left);
    };
  }

  async function openNameless(): Promise<FileHandle> {
    const path = join(directory, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await rm(path, { force: true });
    return file;
  }

  return {
    async fill(companyId, download, gone) {
      const leave = enter(companyId);
      let file: FileHandle | undefined;
      try {
        if (gone.aborted) throw new CallerGone();
        const written = async () => {
          file = await openNameless();
          const size = await writeInto(file, download, gone);
          return new SpooledFile(download.name, size, file, leave);
        };
        return await turns.during(companyId, written, untilGone(gone));
      } catch (error) {
        // First, whatever becomes of the file: a place that is not given back is lost until the process ends.
        leave();
        // What could not be written matters; how its file was closed does not, and the system frees it.
        await file?.close().catch(() => undefined);
        throw toldOf(error);
      }
    },
  };
}

/** Until nobody waits for the file any more. */
const untilGone =
  (gone: AbortSignal): Patience =>
  (tooLate) => {
    const leave = () => tooLate(new CallerGone());
    gone.addEventListener('abort', leave, { once: true });
    return () => gone.removeEventListener('abort', leave);
  };

/** Resolves with how many bytes it has. */
async function writeInto(file: FileHandle, download: Download, gone: AbortSignal): Promise<number> {
  let size = 0;
  await download.write(async (bytes) => {
    if (gone.aborted) throw new CallerGone();
    await file.writeFile(bytes);
    size += bytes.length;
  });
  return size;
}

function toldOf(error: unknown): unknown {
  if (!isForWantOfRoom(error)) return error;
  const refusal = new Refusal('UNAVAILABLE', {}, { retryAfterSeconds: retry_seconds.later });
  refusal.cause = error;
  return refusal;
}

/** Reading a whole backup in its order, in constant memory: its manifest, then the rows of each table. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Refusal } from '../../fiscal/refusal.ts';
import type { Frame } from './frames.ts';
import { type CopiedTable, type Manifest, readManifest } from './manifest.ts';
import { damaged, type FileEnd, readFrames } from './read-frames.ts';

export interface Visit {
  /** Before any table. */
  readonly manifest?: (manifest: Manifest) => Promise<void> | void;
  /** Takes the rows of one table, all of them; without it they are only checked. */
  readonly table?: (table: CopiedTable, rows: AsyncIterable<Buffer>) => Promise<void>;
  /** Hears of bytes of the file that were read. */
  readonly passed?: (bytes: number) => void;
}

export interface BackupRead extends FileEnd {
  readonly manifest: Manifest;
}

type Frames = AsyncGenerator<Frame, FileEnd>;

/**
 * Reads a file to its end and checks all of it; only then is known that it is whole. Throws NOT_A_BACKUP, BACKUP_DAMAGED,
 * what a visitor throws, and what the file system throws.
 */
export async function readBackup(path: string, visit: Visit = {}): Promise<BackupRead> {
  const frames = readFrames(path, visit.passed ?? (() => undefined));
  try {
    const manifest = readManifest((await need(frames, 'M')).toString('utf8'));
    if (manifest === undefined) throw damaged('its first page cannot be read');
    await visit.manifest?.(manifest);
    for (const table of manifest.tables) {
      const name = (await need(frames, 'T')).toString('utf8');
      if (name !== table.name) throw damaged(`its table ${name} stands where ${table.name} belongs`);
      const rows = rowsOf(frames, table);
      if (visit.table === undefined) for await (const _ of rows);
      else await visit.table(table, rows);
    }
    const last = await frames.next();
    if (last.done !== true) throw damaged('it holds more than its first page says');
    return { manifest, ...last.value };
  } finally {
    await frames.return(undefined as never);
  }
}

async function need(frames: Frames, kind: Frame['kind']): Promise<Buffer> {
  const { value, done } = await frames.next();
  if (done === true || value.kind !== kind) throw damaged('its pieces are not in their order');
  return value.bytes;
}

/** The rows of the table that begins here, checked against its digest and its count when they are at their end. */
async function* rowsOf(frames: Frames, table: CopiedTable): AsyncGenerator<Buffer> {
  const found = { digest: Buffer.alloc(0) };
  const unpack = createGunzip({ chunkSize: 1 << 18 });
  const fed = pipeline(Readable.from(pieces(frames, found)), unpack);
  // Told by what is read out of it.
  fed.catch(() => undefined);
  const hash = createHash('sha256');
  let rows = 0;
  try {
    for await (const chunk of unpack as AsyncIterable<Buffer>) {
      hash.update(chunk);
      rows += lines(chunk);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Refusal || !isZlib(error) ? error : damaged(`its table ${table.name} cannot be unpacked`);
  }
  if (!hash.digest().equals(found.digest)) throw damaged(`its table ${table.name} does not fit its checksum`);
  if (rows !== table.rows) throw damaged(`its table ${table.name} has ${rows} rows instead of ${table.rows}`);
}

async function* pieces(frames: Frames, found: { digest: Buffer }): AsyncGenerator<Buffer> {
  for (;;) {
    const { value, done } = await frames.next();
    if (done === true || (value.kind !== 'D' && value.kind !== 'E')) throw damaged('its pieces are not in their order');
    if (value.kind === 'E') {
      found.digest = value.bytes;
      return;
    }
    yield value.bytes;
  }
}

/** In COPY's text form each row is a line: line breaks in values are escaped. */
function lines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1;
  return count;
}

function isZlib(error: unknown): boolean {
  return /^Z_/.test(String((error as { code?: unknown }).code));
}

/**
 * Files that the operator names. What is no file to read is told by its name, which Node leaves out where a folder is
 * read; of one to write, what is in its way. A file to read is a regular one or a pipe, and has an end: a device may have none.
 */
import { constants, createReadStream, fstatSync, openSync, type Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { largestLogo_bytes } from '../print/logo-limits.ts';
import { CommandError, type ExitCode, exit } from './exit.ts';

/** What a file is read as: how long it may be, and what is said of one that is longer. */
export interface Kind {
  readonly most_bytes: number;
  readonly code: ExitCode;
  readonly tooLong: (name: string) => string;
}

const kib = 2 ** 10;
const gib = 2 ** 30;

/** A key, a certificate or a password: some are a few thousand bytes. */
export const secret: Kind = {
  most_bytes: 1024 * kib,
  code: exit.usage,
  tooLong: (name) => `${name} is too long for a key, a certificate or a password: check its name.`,
};
export const logo: Kind = {
  most_bytes: largestLogo_bytes,
  code: exit.no,
  tooLong: () => `The logo is larger than ${largestLogo_bytes / kib} KiB: make it smaller.`,
};
/** Read whole: its documents are checked against each other. */
export const recoveryFile: Kind = {
  most_bytes: 64 * kib * kib,
  code: exit.usage,
  tooLong: (name) => `${name} is larger than 64 MiB: split it.`,
};
/** Five million documents in one transaction. */
export const efaturaExport: Kind = {
  most_bytes: gib,
  code: exit.usage,
  tooLong: (name) => `${name} is larger than 1 GiB: export shorter periods, and import them one by one.`,
};
/** Checked as it comes, in as much memory whatever its size: so that it has an end. Some twenty million documents. */
export const saftFile: Kind = {
  most_bytes: 32 * gib,
  code: exit.usage,
  tooLong: (name) => `${name} is larger than 32 GiB: export shorter periods, and check them one by one.`,
};

export interface Given {
  /** Bytes; 0 of a pipe. */
  readonly size: number;
  /** The file is opened when they are asked for. Throws CommandError where there are more than `kind` allows. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Throws CommandError for what is no file and no pipe, is not there, or is too long, and what the file system throws. */
export async function given(path: string, kind: Kind): Promise<Given> {
  const found = await lookAt(path);
  if (found.size > kind.most_bytes) throw tooLong(path, kind);
  return { size: found.size, bytes: within(pieces(path, kind), kind, path) };
}

/** Whole. Throws like `given`. */
export async function readGiven(path: string, kind: Kind): Promise<Buffer> {
  const { bytes } = await given(path, kind);
  return buffer(bytes);
}

/** Bytes of a backup, or 0 of a pipe: of what has its own end, at whatever length. Throws like `given`. */
export async function sizeOf(path: string): Promise<number> {
  return (await lookAt(path)).size;
}

/** Bytes of a backup that is read more than once. Throws like `given`, and for a pipe. */
export async function sizeOfFile(path: string): Promise<number> {
  const found = await lookAt(path);
  if (found.isFile()) return found.size;
  throw new CommandError(exit.usage, `${path} is a pipe, and is read twice: write it into a file first.`);
}

/** What is read from elsewhere, as of `given`: standard input, whatever it is. */
export async function* within<T extends Uint8Array | string>(
  input: AsyncIterable<T>,
  kind: Kind,
  name: string,
): AsyncGenerator<T> {
  let left = kind.most_bytes;
  for await (const piece of input) {
    left -= piece.length;
    if (left < 0) throw tooLong(name, kind);
    yield piece;
  }
}

const tooLong = (path: string, kind: Kind): CommandError => new CommandError(kind.code, kind.tooLong(path));

async function lookAt(path: string): Promise<Stats> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    throw new CommandError(exit.usage, `There is no file ${path}: check its name.`);
  });
  checkSort(path, found);
  return found;
}

/** Before it is opened, since some devices begin to work then, and once it is. */
function checkSort(path: string, found: Stats): void {
  if (found.isFile() || found.isFIFO()) return;
  if (found.isDirectory()) throw new CommandError(exit.usage, `${path} is a folder: a file is wanted.`);
  throw new CommandError(
    exit.usage,
    `${path} is a ${found.isSocket() ? 'socket' : 'device'}, not a file: name a file or a pipe.`,
  );
}

/** At most one byte more than `kind` allows of a file that grows. */
async function* pieces(path: string, kind: Kind): AsyncGenerator<Uint8Array> {
  // Without O_NONBLOCK a thread would wait for whoever writes into a pipe, and the process could not end before.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const found = fstatSync(descriptor);
  const stream: Readable = found.isFIFO()
    ? new Socket({ fd: descriptor, readable: true, writable: false })
    : createReadStream(path, { fd: descriptor, end: kind.most_bytes, highWaterMark: 2 ** 18 });
  try {
    checkSort(path, found);
    yield* stream;
  } finally {
    stream.destroy();
  }
}

/** Of a new file in a folder that there is. Throws CommandError. */
export async function checkPlace(path: string): Promise<void> {
  // A link that leads nowhere is in its way, too.
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined) throw new CommandError(exit.usage, `${path} exists already: choose another file.`);
  const folder = dirname(path);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new CommandError(exit.environment, `There is no folder ${folder}: make it first.`);
}

/**
 * Files that the operator names. What is no file to read is told by its name, which Node leaves out where a folder is
 * read; of one to write, what is in its way.
 */
import { createReadStream } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CommandError, exit } from './exit.ts';

/** Bytes. Throws CommandError for a folder and for a file that is not there, and what the file system throws. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    throw new CommandError(exit.usage, `There is no file ${path}: check its name.`);
  });
  if (found.isDirectory()) throw new CommandError(exit.usage, `${path} is a folder: a file is wanted.`);
  return found.size;
}

/** Bytes of a key, a certificate or a password: some are a few thousand, and a device may have no end. */
const longest_given = 2 ** 20;

/** Throws like sizeOf, and for what is longer than anything that is read whole. */
export async function readGiven(path: string): Promise<Buffer> {
  await sizeOf(path);
  const bytes = await buffer(createReadStream(path, { end: longest_given }));
  if (bytes.length <= longest_given) return bytes;
  throw new CommandError(exit.usage, `${path} is too long for a key, a certificate or a password: check its name.`);
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

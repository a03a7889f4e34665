/** Files that the operator names: what is no file is told by its name, which Node leaves out where a folder is read. */
import { readFile, stat } from 'node:fs/promises';
import { CommandError, exit } from './exit.ts';

/** Bytes. Throws CommandError for a folder, and what the file system throws. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path);
  if (found.isDirectory()) throw new CommandError(exit.environment, `${path} is a folder: a file is wanted.`);
  return found.size;
}

/** Throws like sizeOf. */
export async function readGiven(path: string): Promise<Buffer> {
  await sizeOf(path);
  return readFile(path);
}

/**
 * What the embedded server writes: one file, appended to by whichever server runs on the folder, and what was in it before in
 * a second one. Both stay small however long a server runs, and however often somebody makes it complain.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { giveToOwner } from './belongings.ts';
import { partOf } from './part-file.ts';

/** Bytes of the file beyond which it begins anew. */
const most_bytes = 10_000_000;
const { O_APPEND, O_CREAT, O_WRONLY, O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants;

const setAside = (path: string): string => `${path}.1`;

/** For a server that is about to start. `before`: bytes that others have written to it. */
export async function openLog(path: string): Promise<{ before: number; file: FileHandle }> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > most_bytes) await rename(path, setAside(path));
  const file = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  await giveToOwner(path);
  return { before: (await file.stat()).size, file };
}

/**
 * While a server writes to it: sets a copy of a log that has grown too long aside, and empties it. The server has it open to
 * append and goes on at its new end; what it writes between the last look at the file and that is lost, a line at most.
 */
export async function boundLog(path: string): Promise<void> {
  const found = await stat(path);
  if (found.size <= most_bytes) return;
  const file = await open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    // Root empties nothing that its owner has put in the file's place, under whichever name it is elsewhere.
    const { ino, dev, nlink } = await file.stat();
    if (ino !== found.ino || dev !== found.dev || nlink !== 1) return;
    const copy = partOf(setAside(path), 4);
    try {
      await copyAll(file, copy);
      await giveToOwner(copy);
      await rename(copy, setAside(path));
      await file.truncate(0);
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
  } finally {
    await file.close();
  }
}

/** Up to where it ends when it is reached: it grows meanwhile. */
async function copyAll(file: FileHandle, path: string): Promise<void> {
  const copy = await open(path, 'wx', 0o600);
  try {
    const buffer = Buffer.alloc(1_000_000);
    for (;;) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return;
      await copy.writeFile(buffer.subarray(0, bytesRead));
    }
  } finally {
    await copy.close();
  }
}

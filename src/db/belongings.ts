/** What root makes in somebody else's folder: it is that one's, or the service that runs as its owner could not use it. */
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Gives a file or folder of root's to whom the folder around it belongs to. Does nothing where that is root, too, and for
 * any other user, who can make nothing of root's. The mode stays.
 */
export async function giveToOwner(path: string): Promise<void> {
  const around = await lstat(dirname(path));
  if (around.uid === 0) return;
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.uid !== 0 || !(found.isFile() || found.isDirectory())) return;
  // By the handle, and never what has other names or was put there meanwhile: the owner could have root's files given away.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { uid, nlink, ino, dev } = await handle.stat();
    const isSame = uid === 0 && ino === found.ino && dev === found.dev;
    if (isSame && (found.isDirectory() || nlink === 1)) await handle.chown(around.uid, around.gid);
  } finally {
    await handle.close();
  }
}

/** The same for a folder and all that is in it. */
export async function giveAllToOwner(folder: string): Promise<void> {
  await giveToOwner(folder);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveAllToOwner(path);
    else await giveToOwner(path);
  }
}

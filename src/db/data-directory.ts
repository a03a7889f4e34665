/** The folder that holds everything of one service: where it is, whose it is, who may enter. */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { giveToOwner } from './belongings.ts';

/** The folder can't be used; `message` is one sentence that says why and what to do. */
export class DataDirectoryUnusable extends Error {
  override readonly name = 'DataDirectoryUnusable';
}

/** There is no room on its disk: what failed may be tried again when there is. */
export class DataDirectoryFull extends DataDirectoryUnusable {}

/** Whether something failed for want of room on a disk: our own writing, the server's start, or one of its statements. */
export function isForWantOfRoom(error: unknown): boolean {
  return (
    error instanceof DataDirectoryFull ||
    /^(ENOSPC|EDQUOT|53100)$/.test(String((error as { code?: unknown } | undefined)?.code))
  );
}

/** Another service works on this folder. */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse';
}

/** Whom the database server runs as. Undefined: as the user of this process. */
export type ServerUser = { readonly uid: number; readonly gid: number } | undefined;

/** PostgreSQL refuses to run as root; 65534 is "nobody" on the systems we know. */
export const nobody = { uid: 65534, gid: 65534 } as const;

const system_directory = '/var/lib/certo';
/** Says that a folder is ours: nothing is written into one that holds other people's files. */
const marker = 'CERTO';
/** And whether a database was made in it: one that is missing afterwards is not made anew. */
const mark = {
  head: 'The data of a Certo service, layout 1. Do not change what is in this folder.',
  begun: 'No database has been made in it yet.',
  made: 'Its database is in the folder postgres.',
  restoring: 'A restore into it was begun and is not finished.',
} as const;
/** Of the restore that was begun: by it the database says whether it came to its end. */
const backupLine = /^SHA-256 of its backup: ([0-9a-f]{64})$/m;

/**
 * Which folder: the configured one; else ./data; as root, where the server's user can't reach ./data (a project under
 * /root), /var/lib/certo. `reachable` says whether user 65534 can enter a path.
 */
export function chooseDataDirectory(ask: {
  readonly configured: string | undefined;
  readonly cwd: string;
  readonly uid: number;
  readonly reachable: (path: string) => boolean;
}): string {
  if (ask.configured !== undefined && ask.configured !== '') return resolve(ask.cwd, ask.configured);
  const own = join(ask.cwd, 'data');
  return ask.uid !== 0 || ask.reachable(own) ? own : system_directory;
}

/** Whether the user can pass through each existing folder above `path`, by their mode bits. */
export async function canReach(path: string, user: { uid: number; gid: number }): Promise<boolean> {
  const above = dirname(path);
  let real: string;
  try {
    real = await realpath(above);
  } catch {
    return above === path ? false : canReach(above, user);
  }
  for (let folder = real; ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

export interface DataDirectory {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly user: ServerUser;
}

/**
 * Makes the folder if need be and checks it. For an ordinary user only its owner can enter (0700). As root the server's
 * user must pass through (0711): the names in it can be tried but not listed, so what is secret there must be 0600.
 */
export async function prepareDataDirectory(directory: string, uid: number): Promise<DataDirectory> {
  try {
    await makeFolder(directory, uid);
    const path = await realpath(directory);
    const owner = await stat(path);
    if (uid !== 0) {
      if (owner.uid !== uid) {
        throw new DataDirectoryUnusable(
          `The data folder ${path} belongs to user ${owner.uid}: run Certo as that user, or choose another CERTO_DATA_DIR.`,
        );
      }
      await claim(path);
      await chmod(path, 0o700);
      return { path, user: undefined };
    }
    await claim(path);
    const user = await serverUser(path, owner);
    await chmod(path, owner.uid === 0 ? 0o711 : 0o700);
    if (!(await canReach(join(path, 'postgres'), user))) {
      throw new DataDirectoryUnusable(
        `User ${user.uid}, as which PostgreSQL runs, cannot reach ${path}: choose another CERTO_DATA_DIR, or run Certo as an ordinary user.`,
      );
    }
    return { path, user };
  } catch (error) {
    throw explained(directory, error as NodeJS.ErrnoException);
  }
}

async function makeFolder(directory: string, uid: number): Promise<void> {
  const parent = dirname(resolve(directory));
  // As root the server's user has to pass through what we make here, also under a strict umask.
  for (const made of await makeFolders(parent, 0o777)) if (uid === 0) await chmod(made, 0o755);
  await makeFolders(resolve(directory), 0o700);
}

/**
 * Makes a folder and those above it that are missing; the ones it made. Node's own recursion tells a read-only disk as
 * ENOENT, and does not end where nothing can be made at all (/proc).
 */
export async function makeFolders(path: string, mode: number): Promise<string[]> {
  const error = await mkdir(path, { mode }).then(
    () => undefined,
    (reason: NodeJS.ErrnoException) => reason,
  );
  if (error === undefined) return [path];
  const above = dirname(path);
  if (error.code === 'ENOENT' && !(await isThere(above))) {
    const made = await makeFolders(above, mode);
    return [...made, ...(await makeFolders(path, mode))];
  }
  if (error.code === 'EEXIST' && (await stat(path)).isDirectory()) return [];
  throw error;
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** The data folder beside a server elsewhere, made if need be. Throws DataDirectoryUnusable. */
export async function makeDataFolder(directory: string): Promise<void> {
  await makeFolders(directory, 0o700).catch((error: NodeJS.ErrnoException) => {
    throw explained(directory, error);
  });
}

/** As root: whoever owns the database that is there, else the owner of the folder, else nobody. Never root. */
async function serverUser(path: string, owner: { uid: number; gid: number }): Promise<{ uid: number; gid: number }> {
  const database = await stat(join(path, 'postgres')).catch(() => undefined);
  if (database !== undefined && database.uid !== 0) return { uid: database.uid, gid: database.gid };
  return owner.uid === 0 ? nobody : { uid: owner.uid, gid: owner.gid };
}

async function claim(path: string): Promise<void> {
  const names = await readdir(path);
  if (names.includes(marker)) return;
  // A fresh volume has lost+found; an editor or version control may have left its dot files; whoever restores a backup
  // puts its master key there first.
  const expected = ['lost+found', 'master.key'];
  const strangers = names.filter((name) => !expected.includes(name) && !name.startsWith('.'));
  if (strangers.length > 0) {
    throw new DataDirectoryUnusable(
      `The folder ${path} holds other files (${strangers.slice(0, 3).join(', ')}): choose an empty one as CERTO_DATA_DIR.`,
    );
  }
  const text = `${mark.head}\n${mark.begun}\n`;
  await writeFile(join(path, marker), text, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    // Another process was faster, and may have made the database by now.
    if (error.code !== 'EEXIST') throw error;
  });
  await giveToOwner(join(path, marker));
}

/** Whether a database was ever made in the folder, so that one has to be there. */
export async function hadDatabase(path: string): Promise<boolean> {
  const text = await readOwnFile(join(path, marker));
  if (text.includes(mark.made)) return true;
  if (text.includes(mark.begun)) return false;
  // The mark of an earlier program, or a cut one: a server has written its log here, or a key was made for its books.
  return (await isThere(join(path, 'postgres.log'))) || (text !== '' && (await isThere(join(path, 'master.key'))));
}

/** From now on a database has to be there. */
export async function markDatabase(path: string): Promise<void> {
  const text = await markOf(path);
  if (!text.includes(mark.made)) await writeMark(path, [mark.made, ...restoringLines(text)]);
}

/**
 * From now on nobody takes what is there for whole, until `unmarkRestore`. Also where the database is elsewhere. `digest`:
 * SHA-256 of the backup, once the database is one that it may be loaded into.
 */
export async function markRestore(path: string, digest?: string): Promise<void> {
  const text = await markOf(path);
  if (isRestoring(text) && (digest === undefined || backupLine.exec(text)?.[1] === digest)) return;
  const lines = digest === undefined ? [mark.restoring] : [mark.restoring, `SHA-256 of its backup: ${digest}`];
  await writeMark(path, [...[mark.begun, mark.made].filter((words) => text.includes(words)), ...lines]);
}

function restoringLines(text: string): string[] {
  if (!isRestoring(text)) return [];
  const backup = backupLine.exec(text)?.[0];
  return backup === undefined ? [mark.restoring] : [mark.restoring, backup];
}

/** The restore is finished. */
export async function unmarkRestore(path: string): Promise<void> {
  if ((await markOf(path)).includes(mark.made)) return writeMark(path, [mark.made]);
  // Beside a database elsewhere there was no mark before: with one, a database could be begun here by a mistake.
  await rm(join(path, marker), { force: true });
  await syncFolder(path);
}

/**
 * SHA-256 of the backup whose restore was begun here and has not said that it is finished: the database knows whether it
 * is. Undefined where there is none. Throws DataDirectoryUnusable where it can't have come so far.
 */
export async function begunRestore(path: string): Promise<string | undefined> {
  const text = await markOf(path);
  if (!isRestoring(text)) return undefined;
  const digest = backupLine.exec(text)?.[1];
  if (digest === undefined) throw unfinished(path);
  return digest;
}

/** Of a restore that was broken off, or is under way. */
export function unfinished(path: string): DataDirectoryUnusable {
  return new DataDirectoryUnusable(
    `The restore into ${path} was begun and is not finished, so what is there is not whole: if it does not run any more, run "certo restore" again, here or into an empty folder (CERTO_DATA_DIR).`,
  );
}

function isRestoring(text: string): boolean {
  return text.includes(mark.restoring);
}

/** Empty where there is none. */
async function markOf(path: string): Promise<string> {
  return readOwnFile(join(path, marker)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
}

async function writeMark(path: string, lines: readonly string[]): Promise<void> {
  await writeAside(join(path, marker), `${[mark.head, ...lines].join('\n')}\n`, rename);
}

/** Each of them is a few lines. */
const longest_own_bytes = 2 ** 20;

/**
 * A file that Certo wrote into a data folder. Throws DataDirectoryUnusable where another thing stands in its place (whoever
 * owns the folder may have put a device there, which has no end), and what the file system throws.
 */
export async function readOwnFile(path: string): Promise<string> {
  // A device may begin to work when it is opened.
  if ((await stat(path)).isFile()) {
    const file = await open(path, 'r');
    try {
      // Nothing is written into it: another file takes its name.
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, longest_own_bytes) + 1);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      if (bytesRead < bytes.length) return bytes.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }
  throw new DataDirectoryUnusable(`${path} is not what Certo wrote there: see what it is, and move it away.`);
}

/** A file for its owner only, whole or not at all, and on disk. `give`: gives what was written aside its name. */
export async function writeAside(
  path: string,
  text: string,
  give: (aside: string, path: string) => Promise<void>,
): Promise<void> {
  const folder = dirname(path);
  const aside = join(folder, `.${basename(path)}-${randomBytes(4).toString('hex')}`);
  const handle = await open(aside, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await giveToOwner(aside);
    await give(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
  await syncFolder(folder);
}

/** Makes names that were given or taken in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

function explained(directory: string, error: NodeJS.ErrnoException): Error {
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
      return new DataDirectoryUnusable(
        `This user may not use the data folder ${directory}: choose another CERTO_DATA_DIR, or run Certo as its owner.`,
      );
    case 'EEXIST':
    case 'ENOTDIR':
      return new DataDirectoryUnusable(`${directory} is not a folder: choose another CERTO_DATA_DIR.`);
    case 'ENAMETOOLONG':
      return new DataDirectoryUnusable(`The name of the data folder is too long: choose a shorter CERTO_DATA_DIR.`);
    case 'ELOOP':
      return new DataDirectoryUnusable(
        `The symbolic links of the data folder ${directory} lead in a circle: choose another CERTO_DATA_DIR.`,
      );
    case 'EROFS':
      return new DataDirectoryUnusable(`The data folder ${directory} is read-only: choose another CERTO_DATA_DIR.`);
    case 'ENOENT':
      return new DataDirectoryUnusable(
        `The data folder ${directory} cannot be made there: choose another CERTO_DATA_DIR.`,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return new DataDirectoryFull(`There is no space left for the data folder ${directory}.`);
    default:
      return error;
  }
}

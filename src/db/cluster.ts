/** The database's own folder: made by initdb in one step that is there or not there, and checked before each start. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, lchown, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { kill, pid } from 'node:process';
import { type Binaries, serverEnvironment } from './binaries.ts';
import {
  type DataDirectory,
  DataDirectoryUnusable,
  hadDatabase,
  markDatabase,
  markRestore,
  type ServerUser,
  syncFolder,
} from './data-directory.ts';

const major = '18';
/** The superuser inside the embedded server. Only who reaches the socket can log in as it. */
export const superuser = 'postgres';

// Defaults that the operator may change (ALTER SYSTEM, or postgresql.conf). What must hold is on the command line.
const settings = {
  shared_buffers: '128MB',
  max_connections: '100',
  max_wal_size: '1GB',
  // Statements here are short: compiling them costs more than it saves.
  jit: 'off',
  random_page_cost: '1.1',
  // A new company may make thousands of documents in its first minute; plans are only as good as what is known of tables.
  autovacuum_naptime: '5s',
  log_timezone: 'UTC',
  timezone: 'UTC',
  // Logged errors would hold names and tax numbers in their detail and statement.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
} as const;

/** Where the database lies in a data folder. */
export function clusterFolder(directory: string): string {
  return join(directory, 'postgres');
}

/**
 * Makes the database's folder unless it is there. initdb works in a folder of its own, renamed when it is complete and on
 * disk: a crash leaves a draft, which a later start removes, never a half-made database.
 * Once it was made, an empty place is a disk that is not mounted or a loss, and no reason to begin anew: only `anew` (a
 * restore) does. Throws DataDirectoryUnusable then, and when what is there is not a database of our version.
 */
export async function ensureCluster(
  directory: DataDirectory,
  binaries: Binaries,
  { durable, anew }: { readonly durable: boolean; readonly anew: boolean },
  log: (line: string) => void,
): Promise<void> {
  const folder = clusterFolder(directory.path);
  // Asked first: another process may make it and say so between the two.
  const had = await hadDatabase(directory.path);
  await removeDrafts(directory.path);
  if (await checkCluster(folder)) await takeOver(folder, directory.user);
  else {
    if (had && !anew) throw missing(directory.path, folder);
    if (anew) await markRestore(directory.path);
    await makeCluster(directory, folder, binaries, durable, log);
  }
  await markDatabase(directory.path);
}

function missing(directory: string, folder: string): DataDirectoryUnusable {
  return new DataDirectoryUnusable(
    `The database of ${directory} is missing: ${folder} is empty or not there, and a database was made in it before. Mount its disk or put the folder back; if it is lost, load a backup with "certo restore"; to begin with nothing, choose another CERTO_DATA_DIR.`,
  );
}

async function makeCluster(
  directory: DataDirectory,
  folder: string,
  binaries: Binaries,
  durable: boolean,
  log: (line: string) => void,
): Promise<void> {
  log(`creating the database in ${folder}`);
  const draft = `${folder}.new-${pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(draft, { mode: 0o700 });
  if (directory.user !== undefined) await chown(draft, directory.user.uid, directory.user.gid);
  await initdb(draft, directory.user, binaries, durable);
  try {
    await rename(draft, folder);
    await syncFolder(directory.path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process made it first: that one counts.
    if (!(await checkCluster(folder))) throw error;
  }
}

/** True when a database of our version is there, false when nothing is. */
async function checkCluster(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return false;
  if (!names.includes('PG_VERSION')) {
    throw new DataDirectoryUnusable(`The folder ${folder} is not a PostgreSQL database: move it away and start again.`);
  }
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8')).trim();
  if (version !== major) {
    throw new DataDirectoryUnusable(
      `The folder ${folder} holds a PostgreSQL ${version || '(unknown)'} database and this Certo brings PostgreSQL ${major}: use the Certo it was made with and its backup command.`,
    );
  }
  return true;
}

/** A database that root copied belongs to root; the server's user has to own it, and nobody else may read it. */
async function takeOver(folder: string, user: ServerUser): Promise<void> {
  const { uid, mode } = await stat(folder);
  if (user !== undefined && uid !== user.uid) {
    for (const entry of await readdir(folder, { recursive: true }))
      await lchown(join(folder, entry), user.uid, user.gid);
    await chown(folder, user.uid, user.gid);
  }
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
}

async function initdb(folder: string, user: ServerUser, binaries: Binaries, durable: boolean): Promise<void> {
  const flags = ['-D', folder, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions'];
  flags.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  for (const [name, value] of Object.entries(settings)) flags.push('-c', `${name}=${value}`);
  if (!durable) flags.push('--no-sync');
  const child = spawn(binaries.initdb, flags, {
    ...user,
    cwd: '/',
    env: serverEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code === 0) return;
  await rm(folder, { recursive: true, force: true });
  // initdb insists on a name for its user, which a container with a bare number for a user does not have.
  const hint = complaint.includes('user does not exist') ? '; add it to /etc/passwd, or set DATABASE_URL' : '';
  const line = /(?:error|FATAL): *(.*)/.exec(complaint)?.[1] ?? complaint.trim().split('\n')[0];
  throw new DataDirectoryUnusable(
    `The database could not be created in ${folder}: ${line || `initdb ended with ${code}`}${hint}.`,
  );
}

/** Drafts of processes that are gone. A young one is left alone: its maker may be invisible to us, in another container. */
async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const maker = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (maker === undefined || isAlive(Number(maker))) continue;
    const draft = join(directory, name);
    const made = await lstat(draft).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > 60_000) await rm(draft, { recursive: true, force: true });
  }
}

/** Whether a process with this number exists, ours or not. */
export function isAlive(process: number): boolean {
  try {
    kill(process, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

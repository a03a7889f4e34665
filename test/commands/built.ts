/** Makes sure that dist/ is the sources' own: `npm test` has built it; whoever runs a file alone may have not. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../../src/db/cluster.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const script = join(root, 'dist', 'main.js');

/** Builds unless a build later than every source is there. Throws with the compiler's words. */
export async function ensureBuilt(): Promise<void> {
  const lock = join(root, 'dist', '.building');
  mkdirSync(join(root, 'dist'), { recursive: true });
  // Test files run side by side.
  while (!lockIn(lock)) await sleep(100);
  try {
    if (isFresh()) return;
    const build = spawnSync(process.execPath, [join(root, 'build.mjs')], { encoding: 'utf8' });
    if (build.status !== 0) throw new Error(`the build failed:\n${build.stdout}${build.stderr}`);
  } finally {
    rmSync(lock);
  }
}

/** Takes the lock. False: a process has it that lives; one of a process that was killed is removed. */
function lockIn(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = Number(textOf(lock));
    // Not yet written, or gone by now.
    if (holder > 0 && !isAlive(holder)) rmSync(lock, { force: true });
    return false;
  }
}

function textOf(lock: string): string {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return '';
  }
}

function isFresh(): boolean {
  // The build's own record, not the compiler's: that is renewed by a mere type check, too.
  const built = statSync(join(root, 'dist', '.built'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const output = statSync(script, { throwIfNoEntry: false });
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => statSync(join(root, 'src', path)))
    .filter((found) => found.isFile());
  return output !== undefined && sources.every(({ mtimeMs }) => mtimeMs < built);
}

/** Makes sure that dist/ is the sources' own: once for all test files that start the built program. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const script = join(root, 'dist', 'main.js');
const stamp = join(root, 'dist', '.built');

/** Builds unless a build later than every source is there. Throws with the compiler's words. */
export async function ensureBuilt(): Promise<void> {
  const lock = join(root, 'dist', '.building');
  mkdirSync(join(root, 'dist'), { recursive: true });
  // Test files run side by side; a lock that is left over from a killed run is a minute old.
  while (!lockIn(lock)) await sleep(100);
  try {
    if (isFresh()) return;
    const begun = new Date();
    const build = spawnSync(process.execPath, [join(root, 'build.mjs')], { encoding: 'utf8' });
    if (build.status !== 0) throw new Error(`the build failed:\n${build.stdout}${build.stderr}`);
    writeFileSync(stamp, '');
    // A source that was changed while it was being built is newer than the build.
    utimesSync(stamp, begun, begun);
  } finally {
    rmdirSync(lock);
  }
}

function lockIn(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > 60_000) rmdirSync(lock);
    return false;
  }
}

function isFresh(): boolean {
  // Not the compiler's own record: that is renewed by a mere type check, too.
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const output = statSync(script, { throwIfNoEntry: false });
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => statSync(join(root, 'src', path)))
    .filter((found) => found.isFile());
  return output !== undefined && sources.every(({ mtimeMs }) => mtimeMs < built);
}

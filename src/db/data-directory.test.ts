import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  canReach,
  chooseDataDirectory,
  DataDirectoryUnusable,
  nobody,
  prepareDataDirectory,
} from './data-directory.ts';

const uid = process.getuid?.() ?? 0;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'certo-data-'));
  await chmod(home, 0o755);
});
afterAll(() => rm(home, { recursive: true }));

describe('which folder', () => {
  const ask = { configured: undefined, cwd: '/srv/certo', uid: 1000, reachable: (): boolean => true };
  const closed = { uid: 0, reachable: (): boolean => false };
  test.each([
    ['the configured one', { configured: '/mnt/books' }, '/mnt/books'],
    ['the configured one, from where we are', { configured: 'books' }, '/srv/certo/books'],
    ['the configured one, also where root could not use it', { configured: '/root/x', ...closed }, '/root/x'],
    ['./data', {}, '/srv/certo/data'],
    ['./data when nothing is configured', { configured: '' }, '/srv/certo/data'],
    ['./data as root, where the server can reach it', { uid: 0 }, '/srv/certo/data'],
    ['/var/lib/certo as root, where it cannot', closed, '/var/lib/certo'],
    ['./data for an ordinary user in any case', { ...closed, uid: 1000 }, '/srv/certo/data'],
  ])('%s', (_, change: Partial<Parameters<typeof chooseDataDirectory>[0]>, expected) => {
    expect(chooseDataDirectory({ ...ask, ...change })).toBe(expected);
  });
});

describe('who can pass', () => {
  test('depends on every folder above, not on the last one', async () => {
    const closed = join(home, 'closed');
    await mkdir(join(closed, 'inner', 'deep'), { recursive: true });
    await chmod(closed, 0o700);
    expect(await canReach(join(home, 'x'), nobody)).toBe(true);
    expect(await canReach(closed, nobody)).toBe(true);
    expect(await canReach(join(closed, 'inner'), nobody)).toBe(false);
    expect(await canReach(join(closed, 'not', 'yet', 'there'), nobody)).toBe(false);
    const { gid } = await stat(closed);
    expect(await canReach(join(closed, 'inner'), { uid, gid })).toBe(true);
    await chmod(closed, 0o710);
    expect(await canReach(join(closed, 'inner'), { uid: 4242, gid })).toBe(true);
    await symlink(join(closed, 'inner'), join(home, 'link'));
    expect(await canReach(join(home, 'link', 'deep'), nobody)).toBe(false);
  });
});

describe('the folder', () => {
  test('is made, closed to others, and known again', async () => {
    const path = join(home, 'a', 'b');
    const made = await prepareDataDirectory(path, uid);
    expect(made).toEqual({ path, user: uid === 0 ? nobody : undefined });
    expect((await stat(path)).mode & 0o777).toBe(uid === 0 ? 0o711 : 0o700);
    await writeFile(join(path, 'master.key'), '');
    expect(await prepareDataDirectory(path, uid)).toEqual(made);
    expect(await readdir(path)).toEqual(['CERTO', 'master.key']);
  });

  test('is not taken from its other files', async () => {
    const path = join(home, 'pictures');
    await mkdir(path);
    await writeFile(join(path, 'holiday.jpg'), '');
    await chmod(path, 0o755);
    await expect(prepareDataDirectory(path, uid)).rejects.toThrow(
      /holds other files \(holiday.jpg\): choose an empty one/,
    );
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    expect(await readdir(path)).toEqual(['holiday.jpg']);
  });

  test('may be a fresh volume', async () => {
    const path = join(home, 'volume');
    await mkdir(join(path, 'lost+found'), { recursive: true });
    await expect(prepareDataDirectory(path, uid)).resolves.toMatchObject({ path });
  });

  test('is no file', async () => {
    await writeFile(join(home, 'file'), '');
    await expect(prepareDataDirectory(join(home, 'file'), uid)).rejects.toThrow(/is not a folder/);
    await expect(prepareDataDirectory(join(home, 'file', 'x'), uid)).rejects.toThrow(DataDirectoryUnusable);
  });

  test('has a name that is too long, or links in a circle', async () => {
    await expect(prepareDataDirectory(join(home, 'x'.repeat(300)), uid)).rejects.toThrow(/The name of .* is too long/);
    await symlink(join(home, 'circle'), join(home, 'circle'));
    await expect(prepareDataDirectory(join(home, 'circle', 'data'), uid)).rejects.toThrow(/lead in a circle/);
  });

  test.runIf(uid === 0)('belongs to who runs the service', async () => {
    const path = join(home, 'of root');
    await mkdir(path);
    await expect(prepareDataDirectory(path, 1234)).rejects.toThrow(/belongs to user 0: run Certo as that user/);
    expect(await readdir(path)).toEqual([]);
  });

  test.runIf(uid === 0)('has to be reachable for the server of root', async () => {
    const path = join(home, 'closed', 'data');
    await chmod(join(home, 'closed'), 0o700);
    await expect(prepareDataDirectory(path, 0)).rejects.toThrow(/User 65534, as which PostgreSQL runs, cannot reach/);
  });
});

/** One command as root in the data folder of another user: what it makes there is that user's. */
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { giveAllToOwner, giveToOwner } from '../../src/db/belongings.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const isRoot = process.getuid?.() === 0;
// A name that the system knows: initdb asks for it.
const other = { uid: 65534, gid: 65534 };

let line: CommandLine;
beforeAll(async () => {
  line = await openCommandLine();
});
afterAll(() => line.close());

function folderOf(name: string, { uid, gid }: typeof other): string {
  const path = line.folder(name);
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, uid, gid);
  return path;
}

/** What is root's in a folder, as paths. */
function ofRoot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => {
    // The server's own files come and go.
    const found = lstatSync(join(folder, path), { throwIfNoEntry: false });
    return found?.uid === 0;
  });
}

test.runIf(isRoot)(
  'serve leaves nothing of root’s, and nothing that others can read',
  async () => {
    const CERTO_DATA_DIR = folderOf('theirs', other);
    const service = await line.serve({ CERTO_DATA_DIR });
    await service.says(/Issue an invoice/);
    // While it runs: it may be killed.
    expect(ofRoot(CERTO_DATA_DIR)).toEqual([]);
    expect(await service.end()).toBe(0);
    expect(ofRoot(CERTO_DATA_DIR)).toEqual([]);
    const names = readdirSync(CERTO_DATA_DIR);
    expect(names).toEqual(
      expect.arrayContaining(['CERTO', 'demo.json', 'master.key', 'postgres.log', 'simulator', 'spool']),
    );
    for (const name of names) expect([name, lstatSync(join(CERTO_DATA_DIR, name)).mode & 0o077]).toEqual([name, 0]);
  },
  120_000,
);

test.runIf(isRoot)(
  'serve neither writes nor removes anything where links of the folder’s owner lead',
  async () => {
    const roots = line.folder('roots');
    mkdirSync(join(roots, 'inner'), { recursive: true });
    for (const name of ['kept', 'inner/deep']) writeFileSync(join(roots, name), 'of root');
    const CERTO_DATA_DIR = folderOf('linked', other);
    const begun = await line.run(['migrate'], { CERTO_DATA_DIR });
    expect([begun.err, begun.code]).toEqual([expect.any(String), 0]);
    symlinkSync(roots, join(CERTO_DATA_DIR, 'spool'));
    symlinkSync(join(roots, 'kept'), join(CERTO_DATA_DIR, 'service.json'));
    const service = await line.serve({ CERTO_DATA_DIR });
    await service.says(/Issue an invoice/);
    const told = lstatSync(join(CERTO_DATA_DIR, 'service.json'));
    expect([told.isFile(), told.uid, told.mode & 0o777]).toEqual([true, other.uid, 0o600]);
    expect(await service.end()).toBe(0);
    expect(readdirSync(roots, { recursive: true }).toSorted()).toEqual(['inner', 'inner/deep', 'kept']);
    expect(readFileSync(join(roots, 'kept'), 'utf8')).toBe('of root');
  },
  120_000,
);

test.runIf(isRoot)('only root’s own, under its one name, is given, and in a folder of root’s nothing', async () => {
  const theirs = folderOf('given', other);
  const at = (name: string): string => join(theirs, name);
  for (const name of ['plain', 'twice', 'third']) writeFileSync(at(name), '');
  linkSync(at('twice'), at('again'));
  chownSync(at('third'), 77, 77);
  mkdirSync(at('inner'));
  writeFileSync(join(at('inner'), 'deep'), '');
  await giveAllToOwner(theirs);
  const uid = (name: string): number => lstatSync(at(name)).uid;
  expect(['plain', 'inner', 'inner/deep', 'twice', 'third'].map(uid)).toEqual([other.uid, other.uid, other.uid, 0, 77]);
  const ours = line.folder('ours');
  writeFileSync(ours, '');
  await giveToOwner(ours);
  expect(lstatSync(ours).uid).toBe(0);
});

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { utf8 } from '../fiscal/utf8.ts';
import { setAtCredentials } from '../operations/company/create-company.ts';
import { bindMode } from './installation.ts';
import { openMasterKey } from './master-key.ts';

let base: TestDatabase;
let folder: string;
beforeAll(async () => {
  base = await testDatabase();
});
afterAll(() => base.drop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certo-key-'));
  await bindMode(base.ownerPool, 'simulator');
});
afterEach(async () => {
  await base.ownerPool.query('delete from certo.installation');
  await base.ownerPool.query('delete from certo.companies');
  await rm(folder, { recursive: true });
});

const open = (name: string) => openMasterKey(join(folder, name), base.ownerPool);
const another = /The master key in \S+ is not the one of this database: put the right file back/;

const missing = /\S+ is missing, and the database is bound to it: put it back/;

async function fingerprint(): Promise<Buffer | null> {
  const { rows } = await base.ownerPool.query('select key_fingerprint from certo.installation');
  return rows[0].key_fingerprint;
}

test('many that begin at once have one key, whole and for its owner only; nothing is left beside it', async () => {
  const keys = await Promise.all(Array.from({ length: 30 }, () => open('master.key')));
  expect(new Set(keys.map((key) => key.mac('links', utf8('x')).toString('hex'))).size).toBe(1);
  expect(await readdir(folder)).toEqual(['master.key']);
  expect(await readFile(join(folder, 'master.key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  expect((await stat(join(folder, 'master.key'))).mode & 0o777).toBe(0o600);
});

test('two that begin at once with a key each: one is refused', async () => {
  const both = await Promise.allSettled([open('a.key'), open('b.key')]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const [won, lost] = both[0].status === 'fulfilled' ? ['a.key', 'b.key'] : ['b.key', 'a.key'];
  await open(won);
  // It was made before the other one was bound to the database, or not at all.
  await expect(open(lost)).rejects.toThrow(existsSync(join(folder, lost)) ? another : missing);
});

test('another one is refused before anything was sealed, and so is none', async () => {
  const key = await open('master.key');
  const kept = await fingerprint();
  expect(kept).toHaveLength(32);
  await writeFile(join(folder, 'other.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  await expect(open('other.key')).rejects.toThrow(another);
  await expect(open('none.key')).rejects.toThrow(missing);
  expect((await readdir(folder)).sort()).toEqual(['master.key', 'other.key']);
  expect((await open('master.key')).mac('links', utf8('x'))).toEqual(key.mac('links', utf8('x')));
  // It is not the key, and opens nothing.
  const secret = (await readFile(join(folder, 'master.key'), 'utf8')).trim();
  expect(kept?.toString('hex')).not.toContain(secret);
  expect(await fingerprint()).toEqual(kept);
});

test('a database from before it was kept is known by what is sealed in it, and then by the fingerprint', async () => {
  const key = await open('master.key');
  await base.ownerPool.query('update certo.installation set key_fingerprint = null');
  await base.ownerPool.query(
    `insert into certo.companies (id, name, taxpayer_number, cae, region)
     values ('0190a000-0000-7000-8000-00000000000a', 'A', '599999900', '{62010}', 'PT')`,
  );
  await setAtCredentials(base.ownerPool, key, '0190a000-0000-7000-8000-00000000000a', {
    username: '599999900/1',
    password: 'x',
  });
  await writeFile(join(folder, 'other.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  await expect(open('other.key')).rejects.toThrow(another);
  expect(await fingerprint()).toBe(null);
  await open('master.key');
  expect(await fingerprint()).toHaveLength(32);
});

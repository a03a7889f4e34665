/** A restore that is killed after its commit and before its mark is taken back: it is finished, and the next command finds it so. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';
import { type CommandLine, openCommandLine, urlOf } from './command-line.ts';

let line: CommandLine;
let books: Service;
let file: string;
let preload: string;

beforeAll(async () => {
  line = await openCommandLine();
  books = await startService({ companies: ['A'] });
  await books.companies.A.issue(await books.companies.A.draft());
  file = line.folder('books.backup');
  preload = line.folder('kill.mjs');
  // Ends the process as it takes the mark back, by a new one in its place or by none.
  writeFileSync(
    preload,
    `import fs from 'node:fs';
     import { syncBuiltinESMExports } from 'node:module';
     const { rename, rm } = fs.promises;
     const isRestoring = (path) => fs.existsSync(path) && fs.readFileSync(path, 'utf8').includes('restore');
     const kill = () => process.kill(process.pid, 'SIGKILL');
     const isMark = (path) => String(path).endsWith('/CERTO');
     fs.promises.rename = async (from, to) => (isMark(to) && isRestoring(to) && !isRestoring(from) ? kill() : rename(from, to));
     fs.promises.rm = async (path, how) => (isMark(path) ? kill() : rm(path, how));
     syncBuiltinESMExports();`,
  );
  const env = await data('source');
  const taken = await line.run(['backup', '--out', file], { ...env, DATABASE_URL: urlOf(books.connection) });
  expect([taken.err, taken.code]).toEqual(['', 0]);
});
afterAll(async () => {
  await books.stop();
  await line.close();
});

/** A data folder with the master key of the books. */
async function data(name: string): Promise<{ CERTO_DATA_DIR: string }> {
  await mkdir(line.folder(name));
  writeFileSync(join(line.folder(name), 'master.key'), `${books.masterKeyHex}\n`, { mode: 0o600 });
  return { CERTO_DATA_DIR: line.folder(name) };
}

const markOf = (name: string): string => readFileSync(join(line.folder(name), 'CERTO'), 'utf8');
const finished = /^certo: The restore into \S+ was ended before it could say so, and is finished/;

test('in the data folder: the next command goes on, and another restore finds the books', async () => {
  const env = await data('embedded');
  expect((await line.run(['restore', file], { ...env, NODE_OPTIONS: `--import ${preload}` })).code).toBe(null);
  const killed = markOf('embedded');
  expect(killed).toMatch(/A restore into it was begun and is not finished\.\nSHA-256 of its backup: [0-9a-f]{64}\n/);
  const again = await line.run(['restore', file], env);
  expect([again.code, again.err]).toEqual([1, expect.stringMatching(finished)]);
  expect(again.err).toContain('The database is not empty');
  expect(markOf('embedded')).not.toContain('restore');

  writeFileSync(join(env.CERTO_DATA_DIR, 'CERTO'), killed);
  const listed = await line.run(['company', 'list'], env);
  expect([listed.code, listed.err]).toEqual([0, expect.stringMatching(finished)]);
  expect(markOf('embedded')).not.toContain('restore');

  // The mark of another backup's restore says nothing of this one.
  writeFileSync(join(env.CERTO_DATA_DIR, 'CERTO'), killed.replace(/[0-9a-f]{64}/, '0'.repeat(64)));
  const other = await line.run(['company', 'list'], env);
  expect([other.code, other.err]).toEqual([3, expect.stringMatching(/was begun and is not finished/)]);
});

test('beside a database elsewhere', async () => {
  const name = `restored_${process.pid}`;
  const superuser = new Client({ ...books.connection, database: 'postgres', ssl: false });
  await superuser.connect();
  await superuser.query(`create database ${name}`);
  try {
    const env = { ...(await data('elsewhere')), DATABASE_URL: urlOf({ ...books.connection, database: name }) };
    expect((await line.run(['restore', file], { ...env, NODE_OPTIONS: `--import ${preload}` })).code).toBe(null);
    expect(markOf('elsewhere')).toContain('A restore into it was begun');
    const listed = await line.run(['company', 'list'], env);
    expect([listed.code, listed.err]).toEqual([0, expect.stringMatching(finished)]);
    expect(() => markOf('elsewhere')).toThrow(/ENOENT/);
    expect((await line.run(['company', 'list'], env)).err).toBe('');
  } finally {
    await superuser.query(`drop database ${name} with (force)`);
    await superuser.end();
    rmSync(line.folder('elsewhere'), { recursive: true });
  }
});

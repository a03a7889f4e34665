/** What becomes of a command whose output can't be written. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasLeft } from '../../src/commands/output.ts';
import { createCompany } from '../../src/operations/company/create-company.ts';
import { type TestDatabase, testDatabase } from '../database.ts';
import { script } from './built.ts';
import { type CommandLine, openCommandLine, urlOf } from './command-line.ts';
import { runInProcess } from './in-process.ts';

const nif = '599999942';
const isLinux = existsSync('/dev/full');
let line: CommandLine;
let database: TestDatabase;

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine(), testDatabase()]);
  const company = { name: 'Casa Nova, Lda', taxpayerNumber: nif, cae: ['62010'], region: 'PT' as const };
  await createCompany(database.ownerPool, company, uuidv7);
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

/** `certo` in a line of the shell, with its exit code as the last word on standard error. */
function inShell(command: string): Promise<{ code: number; err: string; out: string }> {
  const child = spawn(
    '/bin/sh',
    ['-c', `certo() { "${process.execPath}" "${script}" "$@"; echo "=$?" >&2; }; ${command}`],
    {
      cwd: line.folder('.'),
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: urlOf(database.connection),
        CERTO_DATA_DIR: line.folder('data'),
      },
    },
  );
  const heard = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    heard.err += text;
  });
  return new Promise((resolve) =>
    child.once('close', () => {
      const [, err = '', code] = /^([\s\S]*)=(\d+)\n$/.exec(heard.err) ?? [];
      resolve({ code: Number(code), err, out: heard.out });
    }),
  );
}

const lost = (why: string) =>
  `certo: The output could not be written (${why}). What the command did is done: look before you run it again.\n`;

test.runIf(isLinux)('an answer that could not be written is no success', async () => {
  for (const command of ['environment --json', 'environment', '--help', `company show ${nif} --json`])
    expect([command, await inShell(`certo ${command} > /dev/full`)]).toEqual([
      command,
      { code: 3, err: lost('the disk is full'), out: '' },
    ]);
  // What went wrong before is told alone.
  const other = await inShell('certo company show 1 --json > /dev/full');
  expect(other).toMatchObject({ code: 2, err: expect.stringMatching(/^certo: "1" is neither.*\n$/) });
});

test.runIf(isLinux)('also one of which only a part could be written', async () => {
  const file = line.folder('part');
  expect(await inShell(`ulimit -f 1; certo environment --json > "${file}"`)).toMatchObject({
    code: 3,
    err: lost('EFBIG'),
  });
});

test('a reader that went away has what it wanted, and so has the null device', async () => {
  expect(await inShell('certo environment --json | true')).toMatchObject({ code: 0, err: '' });
  expect(await inShell('certo environment --json > /dev/null')).toMatchObject({ code: 0, err: '' });
});

test('what a slow reader has not taken yet is waited for', async () => {
  let taken = 0;
  const slow = new Writable({
    write(bytes: Buffer, _encoding, done) {
      taken += bytes.length;
      setTimeout(done, 10);
    },
  });
  for (let i = 0; i < 5; i += 1) slow.write('x'.repeat(100));
  await hasLeft(slow);
  expect(taken).toBe(500);
  slow.destroy();
  await hasLeft(slow);
});

test('a key that could not be shown is not made, and the one that it would have replaced holds', async () => {
  const keys = async () =>
    (await database.ownerPool.query('select id from certo.api_keys where revoked_at is null')).rows.map(({ id }) => id);
  const notShown = (why: string) => ({
    code: 3,
    err: `certo: The key could not be shown (${why}), so nothing was changed: run it again.\n`,
    out: '',
  });
  const create = `certo api-key create --company ${nif} --name shop`;
  const nowhere = notShown('standard output is closed, or the null device');
  expect(await inShell(`${create} >&-`)).toEqual(nowhere);
  expect(await inShell(`${create} --json > /dev/null`)).toEqual(nowhere);
  expect(await inShell(`${create} --json | true`)).toEqual(notShown('whoever read it went away'));
  expect(await keys()).toEqual([]);

  const made = await inShell(`${create} --json`);
  const { id } = JSON.parse(made.out) as { id: string };
  expect(await keys()).toEqual([id]);
  const ground = { database, folder: line.folder('.') };
  const full = new PassThrough({
    transform: (_bytes, _encoding, done) => done(Object.assign(new Error('full'), { code: 'ENOSPC' })),
  });
  full.on('error', () => undefined);
  const rotated = await runInProcess(ground, ['api-key', 'rotate', id, '--company', nif], { stdout: full });
  expect(rotated).toEqual(notShown('the disk is full'));
  if (isLinux) expect(await inShell(`${create} > /dev/full`)).toEqual(notShown('the disk is full'));
  expect(await keys()).toEqual([id]);
});

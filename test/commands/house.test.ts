/** The place a command works in: a database that is missing, one of an earlier version, one that was restored. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { useEmbedded } from '../../src/db/embedded.ts';
import { generateSigningKey } from '../../src/keys/signer.ts';
import { eventually } from '../eventually.ts';
import { script } from './built.ts';
import { type CommandLine, type Environment, openCommandLine } from './command-line.ts';

// Each command brings the database up and down.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let line: CommandLine;
let directory: string;
let env: Environment;
let backup: string;

beforeAll(async () => {
  line = await openCommandLine();
  directory = line.folder('data');
  env = { CERTO_DATA_DIR: directory };
  backup = line.folder('all.backup');
  expect((await line.run(['demo', '--json'], env)).code).toBe(0);
});
afterAll(() => line.close());

async function refused(code: number, said: RegExp, args: readonly string[], more: Environment = {}): Promise<void> {
  const ended = await line.run(args, { ...env, ...more });
  expect(ended.err).toMatch(said);
  expect(ended.err).toMatch(/^(certo: [^\n]+\n)+$/);
  expect(ended.code).toBe(code);
}

/** The stopped database, as its superuser. */
async function inDatabase<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const uid = process.getuid?.() ?? 0;
  const held = await useEmbedded({ dataDirectory: directory, uid, log: () => undefined });
  const client = new Client({ ...held.connection, ssl: false });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
    await held.stop();
  }
}

test('tables of an earlier version are changed by nobody who was not asked to; a backup copies them as they are', async () => {
  const newest = await inDatabase(async (client) => {
    const { rows } = await client.query(
      'delete from certo.kysely_migration where name = (select max(name) from certo.kysely_migration) returning *',
    );
    return rows[0] as { name: string; timestamp: string };
  });
  await refused(3, /^certo: The database is older than this Certo, and nothing of it was changed: .*certo migrate/, [
    'verify',
  ]);
  const { code, out } = await line.run(['backup', '--out', backup, '--json'], env);
  expect(code).toBe(0);
  expect(JSON.parse(out).migration < newest.name).toBe(true);
  rmSync(backup);
  await inDatabase(async (client) => {
    const { rows } = await client.query('select 1 from certo.kysely_migration where name = $1', [newest.name]);
    expect(rows).toEqual([]);
    await client.query('insert into certo.kysely_migration values ($1, $2)', [newest.name, newest.timestamp]);
  });
  expect((await line.run(['verify'], env)).code).toBe(0);
});

test('a database that is missing is told, and none is begun in its place; put back, all is there', async () => {
  const [folder, elsewhere] = [join(directory, 'postgres'), line.folder('elsewhere')];
  renameSync(folder, elsewhere);
  for (const args of [['verify'], ['company', 'list'], ['demo'], ['migrate'], ['serve']])
    await refused(3, /^certo: The database of \S+ is missing: /, args);
  expect(existsSync(folder)).toBe(false);
  renameSync(elsewhere, folder);
  expect((await line.run(['company', 'list', '--json'], env)).json()).toHaveLength(3);
});

test('lost for good, it is restored into the same folder, and the demo goes on in series of its own', async () => {
  expect((await line.run(['backup', '--out', backup], env)).code).toBe(0);
  await refused(2, /all\.backup exists already: choose another file/, ['backup', '--out', backup]);
  const none = line.folder('none');
  const noFolder = new RegExp(`^certo: There is no folder ${none}: make it first\\.\n$`);
  await refused(3, noFolder, ['backup', '--out', `${none}/x.backup`]);
  await refused(3, noFolder, ['keys', 'export', '--out', `${none}/k.txt`]);
  // In a file's place no folder can be made.
  await refused(3, /There is no folder \S+all\.backup: make it first/, ['keys', 'export', '--out', `${backup}/k.txt`]);
  const before = JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8')) as Demo;
  rmSync(join(directory, 'postgres'), { recursive: true });
  const restored = await line.run(['restore', backup, '--json'], env);
  expect([restored.code, restored.json<{ closed: unknown[] }>().closed.length]).toEqual([0, 36]);
  const demo = await line.run(['demo', '--json'], env);
  expect(demo).toMatchObject({ code: 0, err: '' });
  const { A } = demo.json<Demo>().companies;
  expect(A.id).toBe(before.companies.A.id);
  const shared = Object.values(A.series).filter((id) => Object.values(before.companies.A.series).includes(id));
  expect(shared).toEqual([]);
  const series = await line.run(['series', 'list', '--company', A.id, '--json'], env);
  expect(series.json<{ id: string; code: string }[]>().find(({ id }) => id === A.series['INVOICE'])?.code).toMatch(
    /^DEMO\d{4}-2$/,
  );
  expect((await line.run(['demo', '--json'], env)).out).toBe(demo.out);
});

test('a restore that was killed leaves a folder that nothing is begun in; restored again, it is whole', async () => {
  const cut = line.folder('cut');
  mkdirSync(cut);
  cpSync(join(directory, 'master.key'), join(cut, 'master.key'));
  const CERTO_DATA_DIR = cut;
  const dying = spawn(process.execPath, [script, 'restore', backup], {
    env: { PATH: process.env['PATH'], CERTO_DATA_DIR },
  });
  const gone = once(dying, 'exit');
  // The database is there, and not a row of the books.
  await eventually(() => expect(existsSync(join(cut, 'postgres'))).toBe(true));
  dying.kill('SIGKILL');
  await gone;
  for (const args of [['serve'], ['demo'], ['migrate'], ['verify'], ['backup'], ['company', 'list']])
    await refused(
      3,
      /^certo: The restore into \S+cut was begun and is not finished, .* run "certo restore" again, here or into an empty folder/,
      args,
      { CERTO_DATA_DIR },
    );
  expect((await line.run(['restore', backup, '--json'], { CERTO_DATA_DIR })).json()).toMatchObject({ ok: true });
  expect((await line.run(['company', 'list', '--json'], { CERTO_DATA_DIR })).json()).toHaveLength(3);
});

interface Demo {
  readonly companies: { readonly A: { readonly id: string; readonly series: Record<string, string> } };
}

const canLimit = spawnSync('prlimit', ['--version']).status === 0;

test.runIf(canLimit)('a key that could not be written whole is none, and the next command makes one', async () => {
  const CERTO_DATA_DIR = line.folder('half');
  const keys = ['keys', 'rotate', '--json'];
  expect((await line.run(['migrate'], { CERTO_DATA_DIR })).code).toBe(0);
  // Held, so that the command itself writes no file but the key.
  const held = await useEmbedded({ dataDirectory: CERTO_DATA_DIR, uid: process.getuid?.() ?? 0, log: () => undefined });
  try {
    const limited = ['--fsize=20:', process.execPath, script, ...keys];
    const { status, signal } = spawnSync('prlimit', limited, { env: { PATH: process.env['PATH'], CERTO_DATA_DIR } });
    expect([status, signal]).not.toEqual([0, null]);
    expect(existsSync(join(CERTO_DATA_DIR, 'master.key'))).toBe(false);
    expect((await line.run(keys, { CERTO_DATA_DIR })).json()).toMatchObject({ version: 1 });
  } finally {
    await held.stop();
  }
});

test('one key is one version, and a company has a name', async () => {
  const pem = line.folder('key.pem');
  writeFileSync(pem, generateSigningKey().privatePem);
  const first = await line.run(['keys', 'import', pem, '--json'], env);
  const { version } = first.json<{ version: number }>();
  await refused(1, new RegExp(`holds the signing key of version ${version}, which is kept`), ['keys', 'import', pem]);
  for (const name of ['', '  '])
    await refused(2, /^certo: --name: This field is required\.\n$/, [
      ...['company', 'create', '--name', name, '--nif', '599999942', '--cae', '62010'],
    ]);
});

test('places in which nothing can be made are told', async () => {
  const CERTO_DATA_DIR = '/proc/certo';
  await refused(3, /^certo: The data folder \/proc\/certo cannot be made there/, ['serve'], { CERTO_DATA_DIR });
  const file = line.folder('file');
  writeFileSync(file, '');
  await refused(3, /^certo: \S+file is not a folder: choose another --directory\.\n$/, [
    ...['at-simulator', '--directory', file],
  ]);
});

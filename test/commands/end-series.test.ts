/** Series are ended by commands beside a running service, while the AT refuses, its answers are lost and commands are killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { script } from './built.ts';
import {
  type CommandLine,
  type Ended,
  type Environment,
  jsonOf,
  openCommandLine,
  type Service,
  urlOf,
} from './command-line.ts';
import { inside } from './in-process.ts';

const nif = '599999942';
const ofCompany = ['--company', nif];
let line: CommandLine;
let database: TestDatabase;
let env: Environment;
let service: Service;
let control: string;
let apiKey: string;
let ids: { readonly customerId: string; readonly items: readonly { readonly id: string; readonly quantity: 1 }[] };

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine().then(inside), testDatabase()]);
  env = { DATABASE_URL: urlOf(database.connection), CERTO_DATA_DIR: line.folder('data') };
  service = await line.serve(env);
  control = (await service.says(/^Simulator +(\S+)$/m))[1]!;
  await json(['company', 'create', '--name', 'Casa Nova, Lda', '--nif', nif, '--cae', '62010', '--city', 'Lisboa']);
  await json(['company', 'credentials', nif, '--username', `${nif}/1`], 'right\n');
  ({ apiKey } = await json<{ apiKey: string }>(['api-key', 'create', '--name', 'till', ...ofCompany]));
  const customer = await api('/customers', { name: 'Cliente', country: 'PT' });
  const item = await api('/items', { name: 'Artigo', type: 'PRODUCT', unitPrice: 10, vatRate: 'NORMAL' });
  ids = { customerId: customer.id, items: [{ id: item.id, quantity: 1 }] };
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

const json = <T>(args: readonly string[], input?: string): Promise<T> => jsonOf<T>(line, env, args, input);

interface Answer {
  readonly id: string;
  readonly updatedAt: string;
  readonly number?: string;
  readonly code?: string;
}

async function api(path: string, body: unknown): Promise<Answer> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return (
    await fetch(service.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  ).json() as Promise<Answer>;
}

/** The number of a new invoice, or the code of its refusal. */
async function issue(): Promise<string | undefined> {
  const { id, updatedAt } = await api('/invoices', { type: 'INVOICE', cae: '62010', ...ids });
  const { number, code } = await api(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
  return number ?? code;
}

async function register(code: string): Promise<string> {
  const [made] = await json<{ id: string }[]>([
    'series',
    'register',
    ...ofCompany,
    '--code',
    code,
    '--type',
    'INVOICE',
  ]);
  return made!.id;
}

async function listed(seriesId: string): Promise<unknown[]> {
  const all = await json<{ id: string; status: string; isDefault: boolean; lastNumber: number }[]>([
    'series',
    'list',
    ...ofCompany,
  ]);
  const { status, isDefault, lastNumber } = all.find(({ id }) => id === seriesId)!;
  return [status, isDefault, lastNumber];
}

async function atTheAt(code: string): Promise<unknown[]> {
  const { series } = (await (await fetch(`${control}/__ledger?nif=${nif}`)).json()) as {
    series: { series: string; state: string; lastNumber?: number }[];
  };
  const { state, lastNumber } = series.find((one) => one.series === code)!;
  return [state, lastNumber];
}

const fault = (rule: object) => fetch(`${control}/__fault`, { method: 'PUT', body: JSON.stringify(rule) });
const noFault = () => fetch(`${control}/__fault`, { method: 'DELETE' });
const run = (...args: string[]) => line.run([...args, ...ofCompany], env);
const said = ({ code, err }: Ended) => [code, err];

test('when the answer is lost nothing is numbered any more, and the same command completes what is true', async () => {
  const id = await register('A2026');
  expect(await issue()).toBe('FT A2026/1');
  await fault({ kind: 'reset-after', operation: 'finalizeSeries', count: 1 });
  const lost = await run('series', 'finalize', id);
  expect(said(lost)).toEqual([
    3,
    expect.stringMatching(
      /^certo: It is not known whether the AT has finalised the series A2026 \([^\n]+\): nothing is numbered in it until this command, run again, has asked the AT\.\n$/,
    ),
  ]);
  expect(await atTheAt('A2026')).toEqual(['F', 1]);
  expect(await issue()).toBe('NOT_READY');
  expect(await listed(id)).toEqual(['ENDING', false, 1]);
  expect(await json(['series', 'finalize', id, ...ofCompany])).toMatchObject({ lastNumber: 1, status: 'FINALIZED' });
  expect(await listed(id)).toEqual(['FINALIZED', false, 1]);
  expect(said(await run('series', 'finalize', id))).toEqual([1, 'certo: The series A2026 is FINALIZED, not active.\n']);
});

test('what the AT refused goes on: active again, the default again, with the next number', async () => {
  const id = await register('B2026');
  expect(await issue()).toBe('FT B2026/1');
  await fault({ kind: 'document-refused', operation: 'finalizeSeries', count: 1 });
  expect(said(await run('series', 'finalize', id))).toEqual([
    1,
    expect.stringMatching(
      /^certo: The series B2026 is active again\.\ncerto: The tax authority refused: .* \(code 4005\)\.\n$/,
    ),
  ]);
  expect(await listed(id)).toEqual(['ACTIVE', true, 1]);
  expect(await issue()).toBe('FT B2026/2');
});

test('killed while it waits for the answer, it is completed by the next one', async () => {
  const series = await json<{ id: string; code: string }[]>(['series', 'list', ...ofCompany]);
  const { id } = series.find(({ code }) => code === 'B2026')!;
  await fault({ kind: 'no-answer-after', operation: 'finalizeSeries', count: 1 });
  const child = spawn(process.execPath, [script, 'series', 'finalize', id, ...ofCompany], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'ignore',
  });
  await eventually(async () => expect(await atTheAt('B2026')).toEqual(['F', 2]));
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await issue()).toBe('NOT_READY');
  expect(await json(['series', 'finalize', id, ...ofCompany])).toMatchObject({ lastNumber: 2, status: 'FINALIZED' });
  await noFault();
});

test('a series in constant use is finalised by two commands at once, after its last document', async () => {
  const id = await register('C2026');
  const numbers: (string | undefined)[] = [];
  let going = true;
  const tills = Array.from({ length: 3 }, async () => {
    while (going) numbers.push(await issue());
  });
  await eventually(() => expect(numbers.length).toBeGreaterThan(10));
  const ends = await Promise.all([run('series', 'finalize', id), run('series', 'finalize', id)]);
  going = false;
  await Promise.all(tills);
  // Who comes second may find it done.
  const fine =
    /^$|^certo: The series C2026 is FINALIZED, not active\.\n$|^certo: Waiting for \d+ document\(s\)[^\n]+\n$/;
  for (const { err } of ends) expect(err).toMatch(fine);
  expect(ends.map(({ code }) => code)).toContain(0);
  const issued = numbers.filter((number) => number?.startsWith('FT ') === true);
  expect([...new Set(numbers.filter((number) => !issued.includes(number)))]).toEqual(['NOT_READY']);
  const last = issued.length;
  expect(new Set(issued)).toEqual(new Set(Array.from({ length: last }, (_, i) => `FT C2026/${i + 1}`)));
  expect(await listed(id)).toEqual(['FINALIZED', false, last]);
  expect(await atTheAt('C2026')).toEqual(['F', last]);
});

test('to annul is the same: the answer lost, nothing numbered, completed by the next command', async () => {
  const id = await register('D2026');
  await fault({ kind: 'reset-after', operation: 'annulSeries', count: 1 });
  expect(said(await run('series', 'annul', id))).toEqual([
    3,
    expect.stringMatching(/^certo: It is not known whether the AT has annulled the series D2026 \([^\n]+\n$/),
  ]);
  expect(await issue()).toBe('NOT_READY');
  expect(await json(['series', 'annul', id, ...ofCompany])).toEqual({ id, code: 'D2026', status: 'ANNULLED' });
  expect(await atTheAt('D2026')).toEqual(['N', undefined]);
  expect((await line.run(['verify', ...ofCompany], env)).out).toMatch(/nothing wrong/);
});

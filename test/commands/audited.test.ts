/** What the operator does to a company stands in its audit: each command once, and none that was refused. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { type CommandLine, type Environment, openCommandLine, type Service, urlOf } from './command-line.ts';
import { inside } from './in-process.ts';

const nif = '599999942';
const ofCompany = ['--company', nif];
let line: CommandLine;
let database: TestDatabase;
let env: Environment;
let service: Service;
let control: string;
let companyId: string;
/** Every word of the commands that were walked. */
const walked = new Set<string>();

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine().then(inside), testDatabase()]);
  env = { DATABASE_URL: urlOf(database.connection), CERTO_DATA_DIR: line.folder('data') };
  service = await line.serve(env);
  control = (await service.says(/^Simulator +(\S+)$/m))[1]!;
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

const run = (args: readonly string[], input = '') => line.run(args, env, input);

async function json<T>(args: readonly string[], input?: string): Promise<T> {
  const ended = await run([...args, '--json'], input);
  expect([args, ended.err, ended.code]).toEqual([args, '', 0]);
  return JSON.parse(ended.out) as T;
}

/** Entries that are not of the API, in the order of their time. */
async function entries(): Promise<string[][]> {
  const { rows } = await database.ownerPool.query<Record<string, string>>(
    `select actor, operation, subject_id, request_id from certo.audit where company_id = $1 and actor not like 'key-%' order by at, id`,
    [companyId],
  );
  return rows.map((row) => [row['actor']!, row['operation']!, row['subject_id']!, row['request_id']!]);
}

/** Runs a command that does something, and then what is refused of it: one entry, with the id that `subject` finds. */
async function does<T>(
  act: string,
  args: readonly string[],
  subject: (told: T) => string | Promise<string>,
  { input, refused, actor = 'operator' }: { input?: string; refused?: readonly string[]; actor?: string } = {},
): Promise<T> {
  walked.add(args.slice(0, 2).join(' '));
  const before = companyId === undefined ? [] : await entries();
  const told = await json<T>(args, input);
  const expected = await subject(told);
  const after = await entries();
  expect([args, after.slice(before.length)]).toEqual([args, [[actor, act, expected, 'command']]]);
  if (refused !== undefined) {
    expect((await run(refused, input)).code).toBeGreaterThan(0);
    expect([refused, await entries()]).toEqual([refused, after]);
  }
  return told;
}

const own = () => companyId;
const first = ([one]: { id: string }[]) => one!.id;
const its = ({ id }: { id: string }) => id;
const nobody = '0197a5c2-0000-7000-8000-000000000000';

test('companies, their credentials and their scheme', async () => {
  const create = ['company', 'create', '--name', 'Casa Nova, Lda', '--cae', '62010', '--city', 'Lisboa', '--nif', nif];
  const made = ({ id }: { id: string }) => {
    companyId = id;
    return id;
  };
  await does('createCompany', create, made, { refused: create });
  const change = ['company', 'change', nif];
  await does('changeCompany', [...change, '--phone', '210 000 000'], own, {
    refused: [...change, '--phone', '1'.repeat(21)],
  });
  const credentials = ['company', 'credentials', nif, '--username'];
  await does('setAtCredentials', [...credentials, `${nif}/1`], own, {
    input: 'senha-da-at\n',
    refused: [...credentials, '599999950/1'],
  });
  await does('setCashVat', ['company', 'cash-vat', nif, '--from', '2030-01-01'], own, {
    refused: ['company', 'cash-vat', nif, '--from', '2030-01-01', '--until', '2029-12-31'],
  });
});

test('API keys', async () => {
  const { id } = await does('createApiKey', ['api-key', 'create', '--name', 'loja', ...ofCompany], its, {
    refused: ['api-key', 'create', '--name', ' ', ...ofCompany],
  });
  // The key that is replaced.
  const next = await does<{ id: string }>('rotateApiKey', ['api-key', 'rotate', id, ...ofCompany], () => id, {
    refused: ['api-key', 'rotate', id, ...ofCompany],
  });
  const revoke = ['api-key', 'revoke', next.id, ...ofCompany];
  await does('revokeApiKey', revoke, its, { refused: revoke });
});

test('templates', async () => {
  const add = ['template', 'add', '--name', 'Loja', ...ofCompany];
  const { id } = await does<{ id: string }>('addTemplate', add, its, { refused: add });
  const change = (which: string) => ['template', 'change', which, '--language', 'en', ...ofCompany];
  await does('changeTemplate', change(id), its, { refused: change(nobody) });
  const setDefault = (which: string) => ['template', 'default', which, ...ofCompany];
  await does('setDefaultTemplate', setDefault(id), its, { refused: setDefault(nobody) });
  const archive = ['template', 'archive', id, ...ofCompany];
  await does('archiveTemplate', archive, its, { refused: archive });
});

test('series, and what is told again, accepted, recovered and imported', async () => {
  const register = (code: string, ...more: string[]) => [
    'series',
    'register',
    '--type',
    'INVOICE',
    '--code',
    code,
    ...more,
    ...ofCompany,
  ];
  const [series] = await does('registerSeries', register('A2026'), first, { refused: register('a2026') });
  const before = await entries();
  // As it is already.
  await json(register('A2026'));
  expect(await entries()).toEqual(before);

  const [unused] = await does('registerSeries', register('X2026'), first);
  const setDefault = (which: string) => ['series', 'default', which, ...ofCompany];
  await does('setDefaultSeries', setDefault(unused!.id), () => unused!.id, { refused: setDefault(nobody) });
  await does('annulSeries', ['series', 'annul', unused!.id, ...ofCompany], its, {
    refused: ['series', 'annul', series!.id, '--company', '599999950'],
  });

  const ids = await issueRefused();
  const reports = ['reports', 'again', ...ofCompany];
  await does('reportAgain', reports, () => ids.documentId, { refused: [...reports, '--number', 'FT A2026/2'] });
  const pending = async () => (await json<{ pendingAtTheAt: number }>(['company', 'show', nif])).pendingAtTheAt;
  await eventually(async () => expect(await pending()).toBe(0));

  await database.ownerPool.query(
    `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, problem)
     values ($1, gen_random_uuid(), sha256('x'), '', '', 'is made up')`,
    [companyId],
  );
  const resolve = ['verify', ...ofCompany, '--resolve', 'Visto'];
  await does('resolveFindings', resolve, own, { refused: ['verify', ...ofCompany, '--resolve', ' '] });
  const resolved = await entries();
  // There is nothing left.
  await json(resolve);
  expect(await entries()).toEqual(resolved);

  await does('registerSeries', register('R2026', '--kind', 'recovery'), first);
  const file = line.folder('recover.json');
  const form = { kind: 'M', original: 'abc/1', type: 'INVOICE', date: '2026-03-02', total: 12.3, cae: '62010' };
  const document = { ...form, customerId: ids.customerId, items: [{ id: ids.itemId, quantity: 1 }] };
  writeFileSync(file, JSON.stringify({ documents: [document] }));
  const recovered = ({ documents: [one] }: { documents: { id: string }[] }) => one!.id;
  await does('recoverDocument', ['recover', file, ...ofCompany], recovered, {
    refused: ['recover', file, '--company', '599999950'],
  });

  const csv = line.folder('efatura.csv');
  writeFileSync(csv, await (await fetch(`${control}/__efatura.csv?nif=${nif}`)).text());
  await does('importAtInvoices', ['import', 'at-invoices', csv, ...ofCompany], lastSubject, {
    actor: 'import',
    refused: ['import', 'at-invoices', file, ...ofCompany],
  });

  const finalize = ['series', 'finalize', series!.id, ...ofCompany];
  await does('finalizeSeries', finalize, its, { refused: finalize });
  expect(await json(['verify', ...ofCompany])).toMatchObject({ ok: true });
});

/** Of what has no id of its own. */
const lastSubject = async () => (await entries()).at(-1)![2]!;

/** An invoice that the AT has refused. */
async function issueRefused() {
  const { apiKey } = await json<{ apiKey: string }>(['api-key', 'create', '--name', 'caixa', ...ofCompany]);
  const fault = { kind: 'document-refused', operation: 'reportInvoice', count: 1 };
  await fetch(`${control}/__fault`, { method: 'PUT', body: JSON.stringify(fault) });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const api = async (path: string, body: unknown) => {
    const answer = await fetch(service.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { id: string; updatedAt: string };
  };
  const customerId = (await api('/customers', { name: 'Cliente', country: 'PT' })).id;
  const made = { type: 'PRODUCT', unitPrice: 10, vatRate: 'NORMAL', name: 'Artigo' };
  const itemId = (await api('/items', made)).id;
  const items = [{ id: itemId, quantity: 1 }];
  const draft = await api('/invoices', { type: 'INVOICE', cae: '62010', customerId, items });
  await api(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
  const refused = () => json<unknown[]>(['reports', 'refused', ...ofCompany]);
  await eventually(async () => expect(await refused()).toHaveLength(1));
  return { customerId, itemId, documentId: draft.id };
}

test('no other command does anything to a company, and no secret stands there', async () => {
  // They read; or are about the installation, which has no audit; or make companies by these commands' own functions.
  const others =
    /^(serve|demo|migrate|at-simulator|environment|backup|backup check|restore|keys \w+|saft \w+|\w[\w-]* (list|show|refused))$/;
  const names = async (...above: string[]): Promise<string[]> => {
    const { out } = await run([...above, '--help']);
    const listed = [...(/^Commands:\n((?: +.*\n)+)/m.exec(out)?.[1] ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)];
    const below = await Promise.all(listed.map(([, name]) => (name === 'help' ? [] : names(...above, name!))));
    const isGroup = listed.length > 0 && !/^ {2}--json/m.test(out);
    return [...(isGroup ? [] : [above.join(' ')]), ...below.flat()];
  };
  const known = [...walked].map((words) => words.replace(/ (--.*|\/.*)$/, ''));
  const found = (await names()).filter((name) => !others.test(name));
  expect(found.sort()).toEqual(known.sort());
  const { rows } = await database.ownerPool.query(`select string_agg(a::text, ' ') as said from certo.audit a`);
  expect(rows[0].said).not.toMatch(/senha-da-at|svc_sk_/);
});

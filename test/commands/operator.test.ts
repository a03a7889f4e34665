/** A company from nothing to a finished series, by the operator's commands beside a running service. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import {
  type CommandLine,
  type Environment,
  jsonOf,
  openCommandLine,
  type Service,
  takenPort,
  urlOf,
} from './command-line.ts';
import { inside } from './in-process.ts';

const nif = '599999942';
let line: CommandLine;
let database: TestDatabase;
let env: Environment;
let service: Service;
let metricsPort: number;

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine().then(inside), testDatabase()]);
  env = { DATABASE_URL: urlOf(database.connection), CERTO_DATA_DIR: line.folder('data') };
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

const json = <T>(args: readonly string[], input?: string): Promise<T> => jsonOf<T>(line, env, args, input);

async function api<T>(key: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
  const answer = await fetch(service.baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as T };
}

test('a company is added; the same NIF twice, or a wrong one, is not', async () => {
  const args = ['company', 'create', '--name', 'Casa Nova, Lda', '--nif', nif, '--cae', '62010', '--cae', '46900'];
  const added = await line.run([...args, '--region', 'PT-MA', '--city', 'Funchal'], env);
  const id = /with the id (\S+)\.$/m.exec(added.out)![1]!;
  // Its documents would lack what the law asks for.
  expect(added.out).toContain(`certo company change ${nif} --address … --postal-code …\n`);
  const twice = await line.run(args, env);
  expect(twice).toMatchObject({
    code: 1,
    err: `certo: A company with NIF ${nif} exists already. Use that one, or correct the NIF.\n`,
  });
  const wrong = await line.run(['company', 'create', '--name', 'X', '--nif', '599999943', '--cae', '1'], env);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toMatch(/^certo: --nif: .*\ncerto: --cae: .*\n$/);
  const whole = ['--address', 'Rua Nova, 7', '--postal-code', '1100-001', '--city', 'Lisboa'];
  const other = ['company', 'create', '--name', 'Outra, Lda', '--nif', '501442600', '--cae', '62010', ...whole];
  expect((await line.run(other, env)).out).not.toContain('company change');
  const shown = await json(['company', 'show', nif]);
  expect(shown).toMatchObject({ id, cae: ['62010', '46900'], region: 'PT-MA', city: 'Funchal', activeSeries: 0 });
  expect(await line.run(['company', 'show', '599999950'], env)).toMatchObject({
    code: 1,
    err: 'certo: There is no such company. See those there are with: certo company list.\n',
  });
});

test('an AT that does not answer: the credentials are kept, and the command says so', async () => {
  // Makes the simulator's files, which a simulator elsewhere would have given.
  await line.run(['company', 'credentials', nif, '--username', `${nif}/1`], env, 'right\n');
  const nobody = await takenPort();
  nobody.release();
  const away = { ...env, CERTO_AT_SIMULATOR_URL: `https://127.0.0.1:${nobody.port}` };
  const ended = await line.run(['company', 'credentials', nif, '--username', `${nif}/1`], away, 'right\n');
  expect(ended.out).toMatch(/They are kept/);
  expect(ended.code).toBe(3);
});

test('credentials are tried at once: a wrong password is told, a right one makes it ready for series', async () => {
  const taken = await takenPort();
  metricsPort = taken.port;
  taken.release();
  service = await line.serve({ ...env, CERTO_METRICS_PORT: String(metricsPort) });
  const args = ['company', 'credentials', nif, '--username', `${nif}/1`];
  const wrong = await line.run(args, env, 'wrong-password\n');
  expect(wrong.out).toMatch(/The AT refused them: wrong user or password/);
  expect(wrong.code).toBe(1);
  expect(await json(['company', 'show', nif])).toMatchObject({
    notReady: expect.arrayContaining(['AT_CREDENTIALS_REQUIRED']),
  });

  const file = line.folder('password');
  writeFileSync(file, 'right\n');
  expect(await json([...args, '--password-file', file])).toEqual({ result: 'ok' });
  expect(await json(['company', 'show', nif])).toMatchObject({ notReady: ['SERIES_REQUIRED'] });
  const other = await line.run(['company', 'credentials', nif, '--username', '599999950/1'], env, 'right\n');
  expect(other).toMatchObject({ code: 2, err: `certo: --username: Must have the form ${nif}/1.\n` });
  expect((await line.run(args, env, '\n')).err).toBe('certo: The password must be one line of text.\n');
});

test('series are registered, one type or all; again changes nothing', async () => {
  type Registered = { documentType: string; validationCode: string; existed: boolean }[];
  const args = ['series', 'register', '--company', nif, '--code', 'A2026'];
  const one = await json<Registered>([...args, '--type', 'INVOICE', 'CREDIT_NOTE']);
  expect(one.map(({ documentType, existed }) => [documentType, existed])).toEqual([
    ['INVOICE', false],
    ['CREDIT_NOTE', false],
  ]);
  const all = await json<Registered>([...args, '--all-types']);
  expect(all).toHaveLength(12);
  expect(
    all
      .filter(({ existed }) => existed)
      .map(({ validationCode }) => validationCode)
      .sort(),
  ).toEqual(one.map(({ validationCode }) => validationCode).sort());
  const lower = await line.run(['series', 'register', '--company', nif, '--code', 'a2026', '--type', 'INVOICE'], env);
  expect(lower.err).toMatch(/^certo: INVOICE: The identifier a2026 was already used/);
  expect(lower.code).toBe(1);
});

test('what stops every series is said once, with the types that it stops', async () => {
  const args = ['series', 'register', '--company', nif, '--code', 'a2026', '--all-types'];
  const ended = await line.run(args, env);
  expect(ended.code).toBe(1);
  expect(ended.err).toMatch(/^certo: INVOICE, (\w+, ){10}\w+: The identifier a2026 was already used [^\n]+\n$/);
});

test('API keys: shown once, rotated with their lineage, revoked at once', async () => {
  const ofCompany = ['--company', nif];
  const made = await json<{ id: string; apiKey: string }>(['api-key', 'create', '--name', 'shop', ...ofCompany]);
  expect((await api(made.apiKey, '/company')).status).toBe(200);
  const listed = await line.run(['api-key', 'list', ...ofCompany, '--json'], env);
  expect(listed.out).not.toContain(made.apiKey);

  const customer = { name: 'Cliente', country: 'PT' };
  const first = await fetch(`${service.baseUrl}/customers`, idempotent(made.apiKey, customer));
  const next = await json<{ id: string; apiKey: string }>(['api-key', 'rotate', made.id, ...ofCompany]);
  expect((await api(made.apiKey, '/company')).status).toBe(401);
  const replayed = await fetch(`${service.baseUrl}/customers`, idempotent(next.apiKey, customer));
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  expect(await replayed.text()).toBe(await first.text());

  expect(await json(['api-key', 'revoke', next.id, ...ofCompany])).toEqual({ id: next.id, revoked: true });
  expect((await api(next.apiKey, '/company')).status).toBe(401);
  expect((await line.run(['api-key', 'revoke', next.id, ...ofCompany], env)).code).toBe(1);
});

function idempotent(apiKey: string, body: unknown): RequestInit {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': 'one' };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

test('what the AT refused is listed and told again; a series is finalised at the AT when all of it is there; then nothing is issued in it', async () => {
  type Series = { id: string; documentType: string; status: string; lastNumber: number };
  const series = await json<Series[]>(['series', 'list', '--company', nif]);
  const { id } = series.find(({ documentType }) => documentType === 'INVOICE')!;
  const finalize = ['series', 'finalize', id, '--company', nif];
  const unused = await line.run(finalize, env);
  expect(unused).toMatchObject({
    code: 1,
    err: 'certo: Nothing was issued in the series A2026: there is nothing to finalise. To give it up: certo series annul.\n',
  });

  const { apiKey } = await json<{ apiKey: string }>(['api-key', 'create', '--name', 'till', '--company', nif]);
  const control = /^Simulator +(\S+)$/m.exec(service.out())![1]!;
  const fault = { kind: 'document-refused', operation: 'reportInvoice', count: 1 };
  await fetch(`${control}/__fault`, { method: 'PUT', body: JSON.stringify(fault) });
  await issueOne(apiKey);
  const refused = () => json<{ number: string; code: string }[]>(['reports', 'refused', '--company', nif]);
  const once = [{ number: 'FT A2026/1', code: '-1', message: expect.any(String) }];
  await eventually(async () => expect(await refused()).toMatchObject(once));
  const again = ['reports', 'again', '--company', nif];
  expect(await line.run([...again, '--number', 'FT A2026/2'], env)).toMatchObject({
    code: 1,
    err: 'certo: Not refused by the AT: FT A2026/2. See certo reports refused.\n',
  });
  expect(await json([...again, '--number', 'FT A2026/1'])).toEqual({ again: 1 });
  await eventually(async () => expect(await json(['company', 'show', nif])).toMatchObject({ pendingAtTheAt: 0 }));
  expect(await json(again)).toEqual({ again: 0 });
  expect(await json(finalize)).toMatchObject({ id, lastNumber: 1, status: 'FINALIZED' });
  expect(await line.run(finalize, env)).toMatchObject({ code: 1 });
  const after = await issueOne(apiKey);
  expect(after).toMatchObject({ code: 'NOT_READY' });
  const ledger = (await (await fetch(`${control}/__ledger?nif=${nif}`)).json()) as {
    series: Record<string, unknown>[];
  };
  expect(ledger.series.find(({ documentCode }) => documentCode === 'FT')).toMatchObject({ state: 'F', lastNumber: 1 });
  expect((await line.run(['verify', '--company', nif], env)).out).toMatch(
    /^Verified: 1 document in 12 series of 1 company, nothing wrong/,
  );
});

test('the figures count it', async () => {
  const read = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  // Twice: what is counted in the books must not be added to what was read before.
  await read();
  const text = await read();
  expect(text).toContain('certo_documents_issued_total{type="INVOICE"} 1');
  expect(text).toContain('certo_at_pending_documents 0');
  expect(text).toMatch(/http_requests_total\{route="\/invoices\/:id\/issue",status="200"\} 1/);
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).toContain('certo_database_up 1');
});

test('signing keys: listed, exported for the declaration, and a new version goes on with the chain', async () => {
  const out = line.folder('public.pem');
  expect((await line.run(['keys', 'export', '--out', out], env)).code).toBe(0);
  expect(readFileSync(out, 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  expect((await line.run(['keys', 'export', '--out', out], env)).code).toBe(2);
  expect((await line.run(['keys', 'import', out], env)).err).toMatch(/cannot be imported: it is not a private key/);
  await json(['keys', 'rotate']);
  expect(await service.end()).toBe(0);
  service = await line.serve(env);
  const { apiKey } = await json<{ apiKey: string }>(['api-key', 'create', '--name', 'again', '--company', nif]);
  await json(['series', 'register', '--company', nif, '--code', 'B2026', '--type', 'INVOICE']);
  await issueOne(apiKey);
  const versions = (await (await fetch(`${service.baseUrl}/.well-known/fiscal-keys.json`)).json()) as {
    keys: unknown[];
  };
  expect(versions.keys).toHaveLength(2);
  expect((await line.run(['verify'], env)).code).toBe(0);
  expect(await service.end()).toBe(0);
});

interface Draft {
  readonly id: string;
  readonly updatedAt: string;
}

async function issueOne(apiKey: string): Promise<unknown> {
  const made = { type: 'PRODUCT', unitPrice: 10, vatRate: 'NORMAL', name: 'Artigo' };
  const customer = await api<Draft>(apiKey, '/customers', { name: 'Cliente', country: 'PT' });
  const item = await api<Draft>(apiKey, '/items', made);
  const draft = await api<Draft>(apiKey, '/invoices', {
    type: 'INVOICE',
    cae: '62010',
    customerId: customer.body.id,
    items: [{ id: item.body.id, quantity: 1 }],
  });
  const { id, updatedAt } = draft.body;
  return (await api(apiKey, `/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt })).body;
}

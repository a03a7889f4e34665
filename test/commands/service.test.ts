/** The life of a service as its operator sees it: first start, restart, crash, and what stands in the books after each. */
import { spawnSync } from 'node:child_process';
import { createVerify } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlive } from '../../src/db/cluster.ts';
import { openOwner } from '../../src/db/open.ts';
import { eventually } from '../eventually.ts';
import { type CommandLine, openCommandLine, type Service } from './command-line.ts';

interface Demo {
  readonly baseUrl: string;
  readonly simulator: { readonly control: string };
  readonly companies: Record<
    'A' | 'B' | 'Z',
    {
      readonly id: string;
      readonly taxpayerNumber: string;
      readonly cae: readonly string[];
      readonly apiKey: string;
      readonly series: Record<string, string>;
      readonly customers: readonly string[];
      readonly items: Record<string, string>;
    }
  >;
}

interface Invoice {
  readonly id: string;
  readonly number: string;
  readonly atcud: string;
  readonly status: string;
  readonly updatedAt: string;
  readonly signature?: { readonly text: string; readonly value: string; readonly keyVersion: number };
}

let line: CommandLine;
let service: Service;
let directory: string;
let env: Record<string, string>;
let key: string;
let demo: Demo;

beforeAll(async () => {
  line = await openCommandLine();
  directory = line.folder('data');
  env = { CERTO_DATA_DIR: directory };
});
afterAll(() => line.close());

async function call<T>(baseUrl: string, apiKey: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

type Company = Demo['companies']['A'];

const draftOf = (baseUrl: string, company: Company): Promise<Invoice> =>
  call(baseUrl, company.apiKey, '/invoices', {
    type: 'INVOICE',
    cae: company.cae[0],
    customerId: company.customers[0],
    items: [{ id: company.items['NORMAL'], quantity: 1 }],
  });

const issueDraft = (baseUrl: string, company: Company, { id, updatedAt }: Invoice): Promise<Invoice> =>
  call(baseUrl, company.apiKey, `/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });

async function issue(baseUrl: string, company: Company): Promise<Invoice> {
  return issueDraft(baseUrl, company, await draftOf(baseUrl, company));
}

async function ledger(control: string, nif: string): Promise<{ number: string }[]> {
  const answer = await fetch(`${control}/__ledger?nif=${nif}`);
  return ((await answer.json()) as { documents: { number: string }[] }).documents;
}

test('an empty folder becomes a service with a company that can issue', async () => {
  service = await line.serve(env);
  expect(service.out().split('\n')[0]).toBe(`Data        ${directory} (embedded PostgreSQL)`);
  expect(service.out()).toContain('documents have no fiscal value');
  key = (await service.says(/^ {2}(svc_sk_\w+)$/m))[1]!;
  await service.says(/certo demo/);
  for (const name of ['master.key', 'demo.json']) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);

  const company = await call<{ readiness: { ready: boolean } }>(service.baseUrl, key, '/company');
  expect(company.readiness.ready).toBe(true);
});

test('the printed lines, as they are, make a draft and issue it', async () => {
  const script = [...service.out().matchAll(/^ {2}((?:key=|draft=|curl ).*)$/gm)].map((match) => match[1]);
  expect(script).toHaveLength(3);
  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  if (hasCurl) {
    const done = spawnSync('sh', ['-c', script.join('\n')], { encoding: 'utf8' });
    expect(JSON.parse(done.stdout)).toMatchObject({
      status: 'ISSUED',
      number: expect.stringMatching(/^FT DEMO\d{4}\/1$/),
    });
    return;
  }
  // Without curl the same requests, read out of the lines.
  const body = JSON.parse(/-d '(.*)'\)$/.exec(script[1]!)![1]!);
  const draft = await call<Invoice>(service.baseUrl, key, '/invoices', body);
  const issued = await call<Invoice>(service.baseUrl, key, `/invoices/${draft.id}/issue`, {
    expectedUpdatedAt: draft.updatedAt,
  });
  expect(issued).toMatchObject({ status: 'ISSUED', number: expect.stringMatching(/^FT DEMO\d{4}\/1$/) });
});

test('the demo prints three companies beside the running service, the same each time', async () => {
  const first = await line.run(['demo', '--json'], env);
  expect(first.err).toBe('');
  expect(first.code).toBe(0);
  demo = first.json<Demo>();
  expect(demo.baseUrl).toBe(service.baseUrl);
  expect(demo.companies.A.apiKey).toBe(key);
  expect(Object.keys(demo.companies)).toEqual(['A', 'B', 'Z']);
  for (const company of Object.values(demo.companies)) {
    expect(Object.keys(company.series)).toHaveLength(12);
    expect(company.customers).toHaveLength(2);
    expect(Object.keys(company.items).sort()).toEqual(['EXEMPT', 'INTERMEDIATE', 'NORMAL', 'REDUCED']);
    for (const [vatRate, id] of Object.entries(company.items)) {
      const item = await call<{ unitPrice: number }>(service.baseUrl, company.apiKey, `/items/${id}`);
      expect(item).toMatchObject({ vatRate });
      expect(item.unitPrice).toBeLessThanOrEqual(40);
    }
    const [business, person] = await Promise.all(
      company.customers.map((id) =>
        call<{ taxpayerNumber?: string }>(service.baseUrl, company.apiKey, `/customers/${id}`),
      ),
    );
    expect(business!.taxpayerNumber).toMatch(/^5\d{8}$/);
    expect(person!.taxpayerNumber).toBeUndefined();
  }
  const again = await line.run(['demo', '--json'], env);
  expect(again.out).toBe(first.out);
  expect(JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8'))).toEqual(demo);
});

test('an issued invoice is at the simulator once, and its signature verifies with the published key', async () => {
  const issued = await issue(service.baseUrl, demo.companies.Z);
  const { control } = demo.simulator;
  const nif = demo.companies.Z.taxpayerNumber;
  await eventually(async () => expect((await ledger(control, nif)).length).toBeGreaterThan(0));
  expect((await ledger(control, nif)).map(({ number }) => number)).toEqual([issued.number]);

  const keys = await call<{ keys: { version: number; publicKeyPem: string }[] }>(
    service.baseUrl,
    key,
    '/.well-known/fiscal-keys.json',
  );
  const { text, value, keyVersion } = issued.signature!;
  expect(text).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d;[-T:\\d]{19};${issued.number};46\\.40;$`));
  const pem = keys.keys.find(({ version }) => version === keyVersion)!.publicKeyPem;
  expect(createVerify('RSA-SHA1').update(text).verify(pem, value, 'base64')).toBe(true);
  if (spawnSync('openssl', ['version']).status === 0) {
    const at = (name: string) => join(line.folder('data'), '..', name);
    writeFileSync(at('key.pem'), pem);
    writeFileSync(at('hash.bin'), Buffer.from(value, 'base64'));
    const openssl = ['dgst', '-sha1', '-verify', at('key.pem'), '-signature', at('hash.bin')];
    expect(spawnSync('openssl', openssl, { input: text, encoding: 'utf8' }).stdout.trim()).toBe('Verified OK');
    expect(spawnSync('openssl', openssl, { input: `${text} `, encoding: 'utf8' }).status).not.toBe(0);
  }
});

test('a second service on the folder is refused, and the first does not notice', async () => {
  const second = await line.run(['serve'], { ...env, PORT: '0' });
  expect(second.code).toBe(3);
  expect(second.err).toMatch(/^certo: The data folder .* is in use by a running Certo \(process \d+\).*\n$/);
  expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
});

test('it ends in order: exit code 0, a line in the log that says so, and no process is left', async () => {
  const processes = await childrenOf();
  expect(processes).toHaveLength(2);
  expect(service.err()).not.toContain('ending in order');
  expect(await service.end()).toBe(0);
  expect(service.err()).toContain('ending in order');
  expect(existsSync(join(directory, 'service.json'))).toBe(false);
  // The server takes its file away, which is waited for, a moment before it is gone itself.
  await eventually(() => expect(processes.filter(isAlive)).toEqual([]));
});

test('the demo is the same while no service runs, and brings up and down what it needs itself', async () => {
  const alone = await line.run(['demo', '--json'], env);
  expect(alone.code).toBe(0);
  expect(alone.json<Demo>()).toEqual({ ...demo, baseUrl: 'http://127.0.0.1:3000' });
  // With any free port there is no address while nothing listens.
  const anywhere = await line.run(['demo', '--json'], { ...env, PORT: '0' });
  expect(anywhere.json<Demo>()).toEqual({ ...demo, baseUrl: null });
  const named = await line.run(['demo'], { ...env, PORT: '0', CERTO_BASE_URL: 'https://certo.example' });
  expect(named.out).toMatch(/^Service +https:\/\/certo\.example$/m);
  expect((await childrenOf()).filter(isAlive)).toEqual([]);
});

test('the next start finds everything, says no key again, and keeps the simulator where it was', async () => {
  service = await line.serve(env);
  expect(service.out()).toContain(demo.simulator.control);
  await issue(service.baseUrl, demo.companies.B);
  expect(service.out()).not.toContain('svc_sk_');
});

test('after kill -9 the next start adopts the database, and nothing acknowledged is lost', async () => {
  const numbers: string[] = [];
  for (let i = 0; i < 5; i += 1) numbers.push((await issue(service.baseUrl, demo.companies.B)).number);
  const [postgres, simulator] = await childrenOf();
  await service.end('SIGKILL');
  expect(isAlive(postgres!)).toBe(true);
  // The simulator ends with its service.
  await eventually(() => expect(isAlive(simulator!)).toBe(false));

  service = await line.serve(env);
  expect((await childrenOf())[0]).toBe(postgres);
  const { apiKey, taxpayerNumber } = demo.companies.B;
  const list = await call<unknown>(service.baseUrl, apiKey, '/invoices?status=ISSUED&limit=100');
  for (const number of numbers) expect(JSON.stringify(list)).toContain(`"${number}"`);
  const next = await issue(service.baseUrl, demo.companies.B);
  expect(next.number).toMatch(/\/7$/);
  await eventually(async () => expect(await ledger(demo.simulator.control, taxpayerNumber)).toHaveLength(7));
});

test('books of every kind of act verify: paid, credited, cancelled', async () => {
  const company = demo.companies.Z;
  const { apiKey } = company;
  const act = (path: string, body: unknown) => call<Invoice>(service.baseUrl, apiKey, path, body);
  const paid = await issue(service.baseUrl, company);
  await act(`/invoices/${paid.id}/pay`, { amount: 10 });
  await act(`/invoices/${paid.id}/pay`, {});
  const credited = await issue(service.baseUrl, company);
  await act('/invoices/credit-notes', { parentInvoiceId: credited.id });
  const cancelled = await issue(service.baseUrl, company);
  expect((await act(`/invoices/${cancelled.id}/cancel`, {})).status).toBe('CANCELED');
  const found = await line.run(['verify', '--company', company.id, '--json'], env);
  expect(found.json()).toMatchObject({ list: [], documents: 7 });
});

test('a series longer than what verify reads at once is one chain', async () => {
  const workers = Array.from({ length: 6 }, async () => {
    for (let i = 0; i < 20; i += 1) await issue(service.baseUrl, demo.companies.A);
  });
  await Promise.all(workers);
  const found = await line.run(['verify', '--company', demo.companies.A.id, '--json'], env);
  expect(found.json()).toMatchObject({ list: [], documents: 121 });
});

test('verify finds nothing in honest books, and names the document that was tampered with', async () => {
  const clean = await line.run(['verify', '--json'], env);
  expect(clean.json()).toMatchObject({ ok: true, findings: 0, documents: 135, companies: 3 });
  expect(clean.code).toBe(0);

  await tamper(
    `update certo.documents set gross = gross + 1, content = jsonb_set(content, '{books,gross}', '"999.00"')
     where number like 'FT %/3' and company_id = $1`,
    [demo.companies.B.id],
  );
  const found = await line.run(['verify', '--company', demo.companies.B.taxpayerNumber], env);
  expect(found.code).toBe(1);
  expect(found.out).toMatch(/^FT DEMO\d{4}\/3 has a signature that does not fit/m);
  expect(found.out).not.toMatch(/\/[124567] has/);
  const other = await line.run(['verify', '--company', demo.companies.Z.id, '--json'], env);
  expect(other.json()).toMatchObject({ ok: true, documents: 7 });
});

test('a missing document is a gap', async () => {
  await tamper(
    `with events as (delete from certo.document_events where document_id = (select id from certo.documents where number like 'FT %/5' and company_id = $1))
     delete from certo.documents where number like 'FT %/5' and company_id = $1`,
    [demo.companies.B.id],
  );
  const found = await line.run(['verify', '--json'], env);
  expect(found.code).toBe(1);
  const { list } = found.json<{ list: { number: string; problem: string }[] }>();
  expect(list.filter(({ problem }) => /gap/.test(problem)).map(({ number }) => number)).toEqual([
    expect.stringMatching(/\/6$/),
  ]);
});

test('a head that does not say what its last document says is told, and documents beyond it', async () => {
  const ofZ = `company_id = $1 and document_type = 'INVOICE'`;
  const problems = async (): Promise<string[]> => {
    const found = await line.run(['verify', '--company', demo.companies.Z.id, '--json'], env);
    return found.json<{ list: { problem: string }[] }>().list.map(({ problem }) => problem);
  };
  const moved = (change: string) => tamper(`update certo.series set ${change} where ${ofZ}`, [demo.companies.Z.id]);
  expect(await problems()).toEqual([]);
  await moved(`last_hash = ''`);
  expect(await problems()).toEqual(['does not hold the signature of its last document']);
  await moved(`last_number = last_number + 1`);
  expect(await problems()).toEqual([
    expect.stringMatching(/its last document is number 5, and the last one found is 4/),
  ]);
  await moved(`last_number = last_number - 2`);
  expect(await problems()).toContain('has 1 document(s) beyond its last number');
});

test('what is found is resolved with a note, for one company, and the next start does not stop its issuing', async () => {
  const { id } = demo.companies.Z;
  for (const wrong of [
    ['--resolve', 'x'],
    ['--company', id, '--resolve', ' '],
  ]) {
    expect((await line.run(['verify', ...wrong], env)).code).toBe(2);
  }
  const resolved = await line.run(['verify', '--company', id, '--resolve', 'Ensaio', '--json'], env);
  const { found } = resolved.json<{ found: number }>();
  expect(found).toBeGreaterThan(0);
  expect(resolved.json()).toMatchObject({ companyId: id, resolution: 'Ensaio', resolved: found });
  const kept = await books((owner) =>
    owner.query('select count(*)::int as n from certo.integrity_breaks where company_id = $1 and resolution = $2', [
      id,
      'Ensaio',
    ]),
  );
  expect(kept.rows).toEqual([{ n: found }]);
  expect((await line.run(['verify', '--company', id], env)).code).toBe(1);
  expect(await service.end('SIGINT')).toBe(0);
});

test('under load it writes nothing but its log', async () => {
  service = await line.serve(env);
  const { B } = demo.companies;
  const made = await Promise.all(Array.from({ length: 80 }, () => draftOf(service.baseUrl, B)));
  // So many at once that groups of them are sent one behind the other.
  await Promise.all(made.map((draft) => issueDraft(service.baseUrl, B, draft)));
  const lines = service.err().split('\n');
  expect(lines.filter((text) => text !== '' && !text.startsWith('{'))).toEqual([]);
  expect(await service.end()).toBe(0);
});

test('it ends in order when its terminal goes', async () => {
  service = await line.serve(env);
  const processes = await childrenOf();
  expect(await service.end('SIGHUP')).toBe(0);
  expect(existsSync(join(directory, 'service.json'))).toBe(false);
  await eventually(() => expect(processes.filter(isAlive)).toEqual([]));
});

test('under nohup it goes on without it', async () => {
  service = await line.serve({ ...env, _: '/usr/bin/nohup' });
  process.kill(service.pid, 'SIGHUP');
  for (let i = 0; i < 3; i += 1) await issue(service.baseUrl, demo.companies.A);
  expect(existsSync(join(directory, 'service.json'))).toBe(true);
  expect(await service.end()).toBe(0);
});

test('a first start that is ended before its company is ready says no error, and the next one goes on with it', async () => {
  const young = { CERTO_DATA_DIR: line.folder('young') };
  const first = await line.serve(young);
  expect(await first.end()).toBe(0);
  expect(first.out()).not.toContain('svc_sk_');
  const said = first.err().trim().split('\n');
  expect(said.filter((text) => JSON.parse(text).level > 30)).toEqual([]);
  expect(said.filter((text) => /ended before its first company was ready/.test(text))).toHaveLength(1);

  const second = await line.serve(young);
  await second.says(/^ {2}svc_sk_\w+$/m);
  expect(await second.end()).toBe(0);
});

/** PostgreSQL's and the simulator's process numbers, as their files tell them. */
async function childrenOf(): Promise<number[]> {
  const postmaster = join(directory, 'postgres', 'postmaster.pid');
  const postgres = existsSync(postmaster) ? [Number(readFileSync(postmaster, 'utf8').split('\n')[0])] : [];
  const { pid } = JSON.parse(readFileSync(join(directory, 'simulator', 'simulator.json'), 'utf8')) as { pid: number };
  return [...postgres, pid];
}

/** As somebody with the database's own keys: the triggers that guard the books are switched off first. */
async function tamper(sql: string, values: unknown[]): Promise<void> {
  await books(async (owner) => {
    const guards = (how: 'disable' | 'enable') =>
      owner.query(
        ['documents', 'document_events', 'series'].map((t) => `alter table certo.${t} ${how} trigger user`).join('; '),
      );
    await guards('disable');
    await owner.query(sql, values);
    await guards('enable');
  });
}

async function books<T>(work: (owner: Awaited<ReturnType<typeof openOwner>>) => Promise<T>): Promise<T> {
  const connection = { host: join(directory, 'socket'), port: 5432, database: 'certo', user: 'postgres' };
  const owner = await openOwner({ connection });
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

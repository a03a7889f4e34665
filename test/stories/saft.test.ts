/** The SAF-T of a period over the wire: whole, or a refusal; few at once; nothing left behind. */
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import type { Answer, Refused } from '../client.ts';
import { schemaFaults } from '../golden/saft-schema.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let issued: InvoiceJson;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:15:30Z') });
  ({ A, B } = service.companies);
  issued = await A.issue(await A.draft());
  await A.post(`/invoices/${issued.id}/pay`, { notes: 'Primeira prestação & sinal' });
  await A.issueTransport(await A.transport());
  await A.proposal();
  await A.draft();
  await B.issue(await B.draft({ customerId: (await B.customer({ name: 'Só da Beta' })).id }));
});
afterAll(() => service.stop());

const march = '/saft?fromDate=2026-03-01&toDate=2026-03-31';
const numbers = (xml: string) =>
  [...xml.matchAll(/<(?:InvoiceNo|DocumentNumber|PaymentRefNo)>([^<]*)/g)].map((found) => found[1]);

test('a period is a valid file of every numbered document, of this company only, and its signatures verify', async () => {
  const answer = await A.get(march);
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/xml',
    'content-length': String(answer.bytes.length),
    'content-disposition': 'attachment; filename="saft-508025095-2026-03-01-2026-03-31.xml"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect(numbers(answer.text)).toEqual(['FT A2026/1', 'GT A2026/1', 'PF A2026/1', 'RG A2026/1']);
  expect(answer.text).not.toContain('Só da Beta');
  expect(answer.text).toContain('<ProductCompanyTaxID>508025095<');
  expect(answer.text).toContain('<ProductID>Certo/Testes<');
  // What a receipt says beside its figures.
  expect(answer.text).toContain(
    '<PaymentType>RG</PaymentType>\n<Description>Primeira prestação &amp; sinal</Description>\n',
  );
  expect(answer.text).toContain('<HeaderComment>Documentos sem valor fiscal (ambiente da AT: simulator)<');
  expect(schemaFaults(answer.text)).toEqual([]);
  const publicKey = createPublicKey(service.publicPem);
  const report = await checkSaft(Readable.from([answer.bytes]), { publicKeys: () => publicKey });
  expect([report.findings, report.hashes.verified]).toEqual([[], 3]);
});

test('an item is goods or a service as the documents of the period say, whatever the catalogue says by now', async () => {
  const item = await A.item({ name: 'Montagem', type: 'PRODUCT' });
  const types = async (from: string, to: string) => {
    const { text } = await A.get(`/saft?fromDate=${from}&toDate=${to}`);
    const found = [...text.matchAll(/<ProductType>(.)<\/ProductType>\n<ProductCode>([^<]*)/g)];
    return found.filter(([, , code]) => code === item.id).map(([, type]) => type);
  };
  const items = [{ id: item.id, quantity: 1 }];
  const first = await A.issue(await A.draft({ items }));
  await A.patch(`/items/${item.id}`, { type: 'SERVICE' });
  expect(await types('2026-03-01', '2026-03-31')).toEqual(['P']);

  await service.setClock(new Date('2026-04-02T10:00:00Z'));
  const note = { parentInvoiceId: first.id, items: [{ id: first.items[0]!.id, quantity: 0.5 }] };
  expect((await A.post('/invoices/credit-notes', note)).status).toBe(201);
  expect(await types('2026-04-01', '2026-04-30')).toEqual(['P']);
  await A.issue(await A.draft({ items }));
  expect((await A.post('/invoices/credit-notes', note)).status).toBe(201);
  expect(await types('2026-04-01', '2026-04-30')).toEqual(['S']);
  expect(await types('2026-03-01', '2026-03-31')).toEqual(['P']);
});

test('a period without documents is a valid file too; days may be instants, read in the company’s zone', async () => {
  const empty = await A.get('/saft?fromDate=2024-02-29&toDate=2025-02-28');
  expect([empty.status, numbers(empty.text), schemaFaults(empty.text)]).toEqual([200, [], []]);
  const days = await A.get('/saft?fromDate=2026-03-01T23:59:59Z&toDate=2026-03-02T00:00:00%2B01:00');
  expect(days.text).toContain('<StartDate>2026-03-01</StartDate>\n<EndDate>2026-03-01<');
});

test.each([
  [
    '',
    [
      ['?fromDate', 'REQUIRED'],
      ['?toDate', 'REQUIRED'],
    ],
  ],
  ['fromDate=2026-03-01', [['?toDate', 'REQUIRED']]],
  [
    'fromDate=ontem&toDate=2026-02-30',
    [
      ['?fromDate', 'INVALID_FORMAT'],
      ['?toDate', 'INVALID_FORMAT'],
    ],
  ],
  ['fromDate=2026-03-02&toDate=2026-03-01', [['?toDate', 'PERIOD_BACKWARDS']]],
  ['fromDate=2026-03-01&toDate=2027-03-02', [['?toDate', 'PERIOD_TOO_LONG']]],
  ['fromDate=2000-01-01&toDate=9999-12-31', [['?toDate', 'PERIOD_TOO_LONG']]],
  // Its schema has no day before 2000.
  ['fromDate=1999-12-01&toDate=1999-12-31', [['?fromDate', 'DATE_TOO_EARLY']]],
  ['fromDate=1999-12-31T23:59:59Z&toDate=2000-01-31', [['?fromDate', 'DATE_TOO_EARLY']]],
  [
    'fromDate=0001-01-01&toDate=9999-12-31',
    [
      ['?fromDate', 'DATE_TOO_EARLY'],
      ['?toDate', 'PERIOD_TOO_LONG'],
    ],
  ],
])('%s is refused', async (query, problems) => {
  const answer = await A.get(`/saft?${query}`);
  expect([answer.status, answer.json.code]).toEqual([400, 'INVALID_REQUEST']);
  expect(answer.json.errors?.map(({ pointer, code }) => [pointer, code])).toEqual(problems);
});

test.each([
  'fromDate=2026-03-01&toDate=2027-03-01',
  'fromDate=2024-01-01&toDate=2024-12-31',
  'fromDate=9999-01-01&toDate=9999-12-31',
  'fromDate=2000-01-01&toDate=2000-12-31',
])('%s is at most a year, and a valid file', async (query) => {
  const { status, text } = await A.get(`/saft?${query}`);
  expect([status, schemaFaults(text)]).toEqual([200, []]);
});

test('HEAD says how long it would be', async () => {
  const [head, get] = [await A.call('HEAD', march), await A.get(march)];
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
  expect(get.headers['ratelimit-policy']).toBe('"credential";q=1000000;w=60');
});

/** Whoever reads documents waits until the work is done. */
async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const client = await service.owner.connect();
  await client.query('begin; lock table certo.documents in access exclusive mode');
  try {
    return await work();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Locks on the documents of this database, asked for or held. */
async function locks(granted: boolean): Promise<number> {
  const { rows } = await service.owner.query(
    `select count(*)::int as n from pg_locks where relation = 'certo.documents'::regclass and granted = $1
       and database = (select oid from pg_database where datname = current_database())`,
    [granted],
  );
  return rows[0].n;
}
const waiting = (count: number) => vi.waitFor(async () => expect(await locks(false)).toBe(count), 5000);
const portOf = () => (service.app.http.server.address() as AddressInfo).port;

/** A request of a caller that may leave, on a connection of its own. */
function asking(path: string): ClientRequest {
  const headers = { 'x-api-key': A.key };
  const sent = request({ port: portOf(), host: '127.0.0.1', path, headers, agent: false });
  sent.on('error', () => undefined).end();
  return sent;
}

describe('many at once', () => {
  test('two of a company, of which one is written; a third is told to come back, and another company has its turn', async () => {
    let first: Promise<Answer<Refused>>[] = [];
    const own = await whileHeld(async () => {
      first = [A.get(march), A.get(march)];
      await waiting(1);
      const third = await A.get(march);
      first.push(B.get(march));
      await waiting(2);
      return third;
    });
    expect([own.status, own.json.code, own.headers['retry-after']]).toEqual([429, 'TOO_MANY_DOWNLOADS', '5']);
    expect(own.json.detail).toMatch(/Wait until one has ended/);
    const texts = (await Promise.all(first)).map(({ text }) => text);
    expect(texts[0]).toBe(texts[1]);
    expect(texts[2]).toContain('Só da Beta');
  });

  test('a caller that hangs up while it waits for its turn frees its place at once', async () => {
    const { server } = service.app.http;
    const ends: Promise<unknown>[] = [];
    const note = (socket: Socket) => void ends.push(once(socket, 'close'));
    const two = await whileHeld(async () => {
      server.on('connection', note);
      const three = Array.from({ length: 3 }, () => asking(march));
      // Whoever it is, of the others one is being written and one waits.
      const told = await Promise.race(three.map(async (one) => [one, (await once(one, 'response'))[0].statusCode]));
      server.off('connection', note);
      expect(told[1]).toBe(429);
      for (const one of three) one.destroy();
      await Promise.all(ends);
      const next = [A.get(march), A.get(march)];
      expect((await Promise.race(next)).status).toBe(429);
      return next;
    });
    expect((await Promise.all(two)).map(({ status }) => status).sort()).toEqual([200, 429]);
  });

  test('a caller that hangs up frees its place, and leaves neither a file nor a transaction', async () => {
    const before = service.logs.length;
    for (let again = 0; again < 3; again += 1) {
      await whileHeld(async () => {
        const leaving = asking(march);
        await waiting(1);
        leaving.destroy();
      });
    }
    await vi.waitFor(async () => expect((await A.get(march)).status).toBe(200));
    await vi.waitFor(async () => expect(await locks(true)).toBe(0));
    expect(readdirSync(service.spoolDirectory)).toEqual([]);
    expect(service.logs.slice(before).filter((line) => line.includes('request failed'))).toEqual([]);
  });

  test('a database that goes in the middle is told as what passes', async () => {
    const superuser = new Client(service.connection);
    await superuser.connect();
    const answer = await whileHeld(async () => {
      const asked = A.call('GET', march, { mayFail: true });
      await waiting(1);
      await superuser.query(`select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`);
      return asked;
    }).finally(() => superuser.end());
    expect([answer.status, answer.json.code, answer.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    expect((await A.get(march)).status).toBe(200);
  });

  test('an error in the middle is an answer, not a torn file', async () => {
    await service.owner.query('alter table certo.documents disable trigger user');
    const books = `update certo.documents set net = net + $1 where id = $2`;
    await service.owner.query(books, [1, issued.id]);
    const broken = await fetch(`http://127.0.0.1:${portOf()}${march}`, { headers: { 'x-api-key': A.key } });
    const told = (await broken.json()) as Refused;
    await service.owner.query(books, [-1, issued.id]);
    await service.owner.query('alter table certo.documents enable trigger user');
    expect([broken.status, told.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(broken.headers.get('content-disposition')).toBeNull();
    expect(readdirSync(service.spoolDirectory)).toEqual([]);
    expect((await A.get(march)).status).toBe(200);
  });
});

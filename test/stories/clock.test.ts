/** The clock's work at the AT, company by company: series compared again and again, and nobody held up by another. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { AtGateway } from '../../src/at/gateway.ts';
import type { Call, Db } from '../../src/db/transact.ts';
import { type ClockDoor, startClock } from '../../src/doors/clock/clock.ts';
import { type ReportWorld, reportGroup } from '../../src/doors/clock/reports.ts';
import { syncDue } from '../../src/doors/clock/sync.ts';
import { endSeries } from '../../src/operations/series/end-series.ts';
import { registerSeries, syncSeries } from '../../src/operations/series/registration.ts';
import { eventually } from '../eventually.ts';
import type { CompanyJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let clocks: ClockDoor[] = [];

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A, B } = service.companies);
});
afterEach(async () => {
  for (const clock of clocks) await clock.stop();
  clocks = [];
});
afterAll(() => service.stop());

const world = (at: Partial<AtGateway> = {}) => ({
  ...service.world,
  at: { ...service.gateway, ...at },
  log: service.log,
  random: () => 0.5,
  milliseconds: () => service.now().getTime(),
  busy: () => false,
  // The books are checked elsewhere.
  companyIds: async () => [],
  publicKeys: async () => [],
});
const start = (at?: Partial<AtGateway>): void => void clocks.push(startClock(world(at)));
const pass = (seconds: number) => service.setClock(new Date(service.now().getTime() + seconds * 1000));
const day = 86_400;
const reasons = async (one: TestCompany) =>
  (await one.get<CompanyJson>('/company')).json.readiness.reasons.map(({ code }) => code as string);
const status = async (one: TestCompany, { id }: { id: string }) =>
  (await one.get<InvoiceJson>(`/invoices/${id}`)).json.syncWithAt;
const asked = async (one: TestCompany) => {
  const log = await service.control<{ operation: string; username: string }[]>('GET', '/__log?limit=1000');
  return log.filter((call) => call.operation === 'listSeries' && call.username.startsWith(one.taxpayerNumber)).length;
};
const impatient = async () => false;
const never = new Promise<never>(() => undefined);

test('a series that is annulled at the AT is noticed the next day, and the clock itself finds that they agree again', async () => {
  const { validationCode, id } = await registerSeries(service.world, B.id, { documentType: 'INVOICE', code: 'PORTAL' });
  start();
  await eventually(async () => expect(await asked(B)).toBeGreaterThan(1));
  expect(await reasons(B)).toEqual([]);
  const credentials = { username: `${B.taxpayerNumber}/1`, password: 'certa' };
  const annulled = await service.gateway.annulSeries(credentials, {
    series: 'PORTAL',
    documentCode: 'FT',
    validationCode,
  });
  expect(annulled.kind).toBe('done');
  await pass(day);
  await eventually(async () => expect(await reasons(B)).toEqual(['AT_SYNC_REQUIRED']));
  const draft = await B.draft();
  const refused = await B.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
  expect([refused.status, refused.json.reasons]).toEqual([400, ['AT_SYNC_REQUIRED']]);
  await service.owner.query(`update certo.series set status = 'ANNULLED', is_default = false where id = $1`, [id]);
  await eventually(async () => expect(await reasons(B)).toEqual([]));
  const warning = service.logs.find((line) => line.includes("a series differs from the AT's"));
  expect(JSON.parse(warning!)).toMatchObject({ companyId: B.id, series: ['FT PORTAL'] });
  await B.issue(draft);
});

test('a series that ends here while the AT answers does not differ', async () => {
  const { id } = await registerSeries(service.world, B.id, { documentType: 'INVOICE', code: 'ENDS' });
  const at = world({
    async listSeries(...args) {
      const ended = await endSeries(service.world, B.id, { seriesId: id, end: 'ANNULLED', wait: impatient });
      expect(ended.kind).toBe('ended');
      return service.gateway.listSeries(...args);
    },
  });
  expect(await syncSeries(at, B.id)).toBe('ok');
  // Nor does one that began here after the AT had answered.
  const late = world({
    async listSeries(...args) {
      const listed = await service.gateway.listSeries(...args);
      await registerSeries(service.world, B.id, { documentType: 'INVOICE', code: 'BEGINS' });
      return listed;
    },
  });
  expect(await syncSeries(late, B.id)).toBe('ok');
});

test('of several processes one asks, and rests longer each time it gets no answer', async () => {
  await pass(day);
  const [before, ours] = [await asked(A), world()];
  const results = await Promise.all([1, 2, 3, 4].map(() => syncDue(ours, A.id)));
  expect(results.filter((result) => result !== undefined)).toEqual(['ok']);
  expect(await asked(A)).toBe(before + 1);
  const silent = world({
    listSeries: async () => ({ kind: 'refused', code: '99', message: 'Sem permissão', reason: 'configuration' }),
  });
  await pass(day);
  for (const seconds of [0.75, 1.5, 3]) {
    expect(await syncDue(silent, A.id)).toBe('unreachable');
    await pass(seconds - 0.6);
    expect(await syncDue(silent, A.id)).toBeUndefined();
    await pass(0.7);
  }
  expect(await reasons(A)).toEqual([]);
  // New credentials do not wait for it, also where the AT is asked with the old ones meanwhile.
  const replaced = world({
    async listSeries(...args) {
      const listed = await service.gateway.listSeries(...args);
      await service.setCredentials(A);
      return listed;
    },
  });
  await pass(10);
  expect(await syncDue(replaced, A.id)).toBe('ok');
  expect(await reasons(A)).toEqual(['AT_SYNC_REQUIRED']);
  expect(await syncDue(ours, A.id)).toBe('ok');
  expect(await reasons(A)).toEqual([]);
});

async function issued(one: TestCompany, count: number): Promise<InvoiceJson[]> {
  const documents: InvoiceJson[] = [];
  for (let i = 0; i < count; i++) documents.push(await one.issue(await one.draft()));
  return documents;
}

const group = async (how: ReportWorld, one: TestCompany) => {
  await pass(600);
  return reportGroup(how, one.id, service.failures, service.unreached);
};

test('a document that cannot be told harms none of its neighbours, and is told when it can be', async () => {
  while (await group(world(), A));
  const [first, bad, last] = await issued(A, 3);
  const guia = await A.issueTransport(await A.transport());
  const calls: string[] = [];
  const faulty = world({
    async reportInvoice(credentials, message, options) {
      calls.push(message.issued.number);
      if (message.issued.number === bad!.number) throw new Error('assertion failed: XML cannot hold U+0001');
      return service.gateway.reportInvoice(credentials, message, options);
    },
  });
  await group(faulty, A);
  expect(calls).toEqual([first!.number, bad!.number, last!.number]);
  for (const told of [first!, last!]) expect((await status(A, told)).status).toBe('ACCEPTED');
  expect((await status(A, bad!)).status).toBe('PENDING');
  expect((await status(A, bad!)).atMessage).toMatch(/its log says why/);
  const transport = await A.get<{ syncWithAt: { status: string } }>(`/transport-documents/${guia.id}`);
  expect(transport.json.syncWithAt.status).toBe('ACCEPTED');
  const line = service.logs.find((text) => text.includes('XML cannot hold U+0001'));
  expect(line).toContain(bad!.number);
  // It was not sent: when it is, it is a first report, and those who were told are not told again.
  await group(faulty, A);
  expect(calls).toEqual([first!.number, bad!.number, last!.number, bad!.number]);
  const resent: boolean[] = [];
  const mended = world({
    async reportInvoice(credentials, message, options) {
      resent.push(message.resent === true);
      return service.gateway.reportInvoice(credentials, message, options);
    },
  });
  await group(mended, A);
  expect(resent).toEqual([false]);
  expect((await status(A, bad!)).status).toBe('ACCEPTED');
});

test('a report that waits to be tried again goes at once when its document is cancelled', async () => {
  while (await group(world(), A));
  const [one] = await issued(A, 1);
  const calls: string[] = [];
  const noted = (answers: boolean) =>
    world({
      async reportInvoice(credentials, message, options) {
        calls.push(message.status);
        if (!answers) return { kind: 'unknown', problem: 'no answer', sent: false };
        return service.gateway.reportInvoice(credentials, message, options);
      },
    });
  await reportGroup(noted(false), A.id, service.failures, service.unreached);
  await reportGroup(noted(true), A.id, service.failures, service.unreached);
  expect(calls).toHaveLength(1);
  expect((await A.post(`/invoices/${one!.id}/cancel`, { reason: 'Erro no pedido' })).status).toBe(200);
  await reportGroup(noted(true), A.id, service.failures, service.unreached);
  expect(calls.slice(1)).not.toEqual([]);
  while (await group(world(), A));
  expect((await status(A, one!)).status).toBe('ACCEPTED');
});

test('an AT that cannot be reached is asked less and less, every five minutes at last; after an answer at once again', async () => {
  while (await group(world(), A));
  await service.control('PUT', '/__fault', { kind: 'refused' });
  const ask = async ({ id }: { id: string }) => {
    await reportGroup(world(), A.id, service.failures, service.unreached);
    const after = service.now();
    const { rows } = await service.owner.query('select at_next_at, at_attempts from certo.documents where id = $1', [
      id,
    ]);
    // Nothing left this machine, so no answer of it can have been lost.
    expect(rows[0].at_attempts).toBe(0);
    await service.setClock(new Date(rows[0].at_next_at.getTime() + 10));
    return (rows[0].at_next_at.getTime() - after.getTime()) / 1000;
  };
  const [one] = await issued(A, 1);
  const end = service.now().getTime() + 3_600_000;
  const rests: number[] = [];
  while (service.now().getTime() < end && rests.length < 100) rests.push(await ask(one!));
  expect(rests[0]).toBeLessThan(1);
  expect(rests.length).toBeLessThan(40);
  expect(Math.max(...rests)).toBeGreaterThan(200);
  expect(Math.max(...rests)).toBeLessThan(226);
  await service.control('DELETE', '/__fault');
  await reportGroup(world(), A.id, service.failures, service.unreached);
  expect((await status(A, one!)).status).toBe('ACCEPTED');
  await service.control('PUT', '/__fault', { kind: 'refused' });
  const [other] = await issued(A, 1);
  expect(await ask(other!)).toBeLessThan(1);
  await service.control('DELETE', '/__fault');
  while (await group(world(), A));
});

test('what rests beside one that got no answer was not sent: told later it is told as for the first time', async () => {
  while (await group(world(), A));
  const documents = await issued(A, 2);
  await service.control('PUT', '/__fault', { kind: 'reset-before', operation: 'reportInvoice' });
  await group(world(), A);
  await service.control('DELETE', '/__fault');
  const told = new Map<string, unknown>();
  const noting = world({
    async reportInvoice(credentials, message, options) {
      told.set(message.issued.number, message.resent);
      return service.gateway.reportInvoice(credentials, message, options);
    },
  });
  await group(noting, A);
  expect(documents.map(({ number }) => told.get(number!))).toEqual([true, false]);
});

/** A database that refuses these calls. */
const torn = (fails: (call: Call) => boolean): Db => ({
  ...service.db,
  transact: (entry, work) =>
    service.db.transact(entry, (tx) =>
      work({
        query: tx.query.bind(tx),
        commitWith: tx.commitWith.bind(tx),
        async batch(calls) {
          if (calls.some(fails)) throw new Error('it cannot be written');
          return tx.batch(calls);
        },
      }),
    ),
});

test('an answer that cannot be written down keeps none of the others from it', async () => {
  const [bad, other] = await issued(A, 2);
  const db = torn(([{ name }, [id]]) => name === 'books_change' && id === bad!.id);
  await expect(group({ ...world(), db }, A)).rejects.toThrow('it cannot be written');
  expect((await status(A, other!)).status).toBe('ACCEPTED');
  expect((await status(A, bad!)).status).toBe('PENDING');
  await group(world(), A);
  expect((await status(A, bad!)).status).toBe('ACCEPTED');
});

test('a code of the AT that cannot be written down at once is not lost: it comes but once', async () => {
  while (await group(world(), A));
  const { id } = await A.issueTransport(await A.transport());
  let tries = 0;
  const db = torn(([{ name }]) => name === 'books_change' && ++tries === 1);
  const telling = reportGroup({ ...world(), db }, A.id, service.failures, service.unreached);
  await expect(telling).rejects.toThrow('it cannot be written');
  expect((await A.get(`/transport-documents/${id}`)).json).toMatchObject({
    atDocCode: expect.stringMatching(/^\S+$/),
    syncWithAt: { status: 'ACCEPTED', atCode: '0' },
  });
});

test('a company to which the AT gives no answer holds up nobody: neither reports nor series of others', async () => {
  await pass(day);
  const before = await asked(A);
  let hangs = true;
  let hung = 0;
  const unless = <T>(username: string, call: () => Promise<T>): Promise<T> => {
    if (!hangs || !username.startsWith(B.taxpayerNumber)) return call();
    hung += 1;
    return Promise.race([never, released]);
  };
  let release = (): void => undefined;
  const released = new Promise<never>((_, reject) => {
    release = () => reject(new Error('given up'));
  });
  const [slow] = await issued(B, 1);
  start({
    listSeries: (...args) => unless(args[0].username, () => service.gateway.listSeries(...args)),
    reportInvoice: (...args) => unless(args[0].username, () => service.gateway.reportInvoice(...args)),
  });
  await eventually(() => expect(hung).toBe(2));
  const [quick] = await issued(A, 1);
  await eventually(async () => {
    expect((await status(A, quick!)).status).toBe('ACCEPTED');
    expect(await asked(A)).toBe(before + 1);
  });
  expect((await status(B, slow!)).status).toBe('PENDING');
  hangs = false;
  release();
  await eventually(async () => {
    await pass(300);
    expect((await status(B, slow!)).status).toBe('ACCEPTED');
  });
});

/** Wrong credentials at the AT: every family of documents stops, readiness says so, and new ones start it again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportGroup } from '../../src/doors/clock/reports.ts';
import { setCashVat } from '../../src/operations/company/cash-vat.ts';
import { registerSeries, syncSeries } from '../../src/operations/series/registration.ts';
import type { CompanyJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let customerId: string;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A } = service.companies);
  for (const documentType of ['INVOICE', 'RECEIPT'] as const) {
    await registerSeries(service.world, A.id, { documentType, code: 'CX', cashVat: true });
  }
  await setCashVat(service.owner, A.id, { from: '2026-01-01' });
  customerId = (await A.customer({ name: 'Cliente, SA', taxpayerNumber: '501442600' })).id;
});
afterAll(() => service.stop());

const reasons = async () =>
  (await A.get<CompanyJson>('/company')).json.readiness.reasons.map(({ code }) => code as string);
const calls = async () =>
  (await service.control<{ operation: string; username: string }[]>('GET', '/__log?limit=1000')).length;
const account = (password: string | null) =>
  service.control('PUT', '/__accounts', { [`${A.taxpayerNumber}/1`]: password });
const world = () => ({ ...service.world, log: service.log, random: () => 0.5, busy: () => false });
/** All that is due, told by hand: no clock runs in this file. */
async function report(): Promise<void> {
  await service.setClock(new Date(service.now().getTime() + 60_000));
  while (await reportGroup(world(), A.id, service.failures, service.unreached));
}
const statuses = async () => {
  const { rows } = await service.owner.query(
    `select at_status, count(*)::int as n from certo.documents where number is not null and at_status <> 'NOT_APPLICABLE' group by at_status`,
  );
  return Object.fromEntries(rows.map(({ at_status, n }) => [at_status, n]));
};

const invoice = async () => A.issue(await A.draft({ customerId }));
const pay = async () =>
  (await A.post<{ receipt: { id: string } }>(`/invoices/${(await invoice()).id}/pay`)).json.receipt;
const cancel = async (path: string) => expect((await A.post(`${path}/cancel`)).status).toBe(200);

/** What is told first with the right credentials; then what is to be told with the wrong ones. */
const acts: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  reportInvoice: async () => {
    await invoice();
    return invoice;
  },
  changeInvoiceStatus: async () => {
    const { id } = await invoice();
    return () => cancel(`/invoices/${id}`);
  },
  reportWork: async () => () => A.proposal({ customerId }),
  changeWorkStatus: async () => {
    const { id } = await A.proposal({ customerId });
    return async () => {
      const draft = (await A.post<InvoiceJson>(`/proposals/${id}/convert`)).json;
      return A.issue(draft);
    };
  },
  reportPayment: async () => {
    const { id } = await invoice();
    return () => A.post(`/invoices/${id}/pay`);
  },
  changePaymentStatus: async () => {
    const { id } = await pay();
    return () => cancel(`/invoices/${id}`);
  },
  reportTransport: async () => async () => A.issueTransport(await A.transport({ customerId })),
  'reportTransport, cancelled': async () => {
    const { id } = await A.issueTransport(await A.transport({ customerId }));
    return () => cancel(`/transport-documents/${id}`);
  },
};

test.each(Object.entries(acts))('%s: one refused call, then none until new ones are set', async (_name, act) => {
  const then = await act();
  await report();
  expect(await statuses()).toEqual({ ACCEPTED: expect.any(Number) });
  await then();
  await account('another');
  const before = await calls();
  await report();
  await report();
  expect(await calls()).toBe(before + 1);
  expect(await reasons()).toEqual(['AT_CREDENTIALS_REQUIRED']);
  expect((await statuses())['REJECTED']).toBeUndefined();
  expect((await statuses())['PENDING']).toBeGreaterThan(0);
  const draft = await A.draft({ customerId });
  const refused = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt });
  expect([refused.status, refused.json.code, refused.json.reasons]).toEqual([
    400,
    'NOT_READY',
    ['AT_CREDENTIALS_REQUIRED'],
  ]);

  await account(null);
  await service.setCredentials(A);
  expect(await syncSeries(service.world, A.id)).toBe('ok');
  await report();
  expect(await statuses()).toEqual({ ACCEPTED: expect.any(Number) });
  expect(await reasons()).toEqual([]);
});

test('what was refused for its credentials is told as for the first time with the new ones', async () => {
  const { id } = await invoice();
  await account('another');
  await report();
  await account(null);
  await service.setCredentials(A);
  expect(await syncSeries(service.world, A.id)).toBe('ok');
  const resent: unknown[] = [];
  const noting = { ...service.gateway };
  noting.reportInvoice = (credentials, message) => {
    resent.push(message.resent);
    return service.gateway.reportInvoice(credentials, message);
  };
  await service.setClock(new Date(service.now().getTime() + 60_000));
  await reportGroup({ ...world(), at: noting }, A.id, service.failures, service.unreached);
  // Else "it is so already" would be believed, though the AT has taken nothing.
  expect(resent).toEqual([false]);
  expect((await A.get<InvoiceJson>(`/invoices/${id}`)).json.syncWithAt.status).toBe('ACCEPTED');
});

test('what the AT says of credentials does not count against those that were set meanwhile', async () => {
  await invoice();
  await account('another');
  const replaced = async <T>(call: () => Promise<T>): Promise<T> => {
    const outcome = await call();
    await account(null);
    await service.setCredentials(A);
    return outcome;
  };
  const late = { ...service.gateway };
  late.reportInvoice = (...args) => replaced(() => service.gateway.reportInvoice(...args));
  await service.setClock(new Date(service.now().getTime() + 60_000));
  await reportGroup({ ...world(), at: late }, A.id, service.failures, service.unreached);
  expect(await reasons()).toEqual(['AT_SYNC_REQUIRED']);

  await account('another');
  const lateList = { ...service.gateway };
  lateList.listSeries = (...args) => replaced(() => service.gateway.listSeries(...args));
  expect(await syncSeries({ ...service.world, at: lateList }, A.id)).toBe('wrong-credentials');
  expect(await reasons()).toEqual(['AT_SYNC_REQUIRED']);
  // Nor for them: a yes to the old ones says nothing of the new.
  const lateYes = { ...service.gateway };
  lateYes.listSeries = async (...args) => {
    const outcome = await service.gateway.listSeries(...args);
    await service.setCredentials(A, 'wrong-since');
    return outcome;
  };
  await syncSeries({ ...service.world, at: lateYes }, A.id);
  expect(await reasons()).toEqual(['AT_SYNC_REQUIRED']);
  expect(await syncSeries(service.world, A.id)).toBe('wrong-credentials');
  // Whoever comes after the refusal (an operator, whose service was faster) hears of it, and the AT is not asked again.
  const asked = await calls();
  expect(await syncSeries(service.world, A.id)).toBe('wrong-credentials');
  expect(await calls()).toBe(asked);
  await service.setCredentials(A);
  expect(await syncSeries(service.world, A.id)).toBe('ok');
  await report();
  expect(await statuses()).toEqual({ ACCEPTED: expect.any(Number) });
});

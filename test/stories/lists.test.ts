/** GET /invoices: every filter, every order, pages that neither overlap nor leave out. */
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CustomerJson, InvoiceEntryJson, InvoiceJson, ItemJson } from '../replies.ts';
import { nifFrom, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
/** Name of a document here → its id. */
const ids: Record<string, string> = {};
let numbered: Record<string, InvoiceJson>;

const at = (day: string) => service.setClock(new Date(`${day}T12:00:00Z`));

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'], clock: new Date('2026-03-01T12:00:00Z') });
  ({ A, B } = service.companies);
  const joao = (await A.customer({ name: 'João Pires', taxpayerNumber: nifFrom('21234567'), email: 'joao@example.pt' }))
    .id;
  const firma = (await A.customer({ name: 'Firma & Filhos', taxpayerNumber: nifFrom('50123456') })).id;
  const item = await A.item({ unitPrice: 10, type: 'PRODUCT' });
  const items = (quantity: number) => [{ id: item.id, quantity }];
  const draft = (over: Record<string, unknown>) => A.draft({ customerId: joao, items: items(1), ...over });

  const overdue = await A.issue(
    await draft({ customerId: firma, items: items(5), dueDate: '2026-03-02', notes: 'Urgente\npagar já' }),
  );
  await at('2026-03-02');
  const pending = await A.issue(
    await draft({ items: items(4), dueDate: '2026-04-30', description: 'Avença de março\nHoras a mais' }),
  );
  const cash = await A.issue(await draft({ type: 'SIMPLIFIED_INVOICE', items: items(3), payment: { method: 'NU' } }));
  await at('2026-03-03');
  const dollars = await A.issue(
    await draft({ items: items(2), currency: 'USD', exchangeRate: 0.9, dueDate: '2026-03-04' }),
  );
  const debit = await A.issue(
    await draft({ type: 'DEBIT_NOTE', parentInvoiceId: pending.id, reason: 'Preço', dueDate: '2026-03-31' }),
  );
  const open = await draft({ date: '2026-03-10', taxPointDate: '2026-02-28', notes: 'Rascunho urgente' });
  await at('2026-03-05');
  const newest = await draft({ customerId: firma });
  numbered = { overdue, pending, cash, dollars, debit };
  for (const [name, { id }] of Object.entries({ ...numbered, open, newest })) ids[name] = id;
  await B.issue(await B.draft());
});
afterAll(() => service.stop());

/** The names of the listed documents, in their order. */
async function listed(query: string): Promise<string[]> {
  const answer = await A.get<InvoiceEntryJson[]>(`/invoices?${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return answer.json.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id) ?? id);
}

describe('filters', () => {
  test.each([
    ['', 'newest open debit dollars cash pending overdue'],
    ['search=joao', 'open debit dollars cash pending'],
    ['search=FIRMA%20%26', 'newest overdue'],
    ['search=FT%20A2026%2F2', 'pending'],
    ['search=avenca', 'pending'],
    [`search=${nifFrom('50123456')}`, 'newest overdue'],
    ['search=urgente', ''],
    ['search=%27%3B--', ''],
    ['documentType=INVOICE', 'newest open dollars pending overdue'],
    ['documentType=DEBIT_NOTE', 'debit'],
    ['documentType=CREDIT_NOTE', ''],
    ['status=DRAFT', 'newest open'],
    ['status=ISSUED', 'debit dollars cash pending overdue'],
    ['status=PAID', ''],
    ['status=CREATED', ''],
    ['status=SCHEDULED', ''],
    ['aggregatedStatus=DRAFT', 'newest open'],
    ['aggregatedStatus=OVERDUE', 'dollars overdue'],
    ['aggregatedStatus=PENDING', 'debit pending'],
    ['aggregatedStatus=UNPAID', 'debit dollars pending overdue'],
    ['aggregatedStatus=PAID', 'cash'],
    ['aggregatedStatus=SCHEDULED', ''],
    ['date=2026-03-02', 'cash pending'],
    ['date=2026-03-02T23:59:59%2B00:00', 'cash pending'],
    ['date=2026-03-10', 'open'],
    ['dueDate=2026-04-30', 'pending'],
    ['dueDate=2026-03-01T23:30:00-01:00', 'cash overdue'],
    ['fromDate=2026-03-02', 'newest open debit dollars cash pending'],
    ['toDate=2026-03-02', 'newest open cash pending overdue'],
    ['fromDate=2026-03-02&toDate=2026-03-02', 'newest open cash pending'],
    ['fromDate=2026-03-02&toDate=2026-03-03&filterAllStatusesByDate=true', 'open debit dollars cash pending'],
    ['fromDate=2026-03-04&filterAllStatusesByDate=true', 'newest'],
    [
      'fromDate=0001-01-01&toDate=9999-12-31&filterAllStatusesByDate=true',
      'newest open debit dollars cash pending overdue',
    ],
    ['fromDate=2026-03-04&filterAllStatusesByDate=false', 'newest open'],
    ['fromDate=2026-03-03&toDate=2026-03-02&status=ISSUED', ''],
    ['currency=USD', 'dollars'],
    ['description=AVENCA', 'pending'],
    ['description=marco%0Ahoras', 'pending'],
    ['notes=urgente', 'open overdue'],
    ['notes=Urgente%0Apagar', 'overdue'],
    ['notes=urgente%0A%0Apagar', ''],
    ['includeATInvoices=true', 'newest open debit dollars cash pending overdue'],
    ['status=ISSUED&documentType=INVOICE&aggregatedStatus=OVERDUE&search=firma', 'overdue'],
  ])('%s', async (query, names) => {
    expect(await listed(query)).toEqual(names === '' ? [] : names.split(' '));
  });

  test('by parent, in either letter case; by a template that made nothing', async () => {
    expect(await listed(`parentInvoiceId=${ids['pending']}`)).toEqual(['debit']);
    expect(await listed(`parentInvoiceId=${ids['pending']!.toUpperCase()}&documentType=DEBIT_NOTE`)).toEqual(['debit']);
    expect(await listed(`parentInvoiceId=${ids['overdue']}`)).toEqual([]);
    expect(await listed(`scheduleTemplateId=${uuidv7()}`)).toEqual([]);
  });

  test('overdue begins the day after it is due, in the company’s zone', async () => {
    await service.setClock(new Date('2026-04-30T22:59:00Z'));
    expect(await listed('aggregatedStatus=OVERDUE')).not.toContain('pending');
    await service.setClock(new Date('2026-04-30T23:01:00Z'));
    expect(await listed('aggregatedStatus=OVERDUE')).toContain('pending');
    await at('2026-03-05');
  });
});

describe('orders', () => {
  test.each([
    ['createdAt:desc', 'newest open debit dollars cash pending overdue'],
    ['createdAt:asc', 'overdue pending cash dollars debit open newest'],
    ['updatedAt:asc', 'overdue pending cash dollars debit open newest'],
    // What has no date comes last, either way.
    ['date:asc', 'overdue pending cash dollars debit open newest'],
    ['date:desc', 'open debit dollars cash pending overdue newest'],
    ['dueDate:asc', 'overdue cash dollars open debit pending newest'],
    ['total:desc', 'overdue pending cash dollars newest open debit'],
    ['total:asc', 'debit open newest dollars cash pending overdue'],
    ['number:asc', 'cash overdue pending dollars debit open newest'],
  ])('%s', async (sort, names) => {
    expect(await listed(`sort=${sort}`)).toEqual(names.split(' '));
  });

  test('ten documents stand after nine', async () => {
    const drafts = await Promise.all(Array.from({ length: 11 }, () => B.draft()));
    for (const draft of drafts) await B.issue(draft);
    const { json } = await B.get<InvoiceEntryJson[]>('/invoices?sort=number:asc&status=ISSUED');
    expect(json.map(({ number }) => number)).toEqual(Array.from({ length: 12 }, (_, i) => `FT B2026/${i + 1}`));
  });
});

test('pages of any size and place are pieces of the whole list', async () => {
  const whole = await listed('sort=total:desc');
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 9 }), async (offset, limit) => {
      expect(await listed(`sort=total:desc&offset=${offset}&limit=${limit}`)).toEqual(
        whole.slice(offset, offset + limit),
      );
    }),
    { numRuns: 30 },
  );
});

test('twenty are returned unless asked otherwise, at most a hundred', async () => {
  await Promise.all(Array.from({ length: 105 }, () => B.customer()));
  const count = async (query: string) => (await B.get<CustomerJson[]>(`/customers${query}`)).json.length;
  expect([await count(''), await count('?limit=100'), await count('?limit=100&offset=100')]).toEqual([20, 100, 18]);
  const pages = await Promise.all(
    [0, 40, 80].map((offset) => B.get<CustomerJson[]>(`/customers?limit=40&offset=${offset}`)),
  );
  expect(new Set(pages.flatMap(({ json }) => json.map(({ id }) => id))).size).toBe(118);
});

test('customers and items are sorted by name as well', async () => {
  for (const name of ['bb', 'aa', 'cc']) {
    await A.customer({ name, city: 'Ordem' });
    await A.item({ name, unitPrice: 77 });
  }
  const names = async (path: string) => (await A.get<(CustomerJson | ItemJson)[]>(path)).json.map(({ name }) => name);
  expect(await names('/customers?city=ordem&sort=name:asc')).toEqual(['aa', 'bb', 'cc']);
  expect(await names('/customers?city=ordem&sort=name:desc')).toEqual(['cc', 'bb', 'aa']);
  expect(await names('/customers?city=ordem')).toEqual(['cc', 'aa', 'bb']);
  expect(await names('/items?unitPrice=77&sort=name:asc')).toEqual(['aa', 'bb', 'cc']);
  expect(await names('/items?unitPrice=77&sort=createdAt:asc')).toEqual(['bb', 'aa', 'cc']);

  for (const name of ['Zé', 'Ávila', 'ávila e filhos', 'Óscar', 'ana', 'Ana Maria'])
    await A.customer({ name, city: 'acentos' });
  expect(await names('/customers?city=acentos&sort=name:asc')).toEqual([
    'ana',
    'Ana Maria',
    'Ávila',
    'ávila e filhos',
    'Óscar',
    'Zé',
  ]);
});

test('customers are found by more than one line of their description', async () => {
  const { id } = await A.customer({ description: 'Porta azul\nTocar duas vezes' });
  const found = await A.get('/customers?description=azul%0Atocar');
  expect([found.status, found.json]).toMatchObject([200, [{ id }]]);
});

test('an entry is the document in short', async () => {
  const [entry] = (await A.get<InvoiceEntryJson[]>('/invoices?documentType=DEBIT_NOTE')).json;
  const { debit, pending } = numbered as { debit: InvoiceJson; pending: InvoiceJson };
  expect(entry).toEqual({
    id: debit.id,
    number: 'ND A2026/1',
    documentType: 'DEBIT_NOTE',
    status: 'ISSUED',
    date: debit.date,
    taxPointDate: '2026-03-02T00:00:00.000+00:00',
    dueDate: '2026-03-31T00:00:00.000+01:00',
    currency: 'EUR',
    parentInvoiceId: pending.id,
    parentInvoiceNumber: pending.number,
    parentInvoiceDate: pending.date,
    parentInvoiceType: 'INVOICE',
    scheduleTemplateId: null,
    summary: { amountWithoutTax: 10, amountWithTax: 12.3, taxAmount: 2.3, total: 12.3 },
    customer: {
      ref: debit.customer.ref,
      data: { name: 'João Pires', taxpayerNumber: nifFrom('21234567'), email: 'joao@example.pt' },
    },
  });
  const [draft] = (await A.get<InvoiceEntryJson[]>('/invoices?date=2026-03-10')).json;
  expect(draft).not.toHaveProperty('number');
  expect(draft).toMatchObject({ taxPointDate: '2026-02-28T00:00:00.000+00:00', parentInvoiceId: null });
});

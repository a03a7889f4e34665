/** Debit notes are taxed as the invoice that they add to, and have its customer, whatever has changed since. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let customerId: string;
beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:15:30Z') });
  A = service.companies.A;
  customerId = (await A.customer({ name: 'Padaria, Lda' })).id;
});
afterAll(() => service.stop());

const invoiceOf = async (taxPointDate: string, items: readonly unknown[]): Promise<InvoiceJson> =>
  A.issue(await A.draft({ customerId, taxPointDate, items }));
const noteOn = (invoice: InvoiceJson, items: readonly unknown[], over = {}) => ({
  type: 'DEBIT_NOTE',
  customerId,
  parentInvoiceId: invoice.id,
  reason: 'Preço',
  items,
  ...over,
});

/** Issued as it reads now. */
const reissued = async ({ id }: InvoiceJson) => A.issue((await A.get<InvoiceJson>(`/invoices/${id}`)).json);
const buyerOf = (qr: string) => /\*B:([^*]*)/.exec(qr)![1];

test('an exemption code that has ended since the supply still stands on its debit note', async () => {
  const { id } = await A.item({ name: 'Pão', vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
  const items = [{ id, quantity: 1, vatExemptionReason: 'M26' }];
  const invoice = await invoiceOf('2023-06-01', items);
  const note = await A.issue(await A.draft(noteOn(invoice, items)));
  expect(note.items[0]?.data).toMatchObject({ vatRate: 'EXEMPT', vatExemptionReason: 'M26' });
  expect(note.taxPointDate).toBe('2023-06-01T00:00:00.000+01:00');
});

test("the rate is that of the invoice's tax point; the note's own is recorded", async () => {
  const { id } = await A.item({ name: 'Poncha', vatRate: 'REDUCED', vatTerritory: 'MADEIRA', unitPrice: 100 });
  const invoice = await invoiceOf('2024-09-30', [{ id, quantity: 2 }]);
  expect(invoice.summary.taxAmount).toBe(10);
  const draft = await A.draft(noteOn(invoice, [{ id, quantity: 1 }], { taxPointDate: '2024-10-20' }));
  expect([draft.summary.taxAmount, draft.taxPointDate]).toEqual([5, '2024-10-20T00:00:00.000+01:00']);
  // It stays when the item changes, whose drafts are priced anew.
  expect((await A.patch(`/items/${id}`, { unitPrice: 200 })).status).toBe(200);
  const refreshed = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
  expect(refreshed.summary.taxAmount).toBe(10);
  const note = await A.issue(refreshed);
  expect([note.summary.taxAmount, note.summary.total, note.taxPointDate]).toEqual([10, 210, draft.taxPointDate]);
});

test('a draft that was priced by its own day is priced again when it is issued', async () => {
  const { id } = await A.item({ name: 'Bolo do caco', vatRate: 'REDUCED', vatTerritory: 'MADEIRA', unitPrice: 100 });
  const invoice = await invoiceOf('2024-09-30', [{ id, quantity: 2 }]);
  const today = await invoiceOf('2026-03-02', [{ id, quantity: 2 }]);
  const draft = await A.draft(noteOn(invoice, [{ id, quantity: 1 }]));
  const priced = await A.draft(noteOn(today, [{ id, quantity: 1 }]));
  const asBefore = () =>
    service.owner.query(
      `update certo.documents d set content = o.content || jsonb_build_object('parent', d.content -> 'parent')
       from certo.documents o where d.id = $1 and o.id = $2`,
      [draft.id, priced.id],
    );
  await asBefore();
  const before = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
  expect(before.summary.taxAmount).toBe(4);
  expect((await A.issue(before)).summary).toMatchObject({ taxAmount: 5, total: 105 });
});

test('an item whose rate changed is refused with the lines that differ, until the draft is another', async () => {
  const { id } = await A.item({ name: 'Mel', vatRate: 'REDUCED' });
  const invoice = await invoiceOf('2026-03-02', [{ id, quantity: 1 }]);
  const draft = await A.draft(noteOn(invoice, [{ id, quantity: 1 }]));
  expect((await A.patch(`/items/${id}`, { vatRate: 'NORMAL' })).status).toBe(200);
  const { updatedAt } = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
  const refused = await A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: updatedAt });
  const { code, errors } = refused.json as unknown as { code: string; errors: { code: string; pointer: string }[] };
  expect([code, errors.map((one) => [one.pointer, one.code])]).toEqual([
    'INVALID_REQUEST',
    [['/items/0/vatRate', 'RATE_NOT_OF_PARENT']],
  ]);
  const changed = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, {
    items: [{ id, quantity: 1, vatRate: 'REDUCED' }],
  });
  expect((await A.issue(changed.json)).summary.taxAmount).toBe(0.6);
});

test('in another currency it has the exchange rate of its invoice, which need not be repeated', async () => {
  const { id } = await A.item({ unitPrice: 100 });
  const items = [{ id, quantity: 1 }];
  const dollars = async (exchangeRate: number) =>
    A.issue(await A.draft({ customerId, items, currency: 'USD', exchangeRate }));
  const [invoice, other] = [await dollars(0.9), await dollars(0.8)];
  const booked = async ({ id }: InvoiceJson) =>
    (await service.owner.query(`select content -> 'books' ->> 'net' as net from certo.documents where id = $1`, [id]))
      .rows[0].net;
  const draft = await A.draft(noteOn(invoice, items, { currency: 'USD' }));
  expect([draft.exchangeRate, draft.summary.total, await booked(draft)]).toEqual([0.9, 123, '90.00']);
  const said = await A.draft(noteOn(invoice, items, { currency: 'USD', exchangeRate: 0.9 }));
  expect(said.summary).toEqual(draft.summary);
  // It follows its item, and an other invoice.
  expect((await A.patch(`/items/${id}`, { unitPrice: 200 })).status).toBe(200);
  expect(await booked(draft)).toBe('180.00');
  const moved = (await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { parentInvoiceId: other.id })).json;
  expect([moved.exchangeRate, await booked(draft)]).toEqual([0.8, '160.00']);
  expect((await A.issue(moved)).exchangeRate).toBe(0.8);
  const body = { type: 'DEBIT_NOTE', cae: '62010', customerId, items, currency: 'USD' };
  const unnamed = await A.post('/invoices', body);
  expect(unnamed.json.errors?.map(({ code, pointer }) => [pointer, code])).toEqual([
    ['/exchangeRate', 'EXCHANGE_RATE_REQUIRED'],
  ]);
});

test('it is to whom its invoice is, as that was issued: name, NIF and address', async () => {
  const rita = await A.customer({ name: 'Rita', address: 'Rua Velha 1', city: 'Lisboa' });
  const { id } = await A.item({ unitPrice: 100 });
  const items = [{ id, quantity: 1 }];
  const invoice = await A.issue(await A.draft({ customerId: rita.id, items }));
  const before = await A.draft(noteOn(invoice, items, { customerId: rita.id }));
  const change = { taxpayerNumber: '501442600', address: 'Rua Nova 2', city: 'Porto' };
  expect((await A.patch(`/customers/${rita.id}`, change)).status).toBe(200);
  const after = await A.draft(noteOn(invoice, items, { customerId: rita.id }));
  const named = await A.draft({ type: 'DEBIT_NOTE', customerId: rita.id, items });
  expect(named.customer.data).toMatchObject(change);
  const naming = await A.patch<InvoiceJson>(`/invoices/${named.id}`, { parentInvoiceId: invoice.id, reason: 'Juros' });
  const other = await A.issue(await A.draft({ customerId: rita.id, items }));
  for (const draft of [before, after, naming.json]) {
    const { customer } = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
    expect(customer).toEqual(invoice.customer);
  }
  const notes = [await reissued(before), await reissued(after), await reissued(naming.json)];
  expect(notes.map(({ customer }) => customer)).toEqual([invoice.customer, invoice.customer, invoice.customer]);
  expect(notes.map(({ qrCode }) => buyerOf(qrCode!.data))).toEqual(['999999990', '999999990', '999999990']);
  expect([other.customer.data, buyerOf(other.qrCode!.data)]).toEqual([expect.objectContaining(change), '501442600']);
});

test('a draft that was made with the customer of its day is issued to that of its invoice', async () => {
  const firm = await A.customer({ name: 'Oficina, Lda', taxpayerNumber: '508025095', address: 'Rua Velha 1' });
  const { id } = await A.item({ unitPrice: 100 });
  const items = [{ id, quantity: 1 }];
  const invoice = await A.issue(await A.draft({ customerId: firm.id, items }));
  const draft = await A.draft(noteOn(invoice, items, { customerId: firm.id }));
  await service.owner.query(
    `update certo.documents set customer_name = 'Oficina Nova, Lda',
       content = jsonb_set(content, '{customer}', content->'customer' || '{"name": "Oficina Nova, Lda", "address": "Rua Nova 2"}') where id = $1`,
    [draft.id],
  );
  expect((await reissued(draft)).customer).toEqual(invoice.customer);
});

test('the draft of a note shows the tax point of its invoice, alone and in the list, before and after its issue', async () => {
  const { id } = await A.item({ name: 'Café', vatRate: 'NORMAL', unitPrice: 10 });
  const invoice = await invoiceOf('2026-02-27', [{ id, quantity: 2 }]);
  const taxPoint = '2026-02-27T00:00:00.000+00:00';
  const listed = async (note: InvoiceJson) => {
    const rows = (await A.get<InvoiceJson[]>(`/invoices?parentInvoiceId=${invoice.id}`)).json;
    return rows.find((row) => row.id === note.id)?.taxPointDate;
  };
  const debit = await A.draft(noteOn(invoice, [{ id, quantity: 1 }]));
  const body = { parentInvoiceId: invoice.id, issue: false };
  const credit = (await A.post<InvoiceJson>('/invoices/credit-notes', body)).json;
  for (const draft of [debit, credit]) {
    expect([draft.taxPointDate, await listed(draft)]).toEqual([taxPoint, taxPoint]);
    expect((await A.patch(`/invoices/${draft.id}`, { notes: 'outra' })).status).toBe(200);
    expect(await listed(draft)).toBe(taxPoint);
    expect([(await reissued(draft)).taxPointDate, await listed(draft)]).toEqual([taxPoint, taxPoint]);
  }
});

test('it says why it corrects, once it names its invoice', async () => {
  const { id } = await A.item({ name: 'Chá', unitPrice: 10 });
  const items = [{ id, quantity: 1 }];
  const invoice = await invoiceOf('2026-03-02', items);
  const named = await A.draft(noteOn(invoice, items));
  const later = await A.draft({ ...noteOn(invoice, items), parentInvoiceId: undefined });
  const naming = (await A.patch<InvoiceJson>(`/invoices/${later.id}`, { parentInvoiceId: invoice.id })).json;
  const issued = await A.issue(naming);
  expect([named, naming, issued].map(({ reason }) => reason)).toEqual(['Preço', 'Preço', 'Preço']);
  expect((await A.patch<InvoiceJson>(`/invoices/${named.id}`, { type: 'INVOICE' })).json).not.toHaveProperty('reason');
});

/**
 * Days of documents that are about one another: none is dated before what it corrects, settles or was made of, and what is
 * issued as paid was paid by then. Told where it is asked, and again when a draft of before is issued.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DocumentType } from '../../src/fiscal/document.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { Answer } from '../client.ts';
import type { InvoiceEntryJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let Z: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'Z'], clock: new Date('2026-03-31T10:00:00Z') });
  ({ A, Z } = service.companies);
});
afterAll(() => service.stop());

const invoice = async (over: Record<string, unknown> = {}) => A.issue(await A.draft(over));
const asked = (over: Record<string, unknown>) => A.post('/invoices', over);
const places = (answer: { status: number; json: unknown }) => [
  answer.status,
  (answer as Answer).json.errors?.map(({ pointer, code }) => [pointer, code]),
];
const early = [400, [['/date', 'DATE_BEFORE_PARENT']]];
const tooEarly = (...pointers: string[]) => [400, pointers.map((pointer) => [pointer, 'DATE_TOO_EARLY'])];
/** How a draft is asked for that is like this one. */
const like = ({ customer, items }: InvoiceJson) => ({
  type: 'INVOICE',
  cae: '62010',
  customerId: customer.ref,
  items: items.map(({ ref }) => ({ id: ref, quantity: 1 })),
});

test('a credit note is not before its invoice, issued at once or a draft', async () => {
  const { id, number } = await invoice();
  const credit = (body: Record<string, unknown>) =>
    A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: id, ...body });
  const no = await credit({ date: '2026-01-15' });
  expect(places(no)).toEqual(early);
  for (const part of [number, '2026-03-31', '2026-01-15']) expect(no.text).toContain(part);
  expect(places(await credit({ date: '2026-03-30', issue: false }))).toEqual(early);
  const draft = (await credit({ date: '2026-03-31', issue: false })).json;
  expect(places(await A.patch(`/invoices/${draft.id}`, { date: '2026-03-30' }))).toEqual(early);
  expect((await A.issue(draft)).date).toContain('2026-03-31');
});

test('a receipt is not before its invoice', async () => {
  const { id } = await invoice({ date: '2026-03-31' });
  expect(places(await A.post(`/invoices/${id}/pay`, { date: '2026-01-10' }))).toEqual(early);
  expect((await A.post<InvoiceJson>(`/invoices/${id}/pay`, { date: '2026-03-31' })).json.status).toBe('PAID');
});

test('a debit note is not before its invoice', async () => {
  const parent = await invoice();
  const note = { ...like(parent), type: 'DEBIT_NOTE', parentInvoiceId: parent.id, reason: 'Juros' };
  expect(places(await asked({ ...note, date: '2026-01-11' }))).toEqual(early);
  // All that is wrong is told at once.
  expect(places(await asked({ ...note, date: '2026-01-11', dueDate: '2026-01-10' }))).toEqual([
    400,
    [
      ['/dueDate', 'DUE_BEFORE_DATE'],
      ['/date', 'DATE_BEFORE_PARENT'],
    ],
  ]);
  const draft = (await A.post<InvoiceJson>('/invoices', note)).json;
  expect(places(await A.patch(`/invoices/${draft.id}`, { date: '2026-03-30' }))).toEqual(early);
  // Of what it can't name no date is told.
  const canceled = await invoice();
  await A.post(`/invoices/${canceled.id}/cancel`);
  const unknown = { ...note, parentInvoiceId: canceled.id, customerId: canceled.customer.ref, date: '2026-01-11' };
  expect(places(await asked(unknown))).toEqual([400, [['/parentInvoiceId', 'UNKNOWN_PARENT']]]);
  // It may get its invoice after its date.
  const { parentInvoiceId, ...later } = note;
  const dated = (await A.post<InvoiceJson>('/invoices', { ...later, date: '2026-03-30' })).json;
  expect(places(await A.patch(`/invoices/${dated.id}`, { parentInvoiceId }))).toEqual(early);
  expect((await A.issue(draft)).number).toBe('ND A2026/1');
});

test('an invoice is not before the pro forma that it is made of', async () => {
  const proforma = await A.proposal();
  const draft = (await A.post<InvoiceJson>(`/proposals/${proforma.id}/convert`, {})).json;
  const no = await A.patch(`/invoices/${draft.id}`, { date: '2026-01-05' });
  expect(places(no)).toEqual(early);
  expect(no.text).toContain(proforma.number);
  expect((await A.issue(draft)).date).toContain('2026-03-31');
});

test('drafts that were made before are told when they are issued', async () => {
  const proforma = await A.proposal();
  const converted = (await A.post<InvoiceJson>(`/proposals/${proforma.id}/convert`, {})).json;
  const { id: parentInvoiceId } = await invoice();
  const note = (await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId, issue: false })).json;
  const receipt = await A.draft({ type: 'INVOICE_RECEIPT', payment: { method: 'NU', date: '2026-03-31' } });
  // As an earlier version left them, in series that have nothing later.
  for (const { id, documentType } of [converted, note, receipt]) {
    const series = await registerSeries(service.world, A.id, {
      documentType: documentType as DocumentType,
      code: 'OLD',
    });
    await service.owner.query(
      `update certo.documents set date = '2026-01-05', series_id = $2, updated_at = certo.now() + interval '1 second',
         content = jsonb_set(content, '{date}', '"2026-01-05"'), asked = jsonb_set(asked, '{date}', '"2026-01-05"') where id = $1`,
      [id, series.id],
    );
  }
  const issue = async ({ id }: InvoiceJson) => {
    const { updatedAt } = (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
    return A.post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
  };
  expect(places(await issue(converted))).toEqual(early);
  expect(places(await issue(note))).toEqual(early);
  expect(places(await issue(receipt))).toEqual([400, [['/payment/date', 'PAYMENT_AFTER_DATE']]]);
});

test('what is issued as paid was paid by then', async () => {
  const paid = (date: string) => ({ type: 'INVOICE_RECEIPT', payment: { method: 'NU', date } });
  const { id, updatedAt, ...draft } = await A.draft(paid('2031-01-01'));
  const late = [400, [['/payment/date', 'PAYMENT_AFTER_DATE']]];
  const no = await A.post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
  expect(places(no)).toEqual(late);
  for (const part of ['2031-01-01', '2026-03-31']) expect(no.text).toContain(part);
  for (const type of ['INVOICE_RECEIPT', 'SIMPLIFIED_INVOICE'])
    expect(
      places(await asked({ ...like(draft as InvoiceJson), ...paid('2026-03-31'), type, date: '2026-03-30' })),
    ).toEqual(late);
  // Paid in advance; and a supply may lie ahead of its invoice.
  const advance = await invoice({ ...paid('2026-02-01'), date: '2026-03-31', taxPointDate: '2026-06-01' });
  expect([advance.status, advance.number]).toEqual(['ISSUED', 'FR A2026/1']);
});

test('nothing is dated before 2000: no SAF-T file could tell it', async () => {
  const { id, ...issued } = await invoice();
  const slip = { date: '0026-11-20', taxPointDate: '2026-03-31' };
  const no = await asked({ ...like(issued as InvoiceJson), ...slip });
  expect(places(no)).toEqual(tooEarly('/date'));
  for (const part of ['0026-11-20', '2000-01-01']) expect(no.text).toContain(part);
  const paid = { type: 'SIMPLIFIED_INVOICE', payment: { method: 'NU', date: '1999-12-31' } };
  expect(places(await asked({ ...like(issued as InvoiceJson), ...paid }))).toEqual(tooEarly('/payment/date'));
  const draft = await A.draft();
  expect(places(await A.patch(`/invoices/${draft.id}`, slip))).toEqual(tooEarly('/date'));
  expect(places(await A.patch(`/invoices/${draft.id}`, { dueDate: '0026-04-30' }))).toEqual(tooEarly('/dueDate'));
  // Together with what else is wrong.
  const unknown = places(await asked({ ...like(issued as InvoiceJson), cae: '99999', taxPointDate: '0026-03-31' }));
  expect(unknown).toEqual([
    400,
    [
      ['/cae', 'CAE_NOT_OF_COMPANY'],
      ['/taxPointDate', 'DATE_TOO_EARLY'],
      ['/items/0/vatRate', 'VAT_RATE_NOT_IN_FORCE'],
    ],
  ]);
  const { type: _type, ...proforma } = like(issued as InvoiceJson);
  const young = await registerSeries(service.world, A.id, { documentType: 'PROFORMA', code: 'NEW' });
  expect(places(await A.post('/proposals', { ...proforma, ...slip, seriesId: young.id }))).toEqual(tooEarly('/date'));
  const receipts = await registerSeries(service.world, A.id, { documentType: 'RECEIPT', code: 'NEW' });
  const pay = { date: '0026-11-20', seriesId: receipts.id };
  expect(places(await A.post(`/invoices/${id}/pay`, pay))).toEqual(tooEarly('/date'));
  const note = { parentInvoiceId: id, date: '0026-11-20', issue: false };
  expect(places(await A.post('/invoices/credit-notes', note))).toEqual(tooEarly('/date'));
});

test('the day is that of the company: an instant of 2000 in UTC can lie before it', async () => {
  const { id } = await Z.draft();
  expect(places(await Z.patch(`/invoices/${id}`, { dueDate: '2000-01-01T00:30:00Z' }))).toEqual(tooEarly('/dueDate'));
});

test('a draft of before there was a first day is told when it is issued', async () => {
  const draft = await A.draft({ taxPointDate: '2026-03-31' });
  const { id: seriesId } = await registerSeries(service.world, A.id, { documentType: 'INVOICE', code: 'SLIP' });
  await service.owner.query(
    `update certo.documents set date = '0026-11-20', series_id = $2, updated_at = certo.now() + interval '1 second',
       content = jsonb_set(content, '{date}', '"0026-11-20"'), asked = jsonb_set(asked, '{date}', '"0026-11-20"') where id = $1`,
    [draft.id, seriesId],
  );
  const issue = async () => {
    const { updatedAt } = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
    return A.post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: updatedAt });
  };
  expect(places(await issue())).toEqual(tooEarly('/date'));
  // Priced anew since its customer has changed, too.
  await A.patch(`/customers/${draft.customer.ref}`, { city: 'Évora' });
  expect(places(await issue())).toEqual(tooEarly('/date'));
  expect((await A.patch(`/invoices/${draft.id}`, { date: '2026-03-31' })).status).toBe(200);
  expect((await issue()).status).toBe(200);
});

test('a draft that says its day is due that day, unless it says another', async () => {
  const draft = await A.draft({ date: '2026-03-20', description: 'Sem vencimento' });
  const [march20, march25, april30] = [
    '2026-03-20T00:00:00.000+00:00',
    '2026-03-25T00:00:00.000+00:00',
    '2026-04-30T00:00:00.000+01:00',
  ];
  const days = ({ date, dueDate }: Pick<InvoiceJson, 'date' | 'dueDate'>) => [date, dueDate];
  const changed = async ({ id }: InvoiceJson, body: unknown) =>
    days((await A.patch<InvoiceJson>(`/invoices/${id}`, body)).json);
  expect(days(draft)).toEqual([march20, march20]);
  expect((await A.get(`/invoices/${draft.id}`)).json).toEqual(draft);
  const listed = await A.get<InvoiceEntryJson[]>('/invoices?dueDate=2026-03-20&description=vencimento');
  expect(listed.json.map((entry) => [entry.id, ...days(entry)])).toEqual([[draft.id, march20, march20]]);
  // It was not said: it moves with the day.
  expect(await changed(draft, { date: '2026-03-25' })).toEqual([march25, march25]);
  expect(await changed(draft, { dueDate: '2026-04-30' })).toEqual([march25, april30]);
  expect(days(await A.draft())).toEqual([undefined, undefined]);

  const { id } = await invoice({ date: '2026-03-31' });
  const march31 = '2026-03-31T00:00:00.000+01:00';
  const credit = { parentInvoiceId: id, issue: false, date: '2026-03-31' };
  const note = (await A.post<InvoiceJson>('/invoices/credit-notes', credit)).json;
  expect(days(note)).toEqual([march31, march31]);
  const { date: _, ...open } = credit;
  const later = (await A.post<InvoiceJson>('/invoices/credit-notes', open)).json;
  expect(days(later)).toEqual([undefined, undefined]);
  expect(await changed(later, { date: '2026-03-31' })).toEqual([march31, march31]);
  expect(days(await A.issue(note))).toEqual([march31, march31]);
});

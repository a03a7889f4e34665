/** A draft that can't be priced any more with what its items are now: nothing is issued of what they were. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
});
afterAll(() => service.stop());

const read = async (id: string): Promise<InvoiceJson> => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
const issue = ({ id, updatedAt }: InvoiceJson) =>
  A.post<InvoiceJson>(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });

async function changed(item: { readonly id: string }, body: Record<string, unknown>): Promise<void> {
  expect((await A.patch(`/items/${item.id}`, body)).status).toBe(200);
}

/** Refused with just these problems; numbered is nothing. */
async function refused(draft: InvoiceJson, ...problems: (readonly [pointer: string, code: string])[]): Promise<void> {
  const now = await read(draft.id);
  expect(now.updatedAt > draft.updatedAt).toBe(true);
  const { status, json } = await issue(now);
  const told = json as unknown as { code: string; errors: { pointer: string; code: string }[] };
  expect([status, told.code, told.errors.map(({ pointer, code }) => [pointer, code])]).toEqual([
    400,
    'INVALID_REQUEST',
    problems,
  ]);
  expect(await read(draft.id)).toMatchObject({ status: 'DRAFT' });
}

const discounted = (id: string) => ({ items: [{ id, quantity: 1, unitDiscountAmount: 3 }] });
const tooMuch = ['/items/0/unitDiscountAmount', 'DISCOUNT_OUT_OF_RANGE'] as const;

test('a discount above the price of today: refused until the draft, or the price, is another', async () => {
  const item = await A.item({ unitPrice: 5 });
  const [one, other] = [await A.draft(discounted(item.id)), await A.draft(discounted(item.id))];
  await changed(item, { unitPrice: 2 });
  await refused(one, tooMuch);
  await refused(other, tooMuch);

  const lowered = await A.patch<InvoiceJson>(`/invoices/${one.id}`, {
    items: [{ id: item.id, quantity: 1, unitDiscountAmount: 1 }],
  });
  expect((await issue(lowered.json)).json).toMatchObject({ status: 'ISSUED', summary: { amountWithoutTax: 1 } });
  await changed(item, { unitPrice: 10 });
  expect((await issue(await read(other.id))).json).toMatchObject({
    status: 'ISSUED',
    summary: { amountWithoutTax: 7 },
  });
});

test('what is changed meanwhile of the customer is not forgotten with it', async () => {
  const [item, customer] = [await A.item({ unitPrice: 5 }), await A.customer({ name: 'Antes' })];
  const draft = await A.draft({ customerId: customer.id, ...discounted(item.id) });
  await changed(item, { unitPrice: 2 });
  expect((await A.patch(`/customers/${customer.id}`, { name: 'Depois' })).status).toBe(200);
  await refused(draft, tooMuch);
  await changed(item, { unitPrice: 5 });
  expect((await issue(await read(draft.id))).json).toMatchObject({
    status: 'ISSUED',
    customer: { data: { name: 'Depois' } },
  });
});

describe('refused as well', () => {
  test('an exemption that is none any more', async () => {
    const item = await A.item({ vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
    const draft = await A.draft({ items: [{ id: item.id, quantity: 1, vatExemptionReason: 'M99' }] });
    await changed(item, { vatRate: 'NORMAL' });
    await refused(draft, ['/items/0/vatExemptionReason', 'EXEMPTION_NOT_ALLOWED']);
  });

  test('a discount on the whole above it, and amounts beyond what fits', async () => {
    const item = await A.item({ unitPrice: 5 });
    const discount = await A.draft({ items: [{ id: item.id, quantity: 1 }], globalDiscountAmount: 4 });
    const many = await A.draft({ items: [{ id: item.id, quantity: 999_999_999 }] });
    await changed(item, { unitPrice: 1 });
    await refused(discount, ['/globalDiscountAmount', 'DISCOUNT_OUT_OF_RANGE']);
    await changed(item, { unitPrice: 999_999_999 });
    await refused(many, ['/items', 'AMOUNT_TOO_LARGE']);
  });

  test('a transport document', async () => {
    const item = await A.item({ name: 'Caixa', type: 'PRODUCT', unitPrice: 5 });
    const draft = await A.transport({ valued: true, items: [{ id: item.id, quantity: 999_999_999 }] });
    await changed(item, { unitPrice: 999_999_999 });
    const answer = await A.post(`/transport-documents/${draft.id}/issue`, {});
    expect([answer.status, answer.json.code]).toEqual([400, 'INVALID_REQUEST']);
  });
});

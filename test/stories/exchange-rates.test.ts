/** Exchange rates: an implausible one is refused where it is given, and stands where it was let through before. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../client.ts';
import type { InvoiceJson, ProposalJson } from '../replies.ts';
import { type LostDocuments, openLostDocuments } from './lost-documents.ts';

let books: LostDocuments;
let A: LostDocuments['A'];
let items: readonly { id: string; quantity: number }[];
beforeAll(async () => {
  books = await openLostDocuments(['INVOICE']);
  ({ A } = books);
  items = [{ id: books.itemId, quantity: 1 }];
});
afterAll(() => books.service.stop());

const body = (currency: string, exchangeRate: number) => ({
  cae: '62010',
  customerId: books.customerId,
  items,
  currency,
  exchangeRate,
});
const inCurrency = (currency: string, rate: number, over = {}) =>
  A.post<InvoiceJson>('/invoices', { type: 'INVOICE', ...body(currency, rate), ...over });
const refused = (answer: Answer<unknown>) => {
  const { code, errors } = (answer as Answer).json;
  return [answer.status, code, errors?.map((one) => [one.pointer, one.code])];
};
const implausible = [400, 'INVALID_REQUEST', [['/exchangeRate', 'EXCHANGE_RATE_IMPLAUSIBLE']]];

test('a rate outside of the bounds is refused on drafts and pro formas, with the bounds and the unit', async () => {
  for (const rate of [0.000001, 0.000099, 10000.000001, 999999999]) {
    expect(refused(await inCurrency('USD', rate))).toEqual(implausible);
    expect(refused(await A.post('/proposals', body('USD', rate)))).toEqual(implausible);
  }
  const english = (await A.post('/invoices', { type: 'INVOICE', ...body('USD', 0.00001) })).json.errors![0]!;
  expect(english.message).toBe(
    'exchangeRate is how many euros one USD is worth, from 0.0001 to 10000; 0.00001 cannot be right. If it is the other way round, send 1 divided by it.',
  );
  const headers = { 'accept-language': 'pt' };
  const dong = { type: 'INVOICE', ...body('VND', 27000) };
  expect((await A.post('/invoices', dong, { headers })).json.errors![0]!.message).toBe(
    'exchangeRate indica quantos euros vale 1 VND, de 0.000001 a 1; 27000 não pode estar certo. Se a taxa estiver invertida, envie 1 a dividir por esse valor.',
  );
});

test('zero and less are refused as before', async () => {
  for (const rate of [0, -0.9])
    expect(refused(await inCurrency('USD', rate))).toEqual([400, 'INVALID_REQUEST', [['/exchangeRate', 'TOO_SMALL']]]);
});

test('the bounds themselves, and small rates of weak currencies, are taken', async () => {
  for (const [currency, rate] of [
    ['USD', 0.0001],
    ['USD', 10000],
    ['VND', 0.000033],
    ['IRR', 0.000001],
  ] as const) {
    expect([currency, rate, (await inCurrency(currency, rate)).status]).toEqual([currency, rate, 201]);
    expect([currency, rate, (await A.post('/proposals', body(currency, rate))).status]).toEqual([currency, rate, 201]);
  }
});

test('a draft is made exactly when its rate is within the bounds of its currency', async () => {
  const millionths = fc.oneof(
    fc.integer({ min: 1, max: 200 }),
    fc.integer({ min: 999_900, max: 1_000_100 }),
    fc.integer({ min: 9_999_999_900, max: 10_000_000_100 }),
    fc.integer({ min: 1, max: 20_000_000_000 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GBP', 'JPY', 'IDR', 'LBP'), millionths, async (currency, many) => {
      const least = ['IDR', 'LBP'].includes(currency) ? 1 : 100;
      const most = currency === 'GBP' ? 1e10 : 1e6;
      const { status } = await inCurrency(currency, Number((many / 1e6).toFixed(6)));
      expect([currency, many, status]).toEqual([currency, many, many >= least && many <= most ? 201 : 400]);
    }),
    { numRuns: 60 },
  );
});

test('a change is judged by the rate and the currency that the draft has then', async () => {
  const dong = (await inCurrency('VND', 0.000033)).json;
  const change = (over: unknown) => A.patch<InvoiceJson>(`/invoices/${dong.id}`, over);
  expect(refused(await change({ currency: 'USD', exchangeRate: 0.000033 }))).toEqual(implausible);
  expect(refused(await change({ exchangeRate: 30000 }))).toEqual(implausible);
  expect((await change({ exchangeRate: 0.000034 })).json.exchangeRate).toBe(0.000034);
  expect((await change({ currency: 'USD', exchangeRate: 0.9 })).json.exchangeRate).toBe(0.9);
});

test('what stands in the books already is changed in other ways, issued, corrected, paid and converted', async () => {
  // As one that an earlier version let through.
  const stored = async (id: string) => {
    await books.service.owner.query(
      `update certo.documents set currency = 'USD', asked = asked || '{"currency": "USD"}', content = content || '{"currency": "USD"}'
       where id = $1`,
      [id],
    );
  };
  const { id } = (await inCurrency('VND', 0.000033)).json;
  await stored(id);
  const changed = await A.patch<InvoiceJson>(`/invoices/${id}`, {
    notes: 'x',
    currency: 'USD',
    exchangeRate: 0.000033,
  });
  expect([changed.status, changed.json.currency, changed.json.exchangeRate]).toEqual([200, 'USD', 0.000033]);
  // Its item changes, and the draft is priced anew.
  expect((await A.patch(`/items/${books.itemId}`, { unitPrice: 200000 })).status).toBe(200);
  const invoice = await A.issue((await A.get<InvoiceJson>(`/invoices/${id}`)).json);
  expect(invoice.summary.amountWithoutTax).toBe(200000);

  const debit = { type: 'DEBIT_NOTE', parentInvoiceId: id, reason: 'Preço', items: [{ ...items[0], unitPrice: 1 }] };
  const note = await A.draft({ ...body('USD', 0.000033), ...debit });
  expect((await A.issue(note)).exchangeRate).toBe(0.000033);
  const credit = await A.post('/invoices/credit-notes', {
    parentInvoiceId: id,
    items: [{ id: invoice.items[0]!.id, quantity: 0.5 }],
  });
  expect(credit.status).toBe(201);
  expect((await A.post(`/invoices/${id}/pay`, {})).status).toBe(200);
  expect((await A.patch(`/items/${books.itemId}`, { unitPrice: 100 })).status).toBe(200);
});

test('a pro forma is converted, and a lost document recovered, with the rate that it has', async () => {
  const { id } = (await A.post<ProposalJson>('/proposals', body('VND', 0.000033))).json;
  const draft = await A.post<InvoiceJson>(`/proposals/${id}/convert`, {});
  expect([draft.status, draft.json.exchangeRate]).toEqual([201, 0.000033]);
  const lost = books.lost('FT A2025/7', { currency: 'USD', exchangeRate: 0.000033 });
  const [recovered] = await books.recover([lost]);
  expect(recovered!.number).toBe('FT R2026/1');
});

/** What is read of the documents around one that is acted on: never their lines whole. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Call, Db, Row, Tx } from '../../src/db/transact.ts';
import { creditNote } from '../../src/fiscal/credit-note.ts';
import type { DocumentType, Totals } from '../../src/fiscal/document.ts';
import { balanceWith, type Hanging, openBalance } from '../../src/fiscal/standing.ts';
import { entryOfCompany } from '../../src/identity/principal.ts';
import { lockFamily, lockToCredit } from '../../src/operations/invoices/family.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let door: Awaited<ReturnType<Service['another']>>;
/** Bytes that came of each statement since the last time. */
const came = new Map<string, number>();

const noted = (name: string, rows: readonly Row[]) => void came.set(name, JSON.stringify(rows).length);
const watching = (tx: Tx): Tx => ({
  commitWith: (calls) => tx.commitWith(calls),
  async query(query, values) {
    const rows = await tx.query(query, values);
    if ('name' in query) noted(query.name, rows);
    return rows as never;
  },
  async batch(calls: readonly Call[]) {
    const results = await tx.batch(calls);
    for (const [i, rows] of results.entries()) noted(calls[i]![0].name, rows);
    return results;
  },
});

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  door = await service.another(
    (db: Db): Db => ({
      ...db,
      transact: (entry, fn) => db.transact(entry, (tx) => fn(watching(tx))),
    }),
  );
});
afterAll(async () => {
  await door.stop();
  await service.stop();
});

const lines = 40;

/** What came of the statements of these names. */
async function of(
  names: readonly string[],
  path: string,
  body: unknown = {},
): Promise<{ readonly bytes: number; readonly json: InvoiceJson }> {
  came.clear();
  const answer = await door.call<InvoiceJson>('POST', path, { key: A.key, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  expect(names.filter((name) => !came.has(name))).toEqual([]);
  return { bytes: names.reduce((sum, name) => sum + came.get(name)!, 0), json: answer.json };
}

async function itemsOf(quantity: number) {
  const item = await A.item({ description: 'x'.repeat(1000), unitPrice: 10 });
  return Array.from({ length: lines }, () => ({ id: item.id, quantity }));
}

test('payments and cancellations read no lines of an invoice and its notes', async () => {
  const invoice = await A.issue(await A.draft({ items: await itemsOf(5) }));
  const part = invoice.items.map(({ id }) => ({ id, quantity: 1 }));
  const credit = () => A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: invoice.id, items: part });
  const notes = [await credit(), await credit()];
  const names = ['family_lock_head', 'family_children'];
  expect((await of(names, `/invoices/${invoice.id}/pay`, { amount: 1 })).bytes).toBeLessThan(6_000);
  const [note] = notes;
  const others = ['family_lock_head', 'family_numbers', 'family_children'];
  expect((await of(others, `/invoices/${note!.json.id}/cancel`)).bytes).toBeLessThan(6_000);
});

const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 25 };

/** Forty lines, each with a kind of withholding of its own. */
async function withheldItems(quantity: number) {
  const norms = Array.from({ length: lines }, (_, i) => `Artigo ${i} do código`);
  return Promise.all(
    norms.map(async (withholdingTaxReason) => {
      const { id } = await A.item({ unitPrice: 10, ...withheld, withholdingTaxReason });
      return { id, quantity };
    }),
  );
}

test('what a payment or a note reads of those before it does not grow with them, whatever is withheld', async () => {
  const invoice = await A.issue(await A.draft({ items: await withheldItems(20) }));
  const items = invoice.items.map(({ id }) => ({ id, quantity: 1 }));
  const pay = () => of(['family_children', 'family_sums'], `/invoices/${invoice.id}/pay`, { amount: 100 });
  const credit = () => of(['family_taken'], '/invoices/credit-notes', { parentInvoiceId: invoice.id, items });
  for (let i = 0; i < 10; i++) await credit();
  await A.post(`/invoices/${invoice.id}/pay`, { amount: 100 });
  const before = { pay: (await pay()).bytes, credit: (await credit()).bytes };
  for (let i = 0; i < 5; i++) {
    await pay();
    await credit();
  }
  // The sums are longer by a digit here and there.
  expect((await pay()).bytes - before.pay).toBeLessThan(500);
  expect((await credit()).bytes - before.credit).toBeLessThan(500);
});

test('what is added up for them is what their documents say, one by one', async () => {
  const item = await A.item({ unitPrice: 33.33, ...withheld });
  const free = { vatRate: 'EXEMPT', vatExemptionReason: 'M07' };
  const exempt = await A.item({ unitPrice: 7.77, ...free, ...withheld, withholdingTaxReason: 'Artigo 101' });
  const reduced = await A.item({ unitPrice: 0.19, vatRate: 'REDUCED' });
  const draft = await A.draft({
    currency: 'USD',
    exchangeRate: 0.913,
    items: [
      { id: item.id, quantity: 7 },
      { id: exempt.id, quantity: 5 },
      { id: reduced.id, quantity: 90 },
    ],
  });
  const invoice = await A.issue(draft);
  const credit = (at: number, quantity: number) =>
    A.post<InvoiceJson>('/invoices/credit-notes', {
      parentInvoiceId: invoice.id,
      items: [{ id: invoice.items[at]!.id, quantity }],
    });
  const receipts: string[] = [];
  for (const amount of [0.01, 31.4, 17.77, 5, ...Array.from({ length: 50 }, (_, i) => (21 + i) / 100)]) {
    const { json } = await A.post<{ receipt: { id: string } }>(`/invoices/${invoice.id}/pay`, { amount });
    receipts.push(json.receipt.id);
  }
  const notes = [await credit(0, 1.5), await credit(1, 2), await credit(2, 13)];
  expect((await A.post(`/invoices/${receipts[1]}/cancel`, {})).status).toBe(200);
  expect((await A.post(`/invoices/${notes[1]!.json.id}/cancel`, {})).status).toBe(200);

  const { rows } = await service.owner.query<{ type: DocumentType; totals: Totals; books: Totals; id: string }>(
    `select id, type, content->'totals' as totals, content->'books' as books from certo.documents
     where parent_id = $1 and status <> 'CANCELED' and number is not null`,
    [invoice.id],
  );
  expect(rows).toHaveLength(55);
  const inReach = <T>(work: (tx: Tx) => Promise<T>) => service.db.transact(entryOfCompany(A.id, 'test'), work);
  for (const without of [undefined, receipts[2]]) {
    const family = (await inReach((tx) => lockFamily(tx, invoice.id, without)))!;
    const children = rows.filter(({ id }) => id !== without);
    expect(family.children).toHaveLength(2);
    expect(openBalance(family)).toEqual(openBalance({ ...family, children }));
    expect(balanceWith(family, family.children)).toEqual(balanceWith(family, children));
  }
  const credited = (await inReach((tx) => lockToCredit(tx, invoice.id)))!;
  const note = (children: readonly Hanging[]) =>
    creditNote({ ...credited, children }, { reason: 'x' }, credited.content.issuer, () => 'id');
  expect(note(credited.children)).toEqual(note(rows));
  await A.post(`/invoices/${invoice.id}/pay`, {});
  expect((await A.get<InvoiceJson>(`/invoices/${invoice.id}`)).json.status).toBe('PAID');
});

test('a note reads of the notes before it a few numbers per line, however many notes there are', async () => {
  const invoice = await A.issue(await A.draft({ items: await itemsOf(5) }));
  const items = invoice.items.map(({ id }) => ({ id, quantity: 1 }));
  const note = () => of(['family_taken'], '/invoices/credit-notes', { parentInvoiceId: invoice.id, items });
  await note();
  const after = [await note(), await note(), await note()];
  // Totals and books of one note more; of the lines nothing more.
  expect(after[2]!.bytes - after[0]!.bytes).toBeLessThan(2_500);
  expect(after[0]!.bytes).toBeLessThan(lines * 150 + 2_500);
  const draft = { parentInvoiceId: invoice.id, items, issue: false };
  const { id, updatedAt } = (await of(['family_taken'], '/invoices/credit-notes', draft)).json;
  const issued = await of(['family_taken'], `/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
  expect(issued.bytes).toBeLessThan(lines * 150 + 5_000);
});

test('conversions read of the invoices before them what they took of each line', async () => {
  const proposal = await A.proposal({ items: await itemsOf(5) });
  const items = proposal.items.map(({ id }) => ({ id, quantity: 1 }));
  for (const taken of [1, 2]) {
    const { json } = await of(['proposal_invoices'], `/proposals/${proposal.id}/convert`, { items });
    const { id, updatedAt } = json;
    const { bytes } = await of(['proposal_invoices'], `/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
    expect(bytes).toBeLessThan(taken * lines * 250);
  }
});

test('nor does that grow with them: another invoice is a number and a discount more', async () => {
  const proposal = await A.proposal({ items: await itemsOf(9), globalDiscountAmount: 60 });
  const convert = async (quantity: number) => {
    const items = proposal.items.map(({ id }) => ({ id, quantity }));
    const { json, bytes } = await of(['proposal_invoices'], `/proposals/${proposal.id}/convert`, { items });
    await A.issue(json);
    return { bytes, invoice: json };
  };
  await convert(1.5);
  const before = (await convert(1)).bytes;
  for (let i = 0; i < 4; i++) await convert(0.5);
  const { bytes, invoice } = await convert(1.25);
  expect(bytes - before).toBeLessThan(1_000);
  // Nine of each line less what five invoices, and the one before them, took: what a cancelled one took is there again.
  expect((await A.post(`/invoices/${invoice.id}/cancel`, {})).status).toBe(200);
  const rest = await A.post<InvoiceJson>(`/proposals/${proposal.id}/convert`, {});
  expect(new Set(rest.json.items.map(({ meta }) => meta['quantity']))).toEqual(new Set([4.5]));
  const more = proposal.items.map(({ id }) => ({ id, quantity: 4.6 }));
  expect((await A.post(`/proposals/${proposal.id}/convert`, { items: more })).status).toBe(400);
  const last = await A.issue(rest.json);
  const { rows } = await service.owner.query(
    `select sum((content->>'globalDiscountAmount')::numeric)::text as all from certo.documents
     where origin_id = $1 and number is not null and status <> 'CANCELED'`,
    [proposal.id],
  );
  expect([last.status, rows]).toEqual(['ISSUED', [{ all: '60.00' }]]);
});

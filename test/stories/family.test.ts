/** What is read of the documents around one that is acted on: never their lines whole. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Call, Db, Row, Tx } from '../../src/db/transact.ts';
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
  expect((await of(names, `/invoices/${note!.json.id}/cancel`)).bytes).toBeLessThan(6_000);
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

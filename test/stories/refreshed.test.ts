/** Many and large drafts that follow their customer and items: never more of them at once than the service has room for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Call, Db, Row, Tx } from '../../src/db/transact.ts';
import { Elements } from '../../src/db/transact.ts';
import type { InvoiceEntryJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

const megabyte = 1024 * 1024;
const small_drafts = 240;
const large_drafts = 16;

let service: Service;
let A: TestCompany;
let door: Awaited<ReturnType<Service['another']>>;
/** What passed between the door and the database inside transactions: drafts, and characters of JSON at once. */
const nothing = { drafts: 0, atOnce: 0, read: 0, written: 0 };
const passed = { ...nothing };

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  door = await service.another(measured);
});
afterAll(async () => {
  await door.stop();
  await service.stop();
});

function measured(db: Db): Db {
  const measure = (tx: Tx): Tx => ({
    async query<R extends Row>(...args: Parameters<Tx['query']>) {
      const rows = await tx.query<R>(...args);
      taken([rows]);
      return rows;
    },
    async batch(calls) {
      given(calls);
      const results = await tx.batch(calls);
      taken(results);
      return results;
    },
    commitWith: (calls) => tx.commitWith(calls),
  });
  return { ...db, transact: (entry, fn) => db.transact(entry, (tx) => fn(measure(tx))) };
}

function taken(results: readonly (readonly Row[])[]): void {
  for (const rows of results) {
    const drafts = rows.filter((row) => 'asked' in row).length;
    passed.drafts += drafts;
    passed.atOnce = Math.max(passed.atOnce, drafts);
    passed.read = Math.max(passed.read, JSON.stringify(rows).length);
  }
}

function given(calls: readonly Call[]): void {
  const lists = calls.flatMap(([, values]) => values.filter((value) => value instanceof Elements));
  passed.written = Math.max(passed.written, ...lists.map((list) => list.jsonb().length));
}

/** Three kinds of drafts of one customer and item; the last can't be priced once the item is cheaper. */
async function manyDrafts() {
  const customer = await A.customer({ city: 'antes' });
  const item = await A.item({ unitPrice: 10 });
  const of = (lines: readonly object[]) =>
    A.draft({ customerId: customer.id, items: lines.map((line) => ({ id: item.id, quantity: 1, ...line })) });
  const small: InvoiceJson[] = [];
  const large: InvoiceJson[] = [];
  for (let i = 0; i < small_drafts; i++) {
    small.push(await of([{}]));
    if (i % (small_drafts / large_drafts) === 0)
      large.push(await of(Array.from({ length: 150 }, () => ({ description: 'é'.repeat(2000) }))));
  }
  const stuck = await of([{ unitDiscountAmount: 8 }]);
  return { customer, item, small, large, stuck };
}

test('are read and written a few at a time, and all of them show what was changed', async () => {
  const { customer, item, small, large, stuck } = await manyDrafts();
  const all = [...small, ...large, stuck];
  const change = async (path: string, body: unknown) => {
    Object.assign(passed, nothing);
    const { status, text } = await door.call('PATCH', path, { key: A.key, body });
    expect(status, text).toBe(200);
    expect(passed.atOnce).toBeLessThanOrEqual(50);
    expect(passed.drafts).toBe(all.length);
    expect(passed.read).toBeLessThan(megabyte);
    expect(passed.written).toBeLessThan(3 * megabyte);
  };
  await change(`/customers/${customer.id}`, { city: 'depois' });
  const moved = await Promise.all(all.map(({ id }) => A.get<InvoiceJson>(`/invoices/${id}`)));
  for (const [i, { json }] of moved.entries()) {
    const data = { ...all[i]!.customer.data, city: 'depois' };
    const shown = { ...all[i], updatedAt: json.updatedAt, customer: { ...all[i]!.customer, data } };
    expect(json).toEqual(shown);
    expect(Date.parse(json.updatedAt)).toBeGreaterThan(Date.parse(all[i]!.updatedAt));
  }

  await change(`/items/${item.id}`, { unitPrice: 5 });
  const listed = new Map<string, number>();
  for (let offset = 0; offset < all.length; offset += 100) {
    const { json } = await A.get<InvoiceEntryJson[]>(`/invoices?limit=100&offset=${offset}`);
    for (const { id, summary } of json) listed.set(id, summary.amountWithoutTax);
  }
  expect(small.map(({ id }) => listed.get(id))).toEqual(small.map(() => 5));
  expect(large.map(({ id }) => listed.get(id))).toEqual(large.map(() => 750));
  const kept = (await A.get<InvoiceJson>(`/invoices/${stuck.id}`)).json;
  expect(kept).toEqual({ ...moved.at(-1)!.json, updatedAt: expect.any(String) });
  expect(kept.updatedAt).not.toBe(moved.at(-1)!.json.updatedAt);
});

/** Many at once: one number each, one chain, nobody's change lost, whatever the order in which they meet. */
import { createVerify } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../client.ts';
import type { CustomerJson, InvoiceJson, ItemJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
});
afterAll(() => service.stop());

const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).toSorted();
const issueBody = (draft: InvoiceJson) => ({ expectedUpdatedAt: draft.updatedAt });

async function draftsOf(
  company: TestCompany,
  count: number,
  over: Record<string, unknown> = {},
): Promise<InvoiceJson[]> {
  const customerId = (await company.customer()).id;
  const items = [{ id: (await company.item()).id, quantity: 1 }];
  return times(count, () => company.draft({ customerId, items, ...over }));
}

/** Numbers 1 … n without a gap, each signed over the one before, and the head of the series at the last. */
async function chainIsWhole(company: TestCompany, type: string): Promise<number> {
  const { rows } = await service.owner.query(
    `select to_char(d.date, 'YYYY-MM-DD') as date, d.system_entry, d.number, d.sequence::int, d.hash, d.atcud, d.issued_at,
       d.content -> 'books' ->> 'gross' as gross, s.last_number::int, s.last_hash, s.validation_code
     from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id
     where d.company_id = $1 and d.type = $2 order by d.sequence`,
    [company.id, type],
  );
  let previous = '';
  rows.forEach((row, at) => {
    expect([row.sequence, row.atcud]).toEqual([at + 1, `${row.validation_code}-${at + 1}`]);
    const text = `${row.date};${row.system_entry};${row.number};${row.gross};${previous}`;
    expect(createVerify('RSA-SHA1').update(text).verify(service.publicPem, row.hash, 'base64')).toBe(true);
    if (at > 0) expect(row.issued_at.getTime()).toBeGreaterThanOrEqual(rows[at - 1].issued_at.getTime());
    previous = row.hash;
  });
  expect([rows.at(-1).last_number, rows.at(-1).last_hash]).toEqual([rows.length, previous]);
  return rows.length;
}

test('a hundred issued at once on one series are 1 to 100', async () => {
  const drafts = await draftsOf(A, 100);
  const issued = await Promise.all(drafts.map((draft) => A.issue(draft)));
  const numbers = issued.map(({ number }) => Number(number?.split('/')[1])).toSorted((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  expect(await chainIsWhole(A, 'INVOICE')).toBe(100);
});

test('two processes on one database issue side by side, on several series and for two companies', async () => {
  const other = await service.another();
  const through = (company: TestCompany, draft: InvoiceJson, i: number) => {
    const call = i % 2 === 0 ? service.call : other.call;
    return call('POST', `/invoices/${draft.id}/issue`, { key: company.key, body: issueBody(draft) });
  };
  const all = [
    ...(await draftsOf(B, 30)).map((draft) => [B, draft] as const),
    ...(await draftsOf(B, 20, { type: 'INVOICE_RECEIPT' })).map((draft) => [B, draft] as const),
    ...(await draftsOf(A, 20, { type: 'SIMPLIFIED_INVOICE' })).map((draft) => [A, draft] as const),
  ];
  const answers = await Promise.all(all.map(([company, draft], i) => through(company, draft, i)));
  expect(statuses(answers)).toEqual(all.map(() => 200));
  expect(await chainIsWhole(B, 'INVOICE')).toBe(30);
  expect(await chainIsWhole(B, 'INVOICE_RECEIPT')).toBe(20);
  expect(await chainIsWhole(A, 'SIMPLIFIED_INVOICE')).toBe(20);
  await other.stop();
});

test('one draft issued ten times at once is issued once', async () => {
  const [draft] = await draftsOf(A, 1);
  const answers = await times(10, () => A.post(`/invoices/${draft!.id}/issue`, issueBody(draft!)));
  expect(statuses(answers)).toEqual([200, ...Array(9).fill(400)]);
  const codes = new Set(answers.filter(({ status }) => status === 400).map(({ json }) => json.code));
  expect([...codes]).toEqual(['INVALID_STATE']);
});

test('issuing against deleting and changing: one of them comes first, and nothing is half done', async () => {
  for (const draft of await draftsOf(A, 8)) {
    const [issued, deleted, changed] = await Promise.all([
      A.post(`/invoices/${draft.id}/issue`, issueBody(draft)),
      A.delete(`/invoices/${draft.id}`),
      A.patch(`/invoices/${draft.id}`, { notes: 'depois' }),
    ]);
    const now = await A.get<InvoiceJson>(`/invoices/${draft.id}`);
    if (deleted.status === 200) {
      expect([now.status, issued.status === 200]).toEqual([404, false]);
    } else if (issued.status === 200) {
      expect([now.json.status, now.json.notes, changed.status]).toEqual(['ISSUED', undefined, 400]);
    } else expect([now.json.status, now.json.notes, changed.status]).toEqual(['DRAFT', 'depois', 200]);
  }
  await chainIsWhole(A, 'INVOICE');
});

test('changes of different fields at once are all kept', async () => {
  const [draft] = await draftsOf(A, 1);
  const fields = { notes: 'N', description: 'D', dueDate: '2030-01-01', globalDiscountPercent: 5, cae: '47410' };
  const answers = await Promise.all(
    Object.entries(fields).map(([name, value]) => A.patch<InvoiceJson>(`/invoices/${draft!.id}`, { [name]: value })),
  );
  expect(statuses(answers)).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(answers.map(({ json }) => json.updatedAt)).size).toBe(5);
  const now = (await A.get<InvoiceJson>(`/invoices/${draft!.id}`)).json;
  expect(now).toMatchObject({ notes: 'N', description: 'D', dueDate: '2030-01-01T00:00:00.000+00:00', cae: '47410' });
  expect(now.summary.globalDiscountPercent).toBe(5);
});

test('masters change while their drafts are issued: each is issued as it was last shown, or refused as changed', async () => {
  for (let round = 0; round < 3; round++) {
    const customer = await A.customer({ city: 'antes' });
    const items = await times(3, () => A.item());
    const entries = items.map(({ id }) => ({ id, quantity: 1 }));
    const drafts = await times(6, (i) =>
      A.draft({ customerId: customer.id, items: i % 2 === 0 ? entries : entries.toReversed() }),
    );
    const changes: Promise<Answer>[] = [
      A.patch(`/customers/${customer.id}`, { city: 'depois' }),
      ...items.map(({ id }) => A.patch(`/items/${id}`, { unitPrice: 20 })),
    ];
    const issues = Promise.all(
      drafts.map((draft) => A.post<InvoiceJson>(`/invoices/${draft.id}/issue`, issueBody(draft))),
    );
    expect(statuses(await Promise.all(changes))).toEqual([200, 200, 200, 200]);
    for (const [i, answer] of (await issues).entries()) {
      const now = (await A.get<InvoiceJson>(`/invoices/${drafts[i]!.id}`)).json;
      if (answer.status === 200) {
        expect(now.customer.data.city).toBe('antes');
        expect(now.summary.amountWithoutTax).toBe(30);
      } else {
        expect((answer.json as unknown as { code: string }).code).toBe('DRAFT_CHANGED');
        expect([now.customer.data.city, now.summary.amountWithoutTax]).toEqual(['depois', 60]);
      }
    }
  }
  await chainIsWhole(A, 'INVOICE');
});

test('a draft made while its customer is being changed waits, and shows the new data', async () => {
  const [customer, item] = [await A.customer({ city: 'antes' }), await A.item({ unitPrice: 1 })];
  const writer = await service.owner.connect();
  await writer.query('begin');
  for (const table of ['customers', 'items'])
    await writer.query(`select 1 from certo.${table} where id = any ($1) for update`, [[customer.id, item.id]]);
  await writer.query(`update certo.customers set city = 'depois', updated_at = certo.now() where id = $1`, [
    customer.id,
  ]);
  await writer.query('update certo.items set unit_price = 2, updated_at = certo.now() where id = $1', [item.id]);
  const made = A.draft({ customerId: customer.id, items: [{ id: item.id, quantity: 1 }] });
  await new Promise((resolve) => setTimeout(resolve, 200));
  await writer.query('commit');
  writer.release();
  const draft = await made;
  expect([draft.customer.data.city, draft.summary.amountWithoutTax]).toEqual(['depois', 2]);
});

test('a draft made or changed while its customer and item change shows what they are in the end', async () => {
  for (let round = 0; round < 10; round++) {
    const [customer, item] = [await A.customer(), await A.item({ unitPrice: 1 })];
    const items = [{ id: item.id, quantity: 1 }];
    const known = await A.draft({ customerId: customer.id, items });
    const [drafts] = await Promise.all([
      times(6, () => A.draft({ customerId: customer.id, items })),
      times(3, (i) => A.patch<CustomerJson>(`/customers/${customer.id}`, { city: `cidade ${i}` })),
      times(3, (i) => A.patch<ItemJson>(`/items/${item.id}`, { unitPrice: 2 + i })),
      times(3, (i) => A.patch<InvoiceJson>(`/invoices/${known.id}`, { notes: `nota ${i}` })),
    ]);
    const { city } = (await A.get<CustomerJson>(`/customers/${customer.id}`)).json;
    const { unitPrice } = (await A.get<ItemJson>(`/items/${item.id}`)).json;
    for (const { id } of [known, ...drafts]) {
      const now = (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
      expect([now.customer.data.city, now.items[0]?.data['unitPrice']]).toEqual([city, unitPrice]);
    }
  }
});

test('in all of this nobody waited for each other', async () => {
  const asked = 'select deadlocks::int from pg_stat_database where datname = current_database()';
  expect((await service.owner.query(asked)).rows).toEqual([{ deadlocks: 0 }]);
});

/** Writes that arrive together share a transaction: each member sees what it would see alone, and harms no neighbour. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Db } from '../../src/db/transact.ts';
import type { Answer } from '../client.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

type Door = Awaited<ReturnType<Service['another']>>;

let service: Service;
let A: TestCompany;
let door: Door;
/** Transactions that were begun, and what the next commit does. */
let begun: number;
let failNextCommit: boolean;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
  door = await service.another(watched);
});
beforeEach(() => {
  begun = 0;
  failNextCommit = false;
});
afterAll(async () => {
  await door.stop();
  await service.stop();
});

function watched(db: Db): Db {
  return {
    ...db,
    transact: (entry, fn, options) => {
      begun += 1;
      return db.transact(
        entry,
        (tx) =>
          fn({
            query: tx.query.bind(tx),
            batch: tx.batch.bind(tx),
            commitWith: (calls) => {
              if (!failNextCommit) return tx.commitWith(calls);
              failNextCommit = false;
              return Promise.reject(new Error('the group fails before its commit'));
            },
          }),
        options,
      );
    },
  };
}

const sequences = (answers: readonly Answer<InvoiceJson>[]) =>
  answers.map(({ json }) => Number(json.number?.split('/')[1])).toSorted((a, b) => a - b);
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);
const post = <T = InvoiceJson>(path: string, body: unknown, key = uuidv7()): Promise<Answer<T>> =>
  door.call<T>('POST', path, { key: A.key, body, headers: { 'idempotency-key': key } });
const issue = (draft: InvoiceJson, key?: string) =>
  post(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt }, key);

async function drafts(count: number, over: Record<string, unknown> = {}): Promise<InvoiceJson[]> {
  const customerId = (await A.customer()).id;
  const items = [{ id: (await A.item()).id, quantity: 1 }];
  return Promise.all(Array.from({ length: count }, () => A.draft({ customerId, items, ...over })));
}

async function lastNumber(type: string): Promise<number> {
  const { rows } = await service.owner.query<{ last: number }>(
    'select last_number::int as last from certo.series where company_id = $1 and id = $2',
    [A.id, A.series[type as keyof typeof A.series].id],
  );
  return rows[0]!.last;
}

test('sixty issues at once need a few transactions, and are numbered without a gap', async () => {
  const made = await drafts(60);
  const before = await lastNumber('INVOICE');
  begun = 0;
  const answers = await Promise.all(made.map((draft) => issue(draft)));
  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(sequences(answers)).toEqual(Array.from({ length: 60 }, (_, i) => before + i + 1));
  expect(begun).toBeLessThan(20);
});

test('whoever is refused leaves the group; its key is free again, and nobody else notices', async () => {
  const [good, stale, other, twice] = await drafts(4);
  const before = await lastNumber('INVOICE');
  const key = uuidv7();
  const answers = await Promise.all([
    issue(good!),
    issue({ ...stale!, updatedAt: '2020-01-01T00:00:00.000Z' }, key),
    post(`/invoices/${uuidv7()}/issue`, { expectedUpdatedAt: good!.updatedAt }),
    issue(other!),
    issue(twice!),
    issue(twice!),
  ]);
  expect(statuses(answers)).toEqual([200, 400, 404, 200, 200, 400]);
  expect(answers.slice(1, 3).map(({ json }) => (json as unknown as { code: string }).code)).toEqual([
    'DRAFT_CHANGED',
    'INVOICE_NOT_FOUND',
  ]);
  expect(sequences(answers.filter(({ status }) => status === 200))).toEqual([before + 1, before + 2, before + 3]);
  // The same request is judged again (not 409), another one with its key is not.
  expect((await issue({ ...stale!, updatedAt: '2020-01-01T00:00:00.000Z' }, key)).status).toBe(400);
  expect((await issue(stale!, key)).status).toBe(422);
  expect((await issue(stale!)).status).toBe(200);
});

test('acts on one invoice take turns: payments at once never exceed it, notes of one invoice neither', async () => {
  const [draft] = await drafts(1);
  const invoice = (await issue(draft!)).json;
  const total = invoice.summary.totalToPay;
  const part = Math.round((total / 4) * 100) / 100;
  const paid = await Promise.all(
    Array.from({ length: 8 }, () => post(`/invoices/${invoice.id}/pay`, { amount: part })),
  );
  const taken = paid.filter(({ status }) => status === 200).length;
  expect(taken * part).toBeLessThanOrEqual(total + 0.001);
  expect(taken).toBeGreaterThanOrEqual(3);

  const [other] = await drafts(1);
  const credited = (await issue(other!)).json;
  const notes = await Promise.all(
    Array.from({ length: 5 }, () => post('/invoices/credit-notes', { parentInvoiceId: credited.id })),
  );
  expect(statuses(notes).toSorted()).toEqual([201, 400, 400, 400, 400]);
});

test('different acts share a group: drafts, issues, payments and notes, each with its own series', async () => {
  const made = await drafts(6);
  const paid = await Promise.all((await drafts(3)).map(async (draft) => (await issue(draft)).json));
  const customerId = (await A.customer()).id;
  const items = [{ id: (await A.item()).id, quantity: 2 }];
  begun = 0;
  const answers = await Promise.all([
    ...made.map((draft) => issue(draft)),
    ...paid.map(({ id }) => post(`/invoices/${id}/pay`, {})),
    ...paid.map(({ id }) => post('/invoices/credit-notes', { parentInvoiceId: id, issue: false })),
    post('/invoices', { type: 'INVOICE', cae: '62010', customerId, items }),
    post('/proposals', { cae: '62010', customerId, items }),
  ]);
  const allowed = new Set([200, 201, 400]);
  expect(statuses(answers).filter((status) => !allowed.has(status))).toEqual([]);
  expect(statuses(answers.slice(0, 9))).toEqual(Array(9).fill(200));
  expect(begun).toBeLessThan(answers.length);
});

test('a group that fails is undone, and its members run one by one', async () => {
  const made = await drafts(12);
  const before = await lastNumber('INVOICE');
  failNextCommit = true;
  const answers = await Promise.all(made.map((draft) => issue(draft)));
  expect(failNextCommit).toBe(false);
  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(sequences(answers)).toEqual(Array.from({ length: 12 }, (_, i) => before + i + 1));
});

test('a key that is revoked opens nothing for the next request, in whatever group', async () => {
  const made = await drafts(10);
  const spare = await A.anotherKey();
  const through = (draft: InvoiceJson) =>
    door.call('POST', `/invoices/${draft.id}/issue`, { key: spare.key, body: { expectedUpdatedAt: draft.updatedAt } });
  const first = await Promise.all(made.slice(0, 5).map(through));
  expect(new Set(statuses(first))).toEqual(new Set([200]));
  await spare.revoke();
  const second = await Promise.all(made.slice(5).map(through));
  expect(new Set(statuses(second))).toEqual(new Set([401]));
});

/** Two processes on one database, with what shares round trips and transactions at work: nobody acts for another. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Db } from '../../src/db/transact.ts';
import type { Answer } from '../client.ts';
import { quickWrites } from '../quick-writes.ts';
import type { CompanyJson, InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

interface Process {
  readonly call: Service['call'];
}
interface Caller {
  readonly company: TestCompany;
  readonly key: string;
  /** Of the key's lineage: what stands in the books and scopes its idempotency keys. */
  readonly lineage: string;
}

let service: Service;
let A: TestCompany;
let B: TestCompany;
let others: Awaited<ReturnType<Service['another']>>[];
let processes: Process[];
/** Transactions begun at the other processes. */
let begun = 0;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  const counted = (db: Db): Db => ({
    ...db,
    transact: (entry, fn) => {
      begun += 1;
      return db.transact(entry, fn);
    },
    ...quickWrites(db, (write) => {
      begun += 1;
      return write();
    }),
  });
  others = [await service.another(counted), await service.another(counted)];
  processes = others;
});
beforeEach(() => {
  begun = 0;
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await service.stop();
});

async function caller(company: TestCompany): Promise<Caller> {
  const { key, id } = await company.anotherKey();
  return { company, key, lineage: id };
}

async function drafts(company: TestCompany, count: number): Promise<InvoiceJson[]> {
  const customerId = (await company.customer()).id;
  const items = [{ id: (await company.item()).id, quantity: 1 }];
  return Promise.all(Array.from({ length: count }, () => company.draft({ customerId, items })));
}

const issue = (at: Process, key: string, draft: InvoiceJson, idempotencyKey = uuidv7()) =>
  at.call<InvoiceJson>('POST', `/invoices/${draft.id}/issue`, {
    key,
    body: { expectedUpdatedAt: draft.updatedAt },
    headers: { 'idempotency-key': idempotencyKey },
  });
const numberOf = ({ json }: Answer<InvoiceJson>) => Number(json.number?.split('/')[1]);

test('reads of three credentials at once: each sees its own company, and nothing of another', async () => {
  const callers = [await caller(A), await caller(A), await caller(B)];
  const invoices = new Map([
    [A, (await drafts(A, 1))[0]!],
    [B, (await drafts(B, 1))[0]!],
  ]);
  const at = processes[0]!;
  const asked = Array.from({ length: 90 }, (_, i) => callers[i % 3]!);
  await Promise.all(
    asked.map(async ({ company, key }, i) => {
      const [own, ours, theirs] = await Promise.all([
        at.call<CompanyJson>('GET', '/company', { key }),
        at.call<InvoiceJson>('GET', `/invoices/${invoices.get(company)!.id}`, { key }),
        at.call('GET', `/invoices/${invoices.get(company === A ? B : A)!.id}`, { key }),
      ]);
      expect([i, own.json.id, ours.json.id]).toEqual([i, company.id, invoices.get(company)!.id]);
      expect([i, ours.status, theirs.status]).toEqual([i, 200, 404]);
    }),
  );
});

test('writes of three credentials at once share transactions, but never with each other', async () => {
  const callers = [await caller(A), await caller(A), await caller(B)];
  const made = [await drafts(A, 20), await drafts(A, 20), await drafts(B, 20)];
  const acts = callers.flatMap((who, c) => made[c]!.map((draft) => ({ who, draft, idempotencyKey: uuidv7() })));
  // One of each in turn: neighbours in time are never of one credential.
  const mixed = Array.from({ length: 20 }, (_, i) => [0, 1, 2].map((c) => acts[c * 20 + i]!)).flat();
  begun = 0;
  const answers = await Promise.all(
    mixed.map(({ who, draft, idempotencyKey }) => issue(processes[0]!, who.key, draft, idempotencyKey)),
  );
  expect(begun).toBeLessThan(mixed.length);
  for (const [i, { who, draft, idempotencyKey }] of mixed.entries()) {
    expect([i, answers[i]!.status, answers[i]!.json.issuer.ref]).toEqual([i, 200, who.company.id]);
    const { rows } = await service.owner.query(
      `select d.company_id, d.issued_by, c.scope, a.actor, a.company_id as audited
       from certo.documents d
       left join certo.claims c on c.company_id = d.company_id and c.key = $2
       left join certo.audit a on a.company_id = d.company_id and a.subject_id = d.id and a.operation = 'issueInvoice'
       where d.id = $1`,
      [draft.id, idempotencyKey],
    );
    const actor = `key-${who.lineage.slice(-12)}`;
    const company_id = who.company.id;
    expect(rows).toEqual([{ company_id, issued_by: actor, scope: `key:${who.lineage}`, actor, audited: company_id }]);
  }
});

test('an act of one company in the middle of those of another changes nothing there', async () => {
  const [ours, theirs] = [await caller(A), await caller(B)];
  const [own, foreign] = [await drafts(A, 12), await drafts(B, 12)];
  const before = await service.findings();
  const answers = await Promise.all(
    own.flatMap((draft, i) => [
      issue(processes[1]!, ours.key, draft),
      issue(processes[1]!, theirs.key, draft),
      issue(processes[1]!, ours.key, foreign[i]!),
    ]),
  );
  expect(answers.map(({ status }) => status)).toEqual(own.flatMap(() => [200, 404, 404]));
  for (const { id } of foreign) expect((await B.get<InvoiceJson>(`/invoices/${id}`)).json.status).toBe('DRAFT');
  expect(await service.findings()).toEqual(before);
});

test('each of sixty requests is sent to both processes at once with its key: sixty numbers, the same answer twice', async () => {
  const who = await caller(A);
  const made = await drafts(A, 60);
  const first = await A.issue((await drafts(A, 1))[0]!);
  const keys = made.map(() => uuidv7());
  const sent = await Promise.all(
    made.flatMap((draft, i) => processes.map((process) => issue(process, who.key, draft, keys[i]))),
  );
  const allowed = new Set([200, 409]);
  expect(sent.filter(({ status }) => !allowed.has(status)).map(({ text }) => text)).toEqual([]);
  const settled = await Promise.all(made.map((draft, i) => issue(processes[i % 2]!, who.key, draft, keys[i])));
  const start = Number(first.number?.split('/')[1]);
  expect(settled.map(numberOf).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => start + i + 1));
  for (const [i, answer] of settled.entries()) {
    expect(answer.headers['idempotent-replayed']).toBe('true');
    for (const other of sent.slice(2 * i, 2 * i + 2)) if (other.status === 200) expect(other.text).toBe(answer.text);
  }
});

test('a key revoked at one process opens nothing for the next request at another, in whatever company it comes', async () => {
  const [who, stays] = [await A.anotherKey(), await caller(A)];
  const made = await drafts(A, 60);
  const at = processes[0]!;
  const read = (key: string) => at.call('GET', '/company', { key });
  const create = (key: string) =>
    at.call('POST', '/customers', {
      key,
      body: { name: 'X', country: 'PT' },
      headers: { 'idempotency-key': uuidv7() },
    });
  // Under way while the key is revoked elsewhere: groups of them wait at every place.
  const underWay = made.slice(0, 40).flatMap((draft) => [issue(at, who.key, draft), read(who.key), create(who.key)]);
  await who.revoke();
  const next = made.slice(40).flatMap((draft) => [issue(at, who.key, draft), read(who.key), create(who.key)]);
  const neighbours = made.slice(40).map(() => read(stays.key));
  const before = await Promise.all(underWay);
  expect(
    [...new Set(before.map(({ status }) => status))].toSorted().every((status) => [200, 201, 401].includes(status)),
  ).toBe(true);
  expect(new Set((await Promise.all(next)).map(({ status }) => status))).toEqual(new Set([401]));
  expect(new Set((await Promise.all(neighbours)).map(({ status }) => status))).toEqual(new Set([200]));
  for (const { id } of made.slice(40)) expect((await A.get<InvoiceJson>(`/invoices/${id}`)).json.status).toBe('DRAFT');
});

test('a key revoked behind its claim does nothing, is told nothing of its limit, and leaves the claim to its successor', async () => {
  const who = await A.anotherKey();
  const at = await service.another((db) => ({
    ...db,
    async transact(entry, fn) {
      await who.revoke();
      return db.transact(entry, fn);
    },
  }));
  const headers = { 'idempotency-key': uuidv7() };
  const create = (key: string) =>
    at.call('POST', '/customers', { key, body: { name: headers['idempotency-key'], country: 'PT' }, headers });
  const refused = await create(who.key);
  expect([refused.status, 'ratelimit' in refused.headers]).toEqual([401, false]);
  const next = await A.anotherKey(who.id);
  const done = await create(next.key);
  expect([done.status, 'ratelimit' in done.headers]).toEqual([201, true]);
  const { rowCount } = await service.owner.query('select from certo.customers where name = $1', [
    headers['idempotency-key'],
  ]);
  expect(rowCount).toBe(1);
  await at.stop();
});

/**
 * Where nothing is under way, the transaction of what is decided ahead begins with its decision: what the database has looked
 * at by then may change before the rest is written, and somebody else may be ready first.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Db } from '../../src/db/transact.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { watchedSigner } from '../watched-signer.ts';

type Door = Awaited<ReturnType<Service['another']>>;

let service: Service;
let A: TestCompany;
let door: Door;
/** What became of transactions that began early, and how many were begun with all that they write. */
let seen: { begun: number; left: number; written: number; failed: number; whole: number };
/** Happens between what the next of them has looked at and what it writes. */
let meanwhile: (() => Promise<unknown>) | undefined;
/** Happens before the next of them has something to look at. */
let beforehand: (() => Promise<unknown>) | undefined;
const signer = watchedSigner();

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
});
beforeEach(async () => {
  meanwhile = undefined;
  beforehand = undefined;
  signer.before = undefined;
  await openDoor();
});
afterEach(() => door.stop());
afterAll(async () => {
  await service.stop();
});

/** One that has issued, and so knows all there is to know: after a failure it would not for a while. */
async function openDoor(): Promise<void> {
  door = await service.another(watched, signer.around);
  count();
  await issue(await draft());
  count();
}

const count = (): void => {
  seen = { begun: 0, left: 0, written: 0, failed: 0, whole: 0 };
};

function watched(db: Db): Db {
  return {
    ...db,
    async write(entry, calls, line) {
      seen.whole += 1;
      seen.failed += 1;
      await db.write(entry, calls, line);
      seen.failed -= 1;
    },
    open(entry, first, line) {
      seen.begun += 1;
      const begun = db.open(entry, first, line);
      const happens = beforehand;
      beforehand = undefined;
      return {
        begun: begun.begun.then(happens as () => Promise<void>),
        async write(calls) {
          const happens = meanwhile;
          meanwhile = undefined;
          await happens?.();
          seen.failed += 1;
          await begun.write(calls);
          seen.failed -= 1;
          seen.written += 1;
        },
        leave() {
          seen.left += 1;
          begun.leave();
        },
      };
    },
  };
}

const post = (path: string, body: unknown, key = A.key): Promise<Answer<InvoiceJson>> =>
  door.call<InvoiceJson>('POST', path, { key, body, headers: { 'idempotency-key': uuidv7() } });
const issue = ({ id, updatedAt }: InvoiceJson, key?: string) =>
  post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt }, key);
const codeOf = ({ json }: Answer<unknown>) => (json as { code?: string }).code;
const sequenceOf = ({ json }: Answer<InvoiceJson>) => Number(json.number?.split('/')[1]);

async function bodyOf(over: Record<string, unknown> = {}) {
  const customerId = (await A.customer()).id;
  return { type: 'INVOICE', cae: '62010', customerId, items: [{ id: (await A.item()).id, quantity: 1 }], ...over };
}

/** Its records are known by the second one, which is the one that is given back. */
async function draft(over: Record<string, unknown> = {}): Promise<InvoiceJson> {
  const body = await bodyOf(over);
  await post('/invoices', body);
  count();
  const { status, text, json } = await post('/invoices', body);
  expect(status, text).toBe(201);
  return json;
}

/** The company moves: nothing that is decided on where it was holds. */
const moved = () => service.owner.query(`update certo.companies set city = city || 'a' where id = $1`, [A.id]);

async function lastNumber(): Promise<number> {
  const { rows } = await service.owner.query('select last_number::int as n from certo.series where id = $1', [
    A.series.INVOICE.id,
  ]);
  return rows[0].n;
}

test('who is alone has its transaction begun, and written once', async () => {
  const made = await draft();
  expect((await issue(made)).status).toBe(200);
  expect(seen).toEqual({ begun: 2, left: 0, written: 2, failed: 0, whole: 0 });
  expect(await service.findings(A.id)).toEqual([]);
});

test('many at once are numbered without a gap, whoever of them began it', async () => {
  const made = await Promise.all(Array.from({ length: 30 }, () => draft()));
  const before = await lastNumber();
  count();
  const issued = await Promise.all(made.map((each) => issue(each)));
  expect(issued.map(sequenceOf).toSorted((a, b) => a - b)).toEqual(made.map((_, i) => before + i + 1));
  expect(seen).toMatchObject({ begun: seen.left + seen.written, failed: 0 });
  expect(seen.whole).toBeGreaterThan(0);
  expect(await service.findings(A.id)).toEqual([]);
});

test('a refusal leaves it, and the next one begins another', async () => {
  const made = await draft();
  count();
  const stale = await issue({ ...made, updatedAt: '2020-01-01T00:00:00.000Z' });
  expect([codeOf(stale), seen.begun, seen.left]).toEqual(['DRAFT_CHANGED', 1, 1]);
  expect([(await issue(made)).status, seen.written]).toEqual([200, 1]);
});

test('those who wait for a full group wait no longer when the one that would fill it is refused', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => draft()));
  const before = await lastNumber();
  count();
  signer.signatures = 0;
  const [first, ...others] = made as [InvoiceJson, ...InvoiceJson[]];
  let answers: Promise<Answer<InvoiceJson>>[] = [];
  beforehand = async () => {
    // All of them have arrived before the first is signed.
    signer.before = () => new Promise((go) => setTimeout(go, 1_500));
    answers = others.map((each) => issue(each));
    await eventually(() => expect(signer.signatures).toBe(19));
    expect(await lastNumber()).toBe(before);
  };
  const stale = await issue({ ...first, updatedAt: '2020-01-01T00:00:00.000Z' });
  expect(codeOf(stale)).toBe('DRAFT_CHANGED');
  const issued = await Promise.all(answers);
  expect(issued.map(sequenceOf).toSorted((a, b) => a - b)).toEqual(others.map((_, i) => before + i + 1));
  expect(await service.findings(A.id)).toEqual([]);
});

test('where others have numbered in between, its group is left to them, and what had begun ends', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => draft()));
  const [first, ...others] = made as [InvoiceJson, ...InvoiceJson[]];
  const theirs = await Promise.all(Array.from({ length: 20 }, () => A.draft()));
  const unknown = await A.draft();
  const before = await lastNumber();
  count();
  signer.signatures = 0;
  const answers: Promise<Answer<InvoiceJson>>[] = [];
  beforehand = async () => {
    // All of them have arrived before the first is signed, and wait for a full group. Nobody tells this process that the
    // series has gone on from there.
    signer.before = () => new Promise((go) => setTimeout(go, 1_500));
    answers.push(...others.map((each) => issue(each)));
    await eventually(() => expect(signer.signatures).toBe(19));
    for (const each of theirs) await A.issue(each);
    // For this one it is read where the series stands; with it the group is full.
    answers.push(issue(unknown));
    await eventually(() => expect(seen.failed).toBe(1));
  };
  const issued = [await issue(first), ...(await Promise.all(answers))];
  const after = Array.from({ length: 21 }, (_, i) => before + 20 + i + 1);
  expect(issued.map(sequenceOf).toSorted((a, b) => a - b)).toEqual(after);
  expect(seen).toEqual({ begun: 1, left: 0, written: 0, failed: 1, whole: 0 });
  // It is no fault of anybody's.
  expect(service.logs.filter((line) => line.includes('decided ahead'))).toEqual([]);
  expect(await service.findings(A.id)).toEqual([]);
});

test.each<[string, (draft: InvoiceJson) => Promise<unknown>]>([
  ['DRAFT_CHANGED', (draft) => A.patch(`/invoices/${draft.id}`, { notes: 'Outras palavras' })],
  ['INVOICE_NOT_FOUND', (draft) => A.delete(`/invoices/${draft.id}`)],
  ['INVALID_STATE', (draft) => A.issue(draft)],
])('what was changed after it began is judged again, and nothing of it is kept: %s', async (code, change) => {
  const made = await draft();
  count();
  meanwhile = () => change(made);
  expect(codeOf(await issue(made))).toBe(code);
  expect(seen).toMatchObject({ begun: 1, written: 0, failed: 1 });
  expect(await service.findings(A.id)).toEqual([]);
});

test('a series that was closed after it began numbers nothing', async () => {
  const made = await draft({ type: 'INVOICE_RECEIPT' });
  const { id } = A.series.INVOICE_RECEIPT;
  count();
  meanwhile = () => service.owner.query(`update certo.series set status = 'FINALIZED' where id = $1`, [id]);
  expect(codeOf(await issue(made))).toBe('NOT_READY');
  expect(seen).toMatchObject({ begun: 1, written: 0, failed: 1 });
});

test('who changes an item waits for the draft that began before, and brings it up to date', async () => {
  const item = await A.item({ unitPrice: 10 });
  const body = { ...(await bodyOf()), items: [{ id: item.id, quantity: 1 }] };
  await post('/invoices', body);
  let patched: Promise<unknown> | undefined;
  let isPatched = false;
  meanwhile = async () => {
    patched = A.patch(`/items/${item.id}`, { unitPrice: 20 }).then(() => {
      isPatched = true;
    });
    await eventually(async () => {
      const { rows } = await service.owner.query(
        `select count(*)::int as n from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`,
      );
      expect(rows[0].n).toBeGreaterThan(0);
    });
    expect(isPatched).toBe(false);
  };
  const made = await post('/invoices', body);
  expect([made.status, made.json.summary.amountWithoutTax]).toEqual([201, 10]);
  await patched;
  const { summary } = (await A.get<InvoiceJson>(`/invoices/${made.json.id}`)).json;
  expect(summary.amountWithoutTax).toBe(20);
});

test('who is ready first takes it where it is of the same credential; its own is stated again', async () => {
  const [slow, quick] = [await draft(), await draft({ type: 'SIMPLIFIED_INVOICE' })];
  const body = await bodyOf();
  await post('/invoices', body);
  count();
  signer.before = async () => {
    expect((await post('/invoices', body)).status).toBe(201);
    expect(seen).toEqual({ begun: 1, left: 0, written: 1, failed: 0, whole: 0 });
  };
  expect((await issue(slow)).status).toBe(200);
  expect(seen).toEqual({ begun: 1, left: 0, written: 1, failed: 0, whole: 1 });
  expect((await issue(quick)).status).toBe(200);
  expect(await service.findings(A.id)).toEqual([]);
});

test('who takes it states what its own decision rests on', async () => {
  const made = await draft();
  const body = await bodyOf();
  await post('/invoices', body);
  count();
  signer.before = async () => {
    meanwhile = moved;
    expect((await post('/invoices', body)).status).toBe(201);
  };
  expect((await issue(made)).status).toBe(200);
  expect(seen).toEqual({ begun: 1, left: 0, written: 0, failed: 1, whole: 0 });
  expect(await service.findings(A.id)).toEqual([]);
});

test('what it rests on is stated again where somebody else has taken its transaction', async () => {
  const made = await draft();
  const body = await bodyOf();
  await post('/invoices', body);
  count();
  signer.before = async () => {
    expect((await post('/invoices', body)).status).toBe(201);
    await moved();
  };
  expect((await issue(made)).status).toBe(200);
  expect(seen).toEqual({ begun: 1, left: 0, written: 1, failed: 1, whole: 1 });
  expect(await service.findings(A.id)).toEqual([]);
});

test('of another credential it is left: each enters with its own', async () => {
  const made = await draft();
  const spare = await A.anotherKey();
  const body = await bodyOf();
  await post('/invoices', body, spare.key);
  count();
  signer.before = async () => {
    expect((await post('/invoices', body, spare.key)).status).toBe(201);
    expect(seen).toEqual({ begun: 1, left: 1, written: 0, failed: 0, whole: 1 });
    await spare.revoke();
  };
  expect((await issue(made)).status).toBe(200);
  expect(seen).toEqual({ begun: 1, left: 1, written: 0, failed: 0, whole: 2 });
  expect((await post('/invoices', body, spare.key)).status).toBe(401);
});

test('a credential that was revoked before it began gets nothing', async () => {
  const made = await draft();
  const spare = await A.anotherKey();
  for (const other of [await draft(), await draft()]) expect((await issue(other, spare.key)).status).toBe(200);
  const before = await lastNumber();
  await spare.revoke();
  count();
  expect((await issue(made, spare.key)).status).toBe(401);
  expect([seen.begun, seen.written, await lastNumber()]).toEqual([1, 0, before]);
});

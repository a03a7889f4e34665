/** Writes that arrive together share a transaction: each member sees what it would see alone, and harms no neighbour. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseUnavailable, OutcomeUnknown } from '../../src/db/errors.ts';
import { type Db, Elements } from '../../src/db/transact.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import { wholeWrites } from '../quick-writes.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { watchedSigner } from '../watched-signer.ts';

type Door = Awaited<ReturnType<Service['another']>>;

let service: Service;
let A: TestCompany;
let door: Door;
/** Transactions that were begun. */
let begun: number;
/** Takes the place of the commit of a transaction under locks, of the next that has these statements at its end. */
let commitInstead:
  | { readonly with: readonly string[]; readonly run: (commit: () => Promise<unknown>) => Promise<never> }
  | undefined;
/** No connection is to be had for a transaction under locks. */
let isAway: boolean;
/** Happens between what was decided ahead and its writing: the first that is written waits for it. */
let meanwhile: (() => Promise<unknown>) | undefined;
/** Takes the place of the writing of the next that was decided ahead. */
let writeInstead: ((write: () => Promise<void>) => Promise<void>) | undefined;
/** How often something was written that was decided ahead. */
let written: number;
/** Of each such writing, how many drafts it numbered. */
let numbered: number[];
/** How often that was tried and failed, or is not answered yet. */
let failed: number;
const signer = watchedSigner();

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
  door = await service.another(watched, signer.around);
});
beforeEach(() => {
  begun = 0;
  written = 0;
  numbered = [];
  failed = 0;
  commitInstead = undefined;
  isAway = false;
  meanwhile = undefined;
  writeInstead = undefined;
  signer.before = undefined;
  signer.signatures = 0;
});
afterAll(async () => {
  await door.stop();
  await service.stop();
});

function watched(db: Db): Db {
  return {
    ...db,
    // What the transaction begins with, too, comes after what happens meanwhile: begun.test.ts has it the other way round.
    ...wholeWrites(async (entry, calls, line) => {
      begun += 1;
      const [happens, instead] = [meanwhile, writeInstead];
      meanwhile = undefined;
      writeInstead = undefined;
      await happens?.();
      const write = () => db.write(entry, calls, line);
      failed += 1;
      await (instead === undefined ? write() : instead(write));
      failed -= 1;
      written += 1;
      const [drafts] = calls.find(([{ name }]) => /^number_(draft|document)$/.test(name))?.[1] ?? [];
      numbered.push(drafts instanceof Elements ? drafts.list.length : 0);
    }),
    transact: (entry, fn) => {
      begun += 1;
      if (isAway) return Promise.reject(new DatabaseUnavailable('The database does not answer.'));
      return db.transact(entry, (tx) =>
        fn({
          query: tx.query.bind(tx),
          batch: tx.batch.bind(tx),
          commitWith: (calls) => {
            const commit = () => tx.commitWith(calls);
            const instead = commitInstead;
            if (!instead?.with.every((name) => calls.some(([statement]) => statement.name === name))) return commit();
            commitInstead = undefined;
            return instead.run(commit);
          },
        }),
      );
    },
  };
}

const sequences = (answers: readonly Answer<InvoiceJson>[]) =>
  answers.map(({ json }) => Number(json.number?.split('/')[1])).toSorted((a, b) => a - b);
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);
const codeOf = ({ json }: { json: unknown }) => (json as { code: string }).code;
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

async function claimed(keys: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const { rows } = await service.owner.query('select count(*)::int as n from certo.claims where key = any ($1)', [
      keys,
    ]);
    if (rows[0].n === keys.length) return;
  }
  throw new Error('they did not all take their keys');
}

test('sixty issues at once share transactions, and are numbered without a gap', async () => {
  const made = await drafts(60);
  const before = await lastNumber('INVOICE');
  const keys = made.map(() => uuidv7());
  // The first is held until all have taken their keys.
  meanwhile = () => claimed(keys);
  begun = 0;
  const answers = await Promise.all(made.map((draft, i) => issue(draft, keys[i])));
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
  expect(statuses(answers).slice(0, 4)).toEqual([200, 400, 404, 200]);
  // Whichever of the two came first.
  expect(statuses(answers).slice(4).toSorted()).toEqual([200, 400]);
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
  commitInstead = { with: [], run: () => Promise.reject(new Error('the group fails before its commit')) };
  writeInstead = () => Promise.reject(new Error('nor is it written ahead'));
  const answers = await Promise.all(made.map((draft) => issue(draft)));
  expect(commitInstead).toBeUndefined();
  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(sequences(answers)).toEqual(Array.from({ length: 12 }, (_, i) => before + i + 1));
});

test.each([true, false])(
  'of a group whose commit was lost, only who was in it is told so: others come again, or hear why not (kept: %s)',
  async (isKept) => {
    const invoices = await Promise.all((await drafts(8)).map(async (draft) => (await issue(draft)).json.id));
    commitInstead = {
      with: ['claim_complete', 'claim_release'],
      async run(commit) {
        if (isKept) await commit();
        throw new OutcomeUnknown(new Error('the answer was lost'));
      },
    };
    const nobodys = Array.from({ length: 8 }, () => uuidv7());
    const asked = invoices.flatMap((id, i) => [id, nobodys[i]!, id]).map((id) => ({ id, key: uuidv7() }));
    const payAll = () =>
      Promise.all(
        asked.map(async ({ id, key }) => {
          const headers = { 'idempotency-key': key };
          const answer = await door.call('POST', `/invoices/${id}/pay`, {
            key: A.key,
            body: {},
            headers,
            mayFail: true,
          });
          return { id, said: answer.status === 200 ? 'PAID' : codeOf(answer) };
        }),
      );
    const answers = await payAll();
    expect(commitInstead).toBeUndefined();
    expect(answers.some(({ said }) => said === 'OUTCOME_UNKNOWN')).toBe(true);
    const of = (wanted: string) => answers.filter(({ id }) => id === wanted).map(({ said }) => said);
    expect(nobodys.flatMap(of)).toEqual(Array(8).fill('INVOICE_NOT_FOUND'));
    // One payment of each was made, and the other heard that it is paid, or may hear so when it asks again.
    const first = isKept ? /PAID|UNKNOWN/ : /PAID/;
    const other = isKept ? /INVALID_STATE/ : /INVALID_STATE|UNKNOWN/;
    for (const id of invoices)
      expect(of(id).toSorted()).toEqual([expect.stringMatching(other), expect.stringMatching(first)]);
    // Whoever was refused has its key back: the same request is judged again.
    const again = await payAll();
    const refused = (all: typeof answers) => all.filter((_, i) => !/PAID|UNKNOWN/.test(answers[i]!.said));
    expect(refused(again)).toEqual(refused(answers));
  },
);

test('where no connection is to be had, nobody waits for one behind the others, and keys are free again', async () => {
  const [draft] = await drafts(1);
  const invoice = (await issue(draft!)).json;
  const keys = Array.from({ length: 24 }, () => uuidv7());
  const notes = (key: string) =>
    door.call('POST', '/invoices/credit-notes', {
      key: A.key,
      body: { parentInvoiceId: invoice.id, issue: false },
      headers: { 'idempotency-key': key },
      mayFail: true,
    });
  begun = 0;
  isAway = true;
  const answers = await Promise.all(keys.map(notes));
  isAway = false;
  expect(new Set(answers.map(codeOf))).toEqual(new Set(['UNAVAILABLE']));
  expect(begun).toBeLessThan(12);
  expect(new Set(statuses(await Promise.all(keys.map(notes))))).toEqual(new Set([201]));
});

test('a transport that is refused leaves its number to the next of its group', async () => {
  const now = service.now().getTime();
  const transport = (start_ms: number) => A.transport({ movementDate: new Date(now + start_ms).toISOString() });
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => transport(i % 4 === 1 ? 60_000 : 3_600_000)));
  await service.setClock(new Date(now + 120_000));
  begun = 0;
  const answers = await Promise.all(made.map(({ id }) => post(`/transport-documents/${id}/issue`, {})));
  expect(statuses(answers)).toEqual(made.map((_, i) => (i % 4 === 1 ? 400 : 200)));
  expect(begun).toBeLessThan(12);
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

/** After something has gone wrong every act takes its locks for a second. */
const afterCaution = () => new Promise((go) => setTimeout(go, 1_100));

describe('what is decided ahead', () => {
  beforeEach(afterCaution);
  const numbersFrom = (before: number, count: number) => Array.from({ length: count }, (_, i) => before + i + 1);

  test('is one round trip when nothing has changed: drafts and issues, of one as of many', async () => {
    const [alone, ...others] = await drafts(40);
    const before = await lastNumber('INVOICE');
    expect((await issue(alone!)).status).toBe(200);
    expect([begun, written]).toEqual([1, 1]);
    const answers = await Promise.all(others.map((draft) => issue(draft)));
    expect(sequences(answers)).toEqual(numbersFrom(before + 1, 39));
    expect(begun).toBe(written);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('is written in full groups while so many are being decided, and nobody waits for who is refused', async () => {
    const made = await drafts(50);
    const before = await lastNumber('INVOICE');
    const isStale = (at: number): boolean => at % 3 === 2;
    const releases: (() => void)[] = [];
    const held = (then?: typeof signer.before) => () => {
      signer.before = then;
      return new Promise<void>((go) => releases.push(go));
    };
    // The first piece is not signed before the stale ones, which came between the others, are answered; the next one later.
    signer.before = held(held());
    const answers = made.map((draft, at) =>
      issue(isStale(at) ? { ...draft, updatedAt: '2020-01-01T00:00:00.000Z' } : draft),
    );
    const refused = await Promise.all(answers.filter((_, at) => isStale(at)));
    expect(new Set(statuses(refused))).toEqual(new Set([400]));
    releases.shift()!();
    await eventually(() => expect(signer.signatures).toBeGreaterThan(0));
    await new Promise((go) => setTimeout(go, 100));
    expect([signer.signatures < 20, written + failed]).toEqual([true, 0]);
    // Nor is the first group written before all are signed: else what is signed by then goes behind it alone.
    const holder = await service.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from certo.series where id = $1 for update', [A.series.INVOICE.id]);
      releases.shift()!();
      await eventually(() => expect(signer.signatures).toBe(34));
      await new Promise((go) => setTimeout(go, 300));
    } finally {
      await holder.query('commit');
      holder.release();
    }
    const done = await Promise.all(answers.filter((_, at) => !isStale(at)));
    expect(sequences(done)).toEqual(numbersFrom(before, 34));
    expect(numbered).toEqual([20, 14]);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('is written in groups that are not long: documents of a thousand lines one by one', async () => {
    const customerId = (await A.customer()).id;
    const { id } = await A.item();
    const body = { type: 'INVOICE', cae: '62010', customerId, items: Array(1_000).fill({ id, quantity: 1 }) };
    const keys = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    meanwhile = () => claimed(keys);
    written = 0;
    const made = await Promise.all(keys.map((key) => post('/invoices', body, key)));
    expect(statuses(made)).toEqual([201, 201, 201, 201]);
    expect(written).toBe(4);
  });

  test('counts for nothing when another process has numbered meanwhile', async () => {
    const [theirs, ...ours] = await drafts(30);
    const before = await lastNumber('INVOICE');
    meanwhile = () => A.issue(theirs!);
    const answers = await Promise.all(ours.map((draft) => issue(draft)));
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    expect(sequences(answers)).toEqual(numbersFrom(before + 1, 29));
    expect(failed).toBeGreaterThan(0);
    await afterCaution();
    const [next] = await drafts(1);
    written = 0;
    expect((await issue(next!)).json.number).toMatch(new RegExp(`/${before + 31}$`));
    expect(written).toBe(1);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('counts for nothing when it was signed while what stood before it was not written', async () => {
    const [first, second] = await drafts(2);
    const before = await lastNumber('INVOICE');
    let other: Promise<Answer<InvoiceJson>> | undefined;
    let heard = () => {};
    writeInstead = async () => {
      await new Promise<void>((signing) => {
        signer.before = () => {
          signing();
          return new Promise<void>((go) => {
            heard = go;
          });
        };
        other = issue(second!);
      });
      // Its signature comes when everybody has heard of this.
      setImmediate(() => heard());
      throw new Error('it is not written');
    };
    const answers = [await issue(first!)];
    answers.push(await other!);
    expect(sequences(answers)).toEqual(numbersFrom(before, 2));
    // Nobody tries to write what was decided on a head that never was.
    expect([failed, written]).toEqual([1, 0]);
    // The database did not say so: a fault, of which no caller hears.
    expect(service.logs.filter((line) => line.includes('it is not written'))).toHaveLength(1);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('is judged again when its draft, or the key that asked, is not any more what it was', async () => {
    const [changed, deleted, taken, revoked] = await drafts(4);
    const before = await lastNumber('INVOICE');
    meanwhile = () => A.patch(`/invoices/${changed!.id}`, { notes: 'Other words' });
    expect(codeOf(await issue(changed!))).toBe('DRAFT_CHANGED');
    await afterCaution();
    meanwhile = () => A.delete(`/invoices/${deleted!.id}`);
    expect(codeOf(await issue(deleted!))).toBe('INVOICE_NOT_FOUND');
    await afterCaution();
    meanwhile = () => A.issue(taken!);
    expect(codeOf(await issue(taken!))).toBe('INVALID_STATE');
    await afterCaution();
    const spare = await A.anotherKey();
    meanwhile = () => spare.revoke();
    const refused = await door.call<InvoiceJson>('POST', `/invoices/${revoked!.id}/issue`, {
      key: spare.key,
      body: { expectedUpdatedAt: revoked!.updatedAt },
      headers: { 'idempotency-key': uuidv7() },
    });
    expect(refused.status).toBe(401);
    // Only the one that was issued meanwhile.
    expect([begun > 0, written, await lastNumber('INVOICE')]).toEqual([true, 0, before + 1]);
    expect((await issue(revoked!)).json.number).toMatch(new RegExp(`/${before + 2}$`));
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('is judged again when its draft was changed, also where what is frozen is made anew', async () => {
    // What a training series adds stands in no draft's row.
    const { id: seriesId } = await registerSeries(service.world, A.id, {
      documentType: 'INVOICE',
      code: 'T2026',
      kind: 'F',
    });
    const [changed, taken, left] = await drafts(3, { seriesId });
    meanwhile = () => A.patch(`/invoices/${changed!.id}`, { notes: 'Other words' });
    expect(codeOf(await issue(changed!))).toBe('DRAFT_CHANGED');
    await afterCaution();
    meanwhile = () => A.issue(taken!);
    expect(codeOf(await issue(taken!))).toBe('INVALID_STATE');
    expect(written).toBe(0);
    await afterCaution();
    expect([(await issue(left!)).json.number, written]).toEqual(['FT T2026/2', 1]);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('is written with what its own key may do, not with what the one before it may', async () => {
    const [known, first, second, third] = await drafts(4);
    const spare = await A.anotherKey();
    const through = (draft: InvoiceJson) =>
      door.call<InvoiceJson>('POST', `/invoices/${draft.id}/issue`, {
        key: spare.key,
        body: { expectedUpdatedAt: draft.updatedAt },
        headers: { 'idempotency-key': uuidv7() },
      });
    // Its key is remembered: the next is decided without asking.
    expect((await through(known!)).status).toBe(200);
    const before = await lastNumber('INVOICE');
    const signed = (count: number) => eventually(() => expect(signer.signatures).toBe(count));
    signer.signatures = 0;
    let others: Promise<Answer<InvoiceJson>>[] = [];
    meanwhile = async () => {
      others = [issue(second!)];
      await signed(2);
      others.push(through(third!));
      await signed(3);
      await spare.revoke();
    };
    const answers = [await issue(first!), ...(await Promise.all(others))];
    expect(statuses(answers)).toEqual([200, 200, 401]);
    expect(await lastNumber('INVOICE')).toBe(before + 2);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('is decided again when its series was closed', async () => {
    const [draft] = await drafts(1, { type: 'INVOICE_RECEIPT' });
    const { id } = A.series.INVOICE_RECEIPT;
    meanwhile = () => service.owner.query(`update certo.series set status = 'FINALIZED' where id = $1`, [id]);
    const answer = await issue(draft!);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'NOT_READY']);
  });

  test('is priced again when customer or item have changed since they were read', async () => {
    const item = await A.item({ unitPrice: 10 });
    const customer = await A.customer();
    const body = { type: 'INVOICE', cae: '62010', customerId: customer.id, items: [{ id: item.id, quantity: 1 }] };
    meanwhile = () => A.patch(`/items/${item.id}`, { unitPrice: 20 });
    const dearer = await post('/invoices', body);
    expect([dearer.status, dearer.json.summary.amountWithoutTax]).toEqual([201, 20]);
    await afterCaution();
    meanwhile = () => A.patch(`/customers/${customer.id}`, { city: 'Faro' });
    expect((await post('/invoices', body)).json.customer.data.city).toBe('Faro');
    expect(written).toBe(0);
    await afterCaution();
    const third = await post('/invoices', body);
    expect([third.json.summary.amountWithoutTax, written]).toEqual([20, 1]);
    expect((await A.get<InvoiceJson>(`/invoices/${third.json.id}`)).json).toEqual({ ...third.json });
  });

  test('is left to the database where two of a group rest on different revisions of a record: that is nobody’s fault', async () => {
    const item = await A.item({ unitPrice: 10 });
    const bodyOf = async ({ id }: { id: string }) => {
      const customerId = (await A.customer()).id;
      return { type: 'INVOICE', cae: '62010', customerId, items: [{ id, quantity: 1 }] };
    };
    const [first, before, after] = [await bodyOf(await A.item()), await bodyOf(item), await bodyOf(item)];
    const faults = () => service.logs.filter((line) => line.includes('decided ahead')).length;
    const known = faults();
    const behind: Promise<Answer<InvoiceJson>>[] = [];
    const decide = async (body: unknown) => {
      const key = uuidv7();
      behind.push(post('/invoices', body, key));
      await claimed([key]);
      // What it is decided on comes in the same round trip.
      await new Promise((go) => setTimeout(go, 100));
    };
    meanwhile = async () => {
      await decide(before);
      await A.patch(`/items/${item.id}`, { unitPrice: 20 });
      await decide(after);
    };
    const answers = [await post('/invoices', first), ...(await Promise.all(behind))];
    expect(answers.map(({ status, json }) => [status, json.summary.amountWithoutTax])).toEqual([
      [201, 10],
      [201, 20],
      [201, 20],
    ]);
    expect([faults() - known, failed]).toEqual([0, 1]);
  });

  test('whose outcome nobody knows is answered so, and what stood behind it goes on from what is there', async () => {
    const made = await drafts(40);
    const before = await lastNumber('INVOICE');
    writeInstead = async (write) => {
      await write();
      throw new OutcomeUnknown(new Error('the answer was lost'));
    };
    const answers = await Promise.all(
      made.map((draft) =>
        door.call<InvoiceJson>('POST', `/invoices/${draft.id}/issue`, {
          key: A.key,
          body: { expectedUpdatedAt: draft.updatedAt },
          headers: { 'idempotency-key': uuidv7() },
          mayFail: true,
        }),
      ),
    );
    const unknown = answers.filter(({ status }) => status === 500);
    expect(unknown.length).toBeGreaterThan(0);
    expect(new Set(unknown.map(codeOf))).toEqual(new Set(['OUTCOME_UNKNOWN']));
    expect(sequences(answers.filter(({ status }) => status === 200))).toEqual(
      numbersFrom(before + unknown.length, 40 - unknown.length),
    );
    expect(await lastNumber('INVOICE')).toBe(before + 40);
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('marks what it names as used, also when what stood before it was to mark that and is not kept', async () => {
    const make = async (type: string, customerId: string, itemId: string) =>
      (await post('/invoices', { type, cae: '62010', customerId, items: [{ id: itemId, quantity: 1 }] })).json;
    // The series is one that this process knows.
    await issue(await make('SIMPLIFIED_INVOICE', (await A.customer()).id, (await A.item()).id));
    const [customerId, itemId] = [(await A.customer()).id, (await A.item()).id];
    const first = await make('INVOICE', customerId, itemId);
    const others: InvoiceJson[] = [];
    for (let i = 0; i < 20; i++) others.push(await make('SIMPLIFIED_INVOICE', customerId, itemId));
    let behind: Answer<InvoiceJson>[] = [];
    numbered = [];
    meanwhile = async () => {
      behind = await Promise.all(others.map((draft) => issue(draft)));
      await A.patch(`/invoices/${first.id}`, { notes: 'another revision' });
    };
    expect((await issue(first)).status).toBe(400);
    expect([new Set(statuses(behind)), numbered]).toEqual([new Set([200]), [20]]);
    const { rows } = await service.owner.query(
      'select used from certo.items where id = $1 union all select used from certo.customers where id = $2',
      [itemId, customerId],
    );
    expect(rows).toEqual([{ used: true }, { used: true }]);
  });

  test('is not signed behind the clock: set back, it is told as ever', async () => {
    const [first, second, third] = await drafts(3);
    const now = service.now().getTime();
    await service.setClock(new Date(now + 60_000));
    expect((await issue(first!)).status).toBe(200);
    await service.setClock(new Date(now + 10_000));
    const answer = await door.call<InvoiceJson>('POST', `/invoices/${second!.id}/issue`, {
      key: A.key,
      body: { expectedUpdatedAt: second!.updatedAt },
      headers: { 'idempotency-key': uuidv7() },
      mayFail: true,
    });
    expect([answer.status, codeOf(answer)]).toEqual([503, 'CLOCK_REGRESSION']);
    await service.setClock(new Date(now + 61_000));
    expect((await issue(third!)).status).toBe(200);
  });
});

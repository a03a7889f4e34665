/** The states of an idempotency key, over the wire, with the row behind it moved by hand where time or a crash would. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../test/client.ts';
import { wholeWrites } from '../../test/quick-writes.ts';
import type { InvoiceJson } from '../../test/replies.ts';
import { type Service, startService, type TestCompany } from '../../test/service.ts';
import { ConnectionLost, OutcomeUnknown } from '../db/errors.ts';
import type { Db, Tx } from '../db/transact.ts';
import { utf8 } from '../fiscal/utf8.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { unfold } from '../print/folded.ts';
import { type Claim, completeCall, isClaimLost, releaseCall, takeClaim } from './claim.ts';
import { nothing } from './press.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

const valid = { name: 'Maria Silva', country: 'PT' };
const post = (key: string, body: unknown = valid) =>
  A.post('/customers', body, { headers: { 'idempotency-key': key } });
const judged = ({ status, json, headers }: Answer) => [status, json.code, headers['retry-after']];

/** A key bound to the valid request, whose claim stands as a holder that vanished left it. */
async function heldKey(lease: string): Promise<string> {
  const key = uuidv7();
  expect((await post(key)).status).toBe(201);
  await service.owner.query(
    `update certo.claims set fence = $2, completed_at = null, status = null, content_type = null, body = null,
       lease_until = certo.now() + $3::interval where key = $1`,
    [key, '00000000-0000-4000-8000-000000000000', lease],
  );
  return key;
}

const customers = async () => (await service.owner.query('select count(*)::int as n from certo.customers')).rows[0].n;

test('while the lease is live: 409 with a wait of seconds, never beyond it, and nothing happens', async () => {
  const key = await heldKey('90 seconds');
  const before = await customers();
  const answer = await post(key);
  expect(judged(answer)).toEqual([409, 'IDEMPOTENCY_CONFLICT', '5']);
  const almost = await heldKey('950 milliseconds');
  expect(judged(await post(almost))).toEqual([409, 'IDEMPOTENCY_CONFLICT', '1']);
  expect(judged(await post(key, { ...valid, name: 'Outra' }))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
  expect(await customers()).toBe(before + 1);
});

test('once the lease is over: 409 without a timer, for ever, also after 31 days', async () => {
  const key = await heldKey('-1 millisecond');
  const before = await customers();
  expect(judged(await post(key))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
  expect(judged(await post(key, { ...valid, name: 'Outra' }))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
  await service.setClock(new Date(Date.now() + 31 * 86_400_000));
  expect(judged(await post(key))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
  await service.setClock(null);
  expect(judged(await post(key))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
  expect(await customers()).toBe(before);
});

test('both conflicts have the same members and the same code; only the sentence and the timer differ', async () => {
  const [live, over] = [await post(await heldKey('90 seconds')), await post(await heldKey('-1 second'))];
  expect(Object.keys(live.json)).toEqual(Object.keys(over.json));
  const { requestId: _1, detail, message, ...same } = live.json;
  const { requestId: _2, detail: otherDetail, message: otherMessage, ...alike } = over.json;
  expect(same).toEqual(alike);
  expect([detail, otherDetail]).toEqual([message, otherMessage]);
  expect(detail).toContain('in progress');
  expect(otherDetail).toContain('unknown');
});

test('a record whose result was dropped never replays and never runs again', async () => {
  const key = uuidv7();
  await post(key);
  await service.owner.query('update certo.claims set body = null where key = $1', [key]);
  expect(judged(await post(key))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
});

test('twenty at once with one key: one runs; the others wait or replay; in the end all replay', async () => {
  const draft = await A.draft();
  const headers = { 'idempotency-key': uuidv7() };
  const issue = () =>
    A.post<InvoiceJson>(`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt }, { headers });
  const answers = await Promise.all(Array.from({ length: 20 }, issue));
  const ran = answers.filter((a) => a.status === 200 && a.headers['idempotent-replayed'] === undefined);
  const others = answers.filter((a) => !ran.includes(a));
  expect(ran).toHaveLength(1);
  for (const other of others) {
    if (other.status === 200) expect(other.text).toBe(ran[0]!.text);
    else expect(judged(other as Answer<never>)).toEqual([409, 'IDEMPOTENCY_CONFLICT', expect.stringMatching(/^\d+$/)]);
  }
  const again = await issue();
  expect([again.headers['idempotent-replayed'], again.text]).toEqual(['true', ran[0]!.text]);
});

test('the record is the exact reply, and says nothing of its execution', async () => {
  const key = uuidv7();
  const answer = await post(key);
  const { rows } = await service.owner.query('select * from certo.claims where key = $1', [key]);
  expect(rows[0]).toMatchObject({
    operation: 'POST /customers',
    status: 201,
    content_type: 'application/json; charset=utf-8',
    fence: null,
    lease_until: null,
  });
  expect(unfold(rows[0].body.toString('utf8'))).toBe(answer.text);
  expect(rows[0].fingerprint).toHaveLength(32);
});

test('one key serves each operation once', async () => {
  const key = uuidv7();
  const headers = { 'idempotency-key': key };
  const customer = await A.post<{ id: string }>('/customers', valid, { headers });
  const patched = await A.patch(`/customers/${customer.json.id}`, { city: 'Faro' }, { headers });
  expect([customer.status, patched.status]).toEqual([201, 200]);
});

test("a key is its credential's own: another one of the company may say the same", async () => {
  const headers = { 'idempotency-key': uuidv7() };
  const bodies = [
    { key: A.key, name: 'Maria Silva' },
    { key: (await A.anotherKey()).key, name: 'Rui Reis' },
  ];
  const both = async () => {
    const answers: Answer[] = [];
    for (const { key, name } of bodies) answers.push(await A.post('/customers', { ...valid, name }, { headers, key }));
    return answers;
  };
  const [first, again] = [await both(), await both()];
  expect(first.map(({ status }) => status)).toEqual([201, 201]);
  expect(again.map((answer) => [answer.headers['idempotent-replayed'], answer.text])).toEqual(
    first.map(({ text }) => ['true', text]),
  );
});

/** The functions themselves, as the corridor uses them: what only a pause in the middle can show. */
function claimWithin(): Claim & { entry: ReturnType<typeof entryOfCompany>; scope: string } {
  const scope = 'operator:test';
  const entry = entryOfCompany(A.id, 'test');
  return {
    operation: 'POST /test',
    key: uuidv7(),
    fingerprint: Buffer.alloc(32, 1),
    fence: uuidv7(),
    scope,
    // The key's own entry sets the scope; the operator's does not.
    entry: {
      call: [
        {
          name: 'claim_test_enter',
          text: `select certo.enter_company($1), set_config('app.scope', $2, true), (select region from certo.companies where id = $1) as region`,
        },
        [A.id, scope],
      ],
      accept: entry.accept,
    },
  };
}

/** The recorded result; undefined: it is taken. */
const take = async (claim: ReturnType<typeof claimWithin>) =>
  (await takeClaim(service.db.read(claim.entry), claim, [])).recorded;

const pass = (claim: Claim, seconds: number) =>
  service.owner.query('update certo.claims set lease_until = certo.now() + make_interval(secs => $2) where key = $1', [
    claim.key,
    seconds,
  ]);

const audit = () => ({
  id: uuidv7(),
  actor: 'test',
  operation: 'test',
  subject_id: uuidv7(),
  request_id: 'test',
});

test('whoever completes after the lease is over rolls back, and the key stays dead', async () => {
  const claim = claimWithin();
  const { db } = service;
  expect(await take(claim)).toBeUndefined();
  await pass(claim, -0.001);
  const result = { status: 200, contentType: 'x', told: { folded: [utf8('{}')] } };
  const done = db.transact(claim.entry, (tx) => tx.commitWith([completeCall(claim, claim.scope, result, audit())]));
  expect(isClaimLost(await done.catch((error: unknown) => error))).toBe(true);
  const [release, values] = releaseCall(claim, claim.scope);
  await db.read(claim.entry).query(release, values);
  await expect(take({ ...claim, fence: uuidv7() })).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
    retryAfterSeconds: undefined,
  });
});

test('only the holder of the fence completes or releases', async () => {
  const claim = claimWithin();
  const thief = { ...claim, fence: uuidv7() };
  const { db } = service;
  await take(claim);
  const result = { status: 200, contentType: 'x', told: { folded: [utf8('{}')] } };
  const complete = (by: Claim) =>
    db.transact(claim.entry, (tx) => tx.commitWith([completeCall(by, claim.scope, result, audit())]));
  expect(isClaimLost(await complete(thief).catch((error: unknown) => error))).toBe(true);
  const [release, values] = releaseCall(thief, claim.scope);
  await db.read(claim.entry).query(release, values);
  await complete(claim);
  expect(await take(thief)).toEqual({ status: 200, told: { body: utf8('{}') } });
});

test('who does not know whether the claim was written takes it again with its fence; nobody else does', async () => {
  const claim = claimWithin();
  expect([await take(claim), await take(claim)]).toEqual([undefined, undefined]);
  await expect(take({ ...claim, fence: uuidv7() })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
});

test('after a release the same request takes it again, another one does not', async () => {
  const claim = claimWithin();
  const { db } = service;
  await take(claim);
  const [release, values] = releaseCall(claim, claim.scope);
  await db.read(claim.entry).query(release, values);
  const other = { ...claim, fence: uuidv7(), fingerprint: Buffer.alloc(32, 2) };
  await expect(take(other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  expect(await take({ ...claim, fence: uuidv7() })).toBeUndefined();
});

test('of several that are asked for at once each is told what its own key, in its own operation, has done', async () => {
  const { db } = service;
  const [x, y] = [claimWithin(), claimWithin()];
  const z = { ...x, operation: 'POST /other', fence: uuidv7() };
  for (const [i, claim] of [x, y, z].entries()) {
    const told = { folded: [utf8(`"${i}"`)] };
    await take(claim);
    const call = completeCall(claim, claim.scope, { status: 200 + i, contentType: 'x', told }, audit());
    await db.transact(claim.entry, (tx) => tx.commitWith([call]));
  }
  const other = { ...y, fingerprint: Buffer.alloc(32, 2) };
  const reader = db.read({ ...x.entry, subject: x.scope }, 'lazily');
  const all = [x, y, z, other].map((claim) => takeClaim(reader, { ...claim, fence: uuidv7() }, []));
  expect(await Promise.allSettled(all)).toMatchObject([
    { value: { recorded: { status: 200, told: { body: utf8('"0"') } } } },
    { value: { recorded: { status: 201, told: { body: utf8('"1"') } } } },
    { value: { recorded: { status: 202, told: { body: utf8('"2"') } } } },
    { reason: { code: 'IDEMPOTENCY_KEY_REUSED' } },
  ]);
});

test('a key that is let go while it is being looked up may be taken at once', async () => {
  const claim = claimWithin();
  const { db } = service;
  await take(claim);
  const next = { ...claim, fence: uuidv7() };
  const reader = db.read(claim.entry);
  const late: Tx = {
    ...reader,
    query: async (query, values) => {
      const [release, its] = releaseCall(claim, claim.scope);
      await db.read(claim.entry).query(release, its);
      return reader.query(query, values);
    },
  };
  await expect(takeClaim(late, next, [])).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', retryAfterSeconds: 1 });
  expect(await take(next)).toBeUndefined();
});

/** The database as the corridor sees it when a connection breaks at the worst moment. */
function breaking(db: Db, how: 'commit-kept' | 'commit-lost' | 'before'): Db {
  const broken: Db = {
    ...db,
    // The quick way and the one under locks break alike.
    ...wholeWrites((entry, calls) =>
      broken.transact(entry, async (tx) => {
        await tx.query(nothing);
        await tx.commitWith(calls);
      }),
    ),
    transact: async (entry, fn) => {
      if (how === 'before') throw new ConnectionLost('broken', { sent: true });
      const failure = new Error('rolled back');
      try {
        await db.transact(entry, async (tx) => {
          await fn(
            how === 'commit-kept'
              ? tx
              : {
                  ...tx,
                  query: tx.query.bind(tx),
                  batch: tx.batch.bind(tx),
                  commitWith: () => Promise.reject(failure),
                },
          );
        });
      } catch (error) {
        if (error !== failure) throw error;
      }
      throw new OutcomeUnknown(failure);
    },
  };
  return broken;
}

test.each(['commit-kept', 'commit-lost', 'before'] as const)('the connection breaks: %s', async (how) => {
  const broken = await service.another((db) => breaking(db, how));
  const draft = await A.draft();
  const headers = { 'idempotency-key': uuidv7() };
  const options = { headers, key: A.key, body: { expectedUpdatedAt: draft.updatedAt } };
  const path = `/invoices/${draft.id}/issue`;
  const first = await broken.call('POST', path, { ...options, mayFail: true });
  const status = async () => (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json.status;
  if (how === 'before') {
    expect(judged(first)).toEqual([503, 'UNAVAILABLE', '1']);
    expect((await A.call('POST', path, options)).status).toBe(200);
  } else {
    expect(judged(first)).toEqual([500, 'OUTCOME_UNKNOWN', undefined]);
    expect(first.text).not.toContain('rolled back');
    const again = await A.call('POST', path, options);
    if (how === 'commit-kept') {
      expect([again.status, again.headers['idempotent-replayed'], await status()]).toEqual([200, 'true', 'ISSUED']);
    } else {
      expect(judged(again)).toEqual([409, 'IDEMPOTENCY_CONFLICT', expect.stringMatching(/^\d+$/)]);
      // When the lease is over nobody is told to come again: the key never runs.
      await service.owner.query(`update certo.claims set lease_until = certo.now() where key = $1`, [
        headers['idempotency-key'],
      ]);
      expect(judged(await A.call('POST', path, options))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
      expect(await status()).toBe('DRAFT');
    }
  }
  await broken.stop();
});

test('without a key, what may have been written is 500 and says where to look, with no time to come again', async () => {
  const broken = await service.another((db) => breaking(db, 'commit-lost'));
  const draft = await A.draft();
  const options = { key: A.key, body: { expectedUpdatedAt: draft.updatedAt }, mayFail: true };
  const path = `/invoices/${draft.id}/issue`;
  for (const [language, words] of [
    ['en', /GET the record, or the list/],
    ['pt-PT', /faça GET do registo ou, se fosse novo, da lista/],
  ] as const) {
    const answer = await broken.call<never>('POST', path, { ...options, headers: { 'accept-language': language } });
    expect([...judged(answer), answer.text]).toEqual([500, 'OUTCOME_UNKNOWN', undefined, expect.stringMatching(words)]);
  }
  await broken.stop();
});

test('what is done under locks and may have been written keeps its key: it never runs again', async () => {
  const broken = await service.another((db) => breaking(db, 'commit-lost'));
  const before = await customers();
  const options = { headers: { 'idempotency-key': uuidv7() }, key: A.key, body: valid };
  const first = await broken.call<never>('POST', '/customers', { ...options, mayFail: true });
  expect(judged(first)).toEqual([500, 'OUTCOME_UNKNOWN', undefined]);
  const again = await A.call<never>('POST', '/customers', options);
  expect([...judged(again), await customers()]).toEqual([
    409,
    'IDEMPOTENCY_CONFLICT',
    expect.stringMatching(/^\d+$/),
    before,
  ]);
  await broken.stop();
});

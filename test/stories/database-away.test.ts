/**
 * The database goes away under a write that has taken its key, and comes back. Whoever was told that nothing was changed
 * asks again, here or elsewhere, and it is done; a key whose outcome nobody knows stays taken.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDb } from '../../src/db/open.ts';
import type { Db } from '../../src/db/transact.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import { type FaultySocket, faultySocket } from '../faulty-socket.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let relay: FaultySocket;
let db: Db;
let other: Awaited<ReturnType<Service['another']>>;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop());
beforeEach(async () => {
  relay = await faultySocket(service.connection);
  db = await openDb({ connection: relay.connection, max: 8 });
  other = await service.another(() => db);
});
afterEach(async () => {
  await other.stop();
  await db.close();
  await relay.close();
});

interface Asking {
  readonly key: string;
  readonly name: string;
}
const asking = (): Asking => ({ key: uuidv7(), name: uuidv7() });
const post = (door: Pick<Service, 'call'>, { key, name }: Asking): Promise<Answer> => {
  const body = { name, type: 'SERVICE', unitPrice: 10, vatRate: 'NORMAL' };
  return door.call('POST', '/items', { key: A.key, body, headers: { 'idempotency-key': key }, mayFail: true });
};
const judged = ({ status, json, headers }: Answer) => [status, json.code, headers['retry-after']];
const unavailable = [503, 'UNAVAILABLE', '1'];
const inProgress = [409, 'IDEMPOTENCY_CONFLICT', expect.stringMatching(/^[1-5]$/)];

const made = async ({ name }: Asking): Promise<number> =>
  (await service.owner.query('select from certo.items where name = $1', [name])).rowCount ?? 0;

/** Of the claim: it is held by somebody. */
const isHeld = async ({ key }: Asking): Promise<boolean | undefined> =>
  (await service.owner.query('select fence is not null as held from certo.claims where key = $1', [key])).rows[0]?.held;

/** A write that holds its key and waits for a lock when the database goes. */
async function brokenOff(asked: Asking): Promise<void> {
  const locker = await service.owner.connect();
  try {
    await locker.query('begin; lock table certo.items in access exclusive mode');
    const answer = post(other, asked);
    await eventually(async () => {
      const { rowCount } = await service.owner.query(
        'select from pg_locks join pg_stat_activity a using (pid) where not granted and a.datname = current_database()',
      );
      expect(rowCount).toBe(1);
    });
    relay.leave();
    expect(judged(await answer)).toEqual(unavailable);
  } finally {
    await locker.query('rollback');
    locker.release();
  }
}

test('who was told that nothing was changed asks again as soon as the database is back, and it is done', async () => {
  const asked = asking();
  await brokenOff(asked);
  expect(judged(await post(other, asked))).toEqual(unavailable);
  relay.comeBack();
  const done = await post(other, asked);
  expect([done.status, done.headers['idempotent-replayed']], done.text).toEqual([201, undefined]);
  const again = await post(other, asked);
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([done.text, 'true']);
  expect(await made(asked)).toBe(1);
});

test('another process gets the key once the one that held it has found the database again', async () => {
  const asked = asking();
  await brokenOff(asked);
  expect(judged(await post(service, asked))).toEqual(inProgress);
  relay.comeBack();
  await eventually(async () => expect((await post(service, asked)).status).toBe(201));
  expect(await made(asked)).toBe(1);
});

test('a process that ends lets go what it still holds', async () => {
  const asked = asking();
  await brokenOff(asked);
  relay.comeBack();
  await other.app.http.close();
  expect(await isHeld(asked)).toBe(false);
});

test('a key of which nobody heard whether it was taken is free again', async () => {
  const asked = asking();
  relay.fault = { on: 'claim_insert', how: 'never answer' };
  const answer = post(other, asked);
  await eventually(async () => expect(await isHeld(asked)).toBe(true));
  relay.leave();
  expect(judged(await answer)).toEqual(unavailable);
  relay.comeBack();
  expect((await post(other, asked)).status).toBe(201);
  expect(await made(asked)).toBe(1);
});

test.each(['cut before it arrives', 'cut before the answer'] as const)(
  'a connection that breaks as it takes the key is nothing to its caller: %s',
  async (how) => {
    const asked = asking();
    relay.fault = { on: 'claim_insert', how };
    const done = await post(other, asked);
    expect([done.status, relay.fault], done.text).toEqual([201, undefined]);
    expect((await post(other, asked)).text).toBe(done.text);
    expect(await made(asked)).toBe(1);
  },
);

test.each(['cut before it arrives', 'cut before the answer'] as const)(
  'nor where it takes the key only because what was decided ahead has changed: %s',
  async (how) => {
    const [customer, item] = [await A.customer(), await A.item({ unitPrice: 10 })];
    const body = { type: 'INVOICE', cae: '62010', customerId: customer.id, items: [{ id: item.id, quantity: 1 }] };
    const draft = (key: string): Promise<Answer<InvoiceJson>> =>
      other.call('POST', '/invoices', { key: A.key, body, headers: { 'idempotency-key': key }, mayFail: true });
    await draft(uuidv7());
    await A.patch(`/items/${item.id}`, { unitPrice: 20 });
    relay.fault = { on: 'claim_insert', how };
    const key = uuidv7();
    const done = await draft(key);
    expect([done.status, done.json.summary?.amountWithoutTax, relay.fault], done.text).toEqual([201, 20, undefined]);
    const again = await draft(key);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([done.text, 'true']);
  },
);

test('what may have been done keeps its key, whatever else is let go', async () => {
  const [unknown, undone] = [asking(), asking()];
  relay.fault = { on: 'claim_complete', how: 'cut before it arrives' };
  expect(judged(await post(other, unknown))).toEqual([500, 'OUTCOME_UNKNOWN', undefined]);
  await brokenOff(undone);
  relay.comeBack();
  await eventually(async () => expect(await isHeld(undone)).toBe(false));
  expect(judged(await post(other, unknown))).toEqual(inProgress);
  expect(await isHeld(unknown)).toBe(true);
});

test('after its lease nothing lets it go: whoever was told "never again" was told the truth', async () => {
  const asked = asking();
  await brokenOff(asked);
  await service.owner.query('update certo.claims set lease_until = certo.now() where key = $1', [asked.key]);
  relay.comeBack();
  expect(judged(await post(other, asked))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
  expect(await isHeld(asked)).toBe(true);
});

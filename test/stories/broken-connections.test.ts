/**
 * Two processes issue while the database breaks off one connection after the other, in whatever moment: between what a
 * transaction has looked at and what it writes, before its commit is answered, while others stand behind it. Nobody goes
 * without an answer, no number is lost or doubled, and in the end no connection is held.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionLost } from '../../src/db/errors.ts';
import type { Db } from '../../src/db/transact.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

type Door = Pick<Service, 'call'>;

const types = ['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT'] as const;
const together = 40;

let service: Service;
let A: TestCompany;
let superuser: Client;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  superuser = new Client(service.connection);
  await superuser.connect();
});
afterAll(async () => {
  await superuser.end();
  await service.stop();
});

const post = (door: Door, path: string, body: unknown, key = uuidv7()): Promise<Answer<InvoiceJson>> =>
  door.call<InvoiceJson>('POST', path, { key: A.key, body, headers: { 'idempotency-key': key }, mayFail: true });

/** What `work` gives, and how many connections were broken off until it was done. */
async function whileTheyBreak<T>(work: Promise<T>): Promise<{ done: T; broken: number }> {
  let [broken, over] = [0, false];
  const breaking = (async () => {
    while (!over) {
      await sleep(5 + Math.random() * 40);
      const { rowCount } = await superuser.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and usename = 'certo_app' order by random() limit 1`,
      );
      broken += rowCount ?? 0;
    }
  })();
  try {
    return { done: await work, broken };
  } finally {
    over = true;
    await breaking;
  }
}

/** What was not changed is asked for again; a key that is not free meanwhile gives way to another. */
async function issue(door: Door, { id, updatedAt }: InvoiceJson): Promise<Answer<InvoiceJson>> {
  for (let key = uuidv7(); ; ) {
    const answer = await post(door, `/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt }, key);
    if (answer.status === 409) key = uuidv7();
    else if (answer.status !== 503) return answer;
    await sleep(20);
  }
}

/** Connections that wait in a pool may be broken and not known to be. */
const read = (id: string): Promise<InvoiceJson> =>
  eventually(async () => (await A.get<InvoiceJson>(`/invoices/${id}`)).json);

test.each([1, 2, 3, 4, 5, 6])('what breaks is answered, and done once if at all: round %i', async () => {
  const other = await service.another();
  const customerId = (await A.customer()).id;
  const items = [{ id: (await A.item()).id, quantity: 1 }];
  const bodyOf = (i: number) => ({ type: types[i % 3], cae: '62010', customerId, items });
  const doorOf = (i: number): Door => (i % 5 === 0 ? service : other);
  const made = await Promise.all(
    Array.from({ length: together }, async (_, i) => (await post(doorOf(i), '/invoices', bodyOf(i))).json),
  );

  const issuing = made.map(async (draft, i) => {
    await sleep(Math.random() * 60);
    return issue(doorOf(i), draft);
  });
  const { done: answers, broken } = await whileTheyBreak(Promise.all(issuing));
  expect(broken).toBeGreaterThan(0);
  for (const { status, text } of answers) expect([200, 500], text).toContain(status);

  // Who was not told reads it, and issues it now if it is not.
  for (const [i, { id }] of made.entries()) {
    const found = await read(id);
    const { status, text } = answers[i]!;
    if (status === 200) expect(found.status, text).not.toBe('DRAFT');
    else if (found.status === 'DRAFT') expect((await issue(service, found)).status).toBe(200);
  }
  const numbers = await Promise.all(made.map(async ({ id }) => (await read(id)).number));
  expect(new Set(numbers).size).toBe(together);
  expect(await service.findings(A.id)).toEqual([]);
  // It waits for every connection that is not given back.
  await other.stop();
});

test.each([
  ['the first try to free it breaks', 1],
  ['the second does, too', 2],
])('the key of what was refused is free where %s', async (_, broken) => {
  let left = broken;
  const breaking = (db: Db): Db => ({
    ...db,
    read(entry, how) {
      const reader = db.read(entry, how);
      return {
        ...reader,
        query(query, values) {
          if (!('name' in query && query.name === 'claim_release') || left === 0) return reader.query(query, values);
          left -= 1;
          return Promise.reject(new ConnectionLost('broken off', { sent: true }));
        },
      };
    },
  });
  const other = await service.another(breaking);
  // Made by the other process: this one takes the key before it knows the draft.
  const { id } = await A.draft();
  const key = uuidv7();
  const again = () => post(other, `/invoices/${id}/issue`, { expectedUpdatedAt: '2020-01-01T00:00:00.000Z' }, key);
  expect(await again()).toMatchObject({ json: { code: 'DRAFT_CHANGED' } });
  expect(left).toBe(0);
  expect(await again()).toMatchObject({ json: { code: 'DRAFT_CHANGED' } });
  await other.stop();
});

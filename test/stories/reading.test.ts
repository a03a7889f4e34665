/** Reading a document: its text is kept in memory, never more than fits, and what is shown is what was found to be there. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db, Tx } from '../../src/db/transact.ts';
import { openWire } from '../client.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let door: Awaited<ReturnType<Service['another']>>;
/** Statements of the other door since the last time, and what happens behind the next of them, before its rows are seen. */
let asked: string[] = [];
let behind: (() => Promise<void>) | undefined;

const watching = (tx: Tx): Tx => ({
  ...tx,
  async query(query, values) {
    asked.push('name' in query ? query.name : '');
    const rows = await tx.query(query, values);
    const happens = behind;
    behind = undefined;
    await happens?.();
    return rows as never;
  },
});

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  door = await service.another((db: Db): Db => ({ ...db, read: (entry, how) => watching(db.read(entry, how)) }));
});
afterAll(async () => {
  await door.stop();
  await service.stop();
});

async function read({ id }: { id: string }) {
  asked = [];
  const answer = await door.call<InvoiceJson>('GET', `/invoices/${id}`, { key: A.key, mayFail: true });
  return { status: answer.status, json: answer.json, asked };
}

/** A draft whose text is a little longer than this. */
async function draftOf(kilobytes: number): Promise<InvoiceJson> {
  const item = await A.item({ description: 'ã'.repeat(1300) });
  const lines = Math.ceil(kilobytes / 2);
  return A.draft({ items: Array.from({ length: lines }, () => ({ id: item.id, quantity: 1 })) });
}

const whole = ['invoice_read'];
const revision = ['invoice_revision'];

test('what is read again is not read whole', async () => {
  const draft = await A.draft();
  expect((await read(draft)).asked).toEqual(whole);
  expect((await read(draft)).asked).toEqual(revision);
});

test('a long document is not kept', async () => {
  const draft = await draftOf(80);
  expect((await read(draft)).asked).toEqual(whole);
  expect((await read(draft)).asked).toEqual(whole);
});

test('of many not quite so long the last few megabytes are kept, and one that gave way meanwhile is shown all the same', async () => {
  const first = await draftOf(50);
  await read(first);
  expect((await read(first)).asked).toEqual(revision);
  const others = await Promise.all(Array.from({ length: 90 }, () => draftOf(50)));
  behind = async () => {
    for (const { id } of others) await A.get(`/invoices/${id}`);
  };
  const late = await read(first);
  expect([late.status, late.json.id, late.json.items?.length]).toEqual([200, first.id, first.items?.length]);
  expect((await read(first)).asked).toEqual(whole);
  expect((await read(others.at(-1)!)).asked).toEqual(revision);
  expect((await read(others[0]!)).asked).toEqual(whole);
});

test('the revision that was found is the one that is shown', async () => {
  const draft = await A.draft({ description: 'Antes' });
  await read(draft);
  behind = async () => {
    await A.patch(`/invoices/${draft.id}`, { description: 'Depois' });
    await A.get(`/invoices/${draft.id}`);
  };
  const before = await read(draft);
  expect(before.asked).toEqual(revision);
  expect([before.json.description, before.json.updatedAt]).toEqual(['Antes', draft.updatedAt]);
  expect((await read(draft)).json.description).toBe('Depois');
});

test('each is shown the document it asked for, also when what an issue reads beside it fails', async () => {
  const [customerId, itemId] = [(await A.customer()).id, (await A.item()).id];
  const items = [{ id: itemId, quantity: 1 }];
  const [draft, ...others] = await Promise.all(Array.from({ length: 60 }, () => A.draft({ customerId, items })));
  const wire = openWire((door.app.http.server.address() as AddressInfo).port);
  const get = (path: string) => wire.send<InvoiceJson>({ method: 'GET', path, headers: { 'x-api-key': A.key } });
  const show = ({ id }: InvoiceJson) => get(`/invoices/${id}`);
  // Every connection is there, so that all of them ask in one turn.
  await Promise.all(Array.from({ length: 60 }, () => get('/company')));
  // Of what the moment of a company is read from.
  await service.owner.query('revoke select on certo.signing_keys from certo_app');
  const before = others.slice(0, 5).map(show);
  const issuing = wire.send({
    method: 'POST',
    path: `/invoices/${draft!.id}/issue`,
    headers: { 'x-api-key': A.key, 'content-type': 'application/json' },
    body: JSON.stringify({ expectedUpdatedAt: draft!.updatedAt }),
  });
  const shown = await Promise.all([...before, ...others.slice(5).map(show)]);
  expect((await issuing).status).toBe(500);
  await service.owner.query('grant select on certo.signing_keys to certo_app');
  expect(shown.map(({ status, json }) => [status, json.id])).toEqual(others.map(({ id }) => [200, id]));
  for (const other of others) expect((await show(other)).json.id).toBe(other.id);
  wire.close();
});

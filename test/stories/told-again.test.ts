/**
 * The answer of an issue is not kept beside the document: whoever asks again with its key is told it anew, of what the issue
 * has frozen, and with the bytes of the first answer whatever has become of the document since.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Refused } from '../client.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { baseUrl, type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let other: Awaited<ReturnType<Service['another']>>;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'Z'] });
  ({ A } = service.companies);
  other = await service.another(undefined, undefined, 'https://moved.example');
});
afterAll(async () => {
  await other.stop();
  await service.stop();
});

const day = 86_400_000;
type Draft = Pick<InvoiceJson, 'id' | 'updatedAt'>;
interface Issued {
  readonly of: TestCompany;
  readonly draft: Draft;
  readonly key: string;
  readonly first: Answer<InvoiceJson>;
}

const ask = (of: TestCompany, { id, updatedAt }: Draft, key: string, door: Pick<Service, 'call'> = service) =>
  door.call<InvoiceJson>('POST', `/invoices/${id}/issue`, {
    body: { expectedUpdatedAt: updatedAt },
    key: of.key,
    headers: { 'idempotency-key': key },
  });

async function issued(of: TestCompany, draft: Draft): Promise<Issued> {
  const key = uuidv7();
  const first = await ask(of, draft, key);
  expect([first.status, first.headers['idempotent-replayed']]).toEqual([200, undefined]);
  return { of, draft, key, first };
}

/** By the process that issued it, and by one that has never heard of it and stands elsewhere. */
async function toldAgain({ of, draft, key, first }: Issued): Promise<void> {
  for (const door of [service, other]) {
    const again = await ask(of, draft, key, door);
    expect([again.status, again.headers['idempotent-replayed'], again.text]).toEqual([200, 'true', first.text]);
  }
}

const claimOf = async (key: string) =>
  (await service.owner.query('select status, body, retold from certo.claims where key = $1', [key])).rows[0];

test('its key keeps that it was done, and nothing of the answer', async () => {
  const one = await issued(A, await A.draft());
  expect(await claimOf(one.key)).toEqual({ status: 200, body: null, retold: baseUrl });
  await toldAgain(one);
  // What may change afterwards is kept, as before.
  const key = uuidv7();
  await A.post('/customers', { name: 'Ana', country: 'PT' }, { headers: { 'idempotency-key': key } });
  expect(await claimOf(key)).toEqual({ status: 201, body: expect.any(Buffer), retold: null });
});

test('whatever became of it: told to the authority, paid, corrected, cancelled', async () => {
  const accepted = await issued(A, await A.draft());
  const paid = await issued(A, await A.draft());
  const corrected = await issued(A, await A.draft());
  const canceled = await issued(A, await A.draft({ notes: 'Nota "com" aspas\ne linhas', description: 'çã €' }));
  const clock = service.startReports();
  await eventually(async () => {
    const { json } = await A.get<InvoiceJson>(`/invoices/${accepted.draft.id}`);
    expect(json.syncWithAt).toMatchObject({ status: 'ACCEPTED', atCode: '0' });
  });
  await clock.stop();
  expect((await A.post(`/invoices/${paid.draft.id}/pay`)).status).toBe(200);
  const asked = { parentInvoiceId: corrected.draft.id, issue: false };
  const note = await issued(A, (await A.post<InvoiceJson>('/invoices/credit-notes', asked)).json);
  expect((await A.post(`/invoices/${canceled.draft.id}/cancel`, { reason: 'Engano' })).status).toBe(200);
  for (const one of [accepted, paid, corrected, canceled]) {
    const now = await A.get<InvoiceJson>(`/invoices/${one.draft.id}`);
    expect([one.first.json.status, one.first.json.syncWithAt.status]).toEqual(['ISSUED', 'PENDING']);
    expect({ ...now.json, qrCode: null }).not.toEqual({ ...one.first.json, qrCode: null });
    await toldAgain(one);
  }
  await toldAgain(note);
});

test('whatever it is: in another currency, paid at once, on the islands, with a rate of none', async () => {
  const { Z } = service.companies;
  const exempt = await A.item({ vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
  const drafts: [TestCompany, Record<string, unknown>][] = [
    [A, { currency: 'USD', exchangeRate: 0.9 }],
    [A, { type: 'INVOICE_RECEIPT', payment: { method: 'CC' } }],
    [A, { items: [{ id: exempt.id, quantity: 3 }] }],
    [Z, {}],
  ];
  for (const [of, over] of drafts) await toldAgain(await issued(of, await of.draft(over)));
});

test('of many that arrive together, drafts and issues, each keeps what it needs', async () => {
  const drafts = await Promise.all(Array.from({ length: 20 }, () => A.draft()));
  const { id: customerId } = await A.customer();
  const items = [{ id: (await A.item()).id, quantity: 1 }];
  const made = drafts.map(async () => {
    const key = uuidv7();
    const make = () =>
      A.post(
        '/invoices',
        { type: 'INVOICE', cae: '62010', customerId, items },
        { headers: { 'idempotency-key': key } },
      );
    const first = await make();
    expect((await make()).text).toBe(first.text);
    return first.status;
  });
  const all = await Promise.all(drafts.map((draft) => issued(A, draft)));
  expect(new Set(await Promise.all(made))).toEqual(new Set([201]));
  for (const one of all) await toldAgain(one);
});

test('for thirty days, and to nobody but who asks for the same with the same credential', async () => {
  const one = await issued(A, await A.draft());
  const { key: stranger } = await A.anotherKey();
  const others = await ask({ ...A, key: stranger }, one.draft, one.key);
  expect([others.status, (others.json as unknown as Refused).code]).toEqual([400, 'INVALID_STATE']);
  const revised = { ...one.draft, updatedAt: new Date(0).toISOString() };
  expect((await ask(A, revised, one.key)).status).toBe(422);
  try {
    await service.setClock(new Date(Date.now() + 29 * day));
    await toldAgain(one);
    await service.setClock(new Date(Date.now() + 31 * day));
    const late = await ask(A, one.draft, one.key);
    expect([late.status, late.headers['retry-after']]).toEqual([409, undefined]);
    expect((late.json as unknown as Refused).detail).toContain('no longer kept');
  } finally {
    await service.setClock(null);
  }
});

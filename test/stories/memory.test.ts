/**
 * Drafts and issues that a process decides on what it remembers: one round trip each, and never on what is not so any more,
 * whoever has changed it.
 */
import type { Pool } from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConnectionLost, OutcomeUnknown } from '../../src/db/errors.ts';
import type { Db, Tx } from '../../src/db/transact.ts';
import { addDays, dayOf } from '../../src/fiscal/time.ts';
import { setCashVat } from '../../src/operations/company/cash-vat.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import { quickWrites } from '../quick-writes.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
const open: Awaited<ReturnType<Service['another']>>[] = [];

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
});
afterAll(async () => {
  for (const door of open) await door.stop();
  await service.stop();
});

/** Round trips of a process: before its writes, whole transactions, and transactions under locks. */
interface Trips {
  read: number;
  written: number;
  failed: number;
  locked: number;
}

interface Faults {
  /** The answer to what was written is lost. */
  readonly lose?: () => boolean;
  /** What is to be written waits for this. */
  readonly hold?: () => Promise<void>;
  /** That it is written is heard after this. */
  readonly hear?: () => Promise<void>;
  /** Nothing can be read. */
  readonly away?: () => boolean;
}

/** A process that remembers nothing yet. Whoever else changes something does it through the service's own door. */
async function freshProcess(faults: Faults = {}) {
  const { lose = () => false, hold = async () => undefined, hear = async () => undefined, away = () => false } = faults;
  const nothing = () => Promise.reject(new ConnectionLost('no server', { sent: false }));
  const nowhere: Tx = { query: nothing, batch: nothing, commitWith: nothing };
  const trips: Trips = { read: 0, written: 0, failed: 0, locked: 0 };
  const counting = (tx: Tx): Tx => ({
    query: (...args) => {
      trips.read += 1;
      return tx.query(...args);
    },
    batch: (calls) => {
      trips.read += 1;
      return tx.batch(calls);
    },
    commitWith: (calls) => tx.commitWith(calls),
  });
  const door = await service.another(
    (db: Db): Db => ({
      ...db,
      read: (entry, how) => (away() ? nowhere : counting(db.read(entry, how))),
      transact: (entry, fn) => {
        trips.locked += 1;
        return db.transact(entry, fn);
      },
      ...quickWrites(db, async (write) => {
        await hold();
        try {
          await write();
        } catch (error) {
          trips.failed += 1;
          throw error;
        }
        trips.written += 1;
        await hear();
        if (lose()) throw new OutcomeUnknown(new Error('the answer was lost'));
      }),
    }),
  );
  open.push(door);
  const post = <T = InvoiceJson>(path: string, body: unknown, { key = A.key, name = uuidv7() } = {}) =>
    door.call<T>('POST', path, { key, body, headers: { 'idempotency-key': name }, mayFail: true });
  return {
    post,
    call: door.call,
    memory: door.app.world.memory,
    /** What happened since the last time. */
    trips: (): Trips => {
      const now = { ...trips };
      Object.assign(trips, { read: 0, written: 0, failed: 0, locked: 0 });
      return now;
    },
    draft: (body: unknown, how?: { key?: string; name?: string }) => post('/invoices', body, how),
    issue: ({ id, updatedAt }: InvoiceJson, how?: { key?: string; name?: string }) =>
      post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt }, how),
  };
}
type Process = Awaited<ReturnType<typeof freshProcess>>;

const atOnce: Trips = { read: 0, written: 1, failed: 0, locked: 0 };

async function bodyOf(over: Record<string, unknown> = {}, item: Record<string, unknown> = {}) {
  const customerId = (await A.customer()).id;
  const items = [{ id: (await A.item(item)).id, quantity: 2 }];
  return { type: 'INVOICE', cae: '62010', customerId, items, ...over };
}

/** Has made and issued one such document, and so knows all there is to know. */
async function knowing(body: unknown, faults?: Faults): Promise<Process> {
  const process = await freshProcess(faults);
  const first = await process.draft(body);
  expect(first.status, first.text).toBe(201);
  const issued = await process.issue(first.json);
  expect(issued.status, issued.text).toBe(200);
  process.trips();
  return process;
}

async function draftAt(process: Process, body: unknown): Promise<InvoiceJson> {
  const { json, status, text } = await process.draft(body);
  expect(status, text).toBe(201);
  expect(process.trips()).toEqual(atOnce);
  return json;
}

const codeOf = ({ json }: Answer<unknown>) => (json as { code?: string }).code;
const lastNumber = async (): Promise<number> => {
  const { rows } = await service.owner.query('select last_number::int as n from certo.series where id = $1', [
    A.series.INVOICE.id,
  ]);
  return rows[0].n;
};

describe('drafts and issues of a process that knows', () => {
  const kinds: Record<string, Record<string, unknown>> = {
    plain: {},
    dated: { dueDate: '2099-01-31', notes: 'À vista', description: 'Obra "A"\n\u2028fim' },
    discounted: { globalDiscountType: 'PERCENT', globalDiscountPercent: 12.5 },
    foreign: { currency: 'USD', exchangeRate: 0.912345 },
    paid: { type: 'INVOICE_RECEIPT', payment: { method: 'CASH' } },
    simplified: { type: 'SIMPLIFIED_INVOICE' },
  };
  for (const [name, over] of Object.entries(kinds)) {
    test(`are one round trip each, and what they answer is what is stored: ${name}`, async () => {
      const body = await bodyOf(over, { unitPrice: 12.345678, withholdingTaxAvailable: false });
      const process = await knowing(body);
      const draft = await draftAt(process, body);
      expect((await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json).toEqual(draft);
      const issued = await process.issue(draft);
      expect([issued.status, process.trips()]).toEqual([200, atOnce]);
      const stored = (await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json;
      expect({ ...stored, qrCode: { ...stored.qrCode, url: '' } }).toEqual({
        ...issued.json,
        qrCode: { ...issued.json.qrCode, url: '' },
      });
      expect(await service.findings(A.id)).toEqual([]);
    });
  }

  test('are numbered one after the other, many at once, with drafts that only others know between them', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const before = await lastNumber();
    const own = await Promise.all(Array.from({ length: 20 }, () => process.draft(body)));
    const others = await Promise.all(Array.from({ length: 10 }, () => A.draft(body)));
    const mixed = [...own.map(({ json }) => json), ...others];
    const issued = await Promise.all(mixed.map((draft) => process.issue(draft)));
    const numbers = issued.map(({ json }) => Number(json.number?.split('/')[1])).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, i) => before + i + 1));
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('are so too when the series were found the same at the AT meanwhile, which is daily', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const draft = await draftAt(process, body);
    await service.owner.query('update certo.companies set at_synced_at = certo.now() where id = $1', [A.id]);
    expect((await process.issue(draft)).status).toBe(200);
    expect(process.trips()).toEqual(atOnce);
  });

  test('go on from what was numbered under locks between them', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const { id } = await A.proposal();
    const converted = await process.post<{ id: string }>(`/proposals/${id}/convert`, {});
    expect(converted.status, converted.text).toBe(201);
    const invoice = (await A.get<InvoiceJson>(`/invoices/${converted.json.id}`)).json;
    expect((await process.issue(invoice)).status).toBe(200);
    process.trips();
    const draft = await process.draft(body);
    expect((await process.issue(draft.json)).status).toBe(200);
    expect(process.trips()).toMatchObject({ failed: 0, locked: 0 });
    expect(await service.findings(A.id)).toEqual([]);
  });

  test('are so without a key too', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const draft = await process.call<InvoiceJson>('POST', '/invoices', { key: A.key, body });
    expect([draft.status, process.trips()]).toEqual([201, atOnce]);
  });
});

/** What others may do to what the draft was made of, or to where it goes; and what issuing it then answers. */
const toTheDraft: Record<string, readonly [(draft: InvoiceJson) => Promise<unknown>, number, string | undefined]> = {
  'it was changed': [({ id }) => A.patch(`/invoices/${id}`, { notes: 'Outras' }), 400, 'DRAFT_CHANGED'],
  'it was deleted': [({ id }) => A.delete(`/invoices/${id}`), 404, 'INVOICE_NOT_FOUND'],
  'it was issued': [(draft) => A.issue(draft), 400, 'INVALID_STATE'],
  'its customer was changed': [
    ({ customer }) => A.patch(`/customers/${customer.ref}`, { city: 'Faro' }),
    400,
    'DRAFT_CHANGED',
  ],
  'its item was changed': [({ items }) => A.patch(`/items/${items[0]!.ref}`, { unitPrice: 99 }), 400, 'DRAFT_CHANGED'],
  'another one was numbered': [async () => A.issue(await A.draft()), 200, undefined],
  'the AT refuses the credentials': [() => company(`at_state = 'WRONG'`), 400, 'NOT_READY'],
  'its series differ from those at the AT': [() => company('at_series_differ = true'), 400, 'NOT_READY'],
  'its series are still to be compared': [() => company('at_synced_at = null'), 400, 'NOT_READY'],
  'its books are broken': [
    () =>
      service.owner.query(
        `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, problem)
         values ($1, $2, sha256('x'), 'x', 'FT', 'x')`,
        [A.id, uuidv7()],
      ),
    503,
    'INTEGRITY_BROKEN',
  ],
  // It is for taxable persons, which its customer is none: that is judged then, and not remembered.
  'the cash VAT scheme has begun': [() => company(`cash_vat_from = '2020-01-01'`), 200, undefined],
  'the clock was set back': [async () => service.setClock(new Date(Date.now() - 3_600_000)), 503, 'CLOCK_REGRESSION'],
};
const company = (change: string) => service.owner.query(`update certo.companies set ${change} where id = $1`, [A.id]);

describe('a draft of a process that knows is judged under locks when', () => {
  for (const [what, [happens, status, code]] of Object.entries(toTheDraft)) {
    test(what, async () => {
      const body = await bodyOf();
      const process = await knowing(body);
      const draft = await draftAt(process, body);
      const before = await lastNumber();
      await happens(draft);
      const numbered = (await lastNumber()) - before;
      const answer = await process.issue(draft);
      expect([answer.status, codeOf(answer)], answer.text).toEqual([status, code]);
      expect(process.trips()).toMatchObject({ written: 0, failed: 1 });
      expect(await lastNumber()).toBe(before + numbered + (status === 200 ? 1 : 0));
      await service.setClock(null);
      await service.owner.query(
        `update certo.integrity_breaks set resolved_at = certo.now(), resolution = 'A test' where resolved_at is null`,
      );
      await company(`at_state = 'OK', at_series_differ = false, at_synced_at = certo.now(), cash_vat_from = null`);
      expect(await service.findings(A.id)).toEqual([]);
    });
  }

  test('what this process remembers would be refused', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const draft = await draftAt(process, body);
    const { json: changed } = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { notes: 'Outras' });
    const issued = await process.issue(changed);
    expect([issued.status, issued.json.notes]).toEqual([200, 'Outras']);
  });

  test('another series has become the default', async () => {
    const body = await bodyOf({ type: 'SIMPLIFIED_INVOICE' });
    const process = await knowing(body);
    const draft = await draftAt(process, body);
    const { id } = A.series.SIMPLIFIED_INVOICE;
    await service.owner.query('update certo.series set is_default = false where id = $1', [id]);
    // This one reads how things stand now.
    expect((await process.draft(await bodyOf())).status).toBe(201);
    process.trips();
    const answer = await process.issue(draft);
    expect([answer.status, codeOf(answer), process.trips().written]).toEqual([400, 'NOT_READY', 0]);
    await service.owner.query('update certo.series set is_default = true where id = $1', [id]);
  });
});

describe('a new draft of a process that knows is priced under locks when', () => {
  test('customer, item or company have changed', async () => {
    const body = await bodyOf();
    const changes: [() => Promise<unknown>, (draft: InvoiceJson) => unknown, unknown][] = [
      [() => A.patch(`/customers/${body.customerId}`, { city: 'Faro' }), (d) => d.customer.data.city, 'Faro'],
      [() => A.patch(`/items/${body.items[0]!.id}`, { unitPrice: 20 }), (d) => d.summary.amountWithoutTax, 40],
      [() => company(`name = 'Outra, Lda'`), (d) => d.issuer.data.name, 'Outra, Lda'],
      [() => service.setClock(new Date(Date.now() + 86_400_000)), (d) => Date.parse(d.createdAt) > Date.now(), true],
    ];
    for (const [change, shows, expected] of changes) {
      const process = await knowing(body);
      await change();
      const { status, json } = await process.draft(body);
      expect([status, shows(json)]).toEqual([201, expected]);
      expect(process.trips()).toMatchObject({ written: 0, failed: 1 });
      expect((await A.get<InvoiceJson>(`/invoices/${json.id}`)).json).toEqual(json);
      await service.setClock(null);
    }
  });

  test('its customer or item has been archived', async () => {
    for (const archived of ['customers', 'items'] as const) {
      const body = await bodyOf();
      const process = await knowing(body);
      await A.delete(`/${archived}/${archived === 'customers' ? body.customerId : body.items[0]!.id}`);
      const answer = await process.draft(body);
      expect([answer.status, answer.text.includes('ARCHIVED'), process.trips().written]).toEqual([400, true, 0]);
    }
  });

  test('its activity code is the company’s no more', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    await company(`cae = array['47110']`);
    const answer = await process.draft(body);
    expect([answer.status, answer.text.includes('CAE_NOT_OF_COMPANY'), process.trips().written]).toEqual([
      400,
      true,
      0,
    ]);
    await company(`cae = array['62010']`);
  });

  test('it was this process that changed them: that is known, and no write is tried in vain', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const draft = await draftAt(process, body);
    const headers = { 'idempotency-key': uuidv7() };
    await process.call('PATCH', `/customers/${body.customerId}`, { key: A.key, body: { city: 'Faro' }, headers });
    expect((await process.draft(body)).json.customer.data.city).toBe('Faro');
    expect(codeOf(await process.issue(draft))).toBe('DRAFT_CHANGED');
    expect(process.trips().failed).toBe(0);
  });
});

test('what one company or kind of record has is nothing to another', async () => {
  const body = await bodyOf();
  const process = await knowing(body);
  const [itemId] = body.items.map(({ id }) => id);
  const foreign = { ...body, customerId: (await B.customer()).id, items: [{ id: (await B.item()).id, quantity: 1 }] };
  await process.draft(foreign, { key: B.key });
  const own = await process.draft(foreign, { key: B.key });
  expect([own.status, process.trips().read > 0]).toEqual([201, true]);
  for (const [wrong, key] of [
    [body, B.key],
    [foreign, A.key],
    [{ ...body, customerId: itemId }, A.key],
    [{ ...body, items: [{ id: body.customerId, quantity: 1 }] }, A.key],
  ] as const) {
    const answer = await process.draft(wrong, { key });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'INVALID_REQUEST']);
  }
  const theirs = await process.issue(own.json);
  expect([theirs.status, codeOf(theirs)]).toEqual([404, 'INVOICE_NOT_FOUND']);
  expect(process.trips()).toMatchObject({ written: 0, failed: 0 });
});

test('a key that was revoked elsewhere opens nothing, and says nothing of its limit', async () => {
  const body = await bodyOf();
  const process = await knowing(body);
  const spare = await A.anotherKey();
  const first = await process.draft(body, { key: spare.key });
  const second = await process.draft(body, { key: spare.key });
  expect([first.status, second.status, 'ratelimit' in second.headers]).toEqual([201, 201, true]);
  process.trips();
  await spare.revoke();
  for (const answer of [
    await process.draft(body, { key: spare.key }),
    await process.issue(second.json, { key: spare.key }),
    await process.draft({}, { key: spare.key }),
  ]) {
    expect([answer.status, codeOf(answer), 'ratelimit' in answer.headers]).toEqual([401, 'UNAUTHENTICATED', false]);
  }
  expect(process.trips().written).toBe(0);
  expect((await A.get<InvoiceJson>(`/invoices/${second.json.id}`)).json.status).toBe('DRAFT');
});

describe('an idempotency key of what is written at once', () => {
  test('is replayed here and in another process, and no other request has it', async () => {
    const body = await bodyOf();
    const [here, there] = [await knowing(body), await knowing(body)];
    const name = uuidv7();
    const first = await here.draft(body, { name });
    expect(here.trips()).toEqual(atOnce);
    for (const process of [here, there, there]) {
      const again = await process.draft(body, { name });
      expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true']);
      const other = await process.draft({ ...body, notes: 'outra' }, { name });
      expect([other.status, codeOf(other)]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect(here.trips()).toMatchObject({ written: 0, failed: 0 });
  });

  test('is taken once, by whatever many in two processes', async () => {
    const body = await bodyOf();
    const processes = [await knowing(body), await knowing(body)];
    const draft = await draftAt(processes[0]!, body);
    const before = await lastNumber();
    const name = uuidv7();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => processes[i % 2]!.issue(draft, { name })));
    expect(await lastNumber()).toBe(before + 1);
    const done = answers.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter(({ headers }) => !('idempotent-replayed' in headers))).toHaveLength(1);
    const rest = answers.filter(({ status }) => status !== 200);
    expect(rest.filter((answer) => codeOf(answer) !== 'IDEMPOTENCY_CONFLICT')).toEqual([]);
  });

  test('that another request has here is in progress, and nobody else notices', async () => {
    const body = await bodyOf();
    let gate: Signal | undefined;
    const process = await knowing(body, { hold: async () => gate?.come });
    const [draft, other] = [await draftAt(process, body), await draftAt(process, body)];
    const name = uuidv7();
    gate = signal();
    const first = process.issue(draft, { name });
    const twin = await process.issue(draft, { name });
    expect([twin.status, codeOf(twin), twin.headers['retry-after']]).toEqual([409, 'IDEMPOTENCY_CONFLICT', '1']);
    expect(codeOf(await process.post(`/invoices/${draft.id}/issue`, {}, { name }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(codeOf(await process.issue({ ...draft, updatedAt: other.updatedAt }, { name }))).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
    expect((await process.issue(draft, { name, key: 'svc_sk_none' })).status).toBe(401);
    // To another credential it is a key of its own.
    const { key } = await A.anotherKey();
    expect(codeOf(await process.issue({ ...other, updatedAt: draft.updatedAt }, { name, key }))).toBe('DRAFT_CHANGED');
    // So it is in another operation, which is written behind the first.
    const another = process.draft(body, { name });
    process.trips();
    gate.say();
    expect([(await first).status, (await another).status]).toEqual([200, 201]);
    expect((await process.issue(draft, { name })).text).toBe((await first).text);
    expect(process.trips()).toMatchObject({ written: 2, failed: 0, locked: 0 });
  });

  test('is replayed as soon as it is recorded, also while the request that has it is not answered', async () => {
    const body = await bodyOf();
    let gate: Signal | undefined;
    const process = await knowing(body, { hear: async () => gate?.come });
    const draft = await draftAt(process, body);
    const name = uuidv7();
    gate = signal();
    const first = process.issue(draft, { name });
    await eventually(() => expect(process.trips().written).toBe(1));
    const twin = await process.issue(draft, { name });
    expect([twin.status, twin.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(codeOf(await process.issue({ ...draft, updatedAt: '2020-01-01T00:00:00.000Z' }, { name }))).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
    gate.say();
    expect(await first).toMatchObject({ status: 200, text: twin.text });
  });

  test('that another request has here is 503 while nobody can be asked who wants it', async () => {
    const body = await bodyOf();
    let gate: Signal | undefined;
    let isAway = false;
    const process = await knowing(body, { hold: async () => gate?.come, away: () => isAway });
    const draft = await draftAt(process, body);
    const name = uuidv7();
    gate = signal();
    const first = process.issue(draft, { name });
    isAway = true;
    const twin = await process.issue(draft, { name });
    isAway = false;
    expect([twin.status, codeOf(twin), twin.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    gate.say();
    expect((await first).status).toBe(200);
  });

  test('is bound by what is wrong with the form too', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const name = uuidv7();
    expect((await process.draft({ ...body, cae: 7 }, { name })).status).toBe(400);
    expect(codeOf(await process.draft(body, { name }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(process.trips()).toMatchObject({ written: 0, failed: 0 });
  });

  test('whose answer was lost is replayed: it was recorded with what it did', async () => {
    const body = await bodyOf();
    let loses = false;
    const process = await freshProcess({ lose: () => loses });
    await process.draft(body);
    process.trips();
    loses = true;
    const name = uuidv7();
    const lost = await process.draft(body, { name });
    expect([lost.status, codeOf(lost), process.trips().written]).toEqual([500, 'OUTCOME_UNKNOWN', 1]);
    loses = false;
    const again = await process.draft(body, { name });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
  });

  test('is bound by a refusal: the same request is judged again, another is refused', async () => {
    const body = await bodyOf();
    const process = await knowing(body);
    const draft = await draftAt(process, body);
    const name = uuidv7();
    const stale = { ...draft, updatedAt: '2020-01-01T00:00:00.000Z' };
    for (let times = 0; times < 2; times++) expect(codeOf(await process.issue(stale, { name }))).toBe('DRAFT_CHANGED');
    expect(codeOf(await process.issue(draft, { name }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await process.issue(draft)).status).toBe(200);
  });
});

test('an issue that waits for the series while the cash VAT scheme is changed is not issued outside of it', async () => {
  await service.aYearAgo(() =>
    registerSeries(service.world, B.id, { documentType: 'INVOICE', code: 'CX', cashVat: true }),
  );
  const today = dayOf(service.now(), 'PT');
  const yesterday = addDays(today, -1);
  await setCashVat(service.owner, B.id, { from: yesterday });
  const business = { name: 'Cliente, SA', taxpayerNumber: '501442600', country: 'PT', city: 'Porto' };
  const customerId = (await B.customer(business)).id;
  const body = { type: 'INVOICE', cae: '62010', customerId, items: [{ id: (await B.item()).id, quantity: 1 }] };
  const how = { key: B.key };
  const process = await freshProcess();
  const first = await process.issue((await process.draft({ ...body, date: yesterday }, how)).json, how);
  expect(first.json.number).toBe('FT CX/1');
  const draft = (await process.draft(body, how)).json;
  process.trips();

  // It ends with yesterday: stopped between its check of what was issued and its end.
  const gate = { reached: signal(), open: signal() };
  const changing = setCashVat(stoppedAt('update certo.companies', service.owner, gate), B.id, {
    from: yesterday,
    until: yesterday,
  });
  await gate.reached.come;
  const issuing = process.issue(draft, how);
  await eventually(async () => expect(await waiting()).toBe(1));
  gate.open.say();
  await changing;
  const issued = await issuing;
  expect([issued.status, issued.json.number]).toEqual([200, 'FT B2026/1']);
  expect(process.trips()).toMatchObject({ written: 0, failed: 1 });
  const { rows } = await service.owner.query(
    `select d.number from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id
     where s.cash_vat and d.date > $1`,
    [yesterday],
  );
  expect(rows).toEqual([]);
});

/** How many of this database wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await service.owner.query(
    `select count(*)::int as n from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted`,
  );
  return rows[0].n;
}

interface Signal {
  readonly come: Promise<void>;
  readonly say: () => void;
}

function signal(): Signal {
  let say = (): void => undefined;
  const come = new Promise<void>((resolve) => {
    say = resolve;
  });
  return { come, say };
}

/** A pool whose connections stop before the statement that begins so. */
function stoppedAt(begins: string, pool: Pool, { reached, open }: { reached: Signal; open: Signal }): Pool {
  const connect = async () => {
    const client = await pool.connect();
    return {
      async query(sql: string, values?: unknown[]) {
        if (sql.startsWith(begins)) {
          reached.say();
          await open.come;
        }
        return client.query(sql, values);
      },
      release: () => client.release(),
    };
  };
  return { connect } as unknown as Pool;
}

test('what was written and cannot be remembered is answered all the same: it is not made again', async () => {
  const body = await bodyOf();
  const drafts = async () => {
    const { rows } = await service.owner.query('select id from certo.documents where customer_id = $1', [
      body.customerId,
    ]);
    return rows.map(({ id }) => id as string);
  };
  const forgets = (): never => {
    throw new Error('no room left to remember it');
  };
  const process = await knowing(body);
  Object.assign(process.memory.of(A.id), { keepDraft: forgets });
  const before = await drafts();
  const draft = await process.call<InvoiceJson>('POST', '/invoices', { key: A.key, body });
  expect([draft.status, process.trips()]).toEqual([201, atOnce]);
  expect((await drafts()).filter((id) => !before.includes(id))).toEqual([draft.json.id]);
  expect(service.logs.filter((line) => line.includes('no room left to remember it'))).toHaveLength(1);
  // Nothing of the company is remembered any more, so nothing wrong is: it is read again, be it under locks.
  const other = await process.draft(body);
  expect(other.status).toBe(201);
  expect(process.trips()).not.toEqual(atOnce);

  const next = await knowing(body);
  const ours = await draftAt(next, body);
  Object.assign(next.memory.of(A.id), { forgetDraft: forgets });
  const issued = await next.issue(ours);
  expect([issued.status, next.trips()]).toEqual([200, atOnce]);
  expect((await next.issue(draft.json)).status).toBe(200);
  expect(await service.findings(A.id)).toEqual([]);
});

// The last ones: what is signed in them is in the future.
test('a draft of a process that knows is dated by the clock, also when that was set forward', async () => {
  const body = await bodyOf();
  const process = await knowing(body);
  const draft = await draftAt(process, body);
  const tomorrow = new Date(Date.now() + 86_400_000);
  await service.setClock(tomorrow);
  const issued = await process.issue(draft);
  expect([issued.status, process.trips().failed]).toEqual([200, 1]);
  expect(Date.parse(issued.json.issuedAt!)).toBeGreaterThanOrEqual(tomorrow.getTime());
  expect(await service.findings(A.id)).toEqual([]);
});

test('a draft of a process that knows is not signed before what others have signed in another series', async () => {
  const body = await bodyOf();
  const process = await knowing(body);
  const draft = await draftAt(process, body);
  const now = service.now();
  await service.setClock(new Date(now.getTime() + 600_000));
  await A.issue(await A.draft({ type: 'SIMPLIFIED_INVOICE' }));
  await service.setClock(now);
  const answer = await process.issue(draft);
  expect([answer.status, codeOf(answer), process.trips().written]).toEqual([503, 'CLOCK_REGRESSION', 0]);
});

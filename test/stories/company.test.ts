/**
 * A company moves, and is called and reached otherwise: what is issued from then on says so, by whatever process and from
 * whatever draft; what was issued stays as it is.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb } from '../../src/db/open.ts';
import type { Db, Tx } from '../../src/db/transact.ts';
import { changeCompany } from '../../src/operations/company/change-company.ts';
import type { CompanyValues } from '../../src/operations/company/company-fields.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import { quickWrites } from '../quick-writes.ts';
import type { InvoiceJson, TransportJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let owner: Db;
/** Another process, which knows all that it needs of the company. */
let other: Process;
/** Happens once in such a process, between what a draft is made of and its row. */
let meanwhile: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
  owner = await openDb({ connection: service.connection, role: 'certo_owner', max: 2 });
  other = await startProcess();
});
afterAll(async () => {
  await other.stop();
  await owner.close();
  await service.stop();
});

type Process = Awaited<ReturnType<Service['another']>>;

function startProcess(): Promise<Process> {
  const happens = async () => {
    const once = meanwhile;
    meanwhile = undefined;
    await once?.();
  };
  const stopping = (tx: Tx): Tx => ({
    query: (...args) => tx.query(...args),
    batch: async (calls) => {
      if (calls.some(([{ name }]) => name === 'draft_insert')) await happens();
      return tx.batch(calls);
    },
    commitWith: (calls) => tx.commitWith(calls),
  });
  return service.another((db: Db) => ({
    ...db,
    transact: (entry, fn) => db.transact(entry, (tx) => fn(stopping(tx))),
    ...quickWrites(db, async (write) => {
      await happens();
      await write();
    }),
  }));
}

const change = (values: CompanyValues) => changeCompany(owner, A.id, values, []);
const post = <T = InvoiceJson>(path: string, body: unknown, process = other) =>
  process.call<T>('POST', path, { key: A.key, body, headers: { 'idempotency-key': uuidv7() } });
const issue = ({ id, updatedAt }: { id: string; updatedAt: string }) =>
  post(`/invoices/${id}/issue`, { expectedUpdatedAt: updatedAt });
const read = async (id: string) => (await A.get<InvoiceJson>(`/invoices/${id}`)).json;
const readTransport = async (id: string) => (await A.get<TransportJson>(`/transport-documents/${id}`)).json;
const codeOf = ({ json }: Answer<unknown>) => (json as { code?: string }).code;

async function bodyOf(over: object = {}) {
  const items = [{ id: (await A.item()).id, quantity: 1 }];
  return { type: 'INVOICE', cae: '62010', customerId: (await A.customer()).id, items, ...over };
}

const addressOf = (shown: object) => (shown as { issuer: { data: { address?: string } } }).issuer.data.address;

test('open drafts of every kind say it from then on, and nothing is issued of what they said before', async () => {
  const invoice = await A.issue(await A.draft());
  const body = await bodyOf();
  expect((await issue((await post('/invoices', body)).json)).status).toBe(200);
  const kept = (await post('/invoices', body)).json;
  const debit = await A.draft({
    type: 'DEBIT_NOTE',
    parentInvoiceId: invoice.id,
    reason: 'Portes',
    customerId: invoice.customer.ref,
  });
  const half = { id: invoice.items[0]!.id, quantity: 0.5 };
  const note = (await post('/invoices/credit-notes', { parentInvoiceId: invoice.id, issue: false, items: [half] }))
    .json;
  const transport = await A.transport();
  const before = [kept, debit, note];

  await change({
    name: 'Demonstração Nova, SA',
    address: 'Rua Nova, 7',
    postalCode: '1100-001',
    phone: '',
    cae: ['46900', '62010'],
  });

  const after = await Promise.all(before.map(({ id }) => read(id)));
  for (const [i, draft] of after.entries()) {
    const { data } = draft.issuer;
    const said = { name: 'Demonstração Nova, SA', address: 'Rua Nova, 7', postalCode: '1100-001' };
    expect([i, data]).toEqual([i, expect.objectContaining(said)]);
    expect(data).not.toHaveProperty('phone');
    // Nothing else of it has changed.
    const { issuer, updatedAt } = draft;
    expect(draft).toEqual({ ...before[i]!, issuer, updatedAt });
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(before[i]!.updatedAt));
    expect([i, codeOf(await issue(before[i]!))]).toEqual([i, 'DRAFT_CHANGED']);
    const issued = await issue(draft);
    expect([i, issued.status, issued.json.issuer]).toEqual([i, 200, issuer]);
  }
  const moved = await readTransport(transport.id);
  expect([addressOf(moved), moved.cae]).toEqual(['Rua Nova, 7', '46900']);
  expect(addressOf(await A.issueTransport(moved))).toBe('Rua Nova, 7');

  expect(await read(invoice.id)).toMatchObject({ issuer: invoice.issuer });
  const paid = await post<InvoiceJson & { receipt: { id: string } }>(`/invoices/${invoice.id}/pay`, { amount: 1 });
  expect(addressOf(await read(paid.json.receipt.id))).toBe('Rua Nova, 7');
});

test('a process that remembers how the company was makes no draft of it, and issues none', async () => {
  const body = await bodyOf();
  for (const address of ['Rua A', 'Rua B']) {
    const remembered = (await post('/invoices', body)).json;
    await change({ address });
    const made = await post('/invoices', body);
    expect([made.status, addressOf(made.json)]).toEqual([201, address]);
    expect(codeOf(await issue(remembered))).toBe('DRAFT_CHANGED');
    expect(addressOf((await issue(await read(remembered.id))).json)).toBe(address);
    // Of one that names its series more is read than is remembered.
    const named = await post('/invoices', { ...body, seriesId: A.series.INVOICE.id });
    expect([named.status, addressOf(named.json)]).toEqual([201, address]);
  }
});

test.each([
  ['an invoice that is remembered', '/invoices', () => bodyOf()],
  ['one that names its series', '/invoices', () => bodyOf({ seriesId: A.series.INVOICE.id })],
  ['a transport document, under locks', '/transport-documents', () => transportBody()],
])('a change waits for a draft that is being made, which says the new: %s', async (kind, path, bodyFor) => {
  const body = await bodyFor();
  // After a failure it would decide nothing ahead for a while.
  const process = await startProcess();
  expect((await post(path, body, process)).status).toBe(201);
  const looked = { changed: false };
  let changing: Promise<void> | undefined;
  meanwhile = async () => {
    // What it is made of was looked at.
    await eventually(async () => expect(await locks(`relation = 'certo.companies'::regclass`)).toBeGreaterThan(0));
    changing = change({ address: kind }).then(() => {
      looked.changed = true;
    });
    await eventually(async () => expect(looked.changed || (await locks('not granted')) === 1).toBe(true));
  };
  const made = (await post(path, body, process)).json;
  expect(meanwhile).toBeUndefined();
  await changing;
  expect(addressOf((await A.get<InvoiceJson>(`${path}/${made.id}`)).json)).toBe(kind);
  await process.stop();
});

async function transportBody() {
  const { customer, items, movementType, movementDate, loading, unloading } = await A.transport();
  const lines = items.map(({ ref }) => ({ id: ref, quantity: 1 }));
  return { movementType, customerId: customer.ref, items: lines, movementDate, loading, unloading };
}

async function locks(condition: string): Promise<number> {
  const { rows } = await service.owner.query(
    `select count(*)::int as n from pg_locks join pg_stat_activity using (pid)
     where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
  );
  return rows[0].n;
}

test('nor is a receipt issued with what the company was when the change has come between', async () => {
  const invoice = await A.issue(await A.draft());
  const client = await service.owner.connect();
  await client.query('begin');
  await client.query('select from certo.series where id = $1 for update', [A.series.RECEIPT.id]);
  // Both wait for the series; who comes first has it first.
  const changing = change({ address: 'Rua E' });
  await eventually(async () => expect(await locks('not granted')).toBe(1));
  const paying = post<{ receipt: { id: string } }>(`/invoices/${invoice.id}/pay`, {});
  await eventually(async () => expect(await locks('not granted')).toBe(2));
  await client.query('commit');
  client.release();
  await changing;
  expect(addressOf(await read((await paying).json.receipt.id))).toBe('Rua E');
});

test('a credit note is issued by who the company is, whatever its draft has kept', async () => {
  const { id: parentInvoiceId } = await A.issue(await A.draft());
  const { json: note } = await post('/invoices/credit-notes', { parentInvoiceId, issue: false });
  await service.owner.query(
    `update certo.documents set content = jsonb_set(content, '{issuer,address}', '"Rua Velha"') where id = $1`,
    [note.id],
  );
  expect(addressOf(await read(note.id))).toBe('Rua Velha');
  expect(addressOf((await issue(note)).json)).toBe(addressOf(note));
});

test('what is made anew of the draft of a note says who the company is, not who it was at the invoice', async () => {
  const { id: itemId } = await A.item({ unitPrice: 33.333333, vatRate: 'EXEMPT', vatExemptionReason: 'M07' });
  const invoice = await A.issue(await A.draft({ items: [{ id: itemId, quantity: 3 }] }));
  const items = [{ id: invoice.items[0]!.id, quantity: 1 }];
  const noteOf = async (isIssued = false) =>
    (await post('/invoices/credit-notes', { parentInvoiceId: invoice.id, items, issue: isIssued })).json;
  const [said, given, moved] = [await noteOf(), await noteOf(), await noteOf()];
  await change({ address: 'Rua F' });
  const patched = [
    await A.patch<InvoiceJson>(`/invoices/${said.id}`, { notes: 'Nota' }),
    await A.patch<InvoiceJson>(`/invoices/${given.id}`, { items: [{ ...items[0], quantity: 2 }] }),
  ];
  expect(patched.map(({ status, json }) => [status, addressOf(json)])).toEqual(patched.map(() => [200, 'Rua F']));
  // Another note moves what is left for this one by a cent.
  expect(addressOf(await noteOf(true))).toBe('Rua F');
  const now = await read(moved.id);
  expect([moved.summary.total, now.summary.total, addressOf(now)]).toEqual([33.33, 33.34, 'Rua F']);
});

test('a draft whose activity the company has no more is not issued until it has another', async () => {
  const [draft, transport] = [await A.draft(), await A.transport()];
  await change({ cae: ['46900'] });
  const refused = await issue(await read(draft.id));
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('CAE_NOT_OF_COMPANY')]);
  const { json: patched } = await A.patch<InvoiceJson>(`/invoices/${draft.id}`, { cae: '46900' });
  const issued = await issue(patched);
  expect(issued.status, issued.text).toBe(200);
  expect((await A.issueTransport(await readTransport(transport.id))).cae).toBe('46900');
  await change({ cae: ['62010'] });
});

test('a pro forma whose activity the company has no more is converted under another', async () => {
  const { id } = await A.proposal();
  await change({ cae: ['46900'] });
  const refused = await post(`/proposals/${id}/convert`, {});
  expect(refused.json).toMatchObject({ errors: [{ pointer: '/cae', code: 'CAE_NOT_OF_COMPANY' }] });
  const { json: draft, text } = await post(`/proposals/${id}/convert`, { cae: '46900' });
  expect(draft.cae, text).toBe('46900');
  expect((await issue(draft)).json.cae).toBe('46900');
  await change({ cae: ['62010'] });
});

test('SAF-T has the company of today at its head, and who it was on no document that says otherwise', async () => {
  await change({ name: 'Última, Lda', city: 'Évora', website: 'https://ultima.pt' });
  const day = new Date().toISOString().slice(0, 10);
  const { text } = await A.get(`/saft?fromDate=${day}&toDate=${day}`);
  expect(text).toMatch(
    /<CompanyName>Última, Lda<\/CompanyName>[\s\S]*<City>Évora<\/City>[\s\S]*<Website>https:\/\/ultima\.pt</,
  );
  expect(await service.findings()).toEqual([]);
});

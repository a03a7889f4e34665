/**
 * Somebody with every right takes the last documents away and puts back the rows of their series as they were before,
 * seals of the ends included, which a database leaves behind in dead rows and in its log. No seal tells of that; the
 * entries that the acts left in the audit do.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop('tampered'));

const tables = ['series', 'documents', 'document_events'] as const;

async function columnsOf(table: string): Promise<string> {
  const { rows } = await service.owner.query(
    `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [`certo.${table}`],
  );
  return rows[0].names;
}

/** The books as they stand now, to be put back. */
async function keep(): Promise<void> {
  for (const table of tables) {
    await service.owner.query(`drop table if exists certo.kept_${table}`);
    await service.owner.query(`create table certo.kept_${table} as select * from certo.${table}`);
  }
}

async function putBack(): Promise<void> {
  for (const table of tables) await service.owner.query(`alter table certo.${table} disable trigger user`);
  await service.owner.query('delete from certo.document_events');
  await service.owner.query('delete from certo.documents');
  const head = 'last_number, last_hash, last_date, last_system_entry, last_issued_at, last_seal, head_seal';
  await service.owner.query(
    `update certo.series s set (${head}) = (select ${head} from certo.kept_series k where k.id = s.id)`,
  );
  for (const table of ['documents', 'document_events']) {
    const columns = await columnsOf(table);
    await service.owner.query(`insert into certo.${table} (${columns}) select ${columns} from certo.kept_${table}`);
  }
  for (const table of tables) await service.owner.query(`alter table certo.${table} enable trigger user`);
}

/** Acts that are told of, with the document they were done to. */
async function told(): Promise<string[]> {
  return (await service.findings()).map(({ number, series, problem }) => {
    expect([number, series]).toEqual([null, '']);
    const [, act, id] = /^has an act in its audit \((\w+), 2\S+Z\) on a document that is not there \((\S+)\)$/.exec(
      problem,
    )!;
    return `${act} ${id}`;
  });
}

const noteOf = async (invoice: InvoiceJson, issue: boolean): Promise<InvoiceJson> =>
  (await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: invoice.id, issue })).json;

test('whatever was numbered and is not there any more is told, with what was done to it', async () => {
  const [first, second] = [await A.issue(await A.draft()), await A.issue(await A.draft())];
  await keep();
  const last = await A.issue(await A.draft());
  const { receipt } = (await A.post<{ receipt: { id: string } }>(`/invoices/${first.id}/pay`, { amount: 1 })).json;
  const note = await noteOf(second, true);
  await A.post(`/invoices/${note.id}/cancel`);
  const drafted = await A.issue(await noteOf(second, false));
  const proposal = await A.proposal();
  await A.delete(`/proposals/${proposal.id}`);
  const journey = await A.issueTransport(await A.transport());
  await A.post(`/transport-documents/${journey.id}/cancel`);
  expect(await told()).toEqual([]);

  await putBack();
  const gone = [
    `issueInvoice ${last.id}`,
    `payInvoice ${receipt.id}`,
    `createCreditNote ${note.id}`,
    `cancelInvoice ${note.id}`,
    `createCreditNote ${drafted.id}`,
    `issueInvoice ${drafted.id}`,
    `createProposal ${proposal.id}`,
    `deleteProposal ${proposal.id}`,
    `issueTransport ${journey.id}`,
    `cancelTransport ${journey.id}`,
  ];
  expect((await told()).sort()).toEqual(gone.sort());

  // They are resolved like any finding, and then known.
  expect(await service.checkBooks()).toBe(gone.length);
  expect(await service.checkBooks()).toBe(0);
  await service.owner.query(
    `update certo.integrity_breaks set resolved_at = certo.now(), resolution = 'Visto com o contabilista'`,
  );
  expect(await service.checkBooks()).toBe(0);
});

test('a draft that was deleted is no document that is gone, also one of a note', async () => {
  const before = await told();
  const invoice = await A.issue(await A.draft());
  const notes = [await noteOf(invoice, false), await noteOf(invoice, false)];
  for (const { id } of [await A.draft(), notes[0]!]) await A.delete(`/invoices/${id}`);
  await A.delete(`/transport-documents/${(await A.transport()).id}`);
  expect(await told()).toEqual(before);
  await service.owner.query('delete from certo.documents where id = $1', [notes[1]!.id]);
  expect(await told()).toEqual([...before, `createCreditNote ${notes[1]!.id}`]);
});

test('an issued document that was made a draft again is none', async () => {
  const before = await told();
  const draft = await A.draft();
  await keep();
  const { id } = await A.issue(draft);
  await putBack();
  expect((await A.get<InvoiceJson>(`/invoices/${id}`)).json.status).toBe('DRAFT');
  expect((await told()).sort()).toEqual([...before, `issueInvoice ${id}`].sort());
});

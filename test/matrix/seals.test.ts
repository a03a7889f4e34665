/**
 * Books that prove themselves: in honest books nothing is found, and whatever somebody with every right in the database
 * changes, adds, removes or exchanges is found, and the document named. Columns are asked of the catalogue: a new one that
 * is not sealed fails here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
/** Invoices of A: paid in two parts, credited and the note cancelled, cancelled; the last of the series has no event but the AT's. */
let paid: InvoiceJson;
let last: InvoiceJson;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  paid = await A.issue(await A.draft());
  await A.post(`/invoices/${paid.id}/pay`, { amount: 1 });
  await A.post(`/invoices/${paid.id}/pay`, {});
  const credited = await A.issue(await A.draft({ notes: 'Obrigado', description: 'Obra 7', taxPointDate: undefined }));
  const note = await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: credited.id });
  await A.post(`/invoices/${note.json.id}/cancel`, { reason: 'Engano' });
  const canceled = await A.issue(await A.draft());
  await A.post(`/invoices/${canceled.id}/cancel`);
  const draftNote = await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: credited.id, issue: false });
  await A.issue(draftNote.json);
  const proposal = await A.proposal();
  const converted = await A.post<InvoiceJson>(`/proposals/${proposal.id}/convert`);
  await A.issue(converted.json);
  await A.delete(`/proposals/${(await A.proposal()).id}`);
  const journey = await A.issueTransport(await A.transport());
  await A.issueTransport(await A.transport());
  service.startReports();
  await reported();
  await A.post(`/transport-documents/${journey.id}/cancel`);
  last = await A.issue(await A.draft());
  for (let i = 0; i < 3; i += 1) await B.issue(await B.draft());
  await reported();
});
afterAll(() => service.stop('tampered'));

async function reported(): Promise<void> {
  const waiting = `select number from certo.documents where at_status = 'PENDING'`;
  await eventually(async () => expect(await asOwner(waiting)).toEqual([]));
}

async function asOwner(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await service.owner.query(sql, values)).rows;
}

const told = async (company = A): Promise<string[]> =>
  (await service.findings(company.id)).map(({ number, series, problem }) => `${number ?? series} ${problem}`);

test('in honest books nothing is found', async () => {
  expect(await told()).toEqual([]);
  const [events] = await asOwner('select array_agg(distinct kind order by kind) as kinds from certo.document_events');
  expect(events!['kinds']).toEqual(['AT_ACCEPTED', 'BALANCE', 'CANCELED', 'CONVERTED', 'HIDDEN']);
});

describe('to somebody without guards', () => {
  const tables = ['documents', 'document_events', 'series'];

  beforeAll(async () => {
    // Every guard of the database is taken away, and a copy kept to put things back.
    for (const table of tables) {
      await asOwner(`alter table certo.${table} disable trigger user`);
      await asOwner(`create table certo.kept_${table} as select * from certo.${table}`);
    }
    await asOwner(`do $$ declare c record; begin
      for c in select conrelid::regclass as t, conname from pg_constraint
        where connamespace = 'certo'::regnamespace and conrelid::regclass::text ~ 'documents|document_events|series'
          and conrelid::regclass::text !~ 'kept' and contype in ('c', 'f', 'u', 'p')
        order by contype = 'p'
      loop execute format('alter table %s drop constraint if exists %I cascade', c.t, c.conname); end loop;
      for c in select attrelid::regclass as t, attname from pg_attribute
        where attnotnull and attnum > 0 and attrelid in ('certo.documents'::regclass, 'certo.document_events'::regclass, 'certo.series'::regclass)
      loop execute format('alter table %s alter column %I drop not null', c.t, c.attname); end loop;
      execute 'drop index certo.documents_number, certo.series_default';
    end $$`);
  });

  async function putBack(): Promise<void> {
    for (const table of tables) {
      const columns = (await columnsOf(table)).map(({ name }) => `"${name}"`).join(', ');
      await asOwner(
        `with gone as (delete from certo.${table}) insert into certo.${table} (${columns}) select ${columns} from certo.kept_${table}`,
      );
    }
  }

  /** What is found after a statement; everything is put back afterwards. */
  async function foundAfter(sql: string, values: unknown[] = [], company = A): Promise<string[]> {
    await asOwner(sql, values);
    try {
      return await told(company);
    } finally {
      await putBack();
    }
  }

  async function columnsOf(table: string) {
    return (await asOwner(
      `select a.attname as name, format_type(a.atttypid, null) as type from pg_attribute a
       where a.attrelid = ('certo.' || $1)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum`,
      [table],
    )) as { name: string; type: string }[];
  }

  const others: Readonly<Record<string, string>> = {
    uuid: `case when @ = '${'0'.repeat(8)}-0000-7000-8000-000000000001' then null else '${'0'.repeat(8)}-0000-7000-8000-000000000001'::uuid end`,
    text: `coalesce(@, '') || ' '`,
    'timestamp with time zone': `coalesce(@, '2026-01-01') + interval '1 millisecond'`,
    date: `coalesce(@, '2026-01-01') + 1`,
    numeric: 'coalesce(@, 0) + 0.01',
    integer: 'coalesce(@, 0) + 1',
    bigint: 'coalesce(@, 0) + 1',
    boolean: 'not @',
    jsonb: `@ || '{"x": 1}'`,
    'uuid[]': `array_append(@, '${'0'.repeat(8)}-0000-7000-8000-000000000001'::uuid)`,
    bytea: `set_byte(coalesce(@, '\\x00'), 0, (get_byte(coalesce(@, '\\x00'), 0) + 1) % 256)`,
  };

  /** Columns of a table whose change is not found, among those of the row that `where` chooses. */
  async function unseen(table: string, where: string, values: unknown[]): Promise<string[]> {
    const missed: string[] = [];
    for (const { name, type } of await columnsOf(table)) {
      for (const value of [others[type]!.replaceAll('@', `"${name}"`), 'null']) {
        const [row] = await asOwner(
          `select "${name}" is distinct from (${value}) as differs from certo.${table} where ${where}`,
          values,
        );
        if (row!['differs'] !== true) continue;
        const found = await foundAfter(`update certo.${table} set "${name}" = ${value} where ${where}`, values);
        if (found.length === 0) missed.push(name);
      }
    }
    return [...new Set(missed)].sort();
  }

  // When the AT is told next, and by whom: they say nothing of the document.
  const outboxColumns = ['at_attempts', 'at_lease', 'at_next_at', 'at_problem'];

  test('each column of a document is proved, but for those of the outbox', async () => {
    expect(await unseen('documents', 'id = $1', [paid.id])).toEqual(outboxColumns);
  });

  test('each column of an event is proved', async () => {
    expect(await unseen('document_events', 'document_id = $1 and sequence = 1', [paid.id])).toEqual([]);
    expect(await unseen('document_events', 'document_id = $1 and sequence = 3', [paid.id])).toEqual([]);
  });

  test('each column of a series that says what it is and where it ends is proved', async () => {
    // Whether it is open, what became of its end, and which restore closed it, are the operator's words; its start is the
    // AT's, which has it, and old series have none until it is asked.
    const free = [
      'closed_by',
      'created_at',
      'end_told_at',
      'is_default',
      'start_date',
      'status',
      'updated_at',
      'was_default',
    ];
    expect(await unseen('series', `id = $1`, [A.series.INVOICE.id])).toEqual(free);
    expect(await unseen('series', `id = $1`, [A.series.RECEIPT.id])).toEqual(free);
  });

  test('the document is named, and no other', async () => {
    const found = await foundAfter(`update certo.documents set notes = 'x' where id = $1`, [paid.id]);
    expect(found).toEqual([
      `${paid.number} has a seal that does not fit what is frozen of it and the document before it`,
    ]);
    const state = await foundAfter(`update certo.documents set outstanding = 5 where id = $1`, [paid.id]);
    expect(state).toEqual([`${paid.number} has outstanding 5.00, and its events make it 0.00`]);
  });

  test('one byte of its content is enough: another spelling of the same number, a space in a text', async () => {
    const number = `update certo.documents set content = jsonb_set(content, '{lines,0,number}', '1.0') where id = $1`;
    expect(await foundAfter(number, [paid.id])).toEqual([
      `${paid.number} has numbers in its frozen content that are written otherwise than when it was issued`,
    ]);
    const text = `update certo.documents set content = jsonb_set(content, '{lines,0,name}', to_jsonb((content #>> '{lines,0,name}') || ' ')) where id = $1`;
    expect((await foundAfter(text, [paid.id])).length).toBe(1);
  });

  test.each([
    ['the first event removed', 'delete from certo.document_events where document_id = $1 and sequence = 1'],
    [
      'the last event removed',
      'delete from certo.document_events where document_id = $1 and sequence = (select last_event from certo.documents where id = $1)',
    ],
    ['every event removed', 'delete from certo.document_events where document_id = $1'],
    [
      'every event removed and the document as it was issued',
      `with gone as (delete from certo.document_events where document_id = $1)
       update certo.documents set last_event = 0, status = issued_state ->> 'status', outstanding = (issued_state ->> 'outstanding')::numeric,
         at_status = issued_state ->> 'at_status', updated_at = (issued_state ->> 'updated_at')::timestamptz, at_code = null, at_message = null, at_told = null
       where id = $1`,
    ],
    [
      'an event added',
      'insert into certo.document_events select company_id, document_id, sequence + 10, at, kind, changes, seal from certo.document_events where document_id = $1 and sequence = 1',
    ],
    [
      'an event added and counted',
      `with added as (insert into certo.document_events select company_id, document_id, 4, at, 'CANCELED', '{"status": "CANCELED"}', seal from certo.document_events where document_id = $1 and sequence = 1)
       update certo.documents set last_event = 4, status = 'CANCELED' where id = $1`,
    ],
    [
      'two events exchanged',
      'update certo.document_events set sequence = 3 - sequence where document_id = $1 and sequence in (1, 2)',
    ],
  ])('%s', async (_what, sql) => {
    const found = await foundAfter(sql, [paid.id]);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((line) => line.startsWith(`${paid.number} `))).toBe(true);
  });

  test('events of another document are not its own', async () => {
    const found = await foundAfter('update certo.document_events set document_id = $2 where document_id = $1', [
      paid.id,
      last.id,
    ]);
    expect(found.some((line) => line.startsWith(`${last.number} `))).toBe(true);
    expect(found.some((line) => line.startsWith(`${paid.number} `))).toBe(true);
  });

  const actOn = ({ id }: InvoiceJson) =>
    new RegExp(`has an act in its audit \\(issueInvoice, .* not there \\(${id}\\)$`);
  const removed = `with events as (delete from certo.document_events where document_id = $1)`;

  test('the last document removed', async () => {
    expect(await foundAfter(`${removed} delete from certo.documents where id = $1`, [last.id])).toEqual([
      expect.stringMatching(/^A2026 says that its last document is number 5, and the last one found is 4$/),
      expect.stringMatching(actOn(last)),
    ]);
  });

  test('the last document removed and the head set to the one before it', async () => {
    const found = await foundAfter(
      `${removed}, cut as (delete from certo.documents where id = $1 returning series_id, sequence)
       update certo.series s set last_number = d.sequence, last_date = d.date, last_hash = d.hash, last_system_entry = d.system_entry,
         last_issued_at = d.issued_at, last_seal = d.seal
       from certo.documents d, cut where d.series_id = cut.series_id and d.sequence = cut.sequence - 1 and s.id = d.series_id`,
      [last.id],
    );
    expect(found).toEqual([
      'A2026 has a seal of its end that does not fit what it says',
      expect.stringMatching(actOn(last)),
    ]);
  });

  test('a document in the middle removed', async () => {
    const found = await foundAfter(`${removed} delete from certo.documents where id = $1`, [paid.id]);
    expect(found.some((line) => /^FT A2026\/2 .*gap/.test(line))).toBe(true);
  });

  test('two documents exchanged', async () => {
    const found = await foundAfter(
      `update certo.documents d set sequence = o.sequence, number = o.number, atcud = o.atcud
       from certo.documents o where o.id <> d.id and d.id in ($1, $2) and o.id in ($1, $2)`,
      [paid.id, last.id],
    );
    for (const { number } of [paid, last]) expect(found.some((line) => line.startsWith(`${number} `))).toBe(true);
  });

  test('a document given to another series or company, or copied', async () => {
    const series = await foundAfter('update certo.documents set series_id = $2 where id = $1', [
      last.id,
      A.series.DEBIT_NOTE.id,
    ]);
    expect(series.length).toBeGreaterThan(1);
    const given = 'update certo.documents set company_id = $2 where id = $1';
    expect((await foundAfter(given, [last.id, B.id])).some((line) => /last document is number 5/.test(line))).toBe(
      true,
    );
    expect(await foundAfter(given, [last.id, B.id], B)).toEqual([' has 1 numbered document(s) outside every series']);
    const columns = (await columnsOf('documents')).map(({ name }) => name);
    const copied = columns.map((name) => (name === 'id' ? 'gen_random_uuid()' : name));
    const copy = await foundAfter(
      `insert into certo.documents (${columns}) select ${copied} from certo.documents where id = $1`,
      [last.id],
    );
    expect(copy.some((line) => line.startsWith(`${last.number} `))).toBe(true);
  });

  test('a number below the first of the series', async () => {
    const columns = (await columnsOf('documents')).map(({ name }) => name);
    const copied = columns.map((name) => (name === 'id' ? 'gen_random_uuid()' : name === 'sequence' ? '-7' : name));
    const found = await foundAfter(
      `insert into certo.documents (${columns}) select ${copied} from certo.documents where id = $1`,
      [last.id],
    );
    expect(found.length).toBeGreaterThan(1);
  });

  test('everything put back, nothing is found', async () => {
    expect(await told()).toEqual([]);
  });
});

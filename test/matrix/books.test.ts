/**
 * The last guards, in the database itself: what the service's role can reach (row-level security), and what nobody can
 * change any more (frozen documents, series that only move forward). Tables and columns are asked of the catalogue, so
 * that a new one is tested without a new line here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StatementError } from '../../src/db/errors.ts';
import type { Entry } from '../../src/db/transact.ts';
import { noSetbacks, writeDownWords } from '../../src/doors/clock/words.ts';
import { entryOfCompany, entryOfNobody } from '../../src/identity/principal.ts';
import { tokenHash } from '../../src/identity/tokens.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let issued: InvoiceJson;
let draft: InvoiceJson;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  // Something of each company in every table.
  for (const company of [A, B]) {
    const headers = { 'idempotency-key': 'books' };
    await company.post('/customers', { name: 'X', country: 'PT' }, { headers });
    issued = await company.issue(await company.draft({ notes: 'Obrigado' }));
    await company.get(`/invoices/${issued.id}/pdf`);
    draft = await company.draft();
    await company.post(`/invoices/${(await company.issue(await company.draft())).id}/cancel`);
    await service.owner.query(
      `insert into certo.templates (company_id, id, name, formats) values ($1, gen_random_uuid(), 'X', '{A4}')`,
      [company.id],
    );
    await service.owner.query(
      `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, problem, resolved_at, resolution)
       values ($1, gen_random_uuid(), sha256('x'), '', '', 'x', certo.now(), 'x')`,
      [company.id],
    );
    await asOwner(
      `insert into certo.imported_documents (company_id, id, number, number_key, type, status, date, customer_name, net, tax, gross, import_id)
       values ($1, gen_random_uuid(), 'FT LOJA/1', 'FT LOJA/1', 'INVOICE', 'ISSUED', '2026-01-01', 'X', 1, 0, 1, gen_random_uuid())`,
      [company.id],
    );
    await asOwner(
      `insert into certo.templates (company_id, id, name, formats) values ($1, gen_random_uuid(), 'X', '{A4}')`,
      [company.id],
    );
    await asApp(entryOfCompany(company.id, 'test'), `select * from certo.take_rate('books', 1)`);
    await writeDownWords({ db: service.db, log: service.log, setbacks: noSetbacks() });
  }
});
afterAll(() => service.stop('tampered'));

/** Rows of a statement run as the service's role, or the SQLSTATE that refused it. */
async function asApp(entry: Entry, sql: string, parameters: unknown[] = []): Promise<unknown> {
  try {
    return await service.db.read(entry).query({ sql, parameters });
  } catch (error) {
    if (error instanceof StatementError) return error.code;
    throw error;
  }
}

async function asOwner(sql: string, parameters: unknown[] = []): Promise<unknown> {
  try {
    return (await service.owner.query(sql, parameters)).rows;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

interface Table {
  readonly name: string;
  /** The column that holds the company. */
  readonly company: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly mayUpdate: boolean }[];
  readonly mayDelete: boolean;
}

async function tenantTables(): Promise<Table[]> {
  const { rows } = await service.owner.query(
    `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as guarded,
       has_table_privilege('certo_app', c.oid, 'delete') as "mayDelete",
       has_table_privilege('certo_app', c.oid, 'truncate') as "mayTruncate",
       (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
           'mayUpdate', has_column_privilege('certo_app', c.oid, a.attname, 'update')) order by a.attnum)
         from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
     from pg_class c where c.relnamespace = 'certo'::regnamespace and c.relkind in ('r', 'p')
       and (c.relname = 'companies' or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id'))
     order by 1`,
  );
  for (const row of rows) expect([row.name, row.guarded, row.mayTruncate]).toEqual([row.name, true, false]);
  return rows.map((row) => ({ ...row, company: row.name === 'companies' ? 'id' : 'company_id' }));
}

describe('reach', () => {
  test('every table of a company is guarded, and each has rows of both companies here', async () => {
    const tables = await tenantTables();
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['api_keys', 'audit', 'claims', 'companies', 'customers', 'documents', 'items', 'series']),
    );
    for (const { name, company } of tables) {
      const rows = (await asOwner(`select count(distinct ${company})::int as n from certo.${name}`)) as { n: number }[];
      expect([name, rows[0]?.n]).toEqual([name, 2]);
    }
  });

  test('without a company nothing is seen, changed, removed or added', async () => {
    for (const table of await tenantTables()) {
      const { name } = table;
      expect([name, await asApp(entryOfNobody, `select 1 as one from certo.${name}`)]).toEqual([name, []]);
      await changesNothing(entryOfNobody, table, 'true');
      expect([name, await insertedCopy(entryOfNobody, table, B.id)]).toEqual([name, '42501']);
    }
  });

  test('within A nothing of B is seen, changed, removed or added', async () => {
    const within = entryOfCompany(A.id, 'test');
    for (const table of await tenantTables()) {
      const { name, company } = table;
      const seen = await asApp(within, `select distinct ${company} as id from certo.${name}`);
      expect([name, seen]).toEqual([name, [{ id: A.id }]]);
      await changesNothing(within, table, `${company} = '${B.id}'`);
      expect([name, await insertedCopy(within, table, B.id)]).toEqual([name, '42501']);
    }
  });

  test('a row of A cannot be given to B', async () => {
    const within = entryOfCompany(A.id, 'test');
    for (const { name, company } of await tenantTables()) {
      const moved = await asApp(within, `update certo.${name} set ${company} = '${B.id}' returning 1 as one`);
      // 42501 no privilege or the policy; CE001 a frozen row comes first.
      expect([name, ['42501', 'CE001'].includes(String(moved))]).toEqual([name, true]);
    }
  });

  test('a customer of B is nobody to a document of A, by foreign key', async () => {
    const customer = await B.customer();
    const sql = 'update certo.documents set customer_id = $1 where id = $2 returning 1 as one';
    const own = await A.draft();
    expect(await asApp(entryOfCompany(A.id, 'test'), sql, [customer.id, own.id])).toBe('23503');
  });

  test('a key opens its own company; a wrong one closes whatever was open', async () => {
    const enter = (hash: Buffer) =>
      asApp(
        entryOfCompany(A.id, 'test'),
        `select k.company_id, certo.current_company() as now from (select $1::bytea as h) x
         left join lateral certo.enter_key(x.h) k on true`,
        [hash],
      );
    expect(await enter(tokenHash(B.key))).toEqual([{ company_id: B.id, now: B.id }]);
    expect(await enter(tokenHash('nonsense'))).toEqual([{ company_id: null, now: null }]);
  });

  test("what a key is looked up with is PostgreSQL's own, whatever stands first in the search path", async () => {
    const { owner } = service;
    await owner.query('begin');
    try {
      await owner.query(`create schema shadow; create table shadow.api_keys as select * from certo.api_keys;
        create function shadow.any(bytea, bytea) returns boolean language sql as 'select true';
        create operator shadow.= (leftarg = bytea, rightarg = bytea, function = shadow.any);
        create function shadow.set_config(text, text, boolean) returns text language sql as $$ select '' $$;
        set local search_path = shadow, pg_catalog, certo`);
      await owner.query('update shadow.api_keys set hash = $1', [tokenHash('nonsense')]);
      const enter = async (hash: Buffer) =>
        (await owner.query('select company_id from certo.enter_key($1)', [hash])).rows.map((row) => row.company_id);
      const opened = async () => (await owner.query(`select current_setting('app.company_id') as id`)).rows[0].id;
      expect([await enter(tokenHash(B.key)), await opened()]).toEqual([[B.id], B.id]);
      expect([await enter(tokenHash('nonsense')), await opened()]).toEqual([[], '']);
    } finally {
      await owner.query('rollback');
    }
  });

  test.each([
    'truncate certo.claims',
    'drop table certo.claims',
    'create table certo.mine (a int)',
    'create table public.mine (a int)',
    'create temporary table mine (a int)',
    'alter table certo.documents disable trigger all',
    'alter table certo.documents no force row level security',
    'drop policy tenant on certo.documents',
    "update certo.clock set shift = interval '1 day'",
    'set role certo_owner',
    'update certo.signing_keys set version = 2',
    "insert into certo.installation (at_mode) values ('production')",
    "insert into certo.companies (id, name) values (gen_random_uuid(), 'X')",
    'delete from certo.claims',
    'update certo.claims set fingerprint = fingerprint',
    'update certo.claims set key = key',
    'update certo.audit set actor = actor',
    'delete from certo.audit',
    'update certo.renditions set bytes = bytes',
    'update certo.api_keys set hash = hash',
    'delete from certo.series',
    'delete from certo.customers',
    'delete from certo.imported_documents',
    `update certo.imported_documents set number = 'FT X/1'`,
    'truncate certo.documents cascade',
    'truncate certo.document_events',
    'update certo.document_events set seal = seal',
    'delete from certo.document_events',
    'update certo.integrity_breaks set resolved_at = now()',
    'delete from certo.integrity_breaks',
    'drop trigger document_frozen on certo.documents',
    'alter table certo.document_events disable trigger user',
    'alter table certo.documents add column mine int',
    'alter table certo.documents drop constraint documents_pkey',
    'drop index certo.documents_number',
    'create or replace function certo.freeze_document() returns trigger language plpgsql as $$ begin return new; end $$',
    'create function certo.mine() returns void language sql security definer as $$ select $$',
    'set session_replication_role = replica',
    'set session authorization postgres',
    'alter role certo_app bypassrls',
    'grant certo_owner to certo_app',
    `copy certo.documents from program 'true'`,
    "update certo.companies set taxpayer_number = '500000001'",
    'update certo.companies set at_password_sealed = null',
    'update certo.signing_keys set public_pem = public_pem',
    'delete from certo.companies',
  ])('the service may not: %s', async (sql) => {
    expect(await asApp(entryOfCompany(A.id, 'test'), sql)).toBe('42501');
  });

  test('a key that was revoked stays revoked', async () => {
    const { id, revoke } = await A.anotherKey();
    await revoke();
    for (const instant of ['null', 'certo.now()']) {
      const taken = await asApp(
        entryOfCompany(A.id, 'test'),
        `update certo.api_keys set revoked_at = ${instant} where id = $1`,
        [id],
      );
      expect(taken).toBe('CE001');
    }
  });
});

async function changesNothing(entry: Entry, { name, columns, mayDelete }: Table, where: string): Promise<void> {
  for (const column of columns) {
    const changed = await asApp(
      entry,
      `update certo.${name} set ${column.name} = ${column.name} where ${where} returning 1 as one`,
    );
    expect([name, column.name, changed]).toEqual([name, column.name, column.mayUpdate ? [] : '42501']);
  }
  const removed = await asApp(entry, `delete from certo.${name} where ${where} returning 1 as one`);
  expect([name, removed]).toEqual([name, mayDelete ? [] : '42501']);
}

/** Inserts a copy of a row of the company, with its own key where it has an id. */
async function insertedCopy(entry: Entry, { name, company, columns }: Table, companyId: string): Promise<unknown> {
  const [row] = (await asOwner(`select to_jsonb(t) as row from certo.${name} t where ${company} = $1 limit 1`, [
    companyId,
  ])) as { row: Record<string, unknown> }[];
  const copy = { ...row!.row, ...(name !== 'companies' && 'id' in row!.row ? { id: crypto.randomUUID() } : {}) };
  const list = columns.map((column) => column.name).join(', ');
  return asApp(
    entry,
    `insert into certo.${name} (${list}) select ${list} from jsonb_populate_record(null::certo.${name}, $1::jsonb)`,
    [JSON.stringify(copy)],
  );
}

/** The columns that may change after issue (status, balance, the AT's answer); every other one is frozen. */
const moving = [
  'status',
  'updated_at',
  'outstanding',
  'credited',
  'canceled_at',
  'canceled_by',
  'cancel_reason',
  'at_status',
  'at_code',
  'at_message',
  'at_attempts',
  'at_next_at',
  'at_lease',
  'at_told',
  'at_doc_code',
  'converted_at',
  'hidden_at',
  'last_event',
  'state_seal',
  'at_problem',
];

/** All that a draft gets with its number. */
const stamped = [
  'sequence',
  'number',
  'atcud',
  'hash',
  'key_version',
  'certificate_number',
  'system_entry',
  'qr',
  'issued_at',
  'issued_by',
  'date',
  'series_id',
  'seal',
  'issued_state',
  'state_seal',
];

const otherValue: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  text: `coalesce(@, '') || 'x'`,
  'timestamp with time zone': `coalesce(@, now()) + interval '1 second'`,
  date: `coalesce(@, '2026-01-01') + 1`,
  numeric: 'coalesce(@, 0) + 1',
  integer: 'coalesce(@, 0) + 1',
  bigint: 'coalesce(@, 0) + 1',
  jsonb: `@ || '{"x":1}'`,
  bytea: `sha256(@)`,
  'uuid[]': 'array_append(@, gen_random_uuid())',
};

describe('issued documents', () => {
  test('every other column refuses another value, and none', async () => {
    const documents = (await tenantTables()).find(({ name }) => name === 'documents')!;
    const frozen = documents.columns.filter(({ name }) => !moving.includes(name));
    expect(frozen.length).toBeGreaterThan(30);
    for (const { name, type } of frozen) {
      const value = otherValue[type]!.replaceAll('@', name);
      const sql = `update certo.documents set ${name} = ${value} where id = $1`;
      expect([name, await asOwner(sql, [issued.id])]).toEqual([name, 'CE001']);
      expect([name, await asApp(entryOfCompany(B.id, 'test'), sql, [issued.id])]).toEqual([name, 'CE001']);
      const present = `update certo.documents set ${name} = null where id = $1 and ${name} is not null returning 1`;
      expect([name, ['CE001', '[]'].includes(asText(await asOwner(present, [issued.id])))]).toEqual([name, true]);
    }
  });

  test('the named columns may change', async () => {
    for (const name of moving) {
      const rows = await asApp(
        entryOfCompany(B.id, 'test'),
        `update certo.documents set ${name} = ${name} where id = $1 returning 1 as one`,
        [issued.id],
      );
      expect([name, rows]).toEqual([name, [{ one: 1 }]]);
    }
  });

  test('the status moves between issued, paid and cancelled only, and cancelled stays', async () => {
    const document = await B.issue(await B.draft());
    const to = (status: string) =>
      asOwner(
        'update certo.documents set status = $2, last_event = last_event + 1, state_seal = sha256(state_seal) where id = $1 returning status',
        [document.id, status],
      );
    for (const status of ['DRAFT', 'CREATED', 'PROCESSING', 'SCHEDULED']) expect(await to(status)).toBe('CE001');
    for (const status of ['PAID', 'ISSUED', 'PAID', 'CANCELED']) expect(await to(status)).toEqual([{ status }]);
    for (const status of ['ISSUED', 'PAID', 'DRAFT']) expect(await to(status)).toBe('CE001');
  });

  /** Assignments with the event that the books ask for. */
  const told = async (id: string, assignments: string): Promise<unknown> =>
    asOwner(
      `update certo.documents set ${assignments}, last_event = last_event + 1, state_seal = sha256(state_seal)
       where id = $1 returning 1 as one`,
      [id],
    );

  test('what the AT called it, its conversion and its hiding happen once', async () => {
    const transport = await B.issueTransport(await B.transport());
    const proposal = await B.proposal();
    const hidden = await B.proposal();
    expect((await B.post(`/proposals/${hidden.id}/cancel`)).status).toBe(200);
    const once: readonly (readonly [id: string, column: string, first: string, other: string])[] = [
      [transport.id, 'at_doc_code', `'1234567890'`, `'1234567891'`],
      [proposal.id, 'converted_at', `'2026-03-02T10:00:00Z'`, `'2026-03-02T10:00:01Z'`],
      [hidden.id, 'hidden_at', `'2026-03-02T10:00:00Z'`, `'2026-03-02T10:00:01Z'`],
    ];
    for (const [id, column, first, other] of once) {
      expect([column, await told(id, `${column} = ${first}`)]).toEqual([column, [{ one: 1 }]]);
      for (const value of [other, 'null'])
        expect([column, value, await told(id, `${column} = ${value}`)]).toEqual([column, value, 'CE001']);
      // The rest of it goes on.
      expect([column, await told(id, `${column} = ${first}, at_message = 'x'`)]).toEqual([column, [{ one: 1 }]]);
    }
  });

  test('what moves moves with one event and a new seal, and only then; the outbox moves alone', async () => {
    const document = await B.issue(await B.draft());
    const set = (assignments: string) =>
      asOwner(`update certo.documents set ${assignments} where id = $1 returning 1 as one`, [document.id]);
    const ofBooks: Readonly<Record<string, string>> = {
      status: `'PAID'`,
      updated_at: `updated_at + interval '1 second'`,
      outstanding: 'outstanding + 1',
      credited: 'credited + 1',
      canceled_at: 'certo.now()',
      canceled_by: `'x'`,
      cancel_reason: `'x'`,
      at_status: `case at_status when 'PENDING' then 'ACCEPTED' else 'PENDING' end`,
      at_code: `'x'`,
      at_message: `'x'`,
      at_told: `'A'`,
    };
    const outbox: Readonly<Record<string, string>> = {
      at_attempts: 'at_attempts + 1',
      at_next_at: 'certo.now()',
      at_lease: 'gen_random_uuid()',
      at_problem: `'x'`,
    };
    // With the test above that is every column that moves.
    const once = ['at_doc_code', 'converted_at', 'hidden_at'];
    const named = [...Object.keys(ofBooks), ...Object.keys(outbox), ...once, 'last_event', 'state_seal'];
    expect(named.sort()).toEqual([...moving].sort());
    const event = 'last_event = last_event + 1';
    const skipped = 'last_event = last_event + 2';
    const seal = 'state_seal = sha256(state_seal)';
    const changes = Object.entries(ofBooks).map(([column, value]) => `${column} = ${value}`);
    const refused = [
      ...changes.flatMap((change) => [change, `${change}, ${event}`, `${change}, ${seal}`]),
      ...changes.map((change) => `${change}, ${skipped}, ${seal}`),
      event,
      seal,
      `${skipped}, ${seal}`,
    ];
    for (const assignments of refused) expect([assignments, await set(assignments)]).toEqual([assignments, 'CE001']);
    for (const [column, value] of Object.entries(outbox))
      expect([column, await set(`${column} = ${value}`)]).toEqual([column, [{ one: 1 }]]);
    expect(await set(`outstanding = 0, ${event}, ${seal}`)).toEqual([{ one: 1 }]);
  });

  test('they are not deleted: refused to the owner, out of reach of the service', async () => {
    const sql = 'delete from certo.documents where id = $1 returning 1 as one';
    expect(await asOwner(sql, [issued.id])).toBe('CE001');
    expect(await asApp(entryOfCompany(B.id, 'test'), sql, [issued.id])).toEqual([]);
    expect(await asApp(entryOfCompany(B.id, 'test'), sql, [draft.id])).toEqual([{ one: 1 }]);
  });

  test('a draft is stamped whole or not at all, and a number is given once', async () => {
    const one = await B.draft();
    const stamp = (assignments: string) =>
      asOwner(
        `update certo.documents d set ${assignments} from (select * from certo.documents where id = '${issued.id}') i where d.id = $1`,
        [one.id],
      );
    expect(await stamp(`status = 'ISSUED'`)).toBe('23514');
    expect(await stamp('number = i.number')).toBe('23514');
    expect(await stamp(`status = 'ISSUED', ${stamped.map((c) => `${c} = i.${c}`).join(', ')}`)).toBe('23505');
  });
});

/**
 * Hostile SQL as the service's role: documents and heads that the press would never write (0039_numbered_inserts.sql).
 */
describe('numbers', () => {
  let columns: string[];
  let drafts: InvoiceJson[];
  /** The invoice whose number is the last. */
  let last: string;
  /** Of the invoice that is copied: number, signature and seal are another's, as an attacker makes them up. */
  const forged = (offset: number, changes: Record<string, string> = {}): Record<string, string> => ({
    sequence: `i.sequence + ${offset}`,
    number: `i.number || '0' || i.sequence + ${offset}`,
    hash: `'x'`,
    seal: `sha256('${offset}')`,
    ...changes,
  });
  /** A copy of the last invoice of B, numbered so far behind it. */
  const inserted = (offset: number, changes: Record<string, string> = {}): string =>
    insertion({ id: 'gen_random_uuid()', ...forged(offset, changes) });
  const insertion = (values: Record<string, string>): string =>
    `insert into certo.documents (${columns}) select ${columns.map((name) => values[name] ?? `i.${name}`)} from certo.documents i where i.id = '${last}'`;
  /** A draft becomes one that is numbered so far behind the last invoice; `nth`: the first draft, or the second. */
  const numbered = (offset: number, changes: Record<string, string> = {}, nth = 0): string => {
    const issuedAs = Object.fromEntries(stamped.map((name) => [name, `i.${name}`]));
    const values = { ...issuedAs, status: `'ISSUED'`, ...forged(offset, changes) };
    const assignments = Object.entries(values).map(([name, value]) => `${name} = ${value}`);
    return `update certo.documents d set ${assignments} from certo.documents i
      where i.id = '${last}' and d.company_id = certo.current_company() and d.id = '${drafts[nth]!.id}'`;
  };
  const moved = (by: number, seal = by, type: 'INVOICE' | 'DEBIT_NOTE' = 'INVOICE'): string =>
    `update certo.series set last_number = last_number + ${by}, last_hash = 'x', last_seal = sha256('${seal}'), head_seal = sha256('h${seal}')
     where company_id = certo.current_company() and id = '${B.series[type].id}'`;

  beforeAll(async () => {
    last = (await B.issue(await B.draft())).id;
    drafts = [await B.draft(), await B.draft()];
    columns = (await tenantTables()).find(({ name }) => name === 'documents')!.columns.map(({ name }) => name);
  });

  /** What refuses the statements, in a transaction that is always rolled back; undefined: nobody. */
  async function refusedBy(statements: readonly string[], role = 'certo_app'): Promise<string | undefined> {
    const client = await service.owner.connect();
    try {
      await client.query('begin');
      await client.query(`set local role ${role}`);
      await client.query(`select set_config('app.company_id', $1, true)`, [B.id]);
      for (const sql of statements) expect([sql, (await client.query(sql)).rowCount]).toEqual([sql, 1]);
      // As COMMIT begins.
      await client.query('set constraints all immediate');
      return undefined;
    } catch (error) {
      if (!('code' in (error as object))) throw error;
      return (error as { code: string }).code;
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  test('drafts become the next documents together with the head, as the press writes them', async () => {
    expect(await refusedBy([moved(1), numbered(1)])).toBe(undefined);
    expect(await refusedBy([moved(2), numbered(2), numbered(1, {}, 1)])).toBe(undefined);
    expect(await refusedBy([`with moved as (${moved(1)}) ${numbered(1)}`])).toBe(undefined);
    expect(await refusedBy([moved(1), numbered(1), moved(1, 2), numbered(2, {}, 1)])).toBe(undefined);
  });

  test.each<[what: string, changes: Record<string, string>, offset?: number]>([
    ['the next number', {}],
    ['a number further on', {}, 7],
    ['a number that is in use', {}, 0],
    ['a number before the first', { sequence: '0' }],
    ['a cancelled document', { status: `'CANCELED'` }],
    ['a paid one', { status: `'PAID'` }],
    ['a receipt', { family: `'RECEIPT'`, type: `'RECEIPT'`, hash: `''` }],
  ])('no row is inserted with a number, its head moved or not: %s', async (_what, changes, offset = 1) => {
    expect(await refusedBy([inserted(offset, changes)])).toBe('42501');
    expect(await refusedBy([moved(1), inserted(offset, changes)])).toBe('42501');
  });

  test.each(['FINALIZED', 'ANNULLED', 'ENDING'])('nor into a series that is %s', async (status) => {
    const closed = `update certo.series set status = '${status}', is_default = false where id = '${B.series.INVOICE.id}'`;
    expect(await refusedBy([closed, inserted(1)])).toBe('42501');
    expect(await refusedBy([closed, numbered(1)])).toBe('CE001');
    expect(await refusedBy([closed, moved(1)])).toBe('CE001');
    // Moved first, closed in the same transaction.
    expect(await refusedBy([moved(1), closed, numbered(1)])).toBe('CE001');
  });

  test('nor into a series of another company', async () => {
    const ofA = { series_id: `'${A.series.INVOICE.id}'` };
    expect(await refusedBy([inserted(100, ofA)])).toBe('42501');
    expect(await refusedBy([moved(1), numbered(100, ofA)])).toBe('CE001');
    expect(await refusedBy([inserted(1, { company_id: `'${A.id}'`, ...ofA })])).toBe('42501');
  });

  test.each([
    ['ISSUED without a number', { status: `'ISSUED'` }],
    ['CANCELED without a number', { status: `'CANCELED'` }],
    ['a signature without a number', { hash: `'x'` }],
    ['a sequence without a number', { sequence: '900' }],
    ['a seal without a number', { seal: `sha256('x')` }],
    ['events without a number', { last_event: '1' }],
  ])('no row has a part of it: %s', async (_what, part: Record<string, string>) => {
    const none = Object.fromEntries([...stamped, 'signed_text'].map((name) => [name, 'null']));
    const draft = { ...none, id: 'gen_random_uuid()', status: `'DRAFT'`, last_event: '0' };
    expect(await refusedBy([insertion(draft)])).toBe(undefined);
    expect(await refusedBy([insertion({ ...draft, ...part })])).toBe('23514');
  });

  test.each<[what: string, offset: number, changes?: Record<string, string>]>([
    ['the next number', 1],
    ['a number further on', 7],
    ['a number before the first', 1, { sequence: '0' }],
    ['a cancelled document', 1, { status: `'CANCELED'` }],
    ['a series that is not there', 1, { series_id: 'gen_random_uuid()' }],
  ])('no draft is numbered while its head stands: %s', async (_what, offset, changes) => {
    const numbering = numbered(offset, changes);
    expect(await refusedBy([numbering])).toBe('CE001');
    // Written by this transaction, but not moved; and moved, but another.
    const touched = `update certo.series set updated_at = updated_at where id = '${B.series.INVOICE.id}'`;
    expect(await refusedBy([touched, numbering])).toBe('CE001');
    expect(await refusedBy([moved(1, 1, 'DEBIT_NOTE'), numbering])).toBe('CE001');
    // Nor by the owner.
    expect(await refusedBy([numbering], 'certo_owner')).toBe('CE001');
  });

  test('nor with a number that is in use', async () => {
    for (const before of [[], [moved(1)]]) expect(await refusedBy([...before, numbered(0)])).toBe('23505');
  });

  test('the head moves as far as its documents, and ends with the last of them', async () => {
    for (const statements of [
      [moved(1)],
      [moved(7)],
      [moved(2), numbered(1)],
      [moved(2), numbered(2)],
      [moved(3, 3), numbered(3), numbered(1, {}, 1)],
      // Further on than the head.
      [moved(1), numbered(2)],
      // Another seal, another signature than the head says.
      [moved(1, 9), numbered(1)],
      [moved(1), numbered(1, { hash: `'y'` })],
      // In the wrong order: between the two statements there is a number beyond the head.
      [numbered(1), moved(1)],
    ])
      expect([statements, await refusedBy(statements)]).toEqual([statements, 'CE001']);
  });

  test('what is asked at the end stops COMMIT, and nothing is kept', async () => {
    const head = `select last_number from certo.series where id = $1`;
    const before = await asOwner(head, [B.series.INVOICE.id]);
    const within = entryOfCompany(B.id, 'test');
    const moving = service.db.transact(within, async (tx) => {
      await tx.query({ sql: moved(1), parameters: [] });
      await tx.commitWith([]);
    });
    await expect(moving).rejects.toMatchObject({ code: 'CE001' });
    expect(await asOwner(head, [B.series.INVOICE.id])).toEqual(before);
    // Nor does anybody forgo it who sees nothing of its documents by then.
    expect(await refusedBy([moved(1), numbered(1), `select set_config('app.company_id', '', true)`])).toBe('CE001');
  });

  test('a series begins without documents', async () => {
    const copy = (head: string) =>
      `insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code, last_number, last_hash, last_seal, head_seal)
       select company_id, gen_random_uuid(), document_type, at_type, 'NOVA', 'ACTIVE', 'AAAAAAAA', ${head} from certo.series where id = '${B.series.INVOICE.id}'`;
    expect(await refusedBy([copy(`0, '', null, null`)])).toBe(undefined);
    for (const head of [
      `5, '', null, null`,
      `5, 'x', sha256('x'), sha256('y')`,
      `0, 'x', null, null`,
      `0, '', sha256('x'), sha256('y')`,
    ])
      expect([head, await refusedBy([copy(head)])]).toEqual([head, '42501']);
  });
});

describe('restores', () => {
  test('are counted for ever, and the service can only read of them', async () => {
    await asOwner(
      `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values (9, certo.now(), '1', sha256('x'), true)`,
    );
    expect(await asApp(entryOfNobody, 'select number from certo.restores where number = 9')).toEqual([{ number: 9 }]);
    for (const sql of [
      'update certo.restores set nothing_lost = false',
      'delete from certo.restores',
      'truncate certo.restores cascade',
    ])
      expect([sql, await asOwner(sql)]).toEqual([sql, 'CE001']);
    for (const sql of [
      `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values (10, certo.now(), '1', sha256('x'), true)`,
      'update certo.restores set nothing_lost = false',
      'delete from certo.restores',
    ])
      expect([sql, await asApp(entryOfNobody, sql)]).toEqual([sql, '42501']);
  });
});

describe('series', () => {
  const otherSeals = `last_seal = sha256(last_seal), head_seal = sha256(head_seal)`;

  test.each([
    ['an earlier number', 'last_number = last_number - 1'],
    ['an earlier number that is sealed', `last_number = last_number - 1, ${otherSeals}`],
    ['another id', 'id = gen_random_uuid()'],
    ['another kind', `kind = 'F', is_default = false`],
    ['the code of another type', `at_type = 'FS'`],
    ['another scheme', 'cash_vat = true, is_default = false'],
    ['another seal of the same number', 'last_seal = sha256(last_seal)'],
    ['another seal of the same head', 'head_seal = sha256(head_seal)'],
    ['another instant of the same number', `last_issued_at = last_issued_at + interval '1 second'`],
    ['the next number under the seal of the last', 'last_number = last_number + 1, head_seal = sha256(head_seal)'],
    ['the next number under the seal of the last head', 'last_number = last_number + 1, last_seal = sha256(last_seal)'],
    ['an earlier date', 'last_date = last_date - 1'],
    ['no date', 'last_date = null'],
    ['an earlier local time', `last_system_entry = '2000-01-01T00:00:00'`],
    ['no local time', 'last_system_entry = null'],
    ['another signature of the same number', `last_hash = 'x'`],
    ['no signature', `last_hash = ''`],
    ['another identifier', `code = 'OTHER'`],
    ['another type', `document_type = 'DEBIT_NOTE'`],
    ['another validation code', `validation_code = 'AAAAAAAA'`],
    ['no validation code', `validation_code = null, status = 'PENDING'`],
    ['another start', 'start_number = 5'],
  ])('a head never goes back: %s', async (_what, assignment) => {
    const sql = `update certo.series set ${assignment} where company_id = $1 and document_type = 'INVOICE' and last_number > 0`;
    expect(await asOwner(sql, [B.id])).toBe('CE001');
    expect(await asApp(entryOfCompany(B.id, 'test'), sql, [B.id])).toBe('CE001');
  });

  test('it is never deleted', async () => {
    expect(await asOwner('delete from certo.series')).toBe('CE001');
  });

  test('its start is told once', async () => {
    const { id } = B.series.INVOICE;
    const set = (start: string) =>
      asOwner(`update certo.series set start_date = ${start} where id = $1 returning 1`, [id]);
    for (const start of [`start_date + 1`, `start_date - 1`, 'null'])
      expect([start, await set(start)]).toEqual([start, 'CE001']);
    const copy = `insert into certo.series (company_id, id, document_type, at_type, code)
      select company_id, gen_random_uuid(), document_type, at_type, 'UNTOLD' from certo.series where id = $1 returning id`;
    const [untold] = (await asOwner(copy, [id])) as { id: string }[];
    const tell = (day: string) =>
      asOwner('update certo.series set start_date = $2 where id = $1 returning start_date', [untold!.id, day]);
    expect(await tell('2026-01-05')).toEqual([{ start_date: '2026-01-05' }]);
    expect(await tell('2026-01-04')).toBe('CE001');
  });

  test.each([
    ['FINALIZED', 'DEBIT_NOTE'],
    ['ANNULLED', 'SIMPLIFIED_INVOICE'],
  ] as const)('%s it is neither opened again nor numbered in', async (end, type) => {
    const set = (assignment: string) =>
      asOwner(`update certo.series set ${assignment} where id = $1 returning status`, [B.series[type].id]);
    expect(await set(`status = '${end}'`)).toEqual([{ status: end }]);
    for (const status of ['ACTIVE', 'PENDING', 'ENDING', 'FINALIZED', 'ANNULLED'])
      expect([status, await set(`status = '${status}', is_default = false`)]).toEqual([
        status,
        status === end ? [{ status }] : 'CE001',
      ]);
    const next = `last_number = last_number + 1, last_seal = sha256('x'), head_seal = sha256('y')`;
    expect(await set(next)).toBe('CE001');
  });

  test('while it is ending its last number is the one that the AT was told', async () => {
    const where = `where company_id = $1 and document_type = 'INVOICE' and last_number > 0`;
    const set = (assignment: string) =>
      asOwner(`update certo.series set ${assignment} ${where} returning status`, [B.id]);
    expect(await set(`status = 'ENDING', is_default = false, was_default = true`)).toEqual([{ status: 'ENDING' }]);
    for (const status of ['ENDING', 'ACTIVE', 'FINALIZED'])
      expect(
        await set(
          `status = '${status}', last_number = last_number + 1, last_seal = sha256('x'), head_seal = sha256('y')`,
        ),
      ).toBe('CE001');
    expect(await set(`status = 'ACTIVE', is_default = true, was_default = false`)).toEqual([{ status: 'ACTIVE' }]);
  });

  test('one that a restore closed stays so, and stays closed by that restore', async () => {
    const { id } = B.series.CREDIT_NOTE;
    const set = (assignment: string) =>
      asOwner(`update certo.series set ${assignment} where id = $1 returning status`, [id]);
    for (const number of [1, 2])
      await asOwner(
        `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost) values ($1, certo.now(), '1', sha256('x'), false)`,
        [number],
      );
    expect(await set(`status = 'CLOSED', is_default = false`)).toBe('23514');
    expect(await set(`closed_by = 1`)).toBe('23514');
    expect(await set(`status = 'CLOSED', closed_by = 1`)).toBe('23514');
    expect(await set(`status = 'CLOSED', closed_by = 1, is_default = false`)).toEqual([{ status: 'CLOSED' }]);
    for (const assignment of [
      `status = 'ACTIVE', closed_by = null`,
      `status = 'FINALIZED', closed_by = null`,
      'closed_by = 2',
      `last_number = last_number + 1, last_seal = sha256('x'), head_seal = sha256('y')`,
    ])
      expect([assignment, await set(assignment)]).toEqual([assignment, 'CE001']);
  });

  test('an identifier is never used again for its type, in other letters neither', async () => {
    const copy = `insert into certo.series (company_id, id, document_type, at_type, code)
      select company_id, gen_random_uuid(), document_type, at_type, $2 from certo.series where id = $1`;
    expect(await asOwner(copy, [B.series.INVOICE.id, 'b2026'])).toBe('23505');
    expect(await asOwner(copy, [B.series.INVOICE.id, 'B2027'])).toEqual([]);
  });
});

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

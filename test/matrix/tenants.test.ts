/**
 * Every operation × every place of a request that takes an id (path, query, body, nested; read from the declarations) ×
 * the id of everything another company has: the answer is the one of an id that nobody has, byte for byte, and nothing
 * of the other company changes. Where an id may be left out, the same place is shown to take a company's own.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../src/operations/all.ts';
import type { Operation } from '../../src/operations/operation.ts';
import type { Answer } from '../client.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { type Sample, samples, withId } from './samples.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let Z: TestCompany;
let ofB: Readonly<Record<string, string>>;
let ofZ: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await startService();
  ({ A, B, Z } = service.companies);
  ofB = await everything(B);
  ofZ = await everything(Z);
});
afterAll(() => service.stop());

/** An id of each kind of thing a company has: its own, and one of every table, document type and state, and line. */
async function everything(company: TestCompany): Promise<Record<string, string>> {
  const paid = await company.issue(await company.draft());
  await company.post(`/invoices/${paid.id}/pay`, {});
  const credited = await company.issue(await company.draft());
  await company.post('/invoices/credit-notes', { parentInvoiceId: credited.id });
  await company.post('/invoices/credit-notes', { parentInvoiceId: paid.id, issue: false });
  const cancelled = await company.issue(await company.draft());
  await company.post(`/invoices/${cancelled.id}/cancel`);
  const issued = await company.issue(await company.draft());
  await company.get(`/invoices/${issued.id}/pdf`);
  await company.draft();
  await company.transport();
  const transport = await company.transport();
  await company.issueTransport(transport);
  const proposal = await company.proposal();
  await service.owner.query(
    `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, problem, resolved_at, resolution)
     values ($1, gen_random_uuid(), sha256('x'), '', '', 'x', certo.now(), 'x')`,
    [company.id],
  );
  await service.owner.query(
    `insert into certo.imported_documents (company_id, id, number, number_key, type, status, date, customer_name, net, tax, gross, import_id)
     values ($1, gen_random_uuid(), 'FT LOJA/1', 'FT LOJA/1', 'INVOICE', 'ISSUED', '2026-01-01', 'X', 1, 0, 1, gen_random_uuid())`,
    [company.id],
  );
  await service.owner.query(
    `insert into certo.templates (company_id, id, name, formats) values ($1, gen_random_uuid(), 'X', '{A4,RECEIPT,RECEIPT_58}')`,
    [company.id],
  );
  const found: Record<string, string> = {
    company: company.id,
    'line of an invoice': issued.items[0]!.id,
    'line of a transport document': transport.items[0]!.id,
    'line of a pro forma': proposal.items[0]!.id,
  };
  const { rows: tables } = await service.owner.query<{ name: string; kind: string }>(
    `select c.relname as name,
       case c.relname when 'documents' then 'type || status' when 'series' then 'document_type' else '''''' end as kind
     from pg_class c where c.relnamespace = 'certo'::regnamespace and c.relkind = 'r'
       -- Their ids are those of documents, which are here already.
       and c.relname not in ('document_words', 'document_note_words')
       and 2 = (select count(*) from pg_attribute a where a.attrelid = c.oid and a.attname in ('company_id', 'id'))`,
  );
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['api_keys', 'audit', 'customers', 'documents', 'integrity_breaks', 'items', 'series']),
  );
  for (const { name, kind } of tables) {
    const { rows } = await service.owner.query<{ id: string; kind: string }>(
      `select distinct on (kind) id, kind from (select id, ${kind} as kind from certo.${name} where company_id = $1) own
       order by kind, id desc`,
      [company.id],
    );
    expect([name, rows.length > 0]).toEqual([name, true]);
    for (const row of rows) found[`${name} ${row.kind}`] = row.id;
  }
  // What the database does not hand out as an id but calls one.
  const { rows } = await service.owner.query('select lineage from certo.api_keys where company_id = $1', [company.id]);
  return { ...found, lineage: rows[0]!.lineage };
}

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly lowered?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Place {
  readonly where: 'path' | 'query' | 'body';
  /** Names of members; '0' is the first of a list. */
  readonly steps: readonly string[];
  /** A request is one without it, too. */
  readonly optional: boolean;
}

function* placesIn(
  schema: Schema | undefined,
  where: Place['where'],
  steps: readonly string[],
  optional: boolean,
): Generator<Place> {
  if (schema === undefined) return;
  if (schema.format === 'uuid') yield { where, steps, optional };
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    yield* placesIn(member, where, [...steps, name], optional || !(schema.required ?? []).includes(name));
  }
  yield* placesIn(schema.items, where, [...steps, '0'], optional);
}

function placesOf({ path, query, body }: Operation): Place[] {
  return [
    // Not by their schema: where the contract answers 404 only, any text is an id.
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ where: 'path' as const, steps: [name!], optional: false })),
    ...placesIn(query as Schema | undefined, 'query', [], false),
    ...placesIn(body as Schema | undefined, 'body', [], false),
  ];
}

/** The least that a schema takes, with the id wherever it takes one. */
function least(schema: Schema, id: string): unknown {
  if (schema.format === 'uuid') return id;
  if (schema.type === 'array') return [least(schema.items!, id)];
  if (schema.type === 'number' || schema.type === 'integer') return 1;
  if (schema.type !== 'object') return 'x';
  return Object.fromEntries((schema.required ?? []).map((name) => [name, least(schema.properties![name]!, id)]));
}

function put(value: unknown, schema: Schema, steps: readonly string[], id: string): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return id;
  const inner = schema.properties?.[step] ?? schema.items!;
  if (step === '0') {
    const list = (value as unknown[] | undefined) ?? [least(inner, id)];
    return [put(list[0], inner, rest, id), ...list.slice(1)];
  }
  const members = (value ?? least(schema, id)) as Record<string, unknown>;
  return { ...members, [step]: put(members[step], inner, rest, id) };
}

/** The sample with an id put into a place. */
function withIdAt(operation: Operation, { path, body }: Sample, { where, steps }: Place, id: string): Sample {
  if (where === 'path') return { path: withId(operation.path, id), ...(body === undefined ? {} : { body }) };
  if (where === 'query') return { path: `${path}${path.includes('?') ? '&' : '?'}${steps[0]}=${id}` };
  return { path, body: put(body ?? {}, operation.body as Schema, steps, id) as Record<string, unknown> };
}

/** All of an answer but what is the request's own. */
function told({ status, headers, json, text }: Answer, id: string): unknown {
  const body = status < 400 ? text : JSON.stringify({ ...json, requestId: '', instance: '' }).replaceAll(id, '<id>');
  return { status, body, type: headers['content-type'], headers: Object.keys(headers).toSorted() };
}

async function booksOf(company: TestCompany): Promise<string> {
  const { rows: tables } = await service.owner.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id'
     where c.relnamespace = 'certo'::regnamespace and c.relkind = 'r' order by 1`,
  );
  const sums = tables.map(
    ({ name }) =>
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum from certo.${name} t where company_id = $1`,
  );
  return JSON.stringify((await service.owner.query(sums.join(' union all '), [company.id])).rows);
}

/** Places that take ids of what nothing makes yet. */
const ofNothingYet: ReadonlySet<string> = new Set(['scheduleTemplateId']);
/** Of the invoice that a debit note may correct. */
async function customerToCorrect(company: TestCompany): Promise<object> {
  if (company.id !== Z.id) return {};
  const { json } = await company.get<{ customer: { ref: string } }>(`/invoices/${ofZ['documents INVOICEISSUED']}`);
  return { customerId: json.customer.ref };
}

/** Samples for places that not every request of an operation has: the parent is one of a debit note. */
const instead: Readonly<Record<string, (company: TestCompany) => Promise<Sample>>> = {
  'createDraft parentInvoiceId': async (company) => {
    const { path, body } = await samples['createDraft']!(company);
    return { path, body: { ...body, type: 'DEBIT_NOTE', ...(await customerToCorrect(company)) } };
  },
  'patchDraft parentInvoiceId': async (company) => ({
    path: `/invoices/${(await company.draft({ type: 'DEBIT_NOTE', ...(await customerToCorrect(company)) })).id}`,
    body: { notes: 'uma' },
  }),
};

const sampled = (operation: Operation, { steps }: Place, company: TestCompany): Promise<Sample> =>
  (instead[`${operation.name} ${steps[0]}`] ?? samples[operation.name]!)(company);

/** A line of the record that a sample is about. */
async function lineOf(company: TestCompany, { path, body }: Sample): Promise<string | undefined> {
  const about =
    body?.['parentInvoiceId'] === undefined
      ? path.split('/').slice(0, 3).join('/')
      : `/invoices/${body['parentInvoiceId']}`;
  const { json } = await company.get<{ items?: { id: string }[] }>(about);
  return json?.items?.[0]?.id;
}

const withIds = operations
  .map((operation) => [operation.name, operation, placesOf(operation)] as const)
  .filter(([, , places]) => places.length > 0);

test('every operation with an id in its path has a place, and bodies and queries have some', () => {
  const names = withIds.map(([name]) => name);
  expect(names).toEqual(
    expect.arrayContaining(operations.filter(({ path }) => path.includes(':id')).map(({ name }) => name)),
  );
  const all = withIds.flatMap(([name, , places]) =>
    places.map(({ where, steps }) => `${name} ${where} ${steps.join('.')}`),
  );
  expect(all).toEqual(
    expect.arrayContaining([
      'issueInvoice path id',
      'listInvoices query parentInvoiceId',
      'createDraft body customerId',
      'createDraft body items.0.id',
      'patchDraft body items.0.id',
      'payInvoice body seriesId',
      'createCreditNote body items.0.id',
    ]),
  );
  expect(all.length).toBeGreaterThan(50);
});

/** Strings of a schema whose names say that they are ids, and that are not put in small letters. */
function spared(schema: Schema | undefined, name = ''): string[] {
  if (schema === undefined) return [];
  const isSpared = schema.type === 'string' && /^id$|Id$/.test(name) && schema.lowered !== true;
  const members = Object.entries(schema.properties ?? {}).flatMap(([inner, member]) => spared(member, inner));
  return [...(isSpared ? [name] : []), ...members, ...spared(schema.items)];
}

test('every id is put in small letters: seals are made under ids, and replies repeat them', () => {
  for (const { name, params, query, body } of operations) {
    const all = [params, query, body].flatMap((schema) => spared(schema as Schema | undefined));
    expect({ name, all }).toEqual({ name, all: [] });
  }
});

describe.each(withIds)('%s', (_name, operation, places) => {
  const { method } = operation;

  test.each(places.map((place) => [`${place.where} ${place.steps.join('.')}`, place] as const))(
    '%s: what another company has is what nobody has',
    async (_place, place) => {
      const sample = await sampled(operation, place, A);
      const before = await booksOf(B);
      const ask = async (id: string) => {
        const { path, body } = withIdAt(operation, sample, place, id);
        return told(await A.call(method, path, { body }), id);
      };
      const unknown = (await ask(uuidv7())) as { status: number; body: string };
      expect(await ask(uuidv7())).toEqual(unknown);
      if (unknown.status === 200) expect([place.where, unknown.body]).toEqual(['query', '[]']);
      else expect([400, 404]).toContain(unknown.status);
      for (const [kind, id] of Object.entries(ofB)) {
        expect({ kind, told: await ask(id) }).toEqual({ kind, told: unknown });
        // Ids are compared as values, not as text.
        if (kind === 'company') expect(await ask(id.toUpperCase())).toMatchObject({ status: unknown.status });
      }
      expect(await booksOf(B)).toBe(before);
    },
  );

  const own = places.filter(({ optional, steps }) => optional && !ofNothingYet.has(steps[0]!));
  if (own.length === 0) return;
  test.each(own.map((place) => [`${place.where} ${place.steps.join('.')}`, place] as const))(
    '%s: takes what the company itself has',
    async (_place, place) => {
      const ask = async (known?: string) => {
        const sample = await sampled(operation, place, Z);
        const id = known ?? (await lineOf(Z, sample)) ?? uuidv7();
        const { path, body } = withIdAt(operation, sample, place, id);
        const answer = await Z.call(method, path, { body });
        return { status: answer.status, body: (told(answer, id) as { body: string }).body };
      };
      const unknown = await ask(uuidv7());
      const answers = [];
      for (const [kind, id] of [['a line of its own', undefined] as const, ...Object.entries(ofZ)]) {
        const answer = await ask(id);
        answers.push([kind, answer.status]);
        if (answer.status === operation.reply[0] && answer.body !== unknown.body) return;
      }
      expect(answers).toEqual(['one that is taken']);
    },
  );
});

test.each(['x-company-id', 'x-tenant-id', 'x-tenant', 'x-organization-id', 'company-id', 'tenant'])(
  'the header %s changes nothing',
  async (header) => {
    const own = await A.get<{ id: string }>('/company');
    for (const value of [B.id, B.taxpayerNumber, B.keyId]) {
      const answer = await A.get<{ id: string }>('/company', { headers: { [header]: value } });
      expect(answer.text).toBe(own.text);
      expect((await A.get(`/customers/${ofB['customers ']}`, { headers: { [header]: value } })).status).toBe(404);
    }
    expect(own.json.id).toBe(A.id);
  },
);

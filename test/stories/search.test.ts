/**
 * `search` finds what a plain look at every document finds, in the same order: whatever is sought, however it is found,
 * and however much of it the clock has written down. The documents are written straight into the tables: their seals
 * prove nothing.
 */
import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyOf, type Condition, compile, contains, own, sql } from '../../src/db/page.ts';
import { noSetbacks, writeDownWords } from '../../src/doors/clock/words.ts';
import { entryOfCompany, entryOfNobody } from '../../src/identity/principal.ts';
import { createCompany } from '../../src/operations/company/create-company.ts';
import { withImported } from '../../src/operations/invoices/imported.ts';
import {
  customerWords,
  documentNotes,
  documentWords,
  inColumn,
  itemWords,
  readContaining,
  searchPage,
  type Words,
} from '../../src/operations/search.ts';
import { type TestDatabase, testDatabase } from '../database.ts';

let database: TestDatabase;
let A: string;
let B: string;
const series: Record<string, { readonly id: string; last: number }> = {};
const customerOf: Record<string, string> = {};

const names = [
  'João Pires',
  'Müller & Söhne',
  'ΑΘΗΝΑ ΑΕ',
  '100% Fresco_Lda',
  "D'Ávila \\ Filhos",
  'zq',
  'ﬁns 東京',
  'Ærø "quoted"',
];
const says = [
  null,
  'Avença de março',
  'Instalação\nna obra',
  'a_b%c\\d',
  "d'um lado",
  'MANUTENÇÃO  dupla',
  '½ preço',
  'ß',
  'çÇ:*&|!()',
];

beforeAll(async () => {
  database = await testDatabase();
  A = await company('501442600', 'A');
  B = await company('500000000', 'B');
  await documents(A, 'FT', 40);
  await documents(A, 'FS', 9);
  await documents(B, 'FT', 30);
  await transports(A, 8);
  await drafts(A, 7);
  await imported(A, 6);
  await masters(A, 24);
  await masters(B, 5);
});
afterAll(() => database.drop());

async function company(nif: string, letter: string): Promise<string> {
  const facts = {
    name: letter,
    taxpayerNumber: nif,
    cae: ['62010'],
    address: 'Rua 1',
    postalCode: '1000-001',
    city: 'Lisboa',
  };
  const id = await createCompany(database.ownerPool, { ...facts, region: 'PT' }, randomUUID);
  const { rows } = await database.ownerPool.query('select id from certo.customers where company_id = $1', [id]);
  customerOf[id] = rows[0].id;
  for (const [type, atType] of [
    ['INVOICE', 'FT'],
    ['SIMPLIFIED_INVOICE', 'FS'],
    ['GUIA_DE_REMESSA', 'GR'],
  ] as const) {
    const seriesId = randomUUID();
    // It does not begin at 1, as a series that another program began.
    await database.ownerPool.query(
      `insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code, start_number) values ($1, $2, $3, $4, $5, 'ACTIVE', 'AAJF', 7)`,
      [id, seriesId, type, atType, letter],
    );
    series[`${id} ${atType}`] = { id: seriesId, last: 6 };
  }
  return id;
}

let made = 0;

async function insert(row: Record<string, unknown>): Promise<void> {
  made += 1;
  const id = randomUUID();
  const common = {
    id,
    created_by: 'test',
    customer_id: customerOf[String(row['company_id'])],
    customer_name: names[made % names.length],
    customer_nif: made % 3 === 0 ? null : String(500000000 + made * 7919),
    currency: 'EUR',
    cae: '62010',
    net: made % 5,
    tax: 0,
    gross: made % 5,
    to_pay: made % 5,
    asked: {},
    content: {},
    description: says[made % says.length],
    notes: says[Math.floor(made / 2) % says.length],
    // Some at one instant: then the id decides.
    created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(made / 3))),
    ...row,
  };
  const columns = Object.keys(common);
  await database.ownerPool.query(
    `insert into certo.documents (${columns}) values (${columns.map((_, i) => `$${i + 1}`)})`,
    Object.values(common),
  );
}

async function number(companyId: string, atType: string, row: Record<string, unknown>): Promise<void> {
  const head = series[`${companyId} ${atType}`]!;
  head.last += 1;
  await insert({
    company_id: companyId,
    status: made % 4 === 0 ? 'PAID' : 'ISSUED',
    series_id: head.id,
    date: `2026-01-${String(1 + (made % 28)).padStart(2, '0')}`,
    sequence: head.last,
    number: `${atType} X/${head.last}`,
    atcud: `AAJF-${head.last}`,
    hash: `x${head.last}`,
    key_version: 1,
    certificate_number: 1,
    system_entry: 'x',
    qr: 'x',
    issued_at: new Date(),
    issued_by: 'test',
    seal: createHash('sha256').update(`a${head.last}`).digest(),
    state_seal: Buffer.alloc(32),
    issued_state: {},
    ...row,
  });
  await database.ownerPool.query(
    `update certo.series set last_number = $3::integer, last_hash = 'x' || $3::integer, last_seal = sha256(('a' || $3::integer)::bytea),
       head_seal = sha256(('b' || $3::integer)::bytea)
     where company_id = $1 and id = $2`,
    [companyId, head.id, head.last],
  );
}

async function documents(companyId: string, atType: 'FT' | 'FS', count: number): Promise<void> {
  const type = atType === 'FT' ? 'INVOICE' : 'SIMPLIFIED_INVOICE';
  for (let i = 0; i < count; i++) await number(companyId, atType, { family: 'SALES', type });
}

async function transports(companyId: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const transport = { licensePlate: `AA-${i}0-ZQ`, comments: says[i % says.length] ?? undefined };
    await number(companyId, 'GR', { family: 'TRANSPORT', type: 'GUIA_DE_REMESSA', content: { transport } });
  }
}

async function drafts(companyId: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await insert({ company_id: companyId, family: 'SALES', type: 'INVOICE', status: 'DRAFT' });
}

async function imported(companyId: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await database.ownerPool.query(
      `insert into certo.imported_documents (company_id, id, number, number_key, type, status, date, customer_name, net, tax, gross, import_id)
       values ($1, gen_random_uuid(), $2, $2, 'INVOICE', 'ISSUED', '2026-01-01', $3, 1, 0, 1, gen_random_uuid())`,
      [companyId, `FT LOJA/${i}`, names[i]],
    );
  }
}

async function masters(companyId: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const name = names[i % names.length];
    const archived = i % 7 === 3;
    await database.ownerPool.query(
      `insert into certo.customers (company_id, id, created_by, shown_name, company_name, taxpayer_number, email, country, is_archived, created_at)
       values ($1, gen_random_uuid(), 'test', $2, $3, $4, $5, 'PT', $6, $7)`,
      [
        companyId,
        name,
        says[i % 9],
        i % 3 === 0 ? null : String(500000000 + i * 7919),
        says[(i + 4) % 9],
        archived,
        new Date(i * 400),
      ],
    );
    await database.ownerPool.query(
      `insert into certo.items (company_id, id, created_by, name, description, type, unit_price, unit_type, vat_rate, vat_territory, is_archived, created_at)
       values ($1, gen_random_uuid(), 'test', $2, $3, 'SERVICE', 1, 'UNIT', 'NORMAL', 'CONTINENTAL', $4, $5)`,
      [companyId, name, says[i % 9], archived, new Date(i * 400)],
    );
  }
}

const sortColumns = {
  createdAt: { by: 'created_at' },
  date: { by: 'date', nulls: true },
  total: { by: 'gross' },
} as const;
const lists = {
  sales: { from: 'certo.documents', is: sql`family = 'SALES'`, more: ['description'] },
  paid: { from: 'certo.documents', is: sql`family = 'SALES' and status = 'PAID'`, more: ['description'] },
  imported: { from: withImported.sql, is: sql`family = 'SALES'`, more: ['description'], besides: withImported.besides },
  transport: {
    from: 'certo.documents',
    is: sql`family = 'TRANSPORT'`,
    more: ['at_doc_code', `content -> 'transport' ->> 'licensePlate'`, `content -> 'transport' ->> 'comments'`],
  },
  customers: { from: 'certo.customers', is: sql`not is_archived`, more: [] },
  items: { from: 'certo.items', is: sql`not is_archived`, more: [] },
} as const;

interface Question {
  readonly list: keyof typeof lists;
  readonly text: string;
  readonly sort: string;
  readonly offset: number;
  readonly limit: number;
  readonly steps: number;
  readonly looked: 'anywhere' | 'in the description' | 'in the notes';
}

/** In which columns of which list, among which words. */
function lookedIn({ list, looked }: Question): { columns: readonly string[]; among: Words; narrower: boolean } {
  if (list === 'customers')
    return {
      columns: ['shown_name', 'company_name', 'taxpayer_number', 'email'],
      among: customerWords,
      narrower: false,
    };
  if (list === 'items') return { columns: ['name', 'description'], among: itemWords, narrower: false };
  // What is written down of transport documents is no description, and their notes are nobody's to search.
  if (list === 'transport' || looked === 'anywhere') {
    const columns = ['number', 'atcud', 'customer_name', 'customer_nif', ...lists[list].more];
    return { columns, among: documentWords, narrower: false };
  }
  if (looked === 'in the notes') return { columns: ['notes'], among: documentNotes, narrower: false };
  return { columns: ['description'], among: documentWords, narrower: true };
}

async function bothWays(companyId: string, asked: Question): Promise<[unknown[], unknown[]]> {
  const { from, is, ...rest } = lists[asked.list];
  const { columns, among, narrower } = lookedIn(asked);
  const itself = anyOf(columns.map((column) => contains(column, asked.text)));
  const tx = database.db.read(entryOfCompany(companyId, 'test'));
  const isMasters = asked.list === 'customers' || asked.list === 'items';
  const sort = isMasters ? asked.sort.replace(/.*:/, 'createdAt:') : asked.sort;
  const listed = { from, columns: 'id', conditions: [is as Condition], sortColumns, page: { ...asked, sort } };
  const unwritten = 'besides' in rest ? rest.besides : undefined;
  const found = await searchPage(tx, listed, { text: asked.text, among, itself, narrower, unwritten }, asked.steps);
  const [field, direction] = sort.split(':');
  const { by } = sortColumns[field as keyof typeof sortColumns];
  const plain = await tx.query(
    compile(sql`select id from ${sql.raw(from)} where ${own} and ${is} and ${itself}
      order by ${sql.raw(`${by} ${direction} nulls last, id ${direction}`)} limit ${asked.limit} offset ${asked.offset}`),
  );
  return [found.map(({ id }) => id), plain.map(({ id }) => id)];
}

/** Pieces of what is there, in either case, and what is nowhere. */
const sought = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        ...names,
        // No line break: what is searched anywhere has none.
        ...says.flatMap((text) => text?.split('\n') ?? []),
        'FT X/12',
        'AAJF-3',
        '500',
        'AA-10-ZQ',
        'CODIGO 7',
        'LOJA/2',
      ),
      fc.nat(8),
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
    )
    .map(([text, from, length, loud]) => {
      const piece = [...text].slice(from, from + length).join('');
      return loud ? piece.toUpperCase() : piece;
    }),
  fc.string({ unit: 'grapheme', maxLength: 5 }).filter((text) => !/[\0\n\r]/.test(text)),
  fc.constantFrom('', ' ', '%', '_', '\\', "'", '\u0301', '%%', '_a', '\\%', ':*', '&', 'x'.repeat(254)),
);
const questions: fc.Arbitrary<Question> = fc.record({
  list: fc.constantFrom('sales', 'paid', 'imported', 'transport', 'customers', 'items'),
  text: sought,
  sort: fc.constantFrom('createdAt:desc', 'createdAt:asc', 'date:desc', 'date:asc', 'total:desc'),
  offset: fc.constantFrom(0, 0, 1, 3, 20),
  limit: fc.constantFrom(1, 2, 20, 100),
  // Nothing, something or all is walked past.
  steps: fc.constantFrom(1, 5, 30, 1000),
  looked: fc.constantFrom('anywhere', 'in the description', 'in the notes'),
});

async function searchesAreRight(runs: number): Promise<void> {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(questions, async (asked) => {
      const [found, plain] = await bothWays(A, asked);
      expect(found).toEqual(plain);
      hits += plain.length;
    }),
    { numRuns: runs },
  );
  expect(hits).toBeGreaterThan(runs / 10);
}

async function writtenDown(): Promise<number> {
  const { rows } = await database.ownerPool.query(
    'select count(*)::int as n from certo.document_words where company_id = $1',
    [A],
  );
  return rows[0].n;
}

const log = pino({ level: 'silent' });
const writeSome = () => writeDownWords({ db: database.db, log, setbacks: noSetbacks() });
async function writeAll(): Promise<void> {
  while (await writeSome());
}

describe('search finds the same as a plain look at everything', () => {
  test('before anything is written down', async () => {
    expect(await writtenDown()).toBe(0);
    await searchesAreRight(60);
  });

  test('when all is written down, once, whoever else writes at the same time', async () => {
    await Promise.all([writeAll(), writeAll(), writeAll()]);
    await writeAll();
    expect(await writtenDown()).toBe(57);
    expect(await writeSome()).toBe(false);
    await searchesAreRight(200);
  });

  test('when more documents were numbered since, and codes have come', async () => {
    await documents(A, 'FT', 12);
    await transports(A, 3);
    await drafts(A, 2);
    await database.ownerPool.query(
      `update certo.documents set at_doc_code = 'Código ' || sequence, last_event = last_event + 1, state_seal = sha256(sequence::text::bytea)
       where company_id = $1 and family = 'TRANSPORT'`,
      [A],
    );
    expect(await writtenDown()).toBe(57 + 11);
    await searchesAreRight(120);
    await writeAll();
    expect(await writtenDown()).toBe(57 + 11 + 15);
    await searchesAreRight(120);
  });
});

test('the words are those of the columns that are searched', async () => {
  const { rows } = await database.ownerPool.query(
    `select d.family, d.number from certo.documents d join certo.document_words w on w.company_id = d.company_id and w.id = d.id and w.part = 0
     where w.words <> array_to_string(array(select certo.fold(x) from unnest(case when d.family = 'TRANSPORT'
       then array[d.number, d.atcud, d.customer_name, d.customer_nif, d.content -> 'transport' ->> 'licensePlate', d.content -> 'transport' ->> 'comments']
       else array[d.number, d.atcud, d.customer_name, d.customer_nif, d.description] end) x where x is not null), e'\\n')`,
  );
  expect(rows).toEqual([]);
});

test.each([
  ['documents_with', 'x/', 'documents', 30],
  ['documents_noting', '', 'documents', 30],
  ['documents_noting', 'avenca', `documents where notes like 'Aven%'`, 4],
  ['customers_with', '', 'customers', 6],
  ['customers_with', 'zq', `customers where shown_name = 'zq'`, 0],
  ['items_with', '', 'items', 5],
  ['items_with', 'j', `items where certo.fold(name) like '%j%'`, 1],
])('%s(%j): another company’s rows are not found, and without a company none is', async (found, text, rows, count) => {
  await writeAll();
  const { rows: expected } = await database.ownerPool.query(
    `select id from (select * from certo.${rows}) r where company_id = $1`,
    [B],
  );
  const query = { sql: `select certo.${found}($1) as id`, parameters: [text] };
  const seen = await database.db.read(entryOfCompany(B, 'test')).query(query);
  expect(seen.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
  expect(seen.length).toBe(count);
  expect(await database.db.read(entryOfNobody).query(query)).toEqual([]);
});

test('notes are written down where there are some, as they are', async () => {
  const { rows } = await database.ownerPool.query(
    `select d.notes, w.words from certo.documents d left join certo.document_note_words w on w.company_id = d.company_id and w.id = d.id
     where d.number is not null and w.words is distinct from case when d.family = 'SALES' and d.notes is not null then certo.fold(d.notes) end`,
  );
  expect(rows).toEqual([]);
});

test.each([
  [
    'customers',
    'words_of_customer(shown_name, company_name, taxpayer_number, email)',
    ['shown_name', 'company_name', 'taxpayer_number', 'email'],
  ],
  ['items', 'words_of_item(name, description)', ['name', 'description']],
])('the words of %s are those of the columns that are searched', async (table, words, columns) => {
  const { rows } = await database.ownerPool.query(
    `select id from certo.${table} where certo.${words} <> array_to_string(array(select certo.fold(x) from unnest(array[${columns}]) x where x is not null), e'\\n')`,
  );
  expect(rows).toEqual([]);
});

/** Entries that a statement of the service takes from the index of grams. */
async function entriesFor(sql: string): Promise<number> {
  const taken = {
    sql: `select pg_stat_get_xact_tuples_returned('certo.document_words_grams'::regclass)::int as n`,
    parameters: [],
  };
  return database.db.transact(entryOfCompany(A, 'test'), async (tx) => {
    // What this connection took before may still be in the count.
    const [before] = await tx.query(taken);
    await tx.query({ sql, parameters: [] });
    const [after] = await tx.query(taken);
    return Number(after!['n']) - Number(before!['n']);
  });
}

test('under row-level security the index finds by grams, not by company, however short the words', async () => {
  // So many that it pays.
  await database.ownerPool.query(
    `insert into certo.document_words (company_id, id, part, words)
     select $1, gen_random_uuid(), 0, 'ft x/' || n || ' enchimento' from generate_series(1, 5000) n`,
    [A],
  );
  await database.ownerPool.query('analyze certo.document_words');
  for (const words of ['instalacao', 'zq', '½', '%', 'd"', 'x/4321 e', 'nowhere']) {
    const taken = await entriesFor(`select certo.documents_with('${words}') as id`);
    expect([words, taken < 100]).toEqual([words, true]);
  }
  expect(await entriesFor(`select certo.documents_with('zq') as id`)).toBeGreaterThan(0);
  // Why there is a function: asked by the service itself, the index tells no more than the company.
  const plain = `select id from certo.document_words where company_id = certo.current_company()
    and certo.grams_of(words) @@ 'zq:*'::tsquery and words like '%zq%'`;
  const { length } = await database.db.read(entryOfCompany(A, 'test')).query({ sql: plain, parameters: [] });
  const entries = await entriesFor(plain);
  expect([length < 100, entries === 0 || entries >= 5000]).toEqual([true, true]);
});

test('of several filters by text each holds, whichever of them finds the rows', async () => {
  await writeAll();
  const tx = database.db.read(entryOfCompany(A, 'test'));
  const { is, from } = lists.sales;
  const listed = { from, columns: 'id', conditions: [is as Condition], sortColumns, page: { limit: 100 } };
  const pieces = ['a', 'ç', 'avenca', 'instala', '', 'zz', 'dupla', '½ pr', 'ção\nna'];
  let hits = 0;
  for (const described of pieces)
    for (const noted of pieces) {
      const both = [inColumn('description', described, documentWords), inColumn('notes', noted, documentNotes)];
      const asked = [both, both.toReversed(), both.map((one) => ({ ...one, among: undefined }))];
      const found = await Promise.all(asked.map((filters) => readContaining(tx, listed, filters)));
      const [first, ...others] = found.map((rows) => rows.map(({ id }) => id));
      for (const other of others) expect([described, noted, other]).toEqual([described, noted, first]);
      hits += first!.length;
    }
  expect(hits).toBeGreaterThan(100);
});

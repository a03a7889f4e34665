/**
 * Orders that an index gives: no list is sorted anew for its first page, whatever it holds, and no batch of the clock by
 * all that waits behind it. PostgreSQL says so.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contains, type Listed, pageOf, sql } from '../../src/db/page.ts';
import { type Composed, declaredStatements } from '../../src/db/statement.ts';
import type { Tx } from '../../src/db/transact.ts';
import { entryOfCompany } from '../../src/identity/principal.ts';
import { createCompany } from '../../src/operations/company/create-company.ts';
import { sortColumns } from '../../src/operations/listed-documents.ts';
import { documentNotes, documentWords, searchPage } from '../../src/operations/search.ts';
import { type TestDatabase, testDatabase } from '../database.ts';

import '../../src/doors/clock/reports.ts';
import '../../src/doors/clock/words.ts';
import '../../src/operations/reports/tell-again.ts';

let database: TestDatabase;
let company: string;

beforeAll(async () => {
  database = await testDatabase();
  const facts = {
    name: 'A',
    taxpayerNumber: '501442600',
    cae: ['62010'],
    address: 'Rua 1',
    postalCode: '1000-001',
    city: 'Lisboa',
  };
  company = await createCompany(database.ownerPool, { ...facts, region: 'PT' }, randomUUID);
});
afterAll(() => database.drop());

/** The plan as the service's role gets it, where reading a whole table or sorting is the last resort. */
async function planOf(listed: Listed): Promise<string> {
  const { sql: text, parameters } = pageOf(listed);
  return explained(text, parameters);
}

async function explained(text: string, parameters: readonly unknown[]): Promise<string> {
  const ways = ['enable_seqscan', 'enable_sort', 'enable_bitmapscan'].map((way) => `set_config('${way}', 'off', true)`);
  return database.db.transact(entryOfCompany(company, 'test'), async (tx) => {
    await tx.query({ sql: `select ${ways.join(' || ')} as off`, parameters: [] });
    const rows = await tx.query({ sql: `explain ${text}`, parameters });
    return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
  });
}

const sales = [sql`family in ('SALES', 'RECEIPT')`, sql`status <> 'SCHEDULED'`];
const lists: [string, readonly Listed['conditions'][number][], string, string][] = [
  ['invoices', sales, 'createdAt:desc', 'Index Only Scan Backward using documents_listed'],
  ['invoices', sales, 'createdAt:asc', 'Index Only Scan using documents_listed'],
  ['invoices', sales, 'date:desc', 'Index Only Scan Backward using documents_dated'],
  ['drafts', [...sales, sql`status = 'DRAFT'`, sql`number is null`], 'createdAt:desc', 'using documents_'],
  ['canceled', [...sales, sql`status = 'CANCELED'`], 'createdAt:desc', 'using documents_'],
  ['notes', [...sales, sql`type = 'CREDIT_NOTE'`], 'createdAt:desc', 'using documents_'],
  ['pro formas', [sql`family = 'PROFORMA' and hidden_at is null`], 'createdAt:desc', 'using documents_apart'],
  ['transports', [sql`family = 'TRANSPORT'`], 'createdAt:desc', 'using documents_apart'],
  ['transports', [sql`family = 'TRANSPORT'`], 'movementDate:desc', 'Backward using documents_by_movement'],
];

test.each(lists)('%s %#: an index gives the order', async (_, conditions, sort, index) => {
  const plan = await planOf({
    from: 'certo.documents',
    columns: 'number',
    conditions,
    sortColumns,
    page: { sort, offset: 40 },
  });
  expect(plan).toContain(index);
  expect(plan).not.toContain('Sort');
});

test.each([
  ['certo.customers', 'createdAt:desc'],
  ['certo.items', 'createdAt:asc'],
])('%s by %s: an index gives the order', async (from, sort) => {
  const plan = await planOf({ from, columns: 'name', conditions: [], sortColumns, page: { sort } });
  expect(plan).not.toContain('Sort');
});

test.each([
  ['words_write', [200, null], 'documents_number'],
  ['words_next', [], 'documents_number'],
  ['report_lease', [randomUUID()], 'documents_to_report'],
  ['reports_refused', [], 'documents_refused'],
])(
  '%s: the next of those that wait, or were refused, come by an index, however many there are',
  async (name, parameters, index) => {
    const plan = await explained(declaredStatements().get(name)!, parameters);
    expect(plan).toContain(index);
    expect(plan).not.toContain('Sort');
  },
);

// What is rare is looked for in all documents whose words are not there yet: after an issue some, mostly none.
test('a search asks the index of numbers for what is not written down, and no whole series', async () => {
  const plans: string[] = [];
  const explaining = {
    query: async ({ sql: text, parameters }: Composed) => {
      plans.push(await explained(text, parameters));
      // As many as may be walked past, and none that fits.
      return [{ walked: 1, page_id: null }];
    },
  } as Pick<Tx, 'query'> as Tx;
  const listed = { from: 'certo.documents', columns: 'number', conditions: sales, sortColumns, page: {} };
  for (const [among, column] of [
    [documentWords, 'number'],
    [documentNotes, 'notes'],
  ] as const) {
    plans.length = 0;
    await searchPage(explaining, listed, { text: 'zzzz', among, itself: contains(column, 'zzzz') }, 1);
    const asked = plans[1]!
      .split('\n')
      .filter((line) => line.includes('Index Cond') && line.includes('series_id = s.id'));
    expect(asked.filter((line) => line.includes('sequence >'))).toHaveLength(1);
  }
});

test('this check can fail: no index gives the order of totals', async () => {
  const page = { sort: 'total:desc' };
  expect(await planOf({ from: 'certo.documents', columns: 'number', conditions: sales, sortColumns, page })).toContain(
    'Sort',
  );
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { entryOfCompany } from '../identity/principal.ts';
import { createCompany } from '../operations/company/create-company.ts';
import { rowsOf, snapshot } from './snapshot.ts';
import type { Tx } from './transact.ts';

let database: TestDatabase;
let companyId: string;
beforeAll(async () => {
  database = await testDatabase();
  const company = { name: 'A', taxpayerNumber: '500000000', cae: ['62010'], region: 'PT' as const };
  companyId = await createCompany(database.ownerPool, company, randomUUID);
});
afterAll(() => database.drop());

const entry = () => entryOfCompany(companyId, 'test');
const addCustomer = () =>
  database.ownerPool.query(
    `insert into certo.customers (company_id, id, created_by, shown_name, country) values ($1, gen_random_uuid(), 'test', 'x', 'PT')`,
    [companyId],
  );
const count = async (tx: Tx) =>
  Number((await tx.query({ sql: 'select count(*) as n from certo.customers', parameters: [] }))[0]!['n']);

test('every statement sees the instant of the first one', async () => {
  const [before, during] = await snapshot(database.db, entry(), async (tx) => {
    const first = await count(tx);
    await addCustomer();
    return [first, await count(tx)];
  });
  expect(during).toBe(before);
  expect(await snapshot(database.db, entry(), count)).toBe(before! + 1);
});

test('has the reach of its entry, and nobody else’s', async () => {
  expect(await snapshot(database.db, entryOfCompany(randomUUID(), 'test'), count)).toBe(0);
});

test('cannot write', async () => {
  const write = snapshot(database.db, entry(), (tx) =>
    tx.query({ sql: `update certo.customers set shown_name = 'y'`, parameters: [] }),
  );
  await expect(write).rejects.toThrow('read-only');
});

test('an entry that refuses ends it before anything is read', async () => {
  let read = false;
  const refused = snapshot(
    database.db,
    {
      ...entry(),
      accept: () => {
        throw new Error('refused');
      },
    },
    async () => {
      read = true;
    },
  );
  await expect(refused).rejects.toThrow('refused');
  expect(read).toBe(false);
});

test.each([0, 1, 9, 10, 11, 25])('%d rows come in portions of ten, each once', async (rows) => {
  const portions = await snapshot(database.db, entry(), async (tx) => {
    const found: number[][] = [];
    const query = 'select n from generate_series(1, $1::integer) n order by n';
    for await (const portion of rowsOf(tx, 'numbers', query, [rows], 10))
      found.push(portion.map((row) => Number(row['n'])));
    return found;
  });
  expect(portions.flat()).toEqual(Array.from({ length: rows }, (_, i) => i + 1));
  expect(portions.every(({ length }) => length > 0 && length <= 10)).toBe(true);
});

test('the same connection can read through a cursor of that name again, over other columns', async () => {
  for (const query of ['select 1 as a', `select 'x'::text as b, 2 as c`]) {
    await snapshot(database.db, entry(), async (tx) => {
      for await (const rows of rowsOf(tx, 'again', query, [], 5)) expect(rows).toHaveLength(1);
    });
  }
});

/** Text that is made to be slow: what it is searched by is the same as ever, and comes before a statement has to end. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, migrationFiles } from '../../src/db/migrate.ts';
import { openOwner } from '../../src/db/open.ts';
import { wrongWith } from '../../src/engine/plain-text.ts';
import { entryOfNobody } from '../../src/identity/principal.ts';
import { type TestDatabase, testDatabase } from '../database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

/** As the service asks it, within the time that its statements have. */
async function asked(sql: string, ...parameters: unknown[]): Promise<unknown> {
  const [row] = await database.db.read(entryOfNobody).query({ sql: `select ${sql} as told`, parameters });
  return row!['told'];
}

/** Any text that the database can hold. */
const anyText = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.string({ unit: fc.constantFrom('a', 'b', '\n', "'", '\\', '€', '\u0301', '😀'), maxLength: 12 }),
  )
  .map((text) => text.replaceAll('\0', ''));

test('the grams are each three characters, and fewer at the end, of whatever text', async () => {
  // As 0011_lists.sql had them, and as the indexes have them.
  const before = `array_to_tsvector(array(select substr($1::text, place, 3) from generate_series(1, length($1::text)) place))`;
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      expect(await asked(`certo.grams_of($1)::text = (${before})::text`, text)).toBe(true);
    }),
    { numRuns: 500 },
  );
  expect(await asked(`certo.grams_of('aviso')::text`)).toBe("'avi' 'iso' 'o' 'so' 'vis'");
  expect(await asked(`certo.grams_of('')::text`)).toBe('');
  expect(await asked('certo.grams_of(null)')).toBe(null);
});

test('very long text has its grams before its statement has to end', async () => {
  expect(await asked(`length(certo.grams_of(repeat('صلى الله عليه وسلم', 6000)))`)).toBe(20);
});

// As 0002_books.sql had it, and as words were written down by it.
const foldedBefore = `lower(regexp_replace(normalize(coalesce($1, ''), NFKD), '[\\u0300-\\u036f]', '', 'g'))`;

test('text without a crowd of marks is folded as ever', async () => {
  const marks = fc.string({
    unit: fc.constantFrom('\u0301', '\u0344', '\u0321', '\u05b0', '\u0591', '\uff9e'),
    maxLength: 15,
  });
  const marked = fc.array(fc.tuple(anyText, marks), { maxLength: 8 }).map((parts) => parts.flat().join(''));
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyText, marked), async (text) => {
      fc.pre(wrongWith(text)?.code !== 'OVERLOADED_TEXT');
      expect(await asked(`certo.fold($1) = ${foldedBefore}`, text)).toBe(true);
    }),
    { numRuns: 500 },
  );
  expect(await asked('certo.fold(null)')).toBe('');
  expect(await asked(`certo.fold($1)`, `${'ÁGUA '.repeat(40)}é${'\u0591'.repeat(29)}`)).toBe(
    `${'agua '.repeat(40)}e${'\u0591'.repeat(29)}`,
  );
});

test('of a crowd of marks thirty are left, before their sorting takes longer than a statement may', async () => {
  expect(await asked(`length(certo.fold('a' || repeat(U&'\\0591', 60000) || repeat(U&'\\05B0', 60000) || 'b'))`)).toBe(
    32,
  );
  expect(await asked(`length(certo.fold('a' || repeat(U&'\\FF9E', 60000) || repeat(U&'\\0334', 60000)))`)).toBe(31);
});

test('every character that is sorted counts as a mark, and none that begins a syllable', async () => {
  // Only the combining iota below comes behind all others.
  const { rows } = await database.ownerPool.query<{ code: number; sorted: boolean; thinned: boolean }>(
    `select code, sorted, thinned from generate_series(128, 1114111) code, chr(nullif(code, case when code between 55296 and 57343 then code end)) c,
       lateral (select normalize(U&'\\0345' || c, NFKD) <> U&'\\0345' || normalize(c, NFKD) as sorted, length(certo.thinned(repeat(c, 40))) = 30 as thinned) told
     where sorted or thinned`,
  );
  expect(rows.length).toBeGreaterThan(900);
  expect(rows.filter(({ thinned }) => !thinned)).toEqual([]);
  const others = rows
    .map(({ code }) => String.fromCodePoint(code))
    .filter((one) => !/[\p{M}\p{Cn}\uff9e\uff9f]/u.test(one));
  expect(others).toEqual([]);
});

test('customers and items whose names have such a crowd are found by them after the migration', async () => {
  const folder = pathToFileURL(`${await mkdtemp(join(tmpdir(), 'certo-migrations-'))}/`);
  const name = `long_words_${process.pid}`;
  const connection = { ...database.connection, database: name };
  const superuser = new Client({ ...database.connection, ssl: false });
  await superuser.connect();
  try {
    await superuser.query(`create database ${name}`);
    const files = await migrationFiles();
    const before = files.filter((file) => file.name < '0033');
    for (const file of before) await writeFile(new URL(`${file.name}.sql`, folder), file.text);
    await migrate({ connection, folder });
    const crowd = `a${'\u05b0'.repeat(50)}${'\u0591'.repeat(50)}`;
    const insert = `
      insert into certo.companies (id, name, taxpayer_number, cae, region, address, postal_code, city) values ($1, 'A', '501442600', '{62010}', 'PT', 'Rua 1', '1000-001', 'Lisboa')`;
    const owner = await openOwner({ connection });
    const company = randomUUID();
    await owner.query(insert, [company]);
    await owner.query(
      `insert into certo.customers (company_id, id, created_by, shown_name, country) values ($1, gen_random_uuid(), 'test', $2, 'PT')`,
      [company, crowd],
    );
    await owner.query(
      `insert into certo.items (company_id, id, created_by, name, type, unit_price, unit_type, vat_rate, vat_territory)
       values ($1, gen_random_uuid(), 'test', $2, 'SERVICE', 1, 'UNIT', 'NORMAL', 'CONTINENTAL')`,
      [company, crowd],
    );
    await owner.end();
    await migrate({ connection });
    const after = await openOwner({ connection });
    await after.query('set enable_seqscan = off');
    for (const [table, column] of [
      ['customers', 'shown_name'],
      ['items', 'name'],
    ]) {
      const { rows } = await after.query(
        `select length(certo.fold(${column})) as length from certo.${table} where company_id = $1 and certo.fold(${column}) = certo.fold($2)`,
        [company, crowd],
      );
      expect([table, rows]).toEqual([table, [{ length: 31 }]]);
    }
    await after.end();
  } finally {
    await superuser.query(`drop database if exists ${name} with (force)`);
    await superuser.end();
    await rm(folder, { recursive: true });
  }
});

/** Text that is made to be slow: what it is searched by is the same as ever, and comes before a statement has to end. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nobody } from '../../src/doors/clock/clock.ts';
import { type TestDatabase, testDatabase } from '../database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

/** As the service asks it, within the time that its statements have. */
async function asked(sql: string, ...parameters: unknown[]): Promise<unknown> {
  const [row] = await database.db.read(nobody).query({ sql: `select ${sql} as told`, parameters });
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

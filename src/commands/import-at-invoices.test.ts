import { randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type More, runInProcess } from '../../test/commands/in-process.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { efaturaHead, efaturaLine } from '../at/efatura/write-efatura.ts';
import { createCompany } from '../operations/company/create-company.ts';

const nif = '599999942';
let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-import-'));
  const company = { name: 'Casa Nova, Lda', taxpayerNumber: nif, cae: ['62010'], region: 'PT' as const };
  await createCompany(database.ownerPool, company, randomUUID);
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], input?: More['input']) =>
  runInProcess({ database, folder }, ['import', 'at-invoices', ...args], input === undefined ? {} : { input });

const lineOf = (n: number, gross = '12.30') =>
  efaturaLine({
    number: `FT LOJA/${n}`,
    atcud: `JFLOJA99-${n}`,
    acquirer: '508025095 - Casa Alfa, Lda',
    type: 'Fatura',
    date: '2026-03-01',
    gross,
    tax: '2.30',
    net: '10.00',
    situation: 'Registado',
  });
const fileOf = (...lines: string[]) => efaturaHead() + lines.join('');
const count = async () =>
  (await database.ownerPool.query('select count(*)::int as n from certo.imported_documents')).rows[0].n;

describe('certo import at-invoices', () => {
  test('tells what it did, what changed, and what it would do', async () => {
    const file = join(folder, 'efatura.csv');
    writeFileSync(file, fileOf(lineOf(1), lineOf(2)));
    expect(await run([file, '--company', nif, '--dry-run'])).toEqual({
      code: 0,
      out: 'Would be imported: 2 new, 0 changed, 0 known, 0 issued here.\n',
      err: '',
    });
    expect(await count()).toBe(0);
    expect((await run([file, '--company', nif])).out).toBe('Imported: 2 new, 0 changed, 0 known, 0 issued here.\n');
    expect((await run([file, '--company', nif])).out).toBe('Imported: 0 new, 0 changed, 2 known, 0 issued here.\n');
    writeFileSync(file, fileOf(lineOf(2, '13.00'), lineOf(3)));
    expect((await run([file, '--company', nif])).out).toBe(
      '2: FT LOJA/2 changed at the AT.\nImported: 1 new, 1 changed, 0 known, 0 issued here.\n',
    );
    const json = await run(['-', '--company', nif, '--json'], fileOf(lineOf(2), lineOf(3)));
    expect(JSON.parse(json.out)).toEqual({
      ok: true,
      dryRun: false,
      added: 0,
      changed: 1,
      known: 1,
      own: 0,
      problems: [],
      problemCount: 0,
      changes: [{ line: 2, number: 'FT LOJA/2' }],
    });
    expect(await count()).toBe(3);
  });

  test('tells everything that is wrong with its line, in either language, and keeps nothing', async () => {
    const bad = fileOf(lineOf(10), lineOf(11).replace('Fatura', 'Guia'), lineOf(12).replace('2026-03-01', 'ontem'));
    const ended = await run(['-', '--company', nif], bad);
    expect(ended.code).toBe(1);
    expect(ended.out).toMatch(
      /^3: The document type "Guia" is none.*\n4: Data Emissão "ontem" is no day\. .*\n2 problems: nothing was imported\. .*\n$/,
    );
    const portuguese = await run(['-', '--company', nif, '--json', '--language', 'pt'], bad);
    expect([portuguese.code, JSON.parse(portuguese.out)]).toEqual([
      1,
      expect.objectContaining({
        ok: false,
        problemCount: 2,
        problems: [
          expect.objectContaining({ line: 3, code: 'TYPE', message: expect.stringMatching(/^O tipo de documento/) }),
          expect.objectContaining({ line: 4, code: 'DATE', message: expect.stringMatching(/não é um dia/) }),
        ],
      }),
    ]);
    const many = await run(
      ['-', '--company', nif],
      fileOf(...Array.from({ length: 150 }, (_, i) => lineOf(i).replace('€', '$'))),
    );
    expect(many.out.split('\n').slice(99)).toEqual([
      expect.stringMatching(/^101: /),
      '… 50 more',
      '150 problems: nothing was imported. Correct the file and import it again.',
      '',
    ]);
    expect(await count()).toBe(3);
  });

  test.each([
    [['nowhere.csv', '--company', nif], 2, /There is no file nowhere\.csv: check its name/],
    [['-', '--company', '599999950'], 1, /no such company/],
    [['-'], 2, /--company/],
    [['-', '--company', nif, '--language', 'fr'], 2, /en, pt/],
  ])('%j', async (args, code, words) => {
    const ended = await run(args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err).toMatch(words);
  });

  test('whoever stops sending in the middle has sent nothing', async () => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(fileOf(...Array.from({ length: 2000 }, (_, i) => lineOf(i + 100))));
      throw Object.assign(new Error('gone'), { code: 'EIO' });
    }
    const ended = await run(['-', '--company', nif], breaking());
    expect(ended.code).not.toBe(0);
    expect(await count()).toBe(3);
  });
});

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type More, runInProcess } from '../../test/commands/in-process.ts';
import { type TestDatabase, testDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { everything, sourceOf, textOf } from '../../test/golden/saft-samples.ts';
import { schemaFaults } from '../../test/golden/saft-schema.ts';
import { writeSaft } from '../fiscal/saft/write.ts';
import { createCompany } from '../operations/company/create-company.ts';
import { countedDocuments } from './saft.ts';

const nif = '599999942';
let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-saft-'));
  const company = {
    name: 'Casa Nova, Lda',
    taxpayerNumber: nif,
    cae: ['62010'],
    region: 'PT' as const,
    city: 'Lisboa',
  };
  await createCompany(database.ownerPool, company, randomUUID);
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], more?: More) => runInProcess({ database, folder }, args, more);

const exporting = (...more: string[]) => [
  'saft',
  'export',
  '--company',
  nif,
  '--from',
  '2026-03-01',
  '--to',
  '2026-03-31',
  ...more,
];

describe('saft export', () => {
  test('what is in it is counted in words', () => {
    expect(countedDocuments({ SALES: 1, TRANSPORT: 1, PROFORMA: 1, RECEIPT: 1 })).toBe(
      '1 invoice or note, 1 transport document, 1 pro forma, 1 receipt',
    );
    expect(countedDocuments({ SALES: 1200 })).toBe(
      '1 200 invoices and notes, 0 transport documents, 0 pro formas, 0 receipts',
    );
  });

  test('to standard output: the file and nothing else; the summary stands beside it', async () => {
    const { code, out, err } = await run(exporting());
    expect(code).toBe(0);
    expect(schemaFaults(out)).toEqual([]);
    expect(out).toContain(`<TaxRegistrationNumber>${nif}<`);
    expect(out).toContain('<HeaderComment>Documentos sem valor fiscal (ambiente da AT: simulator)<');
    expect(err).toMatch(/^certo: 0 invoices and notes, .* bytes\.\n$/);
  });

  test('to a file, whole or not at all; never over another one', async () => {
    const file = join(folder, 'saft.xml');
    const { code, out, err } = await run(
      exporting(
        '--out',
        file,
        '--json',
        '--encoding',
        'Windows-1252',
        '--producer',
        'Casa de Programas',
        '--producer-nif',
        '508025095',
      ),
    );
    expect(err).toBe('');
    expect(code).toBe(0);
    const xml = new TextDecoder('windows-1252').decode(readFileSync(file));
    expect(JSON.parse(out)).toEqual({ file, from: '2026-03-01', to: '2026-03-31', bytes: xml.length, documents: {} });
    expect(schemaFaults(xml)).toEqual([]);
    expect(xml).toContain('<ProductCompanyTaxID>508025095<');
    expect(xml).toContain('<ProductID>Certo/Casa de Programas<');
    expect(readdirSync(folder).filter((name) => name.startsWith('saft.xml'))).toEqual(['saft.xml']);
    // Names and tax numbers of all customers.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await run(exporting('--out', file))).toMatchObject({
      code: 2,
      err: `certo: ${file} exists already: choose another file.\n`,
    });
  });

  test("while it is written its name is nobody else's: what stands there already is left alone", async () => {
    const [file, other] = [join(folder, 'planted.xml'), join(folder, 'other.txt')];
    writeFileSync(other, 'mine');
    symlinkSync(other, `${file}.part`);
    // As a backup does: what was written is the command's answer.
    expect(await run(exporting('--out', file))).toEqual({
      code: 0,
      out: expect.stringMatching(/^0 invoices and notes, .* bytes in \S+planted\.xml\.\n$/),
      err: '',
    });
    expect(schemaFaults(readFileSync(file, 'utf8'))).toEqual([]);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(readFileSync(other, 'utf8')).toBe('mine');
  });

  test('two at once write one file, which is whole, and leave nothing beside it', async () => {
    const file = join(folder, 'both.xml');
    const days = ['2026-03-30', '2026-03-29', '2026-03-28'];
    const endings = await Promise.all(days.map((day) => run(exporting('--out', file, '--from', day))));
    for (const { code, err } of endings)
      if (code !== 0) expect([code, err]).toEqual([2, expect.stringMatching(/exists already/)]);
    expect(endings.map(({ code }) => code)).toContain(0);
    const xml = readFileSync(file, 'utf8');
    expect(schemaFaults(xml)).toEqual([]);
    expect(days).toContain(/<StartDate>(.*)</.exec(xml)?.[1]);
    expect(readdirSync(folder).filter((name) => name.startsWith('both.xml'))).toEqual(['both.xml']);
  });

  /** Exports to a file that does not come on while `meanwhile` runs: the documents are locked. */
  async function heldUp(file: string, meanwhile: () => unknown) {
    const client = await database.ownerPool.connect();
    await client.query('begin');
    try {
      await client.query('lock table certo.documents in access exclusive mode');
      const ending = run(exporting('--out', file));
      await eventually(async () => {
        const waiting = await client.query(
          `select from pg_locks where not granted and relation = 'certo.documents'::regclass`,
        );
        expect(waiting.rowCount).toBe(1);
      });
      expect(namesOf(file)).toEqual([expect.stringMatching(/^[a-z]+\.xml\.[0-9a-f]{16}\.part$/)]);
      await meanwhile();
      await client.query('rollback');
      return await ending;
    } finally {
      client.release(true);
    }
  }
  const namesOf = (file: string) => readdirSync(folder).filter((name) => name.startsWith(basename(file)));

  test('what cannot be written to its end is gone', async () => {
    const file = join(folder, 'late.xml');
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'certo saft'`;
    const superuser = new pg.Client(database.connection);
    await superuser.connect();
    const ended = await heldUp(file, () => superuser.query(end)).finally(() => superuser.end());
    expect(ended).toMatchObject({ code: 3, out: '' });
    expect(namesOf(file)).toEqual([]);
  });

  test('a file that came meanwhile is not written over', async () => {
    const file = join(folder, 'taken.xml');
    const ended = await heldUp(file, () => writeFileSync(file, 'theirs'));
    expect(ended).toMatchObject({
      code: 2,
      err: expect.stringMatching(/taken\.xml exists already: choose another file/),
    });
    expect([namesOf(file), readFileSync(file, 'utf8')]).toEqual([['taken.xml'], 'theirs']);
  });

  test('into a folder that there is not: it is named, and nothing is made', async () => {
    expect(await run(exporting('--out', join(folder, 'none', 'x.xml')))).toMatchObject({
      code: 3,
      err: `certo: There is no folder ${join(folder, 'none')}: make it first.\n`,
    });
    expect(await run(['saft', 'check', folder])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/is a folder: a file is wanted\.\n$/),
    });
  });

  test.each([
    [['--from', '2026-02-30'], 2, /--from 2026-02-30 is no day/],
    [['--from', '1999-12-31'], 2, /--from 1999-12-31 is before 2000-01-01/],
    [['--to', '2025-01-01'], 2, /--to is before --from/],
    [['--json'], 2, /--out FILE/],
    [['--encoding', 'UTF-16'], 2, /Allowed choices are UTF-8, Windows-1252/],
    [['--producer', 'a/b'], 2, /no slash/],
    [['--producer-nif', '508025096'], 2, /no NIF/],
    [['--company', '599999950'], 1, /no such company/],
    [['--out', '/nowhere/saft.xml'], 3, /There is no folder \/nowhere: make it first/],
  ])('%j', async (args, code, words) => {
    const ended = await run(exporting(...args));
    expect(ended.err).toMatch(words);
    expect(ended.code).toBe(code);
    expect(ended.out).toBe('');
  });

  test('in production the producer has to be named', async () => {
    await database.ownerPool.query(`insert into certo.installation (at_mode) values ('production')`);
    const ended = await run(exporting());
    const named = await run(exporting('--producer-nif', '508025095'));
    await database.ownerPool.query('delete from certo.installation');
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err).toMatch(/--producer-nif/);
    expect(named.code).toBe(0);
    expect(named.out).not.toContain('HeaderComment');
  });

  test('a reader that goes away ends it, and so does a disk that is full', async () => {
    const gone = new PassThrough();
    gone.destroy();
    await once(gone, 'close');
    expect(await run(exporting(), { stdout: gone })).toMatchObject({
      code: 3,
      err: 'certo: Whoever read the output went away.\n',
    });
    const full = new Writable({
      highWaterMark: 1,
      write: (_bytes, _encoding, done) => done(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    });
    full.on('error', () => undefined);
    expect(await run(exporting(), { stdout: full })).toMatchObject({
      code: 3,
      err: 'certo: The disk is full: make room, and try again.\n',
    });
  });
});

describe('saft check', () => {
  let good: string;
  let file: string;
  beforeEach(async () => {
    file = join(folder, `${randomUUID()}.xml`);
  });
  beforeAll(async () => {
    const { documents, publicKey } = await everything();
    good = await textOf(writeSaft(sourceOf(documents)));
    writeFileSync(join(folder, 'key.txt'), publicKey.export({ type: 'spki', format: 'pem' }));
  });

  test('a good file: nothing but the summary', async () => {
    writeFileSync(file, good);
    expect(await run(['saft', 'check', file, '--key', join(folder, 'key.txt')])).toEqual({
      code: 0,
      out: '28 documents; signatures: 24 verified, 0 not to be verified; errors: 0, warnings: 0.\n',
      err: '',
    });
    expect((await run(['saft', 'check', '-', '--language', 'pt'], { input: good })).out).toBe(
      '28 documentos; assinaturas: 0 verificadas, 24 por verificar; erros: 0, avisos: 0.\n',
    );
  });

  test('one document is one', async () => {
    const { documents } = await everything();
    const input = await textOf(writeSaft(sourceOf(documents.slice(0, 1))));
    const told = async (language: string) =>
      (await run(['saft', 'check', '-', '--language', language], { input })).out.split('\n').at(-2);
    expect(await told('en')).toMatch(/^1 document; signatures: 0 verified, 1 not to be verified; /);
    expect(await told('pt')).toMatch(/^1 documento; assinaturas: 0 verificadas, 1 por verificar; /);
  });

  test('a bad one: line, document and what to do, in either language, and as JSON', async () => {
    const bad = good
      .replace('<TaxEntity>Global</TaxEntity>\n', '')
      .replaceAll('<UnitOfMeasure>un<', '<UnitOfMeasure><');
    writeFileSync(file, bad);
    const { code, out } = await run(['saft', 'check', file]);
    expect(code).toBe(1);
    expect(out).toMatch(/^3: ERROR: AuditFile\/Header lacks TaxEntity, which is mandatory\. Add it\.$/m);
    expect(out).toMatch(/^\d+: ERROR: FS A2026\/1: .*\/UnitOfMeasure is empty\./m);
    expect(out).toMatch(/^… \d+ × VALUE_EMPTY$/m);
    expect((await run(['saft', 'check', file, '--language', 'pt'])).out).toMatch(
      /^3: ERRO: Falta TaxEntity, que é obrigatório, em AuditFile\/Header\. Acrescente-o\.$/m,
    );
    const json = JSON.parse((await run(['saft', 'check', file, '--json'])).out);
    expect(json).toMatchObject({ ok: false, warnings: 0, counts: { ELEMENT_MISSING: 1 }, documents: { invoice: 15 } });
    expect(json.findings[0]).toMatchObject({
      code: 'ELEMENT_MISSING',
      line: 3,
      message: expect.stringMatching(/^AuditFile/),
    });
  });

  test('in Portuguese no word of it is English; what machines read stays as it is', async () => {
    writeFileSync(file, `${good}x`);
    const portuguese = ['saft', 'check', file, '--language', 'pt'];
    expect((await run(portuguese)).out).toMatch(
      /^\d+: ERRO: O XML está mal formado: texto fora do elemento raiz\. Nada depois/m,
    );
    const told = async (args: string[]) => JSON.parse((await run([...args, '--json'])).out).findings[0];
    const [en, pt] = [await told(['saft', 'check', file]), await told(portuguese)];
    expect(en).toMatchObject({ severity: 'ERROR', facts: { problem: 'text outside the root element' } });
    expect(pt).toMatchObject({ severity: en.severity, facts: en.facts, message: expect.stringMatching(/^O XML/) });
    writeFileSync(file, good.replace('<CustomerTaxID>501442600', '<CustomerTaxID>501442601'));
    expect((await run(portuguese)).out).toMatch(/^\d+: AVISO: /m);
  });

  test('warnings alone are no reason to say no', async () => {
    writeFileSync(file, good.replace('<CustomerTaxID>501442600', '<CustomerTaxID>501442601'));
    const { code, out } = await run(['saft', 'check', file]);
    expect(code).toBe(0);
    expect(out).toMatch(/WARNING: .*\n.*warnings: 1\.\n$/);
  });

  test('a file that is not there, and a key that is none', async () => {
    expect(await run(['saft', 'check', '/nowhere.xml'])).toMatchObject({
      code: 2,
      err: 'certo: There is no file /nowhere.xml: check its name.\n',
    });
    writeFileSync(file, 'x');
    expect(await run(['saft', 'check', file, '--key', `${file}/key`])).toMatchObject({
      code: 2,
      err: `certo: There is no file ${file}/key: check its name.\n`,
    });
    expect((await run(['saft', 'check', file, '--key', file])).err).toMatch(/is no public key/);
  });

  test('a private key is refused, in whichever form and beside whatever else, and nothing of it is shown', async () => {
    writeFileSync(file, good);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const secret = { cipher: 'aes-256-cbc', passphrase: 'segredo' };
    const pems = [
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
      privateKey.export({ type: 'pkcs1', format: 'pem' }),
      privateKey.export({ type: 'pkcs8', format: 'pem', ...secret }),
      `${publicKey.export({ type: 'spki', format: 'pem' })}${privateKey.export({ type: 'pkcs8', format: 'pem' })}`,
    ];
    const path = join(folder, 'private.pem');
    for (const pem of pems) {
      writeFileSync(path, pem);
      expect(await run(['saft', 'check', file, '--key', join(folder, 'key.txt'), path])).toEqual({
        code: 2,
        out: '',
        err: `certo: ${path} holds a private key, which has no place here: give the public one (BEGIN PUBLIC KEY).\n`,
      });
    }
  });

  test("another program's key: nothing is verified; one key is for every version while there is but one", async () => {
    const foreign = join(folder, 'foreign.txt');
    writeFileSync(
      foreign,
      generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }),
    );
    writeFileSync(file, good);
    const wrong = await run(['saft', 'check', file, '--key', foreign]);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toMatch(/signatures: 0 verified, 0 not to be verified; errors: 24, warnings: 0\.\n$/);
    writeFileSync(file, good.replace(/(?<=<HashControl>)1/g, '2'));
    expect((await run(['saft', 'check', file, '--key', join(folder, 'key.txt')])).out).toMatch(
      /: 24 verified, 0 not to be verified; errors: 0/,
    );
    const ofOrder = ['saft', 'check', file, '--key', foreign, join(folder, 'key.txt')];
    expect((await run(ofOrder)).out).toMatch(/: 24 verified, 0 not to be verified; errors: 0/);
    writeFileSync(file, good.replace(/(<InvoiceNo>FT F2026\/1<[\s\S]*?<HashControl>)1/, '$199'));
    const other = await run(['saft', 'check', file, '--key', join(folder, 'key.txt')]);
    expect([other.code, other.out]).toEqual([
      1,
      expect.stringMatching(/ERROR: FT F2026\/1: HashControl says key version 99, .* key of version 1\. /),
    ]);
  });
});

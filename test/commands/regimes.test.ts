/** The operator's part of the regimes: the cash VAT scheme, kinds of series and how they end, recovery. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { script } from './built.ts';
import { type CommandLine, type Environment, jsonOf, openCommandLine, urlOf } from './command-line.ts';
import { inside } from './in-process.ts';

const nif = '599999942';
const ofCompany = ['--company', nif];
let line: CommandLine;
let database: TestDatabase;
let env: Environment;

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine().then(inside), testDatabase()]);
  env = { DATABASE_URL: urlOf(database.connection), CERTO_DATA_DIR: line.folder('data') };
  await line.simulator(env);
  await json(['company', 'create', '--name', 'Casa Nova, Lda', '--nif', nif, '--cae', '62010', '--city', 'Lisboa']);
  await json(['company', 'credentials', nif, '--username', `${nif}/1`], 'right\n');
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

const json = <T>(args: readonly string[], input?: string): Promise<T> => jsonOf<T>(line, env, args, input);

async function refused(code: number, said: RegExp, args: readonly string[]): Promise<void> {
  const ended = await line.run(args, env);
  expect(ended.err).toMatch(said);
  expect(ended.err).toMatch(/^(certo: [^\n]+\n)+$/);
  expect(ended.code).toBe(code);
}

type Listed = {
  id: string;
  documentType: string;
  code: string;
  kind: string;
  cashVat: boolean;
  status: string;
  isDefault: boolean;
}[];
const series = () => json<Listed>(['series', 'list', ...ofCompany]);

test('the cash VAT scheme is set by its days, shown, and taken back', async () => {
  const set = ['company', 'cash-vat', nif];
  expect(await json([...set, '--from', '2027-01-01'])).toMatchObject({ cashVat: { from: '2027-01-01' } });
  expect(await json(['company', 'show', nif])).toMatchObject({ cashVatFrom: '2027-01-01' });
  const ended = await line.run([...set, '--from', '2027-01-01', '--until', '2028-12-31'], env);
  expect(ended.out).toMatch(/^Casa Nova, Lda is in the cash VAT scheme from 2027-01-01 to 2028-12-31\.$/m);
  expect((await line.run(['company', 'show', nif], env)).out).toMatch(/Cash VAT until +2028-12-31/);
  await refused(2, /--from 2027-02-30 is no day/, [...set, '--from', '2027-02-30']);
  await refused(2, /Say from when/, set);
  await refused(2, /Say from when/, [...set, '--never', '--from', '2027-01-01']);
  await refused(2, /Say from when/, [...set, '--until', '2027-01-01']);
  await refused(1, /is before its first: give a last day that is not/, [
    ...set,
    '--from',
    '2027-01-02',
    '--until',
    '2027-01-01',
  ]);
  await refused(1, /There is no such company/, ['company', 'cash-vat', '599999950', '--never']);
  expect(await json([...set, '--never'])).toMatchObject({ cashVat: null });
  expect(await json(['company', 'show', nif])).not.toHaveProperty('cashVatFrom');
});

test('series of each kind: only the normal ones are defaults, one with and one without the scheme', async () => {
  const register = (...more: string[]) => ['series', 'register', ...ofCompany, ...more];
  await json(register('--code', 'F2026', '--type', 'INVOICE', '--kind', 'training'));
  await json(register('--code', 'R2026', '--type', 'INVOICE', '--kind', 'recovery'));
  await json(register('--code', 'A2026', '--type', 'INVOICE', 'RECEIPT'));
  // As it is told: the command can be pasted.
  const told = await line.run(['company', 'cash-vat', nif, '--from', '2026-01-01'], env);
  const next = /^Next, series of its own: certo (.+)$/m.exec(told.out)?.[1] ?? '';
  expect(await json(next.split(' '))).toHaveLength(6);
  // Not again where its days change: what is registered at the AT stays there.
  const ends = await line.run(['company', 'cash-vat', nif, '--from', '2026-01-01', '--until', '2027-12-31'], env);
  expect(ends.out).toBe('Casa Nova, Lda is in the cash VAT scheme from 2026-01-01 to 2027-12-31.\n');
  await json(['company', 'cash-vat', nif, '--never']);
  const of = async (type: string) =>
    (await series())
      .filter(({ documentType }) => documentType === type)
      .map(({ code, kind, cashVat, isDefault }) => [code, kind, cashVat, isDefault]);
  expect(await of('INVOICE')).toEqual([
    ['F2026', 'training', false, false],
    ['A2026', 'normal', false, true],
    ['C2026', 'normal', true, true],
    ['R2026', 'recovery', false, false],
  ]);
  expect(await of('RECEIPT')).toEqual([
    ['A2026', 'normal', false, true],
    ['C2026', 'normal', true, true],
  ]);
  await refused(1, /INVOICE: The identifier f2026 was already used/, register('--code', 'f2026', '--type', 'INVOICE'));
  await refused(1, /INVOICE: The identifier F2026 was already used/, register('--code', 'F2026', '--type', 'INVOICE'));
  const cash = register('--code', 'C2026', '--type', 'PROFORMA', '--cash-vat');
  await refused(1, /There are no cash VAT series of PROFORMA/, cash);
  await refused(
    2,
    /Allowed choices are normal, training, recovery/,
    register('--code', 'X', '--type', 'INVOICE', '--kind', 'F'),
  );
});

test('a series without documents is annulled, not finalised; then it is gone for good, in any letter case', async () => {
  const found = async (code: string) =>
    (await series()).find((one) => one.code === code && one.documentType === 'INVOICE')!;
  const { id } = await found('F2026');
  await refused(1, /there is nothing to finalise\. To give it up: certo series annul/, [
    'series',
    'finalize',
    id,
    ...ofCompany,
  ]);
  expect(await json(['series', 'annul', id, ...ofCompany])).toEqual({ id, code: 'F2026', status: 'ANNULLED' });
  expect(await found('F2026')).toMatchObject({ status: 'ANNULLED', isDefault: false });
  await refused(1, /The series F2026 is ANNULLED, not active/, ['series', 'annul', id, ...ofCompany]);
  const again = ['series', 'register', ...ofCompany, '--type', 'INVOICE', '--kind', 'training', '--code'];
  await refused(1, /F2026 was already used/, [...again, 'F2026']);
  await refused(1, /f2026 was already used/, [...again, 'f2026']);
  await refused(1, /has no such series/, ['series', 'annul', '0197a5c2-0000-7000-8000-000000000000', ...ofCompany]);
  await refused(2, /is not the id of a series/, ['series', 'annul', 'F2026', ...ofCompany]);
});

test('the default is chosen, and passed on when it ends', async () => {
  const [made] = await json<Listed>(['series', 'register', ...ofCompany, '--code', 'B2026', '--type', 'INVOICE']);
  const choose = (id: string) => ['series', 'default', id, ...ofCompany];
  const defaults = async () =>
    (await series()).filter((one) => one.documentType === 'INVOICE' && one.isDefault).map(({ code }) => code);
  expect(await defaults()).toEqual(['A2026', 'C2026']);
  expect(await json(choose(made!.id))).toEqual({
    id: made!.id,
    code: 'B2026',
    documentType: 'INVOICE',
    cashVat: false,
    isDefault: true,
  });
  const idOf = async (code: string) =>
    (await series()).find((one) => one.code === code && one.documentType === 'INVOICE')!.id;
  const again = await line.run(choose(await idOf('C2026')), env);
  expect([again.code, again.out]).toEqual([0, 'The series C2026 is the default of INVOICE in the cash VAT scheme.\n']);
  expect(await defaults()).toEqual(['B2026', 'C2026']);
  await refused(1, /The series R2026 is for recovery: only certo recover numbers in it/, choose(await idOf('R2026')));
  await refused(1, /The series F2026 is for training/, choose(await idOf('F2026')));
  await refused(1, /has no such series/, choose('0197a5c2-0000-7000-8000-000000000000'));
  await refused(2, /is not the id of a series/, choose('B2026'));
  const ended = await line.run(['series', 'annul', made!.id, ...ofCompany], env);
  expect([ended.code, ended.out]).toEqual([
    0,
    'The series B2026 is annulled. Its identifier is not used again. The default is A2026 now.\n',
  ]);
  expect(await defaults()).toEqual(['A2026', 'C2026']);
  await refused(1, /The series B2026 is ANNULLED, not active/, choose(made!.id));
});

describe('certo recover', () => {
  interface Recovered {
    readonly recovered: number;
    readonly known: number;
    readonly documents: {
      readonly place: string;
      readonly original: string;
      readonly number: string;
      readonly state: string;
    }[];
  }
  let ids: { readonly customerId: string; readonly itemId: string };
  const write = (name: string, content: unknown): string => {
    const path = line.folder(name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const form = (original: string, over: Record<string, unknown> = {}) => ({
    kind: 'M',
    original,
    type: 'INVOICE',
    date: '2026-03-02',
    total: 123,
    cae: '62010',
    customerId: ids.customerId,
    items: [{ id: ids.itemId, quantity: 1 }],
    ...over,
  });
  const recover = (file: string, ...more: string[]) => ['recover', file, ...ofCompany, ...more];
  const lastNumber = async () => {
    const { rows } = await database.ownerPool.query(
      `select last_number::int as last from certo.series where kind = 'R' and document_type = 'INVOICE'`,
    );
    return rows[0].last as number;
  };

  beforeAll(async () => {
    await json(['series', 'register', ...ofCompany, '--code', 'A2026', '--type', 'CREDIT_NOTE']);
    const { apiKey } = await json<{ apiKey: string }>(['api-key', 'create', '--name', 'till', ...ofCompany]);
    const service = await line.serve(env);
    const post = async (path: string, body: unknown): Promise<string> => {
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
      const answer = await fetch(service.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return ((await answer.json()) as { id: string }).id;
    };
    const customerId = await post('/customers', { name: 'Cliente, SA', country: 'PT', taxpayerNumber: '501442600' });
    const itemId = await post('/items', { name: 'Consultoria', type: 'SERVICE', unitPrice: 100, vatRate: 'NORMAL' });
    ids = { customerId, itemId };
    await service.end();
  });

  test('recovers the documents of a file, and again changes nothing', async () => {
    const file = write('two.json', { documents: [form('abc/2', { date: '2026-03-03' }), form('abc/00001')] });
    expect(await json(recover(file, '--dry-run'))).toEqual({ ok: true, documents: 2, toRecover: 2 });
    expect(await lastNumber()).toBe(0);
    const ended = await line.run(recover(file), env);
    expect([ended.code, ended.err]).toEqual([0, '']);
    expect(ended.out).toBe(
      'abc/00001  FT R2026/1\nabc/2  FT R2026/2\n2 documents recovered, 0 known from an earlier run of this file.\n',
    );
    const again = await json<Recovered>(recover(file));
    expect([again.recovered, again.known]).toEqual([0, 2]);
    expect(again.documents[0]).toMatchObject({
      place: '/documents/1',
      original: 'abc/00001',
      number: 'FT R2026/1',
      state: 'known',
    });
    // Laid out otherwise it is still the same file.
    const pretty = write('pretty.json', `\uFEFF${JSON.stringify(JSON.parse(readFileSync(file, 'utf8')), null, 2)}\n`);
    expect((await json<Recovered>(recover(pretty))).known).toBe(2);
    expect(await lastNumber()).toBe(2);
    const { rows } = await database.ownerPool.query(
      `select count(*)::int as n from certo.audit where operation = 'recoverDocument'`,
    );
    expect(rows[0].n).toBe(2);
  });

  test('F19: another file with one of them is refused, told by its place', async () => {
    const file = write('again.json', {
      documents: [form('other/1', { date: '2026-03-03' }), form('ABC/0001', { date: '2026-03-03' })],
    });
    const ended = await line.run(recover(file), env);
    expect(ended.code).toBe(1);
    expect(ended.out).toBe(
      '/documents/1/original: ABC/0001 was recovered already: it is FT R2026/1. Take it out of the file.\n',
    );
    expect(ended.err).toBe('certo: 1 problem; nothing was written.\n');
    expect(await lastNumber()).toBe(2);
  });

  test('everything wrong with a file is told at once', async () => {
    const { total: _total, ...incomplete } = form('x/1');
    const file = write('wrong.json', {
      documents: [
        incomplete,
        form('x 1'),
        form('x/2', { kind: 'D' }),
        form('x/3', { colour: 'red', date: 'soon' }),
        7,
        null,
      ],
    });
    const ended = await line.run(recover(file, '--json'), env);
    expect(ended.code).toBe(1);
    const { problems } = ended.json<{ problems: { pointer: string; code: string; message: string }[] }>();
    expect(problems.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/documents/0/total REQUIRED',
      '/documents/1/original INVALID_FORMAT',
      '/documents/2/original INVALID_FORMAT',
      '/documents/3/colour UNKNOWN_FIELD',
      '/documents/3/date INVALID_FORMAT',
      '/documents/4 INVALID_TYPE',
      '/documents/5 INVALID_TYPE',
    ]);
    expect(problems[1]!.message).toBe('Must have the form abc/00001.');
    expect(await lastNumber()).toBe(2);
  });

  test.each([
    ['nothing', ''],
    ['a list', '[]'],
    ['no documents', '{"documents": []}'],
    ['documents that are none', '{"documents": {}}'],
    ['another member', '{"documents": [], "more": 1}'],
    ['a member twice', '{"documents": [], "documents": []}'],
    ['half a file', '{"documents": [{'],
    ['bytes', '\u0000\u0001\u0002'],
  ])('a file of %s is refused in a line', async (name, text) => {
    const ended = await line.run(recover(write(`${name}.json`, text)), env);
    expect(ended.code).toBe(1);
    expect(ended.err + ended.out).not.toMatch(/\n {4}at |fault of Certo/);
    expect(ended.err).toMatch(/^certo: [^\n]+\n$/);
    expect(await lastNumber()).toBe(2);
  });

  test('what is no JSON is a problem like others, also with --json; a folder is told by its name', async () => {
    const file = write('half.json', '{"documents": [{');
    const ended = await line.run(recover(file, '--json'), env);
    expect([ended.code, ended.err]).toEqual([1, 'certo: 1 problem; nothing was written.\n']);
    expect(ended.json()).toMatchObject({ ok: false, problems: [{ pointer: '', code: 'MALFORMED_JSON' }] });
    expect((await line.run(recover(file), env)).out).toMatch(
      /^The file: Is not valid JSON: .+\. It has to be one JSON value in UTF-8\.\n$/,
    );
    const folder = line.folder('data');
    for (const args of [recover(folder), ['keys', 'import', folder], ['restore', folder], ['saft', 'check', folder]])
      await refused(2, /^certo: \S+data is a folder: a file is wanted\.\n$/, args);
  });

  test('a file that is not there, a company that is not, a series that is not', async () => {
    await refused(2, /There is no file .*gone\.json/, recover(line.folder('gone.json')));
    const file = write('one.json', { documents: [form('y/1', { date: '2026-03-03' })] });
    await refused(1, /There is no such company/, ['recover', file, '--company', '599999950']);
    const ended = await line.run(recover(file, '--series', 'R1999'), env);
    expect([ended.code, ended.out]).toEqual([1, expect.stringMatching(/no active recovery series of INVOICE/)]);
    const help = await line.run(['recover', '--help'], env);
    expect(help.out).toMatch(/"original": "abc\/00001"/);
  });

  test('a lost credit note is recovered over its invoice, which the same file may recover first', async () => {
    await json(['series', 'register', ...ofCompany, '--code', 'N2026', '--type', 'CREDIT_NOTE', '--kind', 'recovery']);
    const note = {
      kind: 'D',
      original: 'NC A2026/5',
      type: 'CREDIT_NOTE',
      parentInvoiceNumber: 'FT A2026/9',
      customerId: ids.customerId,
      reason: 'Devolução',
      items: [{ line: 1, quantity: 0.5 }],
      date: '2026-03-03',
      total: 61.5,
    };
    const invoice = form('FT A2026/9', { kind: 'D', date: '2026-03-03' });
    const alone = await line.run(recover(write('note.json', { documents: [note] })), env);
    expect([alone.code, alone.out]).toEqual([
      1,
      '/documents/0/parentInvoiceNumber: There is no invoice FT A2026/9 in the books, or it is one of training. Correct the number; an invoice that is lost too is recovered with its note or before it.\n',
    ]);
    const { reason: _reason, ...unreasoned } = note;
    const wrong = [
      { ...unreasoned, cae: '62010' },
      { ...note, items: [{ id: ids.itemId, quantity: 1 }] },
      { ...note, original: 'FT A2026/5' },
    ];
    const told = await line.run(recover(write('strange.json', { documents: wrong }), '--json'), env);
    const { problems } = told.json<{ problems: { pointer: string; code: string }[] }>();
    expect(problems.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/documents/0/reason REQUIRED',
      '/documents/0/cae UNKNOWN_FIELD',
      '/documents/1/items/0/line REQUIRED',
      '/documents/1/items/0/id UNKNOWN_FIELD',
      '/documents/2/original RECOVERED_TYPE',
    ]);
    const file = write('both.json', { documents: [note, invoice] });
    const ended = await line.run(recover(file), env);
    expect(ended.out).toBe(
      'FT A2026/9  FT R2026/3\nNC A2026/5  NC N2026/1\n2 documents recovered, 0 known from an earlier run of this file.\n',
    );
    expect((await json<Recovered>(recover(file))).known).toBe(2);
    const dry = await line.run(recover(write('twice.json', { documents: [note] }), '--dry-run'), env);
    expect(dry.out).toMatch(/^\/documents\/0\/original: NC A2026\/5 was recovered already: it is NC N2026\/1\./);
    expect((await line.run(['verify', ...ofCompany], env)).out).toMatch(/^Verified: 4 documents .* nothing wrong/);
    // Each line is a process of its own.
  });

  test('killed in the middle, the same file is run again: every document once, and the books verify', async () => {
    const count = 150;
    const documents = Array.from({ length: count }, (_, i) => form(`kill/${i + 1}`, { date: '2026-03-04' }));
    const file = write('many.json', { documents });
    const child = spawn(process.execPath, [script, ...recover(file)], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    });
    for (const end = performance.now() + 60_000; (await lastNumber()) < 13; ) {
      if (performance.now() > end || child.exitCode !== null) throw new Error('the command did not get going');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const stood = (await lastNumber()) - 3;
    expect(stood).toBeLessThan(count);
    const { recovered, known } = await json<Recovered>(recover(file));
    expect([recovered + known, known >= stood, await lastNumber()]).toEqual([count, true, count + 3]);
    expect((await line.run(['verify', ...ofCompany], env)).out).toMatch(/^Verified: 154 documents .* nothing wrong/);
  });
});

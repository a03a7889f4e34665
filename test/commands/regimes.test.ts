/** The operator's part of the regimes: the cash VAT scheme, kinds of series, and how series end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { type CommandLine, type Environment, openCommandLine, urlOf } from './command-line.ts';

const nif = '599999942';
const ofCompany = ['--company', nif];
let line: CommandLine;
let database: TestDatabase;
let env: Environment;

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine(), testDatabase()]);
  env = { DATABASE_URL: urlOf(database.connection), CERTO_DATA_DIR: line.folder('data') };
  await json(['company', 'create', '--name', 'Casa Nova, Lda', '--nif', nif, '--cae', '62010', '--city', 'Lisboa']);
  await json(['company', 'credentials', nif, '--username', `${nif}/1`], 'right\n');
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

async function json<T>(args: readonly string[], input?: string): Promise<T> {
  const ended = await line.run([...args, '--json'], env, input);
  expect([ended.err, ended.code]).toEqual(['', 0]);
  return ended.json<T>();
}

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
  expect(ended.out).toMatch(/^Casa Nova, Lda is in the cash VAT scheme from 2027-01-01 to 2028-12-31\./);
  expect((await line.run(['company', 'show', nif], env)).out).toMatch(/Cash VAT until +2028-12-31/);
  await refused(2, /--from 2027-02-30 is no day/, [...set, '--from', '2027-02-30']);
  await refused(2, /Say from when/, set);
  await refused(2, /Say from when/, [...set, '--never', '--from', '2027-01-01']);
  await refused(2, /Say from when/, [...set, '--until', '2027-01-01']);
  await refused(1, /not before its first/, [...set, '--from', '2027-01-02', '--until', '2027-01-01']);
  await refused(1, /There is no such company/, ['company', 'cash-vat', '599999950', '--never']);
  expect(await json([...set, '--never'])).toMatchObject({ cashVat: null });
  expect(await json(['company', 'show', nif])).not.toHaveProperty('cashVatFrom');
});

test('series of each kind: only the normal ones are defaults, one with and one without the scheme', async () => {
  const register = (...more: string[]) => ['series', 'register', ...ofCompany, ...more];
  await json(register('--code', 'F2026', '--type', 'INVOICE', '--kind', 'training'));
  await json(register('--code', 'R2026', '--type', 'INVOICE', '--kind', 'recovery'));
  await json(register('--code', 'A2026', '--type', 'INVOICE', 'RECEIPT'));
  expect(await json(register('--code', 'C2026', '--all-types', '--cash-vat'))).toHaveLength(6);
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

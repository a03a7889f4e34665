/** What a company says of itself is checked as its customers are, so that all of it can be printed, exported and told. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { runInProcess } from './in-process.ts';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-company-'));
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runInProcess({ database, folder }, ['company', ...args]);
const create = (nif: string, ...more: string[]) => run('create', '--nif', nif, '--cae', '62010', ...more);
const show = async (nif: string) => JSON.parse((await run('show', nif, '--json')).out) as Record<string, unknown>;

const tooMuch = [
  ...['--name', 'n'.repeat(101), '--address', `Rua\u0001${'a'.repeat(208)}`, '--city', 'c'.repeat(51)],
  ...['--postal-code', '1000', '--phone', '2'.repeat(21), '--website', `https://${'w'.repeat(53)}`],
  ...['--email', 'ninguém', '--cae', '6201'],
];
const wrong = [
  '--address: At most 210 characters.',
  '--address: The character U+0001 cannot be printed or exported. Remove or replace it.',
  '--cae: Must have the form 62010.',
  '--city: At most 50 characters.',
  '--email: Must have the form name@example.pt.',
  '--name: At most 100 characters.',
  '--phone: At most 20 characters.',
  '--postal-code: Must have the form NNNN-NNN.',
  '--website: At most 60 characters.',
];
const lines = (err: string) =>
  err
    .trimEnd()
    .split('\n')
    .map((one) => one.replace(/^certo: /, ''))
    .sort();

test('everything that is wrong with a new company is told at once, and there is none', async () => {
  const ended = await run('create', '--nif', '599999943', ...tooMuch);
  expect(ended.code).toBe(2);
  const nif = '--nif: Not a valid Portuguese NIF: nine digits with a right check digit.';
  expect(lines(ended.err)).toEqual([...wrong, nif].sort());
  expect((await run('list')).out).toBe('There is no company yet.\n');
  const twoLines = await create('599999942', '--name', 'Casa\nNova');
  expect([twoLines.code, lines(twoLines.err)]).toEqual([2, ['--name: One line only: no line breaks and no tabs.']]);
  expect((await create('599999942', '--name', '  ')).err).toBe('certo: --name: This field is required.\n');
});

test('as long as it may be, nothing of it is cut or left out of the SAF-T', async () => {
  const fields = {
    address: 'á'.repeat(210),
    city: 'ç'.repeat(50),
    email: `${'e'.repeat(243)}@exemplo.pt`,
    phone: '+351 210 000 000 (9)',
    website: `https://${'w'.repeat(52)}`,
  };
  const options = Object.entries(fields).flatMap(([name, text]) => [`--${name}`, text]);
  const made = await create('599999942', '--name', 'Casa Nova, Lda', ...options, '--postal-code', '');
  expect([made.err, made.code]).toEqual(['', 0]);
  expect(await show('599999942')).toMatchObject(fields);
  expect(await show('599999942')).not.toHaveProperty('postalCode');
  const days = ['--from', '2026-01-01', '--to', '2026-01-31'];
  const { out } = await runInProcess({ database, folder }, ['saft', 'export', '--company', '599999942', ...days]);
  for (const [name, text] of [
    ['AddressDetail', fields.address],
    ['City', fields.city],
    ['Telephone', fields.phone],
    ['Email', fields.email],
    ['Website', fields.website],
  ])
    expect(out).toContain(`<${name}>${text}</${name}>`);
});

test('a company is changed where something is given, and only that; an empty text takes a field away', async () => {
  const nif = '599999950';
  await create(nif, '--name', 'Outra, Lda', '--address', 'Rua Velha, 1', '--city', 'Porto', '--phone', '222000000');
  const before = await show(nif);
  const change = (...more: string[]) => run('change', nif, ...more);
  expect(await change('--address', 'Rua Nova, 7', '--phone', ' ', '--cae', '46900', '--cae', '62010')).toEqual({
    code: 0,
    err: '',
    out: 'Outra, Lda is changed, with its open drafts. Issued documents keep what they say.\n',
  });
  const { phone: _phone, ...kept } = before;
  expect(await show(nif)).toEqual({ ...kept, address: 'Rua Nova, 7', cae: ['46900', '62010'] });
  expect(JSON.parse((await change('--name', 'Nova, SA', '--json')).out)).toEqual({ id: before['id'] });
  expect(await show(nif)).toMatchObject({ name: 'Nova, SA', address: 'Rua Nova, 7', city: 'Porto' });
});

test('everything that is wrong with a change is told at once, and nothing is changed', async () => {
  const nif = '599999950';
  const before = await show(nif);
  const change = (...more: string[]) => run('change', nif, ...more);
  const ended = await change(...tooMuch);
  expect([ended.code, lines(ended.err)]).toEqual([2, wrong]);
  expect(await change('--name', '')).toMatchObject({ code: 2, err: 'certo: --name: This field is required.\n' });
  expect(await change()).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^certo: Say what changes: --name, .*\n$/),
  });
  for (const option of ['--nif', '--region']) {
    const unknown = await change(option, 'PT-AC');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining(`unknown option '${option}'`)]);
  }
  const nobody = await run('change', '599999969', '--city', 'Faro');
  expect(nobody).toMatchObject({
    code: 1,
    err: 'certo: There is no such company. See those there are with: certo company list.\n',
  });
  expect(await show(nif)).toEqual(before);
});

/** `certo template`: made, changed, chosen and archived by the operator; what can't be printed well is refused. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../database.ts';
import { type CommandLine, type Environment, jsonOf, openCommandLine, urlOf } from './command-line.ts';
import { inside } from './in-process.ts';

const nif = '599999942';
const ofCompany = ['--company', nif];
const builtIn = '00000000-0000-7000-8000-000000000001';
let line: CommandLine;
let database: TestDatabase;
let env: Environment;

beforeAll(async () => {
  [line, database] = await Promise.all([openCommandLine().then(inside), testDatabase()]);
  env = { DATABASE_URL: urlOf(database.connection), CERTO_DATA_DIR: line.folder('data') };
  for (const [name, number] of [
    ['Casa Nova, Lda', nif],
    ['Outra, Lda', '599999950'],
  ] as const)
    await json(['company', 'create', '--name', name, '--nif', number, '--cae', '62010', '--city', 'Lisboa']);
});
afterAll(async () => {
  await line.close();
  await database.drop();
});

const json = <T>(args: readonly string[]): Promise<T> => jsonOf<T>(line, env, args);

async function refused(code: number, said: RegExp, args: readonly string[]): Promise<void> {
  const ended = await line.run(args, env);
  expect(ended.err).toMatch(said);
  expect(ended.code).toBe(code);
}

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly isDefault: boolean;
}
const list = () => json<Listed[]>(['template', 'list', ...ofCompany]);
const add = (...more: string[]) => ['template', 'add', ...ofCompany, ...more];

test('a template is added, changed with a new version, made the default, and archived', async () => {
  expect((await list()).map(({ id, isDefault }) => [id, isDefault])).toEqual([[builtIn, true]]);
  const logo = `${line.folder('files')}.svg`;
  writeFileSync(
    logo,
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><path fill="#f00" d="M0 0h4v2H0z"/></svg>',
  );
  const looks = ['--logo', logo, '--colour', '#7C3AED', '--footer', 'IBAN PT50\\nC.R.C. Porto', '--language', 'en'];
  const { id } = await json<Listed>(add('--name', 'Loja', ...looks, '--format', 'RECEIPT_58', 'A4', '--default'));
  expect(await list()).toEqual([
    expect.objectContaining({ id: builtIn, isDefault: false }),
    {
      id,
      name: 'Loja',
      version: 1,
      isDefault: true,
      language: 'en',
      colour: '#7c3aed',
      footer: 'IBAN PT50\nC.R.C. Porto',
      hasLogo: true,
      formats: ['A4', 'RECEIPT_58'],
    },
  ]);
  const change = ['template', 'change', id, ...ofCompany];
  expect(await json([...change, '--logo', '', '--footer', ''])).toEqual({ id, version: 2 });
  expect((await list())[1]).toMatchObject({ version: 2, hasLogo: false, colour: '#7c3aed' });
  expect((await list())[1]).not.toHaveProperty('footer');
  await json(['template', 'default', builtIn, ...ofCompany]);
  expect((await list()).map(({ isDefault }) => isDefault)).toEqual([true, false]);
  await json(['template', 'default', id, ...ofCompany]);
  expect((await line.run(['template', 'list', ...ofCompany], env)).out).toMatch(/^Loja \(default\) +2 +en +#7c3aed/m);
  await json(['template', 'archive', id, ...ofCompany]);
  expect((await list()).map((one) => [one.id, one.isDefault])).toEqual([[builtIn, true]]);
  for (const verb of ['archive', 'default', 'change'])
    await refused(1, /There is no such template/, [
      'template',
      verb,
      id,
      ...ofCompany,
      ...(verb === 'change' ? ['--language', 'pt'] : []),
    ]);
  const own = /The built-in template cannot be changed or archived: make one with certo template add\./;
  await refused(1, own, ['template', 'change', builtIn, '--colour', '#7c3aed', ...ofCompany]);
  await refused(1, own, ['template', 'archive', builtIn, ...ofCompany]);
  // A name is free again once its template is archived.
  await json(add('--name', 'loja'));
});

test('another company’s template is none, and two of a name are refused', async () => {
  const { id } = await json<Listed>(add('--name', 'Balcão'));
  await refused(1, /There is no such template/, ['template', 'default', id, '--company', '599999950']);
  await refused(1, /There is no such template/, ['template', 'archive', id, '--company', '599999950']);
  await refused(1, /a template of this name already/, add('--name', 'BALCÃO'));
  expect((await list()).filter(({ name }) => /balcão/i.test(name))).toHaveLength(1);
});

test('two that become the default at once leave one default', async () => {
  const ids = await Promise.all(['Um', 'Dois'].map(async (name) => (await json<Listed>(add('--name', name))).id));
  await Promise.all([...ids, ...ids].map((id) => json(['template', 'default', id, ...ofCompany])));
  expect((await list()).filter(({ isDefault }) => isDefault)).toHaveLength(1);
});

test('what cannot be printed well is refused, with what to do', async () => {
  const file = `${line.folder('bad')}.svg`;
  writeFileSync(file, '<svg><script>x</script></svg>');
  const before = (await list()).length;
  await refused(1, /has <script>, which is not taken/, add('--name', 'x', '--logo', file));
  await refused(2, /There is no file .*missing\.png/, add('--name', 'x', '--logo', 'missing.png'));
  await refused(
    1,
    /#ffff00 is hard to read on white \(contrast 1\.1, .*: #[0-9a-f]{6} is dark enough/,
    add('--name', 'x', '--colour', '#ffff00'),
  );
  await refused(2, /no colour: write #rrggbb/, add('--name', 'x', '--colour', 'red'));
  await refused(2, /at most 1000 characters and 12 lines/, add('--name', 'x', '--footer', `${'a\\n'.repeat(13)}a`));
  await refused(2, /1 to 60 characters/, add('--name', ' '));
  await refused(2, /Allowed choices are pt, en/, add('--name', 'x', '--language', 'fr'));
  await refused(2, /Allowed choices are A4, RECEIPT, RECEIPT_58/, add('--name', 'x', '--format', 'A5'));
  await refused(2, /Say what changes/, ['template', 'change', builtIn, ...ofCompany]);
  await refused(2, /is not the id of a template/, ['template', 'default', 'Loja', ...ofCompany]);
  expect(await list()).toHaveLength(before);
});

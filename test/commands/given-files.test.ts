/** Files that the operator names: read to their end where they have one, and refused where not, whatever command takes them. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityIn } from '../../src/at/simulator/certificates.ts';
import { realGateway } from '../../src/commands/authority.ts';
import { writeDemo } from '../../src/commands/demo-file.ts';
import { endingOf } from '../../src/commands/exit.ts';
import { readConfig } from '../../src/config.ts';
import { generateSigningKey } from '../../src/keys/signer.ts';
import { type TestDatabase, testDatabase } from '../database.ts';
import { script } from './built.ts';
import { type Ended, type More, runInProcess } from './in-process.ts';

const nif = '599999942';
const ofCompany = ['--company', nif];
let database: TestDatabase;
let folder: string;
const at = (name: string): string => join(folder, name);
const run = (args: readonly string[], more: More = {}): Promise<Ended> =>
  runInProcess({ database, folder }, args, more);

beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-given-'));
  const created = await run(['company', 'create', '--name', 'Casa Nova', '--nif', nif, '--cae', '62010']);
  expect([created.err, created.code]).toEqual(['', 0]);
  mkdirSync(at('folder'));
  symlinkSync('/dev/zero', at('link'));
  for (const name of ['sparse', 'logo.png']) writeFileSync(at(name), '');
  truncateSync(at('sparse'), 40 * 2 ** 30);
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

type Takes = (path: string) => [args: readonly string[], env?: Readonly<Record<string, string>>];
/** Every file that a command or a variable names, with what is said of one that is too long and how it ends then. */
const takers: readonly (readonly [name: string, takes: Takes, tooLong?: RegExp, code?: number])[] = [
  [
    'template add',
    (path) => [['template', 'add', ...ofCompany, '--name', 'x', '--logo', path]],
    /logo is larger than 512 KiB/,
    1,
  ],
  [
    'template change',
    (path) => [['template', 'change', '0197a5c2-0000-7000-8000-000000000000', ...ofCompany, '--logo', path]],
    /logo is larger than 512 KiB/,
    1,
  ],
  ['recover', (path) => [['recover', path, ...ofCompany]], /larger than 64 MiB: split it/],
  ['import', (path) => [['import', 'at-invoices', path, ...ofCompany]], /larger than 1 GiB: export shorter periods/],
  ['saft check', (path) => [['saft', 'check', path]], /larger than 32 GiB: export shorter periods/],
  ['saft check --key', (path) => [['saft', 'check', at('logo.png'), '--key', path]], /too long for a key/],
  ['keys import', (path) => [['keys', 'import', path]], /too long for a key/],
  [
    'password',
    (path) => [['company', 'credentials', nif, '--username', `${nif}/1`, '--password-file', path]],
    /too long for a key/,
  ],
  ['master key', (path) => [['keys', 'rotate'], { CERTO_MASTER_KEY_FILE: path }], /too long for a key/],
  ['backup check', (path) => [['backup', 'check', path]]],
  ['restore', (path) => [['restore', path]]],
];

const all = takers.map(([name, takes, tooLong, code = 2]) => ({ name, takes, tooLong, code }));
describe.each(all)('$name', ({ takes, tooLong, code }) => {
  test('takes no device, no link to one, no folder, no socket and nothing endless', async () => {
    const server = createServer();
    server.listen(at('socket'));
    await once(server, 'listening');
    try {
      for (const [path, said] of [
        ['/dev/zero', /^certo: \/dev\/zero is a device, not a file: name a file or a pipe\.\n$/],
        ['/dev/random', /^certo: \/dev\/random is a device/],
        ['/dev/full', /^certo: \/dev\/full is a device/],
        [at('link'), /link is a device/],
        [at('folder'), /folder is a folder: a file is wanted/],
        [at('socket'), /socket is a socket, not a file/],
      ] as const) {
        const ended = await run(...withEnv(takes(path)));
        expect([path, ended.err, ended.code]).toEqual([path, expect.stringMatching(said), 2]);
      }
    } finally {
      server.close();
    }
    if (tooLong === undefined) return;
    const ended = await run(...withEnv(takes(at('sparse'))));
    expect([ended.err, ended.code]).toEqual([expect.stringMatching(tooLong), code]);
  });
});

test('nor do the variables of the certificates', async () => {
  const made = await identityIn(at('authority'), 'test');
  const file = (name: string, text: string): string => {
    writeFileSync(at(name), text);
    return at(name);
  };
  const env = {
    CERTO_AT_MODE: 'test',
    CERTO_AT_CERTIFICATE_FILE: made.clientCertPath,
    CERTO_AT_CERTIFICATE_KEY_FILE: made.clientKeyPath,
    CERTO_AT_PUBLIC_KEY_FILE: file('public.pem', made.atPublicKeyPem),
    CERTO_AT_CERTIFICATE_PASSPHRASE_FILE: file('passphrase', ''),
    CERTO_AT_CA_FILE: file('ca.pem', made.caPem),
  };
  const opened = (over: object) => realGateway(readConfig({ ...env, ...over }), () => undefined);
  (await opened({})).close();
  for (const name of Object.keys(env).filter((one) => one.endsWith('_FILE')))
    for (const [path, said] of [
      ['/dev/zero', /^\/dev\/zero is a device, not a file: name a file or a pipe\.$/],
      [at('link'), /link is a device/],
      [at('folder'), /folder is a folder: a file is wanted/],
      [at('sparse'), /sparse is too long for a key, a certificate or a password/],
      [at('gone'), /There is no file .*gone: check its name/],
    ] as const) {
      const ended = await opened({ [name]: path }).catch((error: unknown) => endingOf(error));
      expect([name, ended]).toEqual([name, { code: 2, lines: [expect.stringMatching(said)] }]);
    }
});

const withEnv = ([args, env]: ReturnType<Takes>): [readonly string[], More] => [args, env === undefined ? {} : { env }];

const makePipe = (path: string) => execFileSync('sh', ['-c', 'mkfifo "$0"', path]);

/** Writes into a pipe of the file system until its reader goes away. */
async function through<T>(write: string, read: (pipe: string) => Promise<T>): Promise<T> {
  const pipe = at('pipe');
  rmSync(pipe, { force: true });
  makePipe(pipe);
  const writer = spawn('sh', ['-c', `${write} > "$0"`, pipe], { stdio: 'ignore' });
  const gone = once(writer, 'exit');
  try {
    return await read(pipe);
  } finally {
    writer.kill();
    await gone;
  }
}

test('a pipe is read to its end', async () => {
  const key = at('key.pem');
  writeFileSync(key, generateSigningKey().privatePem, { mode: 0o600 });
  const imported = await through(`cat ${key}`, (pipe) => run(['keys', 'import', pipe, '--json']));
  expect([imported.err, imported.code]).toEqual(['', 0]);
  writeFileSync(
    at('logo.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><path d="M0 0h4v2H0z"/></svg>',
  );
  const added = await through(`cat ${at('logo.svg')}`, (pipe) =>
    run(['template', 'add', ...ofCompany, '--name', 'Loja', '--logo', pipe]),
  );
  expect([added.err, added.code]).toEqual(['', 0]);
  const recovered = await through('echo "{}"', (pipe) => run(['recover', pipe, ...ofCompany]));
  expect([recovered.out, recovered.code]).toEqual(['/documents: This field is required.\n', 1]);
  const checked = await through('echo "<AuditFile/>"', (pipe) => run(['saft', 'check', pipe]));
  expect([checked.out, checked.code]).toEqual([expect.stringMatching(/^1: ERROR: /), 1]);
  const list = await through('echo "a;b"', (pipe) => run(['import', 'at-invoices', pipe, ...ofCompany]));
  expect([list.out, list.code]).toEqual([expect.stringMatching(/^1: /), 1]);
});

test('a pipe that does not end is read to its limit', async () => {
  for (const [args, said, code] of [
    [['template', 'add', ...ofCompany, '--name', 'Zero', '--logo'], /logo is larger than 512 KiB/, 1],
    [['keys', 'import'], /pipe is too long for a key/, 2],
    [['recover', ...ofCompany], /pipe is larger than 64 MiB: split it/, 2],
  ] as const) {
    const ended = await through('cat /dev/zero', (pipe) => run([...args, pipe]));
    expect([ended.err, ended.code]).toEqual([expect.stringMatching(said), code]);
  }
});

test('a backup that is restored is read twice, which a pipe is not', async () => {
  const ended = await through('echo', (pipe) => run(['restore', pipe]));
  expect([ended.err, ended.code]).toEqual([
    expect.stringMatching(/pipe is a pipe, and is read twice: write it into a file first/),
    2,
  ]);
});

test('who waits for a pipe that nobody writes into can be ended', async () => {
  const pipe = at('silent');
  makePipe(pipe);
  const child = spawn(process.execPath, [script, 'saft', 'check', pipe], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  // It listens to signals, and has the pipe open.
  const isOpen = () => {
    try {
      return execFileSync('ls', ['-l', `/proc/${child.pid}/fd`], { encoding: 'utf8' }).includes(pipe);
    } catch {
      return false;
    }
  };
  while (!isOpen() && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
  child.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
});

test('a file that grows while it is read is read to its limit', async () => {
  // Files of /proc say that they are empty, whatever they hold.
  const ended = await run(['keys', 'import', '/proc/self/environ']);
  expect([ended.err, ended.code]).toEqual([expect.stringMatching(/cannot be imported: it is not a private key/), 2]);
});

test('what stands in a data folder in place of the demo’s memory is not read either', async () => {
  const data = at('data');
  rmSync(join(data, 'demo.json'), { force: true });
  symlinkSync('/dev/zero', join(data, 'demo.json'));
  const ended = await run(['demo', '--json']);
  expect([ended.err, ended.code]).toEqual([
    expect.stringMatching(/demo\.json is not what Certo wrote there: see what it is/),
    3,
  ]);
  await writeDemo(data, { baseUrl: null, simulator: { control: null }, companies: {} });
  expect(readFileSync(join(data, 'demo.json'), 'utf8')).toContain('"companies"');
});

test('texts that no font prints, or that turn around, are refused as over the API', async () => {
  for (const [args, said] of [
    [
      ['template', 'add', ...ofCompany, '--name', 'Gelado 🍦'],
      /--name: The character U\+1F366 \(🍦\) cannot be printed/,
    ],
    [
      ['template', 'add', ...ofCompany, '--name', 'x', '--footer', 'a\u202eb'],
      /--footer: The character U\+202E cannot be printed/,
    ],
    [['company', 'change', nif, '--name', 'Casa 🍦'], /--name: The character U\+1F366/],
    [
      ['company', 'create', '--name', 'x', '--nif', '599999950', '--cae', '62010', '--city', 'שלום'],
      /--city: The character U\+05E9/,
    ],
    [['api-key', 'create', ...ofCompany, '--name', 'a\u2066b'], /--name: The character U\+2066/],
    [['verify', ...ofCompany, '--resolve', 'ok 🍦'], /--resolve: The character U\+1F366/],
    [
      ['series', 'finalize', '0197a5c2-0000-7000-8000-000000000000', ...ofCompany, '--justification', 'a\u0000b'],
      /--justification: The character U\+0000/,
    ],
  ] as const) {
    const ended = await run(args);
    expect([args.join(' '), ended.err, ended.code]).toEqual([args.join(' '), expect.stringMatching(said), 2]);
  }
});

/** What the command line declines: one clear line each, the right exit code, and nothing begun. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityIn, type SimulatorIdentity } from '../../src/at/simulator/certificates.ts';
import { masterKey } from '../../src/keys/sealing.ts';
import { generateSigningKey } from '../../src/keys/signer.ts';
import { addSigningKey } from '../../src/keys/signing-keys.ts';
import { setClock, type TestDatabase, testDatabase } from '../database.ts';
import { type CommandLine, type Environment, openCommandLine, takenPort, urlOf } from './command-line.ts';

let line: CommandLine;
beforeAll(async () => {
  line = await openCommandLine();
});
afterAll(() => line.close());

/** What it said, all of it: one or more lines that start with the program's name, and none is a stack. */
async function refused(code: number, said: RegExp, args: readonly string[], env: Environment = {}): Promise<string> {
  const ended = await line.run(args, env);
  expect(ended.err).toMatch(said);
  expect(ended.err).toMatch(/^(certo: [^\n]+\n)+$/);
  expect(ended.err).not.toMatch(/\n {4}at /);
  expect(ended.code).toBe(code);
  return ended.err;
}

describe('the environment', () => {
  test('everything wrong is told at once, a line each', async () => {
    const ended = await line.run(['serve'], {
      PORT: 'many',
      CERTO_AT_MODE: 'real',
      CERTO_DATADIR: 'x',
      CERTO_IP_RATE: '-1',
    });
    expect(ended.code).toBe(2);
    expect(ended.out).toBe('');
    expect(ended.err.trim().split('\n')).toEqual([
      'certo: CERTO_DATADIR is not a variable of Certo: did you mean CERTO_DATA_DIR?',
      'certo: PORT must be a whole number from 0 to 65535, not "many".',
      'certo: CERTO_IP_RATE must be a whole number from 0 to 1000000000, not "-1".',
      'certo: CERTO_AT_MODE must be one of simulator, test, production, not "real".',
    ]);
  });

  test('a folder that is none, and one that holds other things', async () => {
    writeFileSync(line.folder('file'), '');
    await refused(3, /file is not a folder/, ['serve'], { CERTO_DATA_DIR: line.folder('file') });
    mkdirSync(line.folder('full'));
    writeFileSync(join(line.folder('full'), 'thesis.txt'), '');
    await refused(3, /holds other files \(thesis\.txt\)/, ['serve'], { CERTO_DATA_DIR: line.folder('full') });
  });

  test('a command without data says so, and makes none', async () => {
    const CERTO_DATA_DIR = line.folder('nothing');
    await refused(3, /There is no data folder at .*nothing/, ['company', 'list'], { CERTO_DATA_DIR });
    expect(existsSync(CERTO_DATA_DIR)).toBe(false);
  });
});

describe('arguments', () => {
  test.each([
    [['nonsense'], /unknown command 'nonsense'/],
    [['help', 'nonsense'], /unknown command 'nonsense'/],
    [['companie'], /^certo: unknown command 'companie' \(Did you mean company\?\)\n/],
    [['serve', '--port', '1'], /unknown option '--port'/],
    [['company', 'create', '--name', 'X'], /required option '--nif <nif>'/],
    [['series', 'register', '--company', '1', '--code', 'A', '--type', 'BILL'], /Allowed choices are INVOICE/],
    [['at-simulator', '--port', '70000'], /A port is a number/],
  ])('%j: refused, with where to look', async (args, said) => {
    expect(await refused(2, said, args)).toMatch(/\ncerto: "certo help" lists the commands, .*\n$/);
  });

  test('help has an example for every command, and none needs a database', async () => {
    const helps = await Promise.all(
      [
        ['serve'],
        ['demo'],
        ['verify'],
        ['company', 'create'],
        ['series', 'register'],
        ['api-key', 'rotate'],
        ['keys', 'import'],
      ].map((command) => line.run([...command, '--help'])),
    );
    for (const help of helps) {
      expect(help.code).toBe(0);
      expect(help.out).toMatch(/\nExample:\n {2}\S*.*certo /);
    }
    expect((await line.run(['help', 'saft', 'export'])).out).toBe((await line.run(['saft', 'export', '--help'])).out);
    // What is behind the last known word is not run.
    expect((await line.run(['help', 'serve', 'now'])).out).toBe((await line.run(['serve', '--help'])).out);
    const variables = await line.run(['help', 'environment']);
    expect(variables.out).toContain('\nCERTO_DATA_DIR\n  Folder of the embedded database');
    expect(variables.out.split('\n').filter((text) => text.length > 80)).toEqual([]);
    expect((await line.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a database elsewhere', () => {
  let database: TestDatabase;
  let url: string;
  beforeAll(async () => {
    database = await testDatabase();
    url = urlOf(database.connection);
  });
  afterAll(() => database.drop());

  test.each([
    ['postgres://certo:geheim@127.0.0.1:1/certo', /Nothing answers for the database certo at 127\.0\.0\.1:1/],
    [
      'postgres://certo:geheim@nowhere.invalid/certo',
      /The host of the database certo at nowhere\.invalid is not known/,
    ],
    ['mysql://certo:geheim@127.0.0.1/certo', /DATABASE_URL is not an address of the form/, 2],
    ['certo:geheim@127.0.0.1/certo', /DATABASE_URL is not an address of the form/, 2],
    ['postgres://certo:gehe%im@127.0.0.1/certo', /DATABASE_URL is not an address of the form/, 2],
  ] as const)('%s', async (DATABASE_URL, said, code: number = 3) => {
    const env = { DATABASE_URL, CERTO_DATA_DIR: line.folder('elsewhere') };
    const ended = await line.run(['serve'], env);
    expect(ended.err).toMatch(said);
    expect(ended.code).toBe(code);
    expect(ended.err + ended.out).not.toMatch(/gehe/);
  });

  test('a database that does not exist', async () => {
    const DATABASE_URL = urlOf({ ...database.connection, database: 'no_such_database' });
    await refused(3, /There is no such database/, ['verify'], { DATABASE_URL });
  });

  test('a taken port: told, and nothing is left running', async () => {
    const taken = await takenPort();
    const env = { DATABASE_URL: url, CERTO_DATA_DIR: line.folder('port'), PORT: String(taken.port) };
    await refused(3, new RegExp(`Port ${taken.port} is taken`), ['serve'], env);
    taken.release();
  });

  test('a demo that a crash broke off is finished by the next start; a taken metrics port is only remarked', async () => {
    const first = await line.serve({ DATABASE_URL: url, CERTO_DATA_DIR: line.folder('port') });
    const begun = () => database.ownerPool.query('select from certo.companies');
    while ((await begun()).rowCount === 0) await sleep(1);
    await first.end('SIGKILL');
    expect(first.out()).not.toContain('svc_sk_');

    const taken = await takenPort();
    const service = await line.serve({
      DATABASE_URL: url,
      CERTO_DATA_DIR: line.folder('port'),
      CERTO_METRICS_PORT: String(taken.port),
    });
    await service.says(/^ {2}svc_sk_\w+$/m);
    expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
    expect(service.err()).toMatch(/no metrics: port \d+ cannot be opened .*CERTO_METRICS_PORT names another/);
    // Whoever reads figures there reads another program's.
    expect(service.out()).not.toContain('Metrics');
    expect(await service.end()).toBe(0);
    taken.release();
  });

  test('what is the simulator’s stays the simulator’s', async () => {
    const env = { DATABASE_URL: url, CERTO_DATA_DIR: line.folder('port'), ...(await authority('port-at')) };
    await refused(2, /belongs to CERTO_AT_MODE=simulator and cannot be used with test/, ['serve'], {
      ...env,
      CERTO_AT_MODE: 'test',
    });
  });

  test('the master key: readable by others, missing, or another one', async () => {
    const folder = line.folder('port');
    const env = { DATABASE_URL: url, CERTO_DATA_DIR: folder };
    const file = (name: string, text: string, mode: number): string => {
      const path = join(folder, name);
      writeFileSync(path, text, { mode });
      return path;
    };
    const right = readFileSync(join(folder, 'master.key'), 'utf8');
    const wrong = `${randomBytes(32).toString('hex')}\n`;
    for (const [CERTO_MASTER_KEY_FILE, said] of [
      ['/dev/zero', /\/dev\/zero is a device, not a file: name a file or a pipe/],
      [file('open.key', right, 0o644), /Other users can read the master key file/],
      [join(folder, 'none.key'), /is missing, and the database holds secrets/],
      [file('other.key', wrong, 0o600), /is not the one of this database/],
      [file('short.key', right.slice(0, 32), 0o600), /must hold 32 bytes in hexadecimal/],
    ] as const) {
      await refused(2, said, ['keys', 'rotate'], { ...env, CERTO_MASTER_KEY_FILE });
    }
    expect(existsSync(join(folder, 'none.key'))).toBe(false);
    const fine = await line.run(['keys', 'rotate', '--json'], {
      ...env,
      CERTO_MASTER_KEY_FILE: file('copy.key', right, 0o600),
    });
    expect(fine.json()).toMatchObject({ version: 2, origin: 'generated' });
  });

  test('a right that somebody took away is told, and what to grant', async () => {
    const env = { DATABASE_URL: url, CERTO_DATA_DIR: line.folder('rights') };
    const superuser = new Client({ ...database.connection, ssl: false });
    await superuser.connect();
    try {
      const owner = (role: string) => superuser.query(`alter table certo.companies owner to ${role}`);
      await owner('postgres');
      await refused(
        3,
        /does not allow it: permission denied for table companies\. Its tables have to belong to the role/,
        [...['company', 'list']],
        env,
      );
      await owner('certo_owner');
    } finally {
      await superuser.end();
    }
    expect((await line.run(['company', 'list'], env)).code).toBe(0);
  });

  test('a database of a newer program is left alone', async () => {
    await database.ownerPool.query(`insert into certo.kysely_migration (name, timestamp) values ('9999_future', '')`);
    for (const command of [['serve'], ['company', 'list']]) {
      const env = { DATABASE_URL: url, CERTO_DATA_DIR: line.folder('newer') };
      await refused(3, /migrated by a newer Certo \(it has 9999_future\)/, command, env);
    }
  });
});

describe('production', () => {
  let database: TestDatabase;
  let env: Environment;
  beforeAll(async () => {
    database = await testDatabase();
    env = {
      DATABASE_URL: urlOf(database.connection),
      CERTO_DATA_DIR: line.folder('production'),
      CERTO_AT_MODE: 'production',
      CERTO_CERTIFICATE_NUMBER: '123',
      CERTO_PRODUCER_NIF: '508025095',
      ...(await authority('production-at')),
    };
  });
  afterAll(() => database.drop());

  test('needs the number of the certificate, and not the fictitious one', async () => {
    await refused(2, /CERTO_CERTIFICATE_NUMBER is required/, ['serve'], { ...env, CERTO_CERTIFICATE_NUMBER: '' });
    await refused(2, /9999 is the fictitious one/, ['serve'], { ...env, CERTO_CERTIFICATE_NUMBER: '9999' });
  });

  test('has no demo', () => refused(2, /There is no demo in production/, ['demo', '--json'], env));

  test('does not start without a key, nor with a generated one, nor with a moved clock', async () => {
    await refused(2, /There is no signing key: import the one/, ['serve'], env);
    await refused(2, /A generated key cannot sign in production/, ['keys', 'rotate'], env);
    const secret = Buffer.from(readFileSync(join(line.folder('production'), 'master.key'), 'utf8').trim(), 'hex');
    await addSigningKey(database.ownerPool, masterKey(secret));
    await refused(2, /The signing key was generated for development/, ['serve'], env);
    await setClock(database.ownerPool, new Date('2031-01-01T00:00:00Z'));
    await refused(2, /clock is shifted/, ['serve'], env);
    await setClock(database.ownerPool, null);
    await database.ownerPool.query(`update certo.clock set shift = '0'`);
  });

  test('starts with an imported one, and says that documents are real', async () => {
    const pem = line.folder('private.pem');
    writeFileSync(pem, generateSigningKey().privatePem);
    expect((await line.run(['keys', 'import', pem], env)).code).toBe(0);
    const service = await line.serve(env);
    expect(service.out()).toContain('PRODUCTION: documents are real');
    await service.says(/There is no company yet/);
    expect(service.out()).not.toContain('svc_sk_');
    expect(await service.end()).toBe(0);
  });

  test('a wrong file of the AT is told with its variable', async () => {
    const file = line.folder('rubbish.pem');
    writeFileSync(file, 'rubbish');
    await refused(2, /CERTO_AT_PUBLIC_KEY_FILE holds no certificate/, ['serve'], {
      ...env,
      CERTO_AT_PUBLIC_KEY_FILE: file,
    });
    await refused(2, /CERTO_AT_CERTIFICATE_FILE: the PFX file of the AT cannot be opened/, ['serve'], {
      ...env,
      CERTO_AT_CERTIFICATE_FILE: file,
    });
    await refused(2, /There is no file .*absent/, ['serve'], {
      ...env,
      CERTO_AT_CERTIFICATE_FILE: line.folder('absent'),
    });
  });
});

/** Files such as the AT hands out, of a simulator's making. */
async function authority(name: string): Promise<Environment> {
  const made: SimulatorIdentity = await identityIn(line.folder(name), 'test');
  const atKey = join(line.folder(name), 'at.pem');
  writeFileSync(atKey, made.atPublicKeyPem);
  return {
    CERTO_AT_CERTIFICATE_FILE: made.clientCertPath,
    CERTO_AT_CERTIFICATE_KEY_FILE: made.clientKeyPath,
    CERTO_AT_PUBLIC_KEY_FILE: atKey,
  };
}

describe('what nobody waits for', () => {
  /** Fails it as soon as the command line listens to signals. */
  const spoilt = (error: string): Environment => {
    const code = `process.on('newListener', (name) => name === 'SIGTERM' && setImmediate(() => Promise.reject(${error})))`;
    return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
  };

  test('a fault ends with 70, and not with the code of an answer', async () => {
    const ended = await line.run(['environment'], spoilt(`new Error('spoilt')`));
    expect(ended.err).toMatch(/^certo: this is a fault of Certo: Error: spoilt\n {4}at /);
    expect(ended.code).toBe(70);
  });

  test('memory that this process may not have is told in a line', async () => {
    const error = `new RangeError('WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory')`;
    const ended = await line.run(['environment'], spoilt(error));
    expect(ended.err).toBe(
      'certo: This process may not have the memory that it needs: allow more (ulimit -v), and try again.\n',
    );
    expect(ended.code).toBe(3);
  });
});

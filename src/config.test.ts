import { describe, expect, test } from 'vitest';
import { type Config, ConfigurationError, readConfig, type Variable, variables } from './config.ts';

function problems(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

const real = { CERTO_AT_CERTIFICATE_FILE: 'cert.pfx', CERTO_AT_PUBLIC_KEY_FILE: 'at.cer' };

describe('the environment', () => {
  test('empty: the defaults, and the simulator', () => {
    expect(readConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      baseUrl: undefined,
      databaseUrl: undefined,
      atMode: 'simulator',
      certificateNumber: 9999,
      apiKeyRate: 6000,
      ipRate: 6000,
      httpDeadline_seconds: 60,
      metricsPort: 9464,
      atDeadline_seconds: 30,
      printWorkers: 1,
    } satisfies Partial<Config>);
  });

  test('what others put there is none of our business, and an empty value is none', () => {
    expect(readConfig({ HOME: '/', PORT: '', CERTO_BASE_URL: '', NODE_ENV: 'x' })).toEqual(readConfig({}));
  });

  test.each([
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65535 }],
    ['CERTO_API_KEY_RATE', '0', { apiKeyRate: 0 }],
    ['CERTO_BASE_URL', 'https://faturas.example.pt/', { baseUrl: 'https://faturas.example.pt' }],
    ['CERTO_BASE_URL', 'HTTP://Faturas.Example.PT:8080//', { baseUrl: 'http://faturas.example.pt:8080' }],
    ['CERTO_BASE_URL', 'http://[::1]:3000', { baseUrl: 'http://[::1]:3000' }],
    ['CERTO_CERTIFICATE_NUMBER', '17', { certificateNumber: 17 }],
    ['CERTO_DATA_DIR', '42', { dataDirectory: '42' }],
    ['CERTO_TRUSTED_PROXIES', '10.0.0.0/8, ::1,', { trustedProxies: ['10.0.0.0/8', '::1'] }],
    ['CERTO_PRODUCER_NIF', '508025095', { producer: { name: 'Certo', nif: '508025095' } }],
  ])('%s=%s is taken', (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected);
  });

  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '1e3'],
    ['PORT', '0x10'],
    ['PORT', ' 80'],
    ['PORT', '80.0'],
    ['PORT', '99999999999'],
    ['CERTO_AT_DEADLINE_SECONDS', '0'],
    ['CERTO_AT_MODE', 'Simulator'],
    ['CERTO_LOG_LEVEL', 'loud'],
    ['CERTO_BASE_URL', 'faturas.example.pt'],
    ['CERTO_BASE_URL', 'https://user:geheim@example.pt'],
    ['CERTO_BASE_URL', 'https://:geheim@example.pt'],
    ['CERTO_BASE_URL', 'https://@example.pt'],
    ['CERTO_BASE_URL', 'https://example.pt/?a=1'],
    ['CERTO_BASE_URL', 'https://example.pt?'],
    ['CERTO_BASE_URL', 'https://example.pt#'],
    ['CERTO_BASE_URL', 'https://example.pt/certo'],
    ['CERTO_BASE_URL', ' https://example.pt'],
    ['CERTO_BASE_URL', 'https://example.pt\n'],
    ['CERTO_BASE_URL', 'https:example.pt'],
    ['CERTO_BASE_URL', 'https:\\\\example.pt'],
    ['CERTO_BASE_URL', 'https://example.pt:65536'],
    ['CERTO_BASE_URL', 'ftp://example.pt'],
    ['CERTO_AT_SIMULATOR_URL', 'http://127.0.0.1:7443'],
    ['CERTO_PRINT_WORKERS', '0'],
    ['CERTO_TRUSTED_PROXIES', 'proxy.example'],
    ['CERTO_TRUSTED_PROXIES', '10.0.0.1, 10.0.0.0/33'],
    ['CERTO_TRUSTED_PROXIES', '::1/64/2'],
    ['CERTO_TRUSTED_PROXIES', '0.0.0.0/0'],
    ['CERTO_TRUSTED_PROXIES', '::/0'],
    ['CERTO_TRUSTED_PROXIES', '10.0.0.0/00'],
    ['CERTO_PRODUCER', 'a/b'],
    ['CERTO_PRODUCER', 'x'.repeat(201)],
    ['CERTO_PRODUCER', ' '],
    ['CERTO_PRODUCER', 'Casa\nNova'],
    ['CERTO_PRODUCER', 'Casa\u0007'],
    ['CERTO_PRODUCER_NIF', '508025096'],
    ['CERTO_PRODUCER_NIF', '999999990'],
  ])('%s=%s is refused with its name', (name, value) => {
    const told = problems({ [name]: value });
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(new RegExp(`^${name} must be `));
  });

  test('an unknown variable of ours is refused, with the nearest name', () => {
    expect(problems({ CERTO_API_KEYRATE: '1' })).toEqual([
      'CERTO_API_KEYRATE is not a variable of Certo: did you mean CERTO_API_KEY_RATE?',
    ]);
    // Some have no prefix.
    expect(problems({ CERTO_PORT: '1' })[0]).toMatch(/did you mean PORT\?$/);
    expect(problems({ CERTO_DATABASE_URL: 'x' })[0]).toMatch(/did you mean DATABASE_URL\?$/);
    expect(problems({ CERTO_SOMETHING_ELSE_ENTIRELY: '1' })[0]).toMatch(/see "certo help environment"/);
  });

  test('everything wrong is told at once', () => {
    expect(problems({ PORT: 'x', CERTO_AT_MODE: 'x', CERTO_X: 'x', CERTO_BASE_URL: 'x' })).toHaveLength(4);
  });

  test('outside the simulator the AT’s files are required, in production the number and the producer too', () => {
    expect(problems({ CERTO_AT_MODE: 'test' })).toHaveLength(2);
    expect(problems({ CERTO_AT_MODE: 'test', ...real })).toEqual([]);
    expect(problems({ CERTO_AT_MODE: 'production' })).toHaveLength(4);
    expect(problems({ CERTO_AT_MODE: 'production', ...real })).toEqual([
      "CERTO_CERTIFICATE_NUMBER is required when CERTO_AT_MODE is production: Number of the AT's certificate of the program.",
      "CERTO_PRODUCER_NIF is required when CERTO_AT_MODE is production: NIF of the producer, whom the AT's certificate is on.",
    ]);
    const producer = { CERTO_PRODUCER_NIF: '508025095' };
    const production = { CERTO_AT_MODE: 'production', ...real, ...producer };
    expect(problems({ ...production, CERTO_CERTIFICATE_NUMBER: '9999' })).toHaveLength(1);
    expect(problems({ ...production, CERTO_CERTIFICATE_NUMBER: '123' })).toEqual([]);
  });

  test.each(['99999', 'abc', '-1', '0', '5432&port=x'])('no port of DATABASE_URL: %s', (port) => {
    const said = problems({ DATABASE_URL: `postgres://ana:geheim@host/books?port=${port}` });
    expect(said).toEqual(['The port in DATABASE_URL must be a whole number from 1 to 65535.']);
    expect(problems({ DATABASE_URL: 'postgres://ana:geheim@host:0/books' })).toEqual(said);
  });

  test.each(['?port=6432', '?port=', ':5432/x', ''])('a port of DATABASE_URL: %s', (rest) => {
    expect(problems({ DATABASE_URL: `postgres://ana:geheim@host${rest}` })).toEqual([]);
  });

  test('a file that is a secret’s place is not told with its value', () => {
    expect(JSON.stringify(problems({ DATABASE_URL: 'postgres://a:geheim@x/y', PORT: 'x' }))).not.toContain('geheim');
    const addresses = [
      'https://a:geheim@x',
      'https://:geheim@x',
      'https://geheim@x',
      'a:geheim@x',
      'https://a:geh@geheim@x',
    ];
    for (const address of addresses)
      expect(problems({ CERTO_BASE_URL: address })).toEqual([expect.not.stringContaining('geheim')]);
  });
});

test.each(Object.entries<Variable>(variables))('%s says what it is', (name, { schema, description }) => {
  expect(name).toMatch(/^(PORT|HOST|DATABASE_URL|CERTO_[A-Z_]+)$/);
  expect(description).toMatch(/^[^\n]+\.( Keep| Test| The)?|\.$/);
  if (schema.type === 'integer') expect([schema.minimum, schema.maximum]).not.toContain(undefined);
});

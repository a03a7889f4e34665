/**
 * The environment, as one schema: every variable with its meaning, bounds and default. What is wrong in it is told all
 * at once, one line each; what is not in it but starts with CERTO_ is refused, since a mistyped limit or file name would
 * otherwise be a setting that silently does not hold.
 */
import { isIP } from 'node:net';
import { envSchema } from 'env-schema';
import type { AtMode } from './at/gateway.ts';
import { addressProblem } from './db/address.ts';
import { isOwnNif } from './fiscal/nif.ts';

/** A variable as JSON Schema, and what stands for its default where that is worked out. */
export interface Variable {
  readonly schema: {
    readonly type: 'integer' | 'string';
    readonly minimum?: number;
    readonly maximum?: number;
    readonly enum?: readonly string[];
    readonly default?: number | string;
  };
  readonly description: string;
  readonly defaultText?: string;
}

function whole(minimum: number, maximum: number, byDefault: number | undefined, description: string): Variable {
  const schema = { type: 'integer', minimum, maximum } as const;
  return { schema: byDefault === undefined ? schema : { ...schema, default: byDefault }, description };
}

function text(description: string, more: { default?: string; defaultText?: string } = {}): Variable {
  const { default: byDefault, ...rest } = more;
  return {
    schema: { type: 'string', ...(byDefault === undefined ? {} : { default: byDefault }) },
    description,
    ...rest,
  };
}

function oneOf(choices: readonly string[], byDefault: string, description: string): Variable {
  return { schema: { type: 'string', enum: choices, default: byDefault }, description };
}

const modes: readonly AtMode[] = ['simulator', 'test', 'production'];
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'];

/** Every variable that is read. The schema, `certo help environment` and the README's table are made of it. */
export const variables = {
  PORT: whole(0, 65535, 3000, 'TCP port of the service; 0 takes any free one.'),
  HOST: text('Address to listen on; 0.0.0.0 or :: for all.', { default: '127.0.0.1' }),
  CERTO_BASE_URL: text('Address under which clients reach the service, without a path.', {
    defaultText: 'http://HOST:PORT',
  }),
  CERTO_DATA_DIR: text('Folder of the embedded database, the master key and the simulator.', {
    defaultText: './data; as root, where the database cannot run there, /var/lib/certo',
  }),
  DATABASE_URL: text('postgres://user:password@host:5432/database of a PostgreSQL server, 15 or newer.', {
    defaultText: 'the embedded PostgreSQL in the data folder',
  }),
  CERTO_DB_CONNECTIONS: whole(
    1,
    1000,
    16,
    'Database connections for the requests of one service, at most; 7 more at most are for files, figures and health.',
  ),
  CERTO_AT_MODE: oneOf(
    modes,
    'simulator',
    'Which tax authority: simulator (no fiscal value), test (its test environment) or production. The first start binds the database to it.',
  ),
  CERTO_CERTIFICATE_NUMBER: {
    ...whole(1, 9999, undefined, "Number of the AT's certificate of the program."),
    defaultText: 'required in production; elsewhere 9999, the fictitious one',
  },
  CERTO_PRODUCER: text(
    'Whose program it is, as SAF-T names the producer: 1 to 200 characters in one line, without a slash.',
    {
      default: 'Certo',
    },
  ),
  CERTO_PRODUCER_NIF: text("NIF of the producer, whom the AT's certificate is on.", {
    defaultText: 'required in production; elsewhere 999999990, nobody in particular',
  }),
  CERTO_MASTER_KEY_FILE: text(
    'File with the master key (32 bytes in hexadecimal, mode 0600) that seals passwords and signing keys; made on first start. Keep a copy elsewhere.',
    { defaultText: 'master.key in the data folder' },
  ),
  CERTO_AT_CERTIFICATE_FILE: text("The producer's client certificate from the AT: PFX or PEM. Test and production."),
  CERTO_AT_CERTIFICATE_KEY_FILE: text('Its private key (PEM), when the certificate file does not hold it.'),
  CERTO_AT_CERTIFICATE_PASSPHRASE_FILE: text('File with the passphrase of the PFX file or of the private key.'),
  CERTO_AT_PUBLIC_KEY_FILE: text("The AT's cipher key as the AT hands it out (.cer or PEM). Test and production."),
  CERTO_AT_CA_FILE: text("Root certificates (PEM) to trust for the AT's servers instead of the built-in ones."),
  CERTO_AT_DEADLINE_SECONDS: whole(1, 120, 30, 'Longest wait for one answer of the AT, in seconds.'),
  CERTO_AT_SIMULATOR_URL: text(
    'Address of a simulator that runs elsewhere (https://127.0.0.1:7443); services with data folders of their own need one for all. The CERTO_AT_ files are those of its folder keys.',
    { defaultText: 'the service runs its own' },
  ),
  CERTO_AT_SIMULATOR_CONTROL_URL: text('Control address of that simulator; only shown.'),
  CERTO_API_KEY_RATE: whole(0, 1_000_000_000, 6000, 'Requests per minute and API key; 0 switches the limit off.'),
  CERTO_IP_RATE: whole(
    0,
    1_000_000_000,
    6000,
    'Failed authentications per minute and address; beyond it only credentials that were valid in the last 15 minutes are served. 0 switches the limit off.',
  ),
  CERTO_TRUSTED_PROXIES: text(
    'Addresses or networks, separated by commas, of the proxies whose X-Forwarded-For says who is asking (127.0.0.1, 10.0.0.0/8), not all there are (0.0.0.0/0). Otherwise all proxied clients share the limits of one address.',
  ),
  CERTO_HTTP_DEADLINE_SECONDS: whole(
    1,
    600,
    60,
    'Longest wait for a caller: until its request has arrived whole, and while it takes nothing of its answer, in seconds.',
  ),
  CERTO_METRICS_PORT: whole(0, 65535, 9464, 'Port of /metrics on 127.0.0.1; 0 switches it off.'),
  CERTO_LOG_LEVEL: oneOf(levels, 'info', `Least level of the log on standard error: ${levels.join(', ')}.`),
  CERTO_PRINT_WORKERS: whole(1, 16, 1, 'Threads that typeset PDFs, about 30 MB each.'),
} satisfies Record<string, Variable>;

type Name = keyof typeof variables;

export interface Config {
  readonly port: number;
  readonly host: string;
  /** Undefined: made of host and port, once the port is known. Without a trailing slash. */
  readonly baseUrl: string | undefined;
  readonly dataDirectory: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly databaseConnections: number;
  readonly atMode: AtMode;
  readonly certificateNumber: number;
  /** Whose program it is; `nif` undefined: nobody in particular. */
  readonly producer: { readonly name: string; readonly nif: string | undefined };
  readonly masterKeyFile: string | undefined;
  readonly at: AtFiles;
  readonly atDeadline_seconds: number;
  readonly simulatorUrl: string | undefined;
  readonly simulatorControlUrl: string | undefined;
  /** Requests per minute; 0 is off. */
  readonly apiKeyRate: number;
  readonly ipRate: number;
  /** Addresses and networks. */
  readonly trustedProxies: readonly string[];
  readonly httpDeadline_seconds: number;
  readonly metricsPort: number;
  readonly logLevel: string;
  readonly printWorkers: number;
}

export interface AtFiles {
  readonly certificate: string | undefined;
  readonly certificateKey: string | undefined;
  readonly passphrase: string | undefined;
  readonly publicKey: string | undefined;
  readonly ca: string | undefined;
}

/** The environment can't be used; `problems` are sentences for the operator, one per variable. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Reads the configuration. An empty value counts as not given. Throws ConfigurationError. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value !== '' && value !== undefined && isOurs(name)),
  ) as Record<string, string>;
  const problems = Object.keys(given)
    .filter((name) => !isKnown(name))
    .map(unknownVariable);
  const values = validated(given, problems);
  const at = (name: Name): string | undefined => values[name] as string | undefined;
  const baseUrl = addressIn(values, 'CERTO_BASE_URL', ['http:', 'https:'], problems);
  const simulatorUrl = addressIn(values, 'CERTO_AT_SIMULATOR_URL', ['https:'], problems);
  const simulatorControlUrl = addressIn(values, 'CERTO_AT_SIMULATOR_CONTROL_URL', ['http:'], problems);
  const databaseUrl = at('DATABASE_URL');
  const wrong = databaseUrl === undefined ? undefined : addressProblem(databaseUrl);
  if (wrong !== undefined) problems.push(wrong);
  const atMode = (at('CERTO_AT_MODE') ?? 'simulator') as AtMode;
  problems.push(...producerProblems(values), ...proxyProblems(at('CERTO_TRUSTED_PROXIES')));
  if (atMode === 'test' || atMode === 'production') problems.push(...missingForAt(values, atMode));
  if (problems.length > 0) throw new ConfigurationError(problems);
  const number = (name: Name): number => values[name] as number;
  return {
    port: number('PORT'),
    host: at('HOST')!,
    baseUrl,
    dataDirectory: at('CERTO_DATA_DIR'),
    databaseUrl,
    databaseConnections: number('CERTO_DB_CONNECTIONS'),
    atMode,
    certificateNumber: (values['CERTO_CERTIFICATE_NUMBER'] as number | undefined) ?? 9999,
    producer: { name: at('CERTO_PRODUCER')!, nif: at('CERTO_PRODUCER_NIF') },
    masterKeyFile: at('CERTO_MASTER_KEY_FILE'),
    at: {
      certificate: at('CERTO_AT_CERTIFICATE_FILE'),
      certificateKey: at('CERTO_AT_CERTIFICATE_KEY_FILE'),
      passphrase: at('CERTO_AT_CERTIFICATE_PASSPHRASE_FILE'),
      publicKey: at('CERTO_AT_PUBLIC_KEY_FILE'),
      ca: at('CERTO_AT_CA_FILE'),
    },
    atDeadline_seconds: number('CERTO_AT_DEADLINE_SECONDS'),
    simulatorUrl,
    simulatorControlUrl,
    apiKeyRate: number('CERTO_API_KEY_RATE'),
    ipRate: number('CERTO_IP_RATE'),
    trustedProxies: networksIn(at('CERTO_TRUSTED_PROXIES')),
    httpDeadline_seconds: number('CERTO_HTTP_DEADLINE_SECONDS'),
    metricsPort: number('CERTO_METRICS_PORT'),
    logLevel: at('CERTO_LOG_LEVEL')!,
    printWorkers: number('CERTO_PRINT_WORKERS'),
  };
}

function networksIn(list = ''): string[] {
  return list
    .split(',')
    .map((network) => network.trim())
    .filter((network) => network !== '');
}

function proxyProblems(list: string | undefined): string[] {
  const wrong = networksIn(list).filter((network) => !isNetwork(network));
  return wrong.map(
    (network) =>
      `CERTO_TRUSTED_PROXIES must be addresses or networks (127.0.0.1, 10.0.0.0/8) and not all there are, not ${JSON.stringify(network)}.`,
  );
}

/** "10.0.0.1", "10.0.0.0/8", "fd00::/8"; not "0.0.0.0/0", which would have anybody say who is asking. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

function isKnown(name: string): name is Name {
  return Object.hasOwn(variables, name);
}

function isOurs(name: string): boolean {
  return isKnown(name) || name.startsWith('CERTO_');
}

/** Coerced values of the known variables, defaults filled in; what is wrong goes into `problems`. */
function validated(given: Readonly<Record<string, string>>, problems: string[]): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isKnown(name)) continue;
    // Coercion would also take "1e3", "0x10" and " 7 ".
    if (variables[name].schema.type === 'integer' && !/^\d{1,10}$/.test(value)) problems.push(expectation(name, value));
    else known[name] = value;
  }
  const properties = Object.fromEntries(Object.entries(variables).map(([name, { schema }]) => [name, schema]));
  const schema = { type: 'object', properties };
  try {
    return envSchema<Record<string, unknown>>({ schema, data: known, env: false });
  } catch (error) {
    const errors = (error as { errors?: readonly { instancePath: string }[] }).errors;
    if (errors === undefined) throw error;
    for (const name of new Set(errors.map(({ instancePath }) => instancePath.slice(1)))) {
      if (isKnown(name)) problems.push(expectation(name, String(given[name])));
    }
    return known;
  }
}

function expectation(name: Name, value: string): string {
  const { schema }: Variable = variables[name];
  return schema.enum === undefined
    ? `${name} must be a whole number from ${schema.minimum} to ${schema.maximum}, not "${value}".`
    : `${name} must be one of ${schema.enum.join(', ')}, not "${value}".`;
}

/** Scheme, host and port: nothing else that a URL may have, nor what its parser mends in silence (blanks, backslashes). */
const bareAddress = /^[a-z]+:\/\/[^\s\\/?#@]+\/*$/i;

/** An absolute address without path, as its origin; `problems` gets what is wrong with it, without a password in it. */
function addressIn(
  values: Readonly<Record<string, unknown>>,
  name: Name,
  protocols: readonly string[],
  problems: string[],
): string | undefined {
  const value = values[name] as string | undefined;
  if (value === undefined) return undefined;
  const url = bareAddress.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && protocols.includes(url.protocol)) return url.origin;
  const shown = value.replace(/(^|\/\/).*@/s, '$1…@');
  problems.push(`${name} must be an address like ${protocols[0]}//host:port, not "${shown}".`);
  return undefined;
}

/** Outside the simulator nothing is made up: who sends, with which certificate, to which key. */
function missingForAt(values: Readonly<Record<string, unknown>>, mode: AtMode): string[] {
  const needed: Name[] = ['CERTO_AT_CERTIFICATE_FILE', 'CERTO_AT_PUBLIC_KEY_FILE'];
  if (mode === 'production') needed.push('CERTO_CERTIFICATE_NUMBER', 'CERTO_PRODUCER_NIF');
  const problems = needed
    .filter((name) => values[name] === undefined)
    .map((name) => `${name} is required when CERTO_AT_MODE is ${mode}: ${firstSentence(name)}`);
  if (mode === 'production' && values['CERTO_CERTIFICATE_NUMBER'] === 9999) {
    problems.push('CERTO_CERTIFICATE_NUMBER 9999 is the fictitious one and cannot be used in production.');
  }
  return problems;
}

function producerProblems(values: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  const name = values['CERTO_PRODUCER'] as string | undefined;
  const nif = values['CERTO_PRODUCER_NIF'] as string | undefined;
  // A control character would stand in SAF-T as U+FFFD, or break its line.
  if (name !== undefined && !/^(?=.*\S)[^/\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u.test(name)) {
    problems.push(`CERTO_PRODUCER must be 1 to 200 characters in one line without a slash, not "${name}".`);
  }
  if (nif !== undefined && !isOwnNif(nif)) problems.push(`CERTO_PRODUCER_NIF must be a NIF, not "${nif}".`);
  return problems;
}

function firstSentence(name: Name): string {
  return variables[name].description.replace(/[:;.] .*$/, '').replace(/\.?$/, '.');
}

function unknownVariable(name: string): string {
  // Some have no prefix, such as PORT.
  const bare = name.replace(/^CERTO_/, '');
  const nearest = Object.keys(variables)
    .map((known) => ({ known, distance: known === bare ? 0 : distance(name, known) }))
    .sort((a, b) => a.distance - b.distance)[0]!;
  const hint =
    nearest.distance <= 5 ? `did you mean ${nearest.known}?` : 'see "certo help environment" for those there are.';
  return `${name} is not a variable of Certo: ${hint}`;
}

/** Levenshtein's: how many letters to add, drop or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}

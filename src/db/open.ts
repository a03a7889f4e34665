/** Opening the database: the pool of the service (role certo_app) and the pool of its owner (role certo_owner). */
import { statSync } from 'node:fs';
import { Client, type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { addressProblem, readAddress } from './address.ts';
import { DatabaseUnavailable } from './errors.ts';
import { type Guard, guardedBy } from './room.ts';
import { asFlags, searchPath, sessionSettings } from './session-settings.ts';
import { type Db, makeDb } from './transact.ts';
import { parserOf } from './wire-types.ts';

/** The service's, which can't change tables; and the owner's, for migrations and the operator. */
export type Role = 'certo_app' | 'certo_owner';

/** A server behind a unix socket that trusts who can reach the socket: the embedded one. */
export interface SocketConnection {
  /** Directory of the socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** The login role that may become certo_owner. */
  readonly user: string;
}

/** Where the database is: the embedded server's socket, or a DATABASE_URL. */
export type Target = { readonly connection: SocketConnection } | { readonly connectionString: string };

export type OpenOptions = Target & {
  /** Connections at most; default 16. */
  readonly max?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** Milliseconds a statement may take; default 30 000, 0 for no limit. */
  readonly statementTimeout?: number;
  /**
   * Milliseconds a transaction may take, of a server that can end one (PostgreSQL 17 or newer); default 0, for no limit. The
   * server's other limits are of statements and of a transaction that waits for the next one, and hold for none that has
   * a pipeline open: a process that is stopped there would keep its locks for as long.
   */
  readonly transactionTimeout?: number;
  /** Asked before each write; by default all are taken. */
  readonly guard?: Guard | undefined;
};

// The oldest release that we test on; older ones lack what the SQL uses (e.g. security_invoker views).
const oldest = 15;
const connect_timeout = 10_000;

/**
 * Opens the pool of the service. By default it acts as certo_app, for which row-level security holds; `role: 'certo_owner'`
 * is for commands of the operator. Connects once, so that a wrong address is told at start.
 * Throws DatabaseUnavailable with one sentence for the operator.
 */
export async function openDb(options: OpenOptions & { readonly role?: Role }): Promise<Db> {
  const role = options.role ?? 'certo_app';
  const pool = makePool(options, role);
  const connect = connector(pool, options);
  await probe(pool, connect, options, role);
  const timeout = options.statementTimeout ?? 30_000;
  // The server ends a statement at its timeout; an answer that is still missing then means a dead connection.
  const db = makeDb({
    pool,
    connect,
    knock: () => knock(options, role),
    deadline: timeout === 0 ? 0 : timeout + 15_000,
  });
  return options.guard === undefined ? db : guardedBy(options.guard, db);
}

/** A plain pool as certo_owner, who sees every company: for migrations, the operator's commands and tests. */
export async function openOwner(options: OpenOptions): Promise<Pool> {
  const pool = makePool({ statementTimeout: 0, max: 4, ...options }, 'certo_owner');
  await probe(pool, connector(pool, options), options, 'certo_owner');
  return pool;
}

/** A plain pool as the login role itself, where the roles may not be there yet: for migrations and restores. */
export async function openLogin(options: OpenOptions): Promise<Pool> {
  const pool = makePool({ statementTimeout: 0, max: 1, ...options }, undefined);
  await probe(pool, connector(pool, options), options, undefined);
  return pool;
}

// Not among the settings that a session begins with: an older server would refuse it.
const limitTransactions = `select case when current_setting('server_version_num')::int >= 170000
  then set_config('transaction_timeout', $1, false) end`;

function makePool(options: OpenOptions, role: Role | undefined): Pool {
  const { transactionTimeout = 0 } = options;
  const pool = new Pool({
    ...address(options, role),
    max: options.max ?? 16,
    application_name: options.applicationName ?? 'certo',
    connectionTimeoutMillis: connect_timeout,
    // A connection has its statements prepared, so it is worth keeping; hourly renewal sheds the server's caches.
    idleTimeoutMillis: 300_000,
    maxLifetimeSeconds: 3_600,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    types: { getTypeParser: parserOf as NonNullable<PoolConfig['types']>['getTypeParser'] },
    ...(transactionTimeout === 0 ? {} : { onConnect: limiter(transactionTimeout) }),
  });
  // pg takes the idle listener off a client in use, and an 'error' nobody hears ends the process. Whoever uses the
  // client gets the error from its query.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined);
  return pool;
}

/** What the pool waits for before it gives a new connection out. */
function limiter(milliseconds: number): (client: ClientBase) => Promise<unknown> {
  const query = { text: limitTransactions, values: [String(milliseconds)], query_timeout: connect_timeout };
  return (client) => client.query(query);
}

function address(options: OpenOptions, role: Role | undefined): PoolConfig {
  const own = sessionSettings(options.statementTimeout ?? 30_000);
  const settings = asFlags(role === 'certo_app' ? [...own, ...byIndex] : own);
  if ('connection' in options) {
    const { connection } = options;
    // There the service is certo_app from the start, so that no RESET ROLE leads back to a stronger one.
    if (role === 'certo_app') return { ...connection, ssl: false, user: role, options: settings };
    return { ...connection, ssl: false, options: role === undefined ? settings : `${settings} -c role=${role}` };
  }
  const url = parseAddress(options.connectionString);
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  checkFiles(url);
  // pg takes these for verify-full, and warns on each start that its next version will trust more: here they stay what they are.
  const isWeaker = ['prefer', 'require', 'verify-ca'].includes(url.searchParams.get('sslmode') ?? '');
  if (isWeaker && url.searchParams.get('uselibpqcompat') !== 'true') url.searchParams.set('sslmode', 'verify-full');
  // What the operator wrote comes first: the last one wins, and role and formats are not for choosing.
  const all = [given, settings, role === undefined ? undefined : `-c role=${role}`].filter(Boolean).join(' ');
  return { connectionString: url.href, options: all };
}

/** Some are a few thousand bytes, and pg reads whatever they are to its end. One that is not there pg tells. */
const longest_file_bytes = 2 ** 20;

function checkFiles(url: URL): void {
  for (const name of ['sslcert', 'sslkey', 'sslrootcert']) {
    const path = url.searchParams.get(name);
    const found = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.isFile() && found.size <= longest_file_bytes)) continue;
    throw new DatabaseUnavailable(
      `DATABASE_URL names ${path} as its ${name}, which is no file of a key or a certificate: name one.`,
    );
  }
}

// Whatever the service asks has an index. A plan is kept until the table is looked at again, and one that reads all of a
// table because it was small a moment ago is a hundred times too slow a thousand documents later.
const byIndex = ['enable_seqscan=off'];

function parseAddress(text: string): URL {
  const problem = addressProblem(text);
  if (problem !== undefined) throw new DatabaseUnavailable(problem);
  return readAddress(text)!;
}

/** How errors name the place: without user and password. */
function placeOf(options: OpenOptions): string {
  if ('connection' in options) return `the embedded database at ${options.connection.host}`;
  const url = parseAddress(options.connectionString);
  const host = url.searchParams.get('host') ?? (decodeURIComponent(url.hostname) || 'localhost');
  const name = url.pathname.slice(1);
  // PostgreSQL then takes the one that is named as the user.
  const named = name === '' ? "of its user's name" : name;
  return `the database ${named} at ${host}${url.port === '' ? '' : `:${url.port}`}`;
}

function connector(pool: Pool, options: OpenOptions): () => Promise<PoolClient> {
  return async () => {
    try {
      return await pool.connect();
    } catch (error) {
      throw new DatabaseUnavailable(sentence(error as Error, placeOf(options)));
    }
  };
}

async function knock(options: OpenOptions, role: Role): Promise<void> {
  const client = new Client({
    ...address(options, role),
    application_name: options.applicationName ?? 'certo',
    connectionTimeoutMillis: connect_timeout,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // One that is full of others' connections serves ours as before.
    if ((error as { code?: string }).code !== '53300')
      throw new DatabaseUnavailable(sentence(error as Error, placeOf(options)));
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function probe(
  pool: Pool,
  connect: () => Promise<PoolClient>,
  options: OpenOptions,
  role: Role | undefined,
): Promise<void> {
  try {
    const client = await connect();
    try {
      const { rows } = await client.query(
        `select current_setting('server_version_num')::int as version, current_setting('session_replication_role') as role,
           current_user::text as acts, current_setting('synchronous_commit') as commits, current_setting('search_path') as path`,
      );
      const major = Math.floor(Number(rows[0]?.version) / 10_000);
      if (!(major >= oldest)) {
        throw new DatabaseUnavailable(`The server is PostgreSQL ${major}; Certo needs ${oldest} or newer.`);
      }
      // Some of them may arrive, of a pooler that knows those.
      const { acts, commits, path } = rows[0]!;
      if (path !== searchPath || commits !== 'on' || (role !== undefined && acts !== role)) {
        throw new DatabaseUnavailable(
          `The settings that a session begins with do not reach ${placeOf(options)}: a pooler between leaves them out (PgBouncer with ignore_startup_parameters = options). Connect to the server itself.`,
        );
      }
      // Only a superuser may set it, also at the start of a session: so it can be looked at and not put right.
      if (rows[0]?.role === 'replica') {
        throw new DatabaseUnavailable(
          'The database or its user has session_replication_role set to replica, in which no trigger fires and nothing is frozen: a superuser must reset it (ALTER DATABASE … RESET session_replication_role, or ALTER ROLE).',
        );
      }
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** One sentence for the operator, from Node's code of a failed connection or from the server's SQLSTATE. */
function sentence(error: Error & { code?: unknown }, place: string): string {
  if ('syscall' in error && error.syscall === 'open') {
    return 'A certificate or key file that DATABASE_URL names cannot be read.';
  }
  const code = String(error.code ?? '');
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `Nothing answers for ${place}: is the server running?`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${place} is not known.`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `The host of ${place} cannot be reached.`;
    case 'EACCES':
      return `This user may not connect to ${place}.`;
    case '28P01':
      return `The server refused the user name or password for ${place}.`;
    case '28000':
      // The service logs in to the embedded server as certo_app, which the first migration makes.
      if (/role "certo_/.test(error.message))
        return `${capital(place)} is not prepared yet: run "certo migrate" first.`;
      return `The server does not let this user connect to ${place}: ${error.message}.`;
    case '3D000':
      return `There is no such database: ${place}. Create it first.`;
    case '22023':
    case '42704':
      return `${capital(place)} is not prepared yet: run "certo migrate" first (${error.message}).`;
    case '42501':
      return `The user of ${place} may not act for Certo: ${error.message}. Run "certo migrate" as a user who may create roles.`;
    case '53300':
      return `${capital(place)} takes no more connections.`;
    case '57P03':
      return `${capital(place)} is starting up or shutting down.`;
  }
  if (/timeout/.test(error.message))
    return `${capital(place)} gave no connection within ${connect_timeout / 1000} seconds.`;
  if (/SSL|certificate|TLS/i.test(`${code} ${error.message}`)) {
    return `No trusted encrypted connection to ${place}: ${error.message}. See sslmode and sslrootcert in DATABASE_URL.`;
  }
  if (code !== '' && /^[0-9A-Z]{5}$/.test(code)) return `${capital(place)} refused the connection: ${error.message}.`;
  return `The connection to ${place} broke.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

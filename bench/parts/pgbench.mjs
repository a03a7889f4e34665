// The transaction of an issue as pgbench plays it: the same statements and nothing around them, 32 clients that all want
// the same row of a series: in tables as lean as can be, and in the product's own. It signs nothing. pgbench comes with
// PostgreSQL (Debian: postgresql-contrib); PGBENCH says where another one is.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openOwnTables } from './own-tables.mjs';
import { openDatabase } from './postgres.mjs';

const run = promisify(execFile);
const clients = 32;
/** About as long as the other halves of a round. */
const wanted_seconds = 3;
const variables = (values) => Object.entries(values).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
const file = (name) => fileURLToPath(new URL(`../pgbench/${name}.sql`, import.meta.url));

/** The newest pgbench of this machine, undefined without one. */
function findPgbench() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [process.env.PGBENCH, ...versions.map((version) => `${debian}/${version}/bin/pgbench`), 'pgbench'];
  return places.find((place) => place !== undefined && spawnSync(place, ['--version']).status === 0);
}

/** @returns what plays one round of a script, or undefined where there is no pgbench. */
export async function openPgbench(bench) {
  const program = findPgbench();
  if (program === undefined) return undefined;
  const { pool, connection } = await openDatabase('pgbench');
  const own = await openOwnTables(bench);
  const each = {};
  return {
    clients,
    /** Transactions a second of "seven-trips" or "one-statement", from fresh tables, or of "own-tables". */
    async play(script, { quick } = {}) {
      const playOnce = script === 'own-tables' ? playOwn : (transactions) => playLean(script, transactions);
      // The first time a little, to learn how much makes a round.
      each[script] ??= Math.max(10, Math.ceil(((await playOnce(10)) * (quick ? 0.5 : wanted_seconds)) / clients));
      return await playOnce(each[script]);
    },
  };

  async function playLean(script, transactions) {
    await pgbench(connection, ['-f', file('tables'), '-t', '1', ...variables({ drafts: clients * transactions })]);
    const perSecond = await playScript(connection, script, transactions);
    await checkBooks(clients * transactions);
    return perSecond;
  }

  async function playOwn(transactions) {
    const told = await own.draft(clients * transactions);
    const perSecond = await playScript(own.connection, 'own-tables', transactions, told, own.options);
    await own.check();
    return perSecond;
  }

  async function playScript(place, script, transactions, told = {}, options = '') {
    const load = ['-c', String(clients), '-j', '1', '-t', String(transactions)];
    const args = ['-M', 'prepared', '-f', file(script), ...load, ...variables({ n: 0, each: transactions, ...told })];
    return Number(/^tps = ([\d.]+)/m.exec(await pgbench(place, args, options))[1]);
  }

  async function pgbench({ host, port, user, database }, args, options = '') {
    const place = ['-h', host, '-p', String(port), '-U', user, database];
    const { stdout } = await run(program, ['-n', ...args, ...place], { env: { ...process.env, PGOPTIONS: options } });
    return stdout;
  }

  /** What was measured has to have happened. */
  async function checkBooks(expected) {
    const { rows } = await pool.query(
      `select s.last_number::int as head, (select count(*)::int from documents d where d.status = 'ISSUED' and d.sequence <= s.last_number) as issued,
         (select count(*)::int from claims) as claims, (select count(*)::int from audit) as audited from series s`,
    );
    const { head, issued, claims, audited } = rows[0];
    if ([head, issued, claims, audited].some((count) => count !== expected)) {
      throw new Error(`pgbench wrote ${issued} documents up to number ${head}, not ${expected}`);
    }
  }
}

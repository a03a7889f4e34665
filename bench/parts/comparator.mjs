// The usual stack of bench/comparator as a running service: installed when it is not, on a database of its own, its
// series read again as the product's.
import { spawnSync } from 'node:child_process';
import { createPublicKey, randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyChain } from '../../dist/fiscal/hash-chain.js';
import { generateSigningKey } from '../../dist/keys/signer.js';
import { start } from './children.mjs';
import { openDatabase } from './postgres.mjs';

const folder = fileURLToPath(new URL('../comparator/', import.meta.url));
const longest_install_ms = 180_000;

/** Its packages, by `npm ci` when they are not there. Undefined when they are; else why not. */
export function install(say) {
  const installed = join(folder, 'node_modules', '.package-lock.json');
  const locked = join(folder, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(locked).mtimeMs) return undefined;
  say('npm ci in bench/comparator');
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1'],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: longest_install_ms,
    },
  );
  if (status === 0) return undefined;
  const [reason] = (error?.message ?? stderr).trim().split('\n');
  return `its packages cannot be installed (npm ci in bench/comparator): ${reason}`;
}

/** @returns {{ port, apiKey, company, check(): Promise<string | undefined>, issued(count), stop() }} */
export async function startComparator() {
  const { pool, connection } = await openDatabase('usual_stack');
  const { privatePem, publicPem } = generateSigningKey();
  const apiKey = randomBytes(24).toString('base64url');
  const child = start('../comparator/server.mjs', {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_HOST: connection.host,
    DATABASE_PORT: String(connection.port),
    DATABASE_NAME: connection.database,
    DATABASE_USER: connection.user,
    API_KEY: apiKey,
    SIGNING_KEY: privatePem,
  });
  const { port, company } = await child.ask();
  let expected = 0;
  const books = {
    broken: undefined,
    issued(count) {
      expected += count;
    },
    async check() {
      books.broken ??= await faultOf(pool, createPublicKey(publicPem), expected);
    },
  };
  return { port, apiKey, company, books, stop: () => child.stop() };
}

/** The same questions as `certo verify` asks: a gap, a number twice, a signature that is not one; and what is missing. */
async function faultOf(pool, publicKey, expected) {
  const { rows } = await pool.query(
    `select sequence, number, to_char(date, 'YYYY-MM-DD') as date, system_entry as "systemEntry",
       (total / 100.0)::numeric(18, 2)::text as "grossTotal", hash, 1 as "keyVersion"
     from invoices where status = 'ISSUED' order by sequence, id`,
  );
  const findings = verifyChain(new Map([[1, publicKey]]), rows);
  if (findings.length > 0) return `${findings.length} findings, the first: ${findings[0].number} ${findings[0].fault}`;
  return rows.length === expected
    ? undefined
    : `${rows.length} documents in its books, ${expected} answers said issued`;
}

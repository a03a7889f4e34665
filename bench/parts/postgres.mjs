// A PostgreSQL beside the service's for what is measured without the product: the same embedded server with the same
// settings, waiting for the disk.
import { startEmbedded } from '../../dist/db/embedded.js';
import { openLogin } from '../../dist/db/open.js';
import { atEnd, dataFolder } from './service.mjs';

let shared;

/** @returns {Promise<{ host: string, port: number, user: string, database: string }>} started when first asked for. */
export function postgres() {
  shared ??= startServer(dataFolder());
  return shared;
}

/** The connection of a server of its own in this folder, whether there are data in it already or not; stopped at the end. */
export async function startServer(folder) {
  const server = await startEmbedded({
    dataDirectory: folder,
    uid: process.getuid?.() ?? 1,
    durable: true,
    log: () => undefined,
  });
  atEnd(() => server.stop());
  return server.connection;
}

/** A pool on one of its databases, which is made when it is not there. */
export async function openDatabase(name) {
  const connection = await postgres();
  const first = await openLogin({ connection });
  const { rowCount } = await first.query('select from pg_database where datname = $1', [name]);
  if (rowCount === 0) await first.query(`create database ${name}`);
  await first.end();
  const pool = await openLogin({ connection: { ...connection, database: name } });
  atEnd(() => pool.end());
  return { pool, connection: { ...connection, database: name } };
}

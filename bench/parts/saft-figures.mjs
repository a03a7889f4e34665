// Exports of 100,000 and 300,000 invoices, each in a process of its own, beside xmllint on the same file. Measured once
// for all rows: filling the books takes longer than any of the figures.
import { spawnSync } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../../dist/db/embedded.js';
import { migrate } from '../../dist/db/migrate.js';
import { openOwner } from '../../dist/db/open.js';
import { checkSaft } from '../../dist/fiscal/saft/check/check-saft.js';
import { start } from './children.mjs';
import { fillBooks } from './saft-books.mjs';
import { dataFolder } from './service.mjs';

const schema = fileURLToPath(new URL('../../src/fiscal/saft/fixtures/saft-pt-1.04_01-projection.xsd', import.meta.url));
/** libxml2's own program (Debian: libxml2-utils); XMLLINT says where another one is. */
const xmllint = process.env.XMLLINT ?? 'xmllint';
export const hasXmllint = spawnSync(xmllint, ['--version']).error === undefined;

let measured;

/** @returns {Promise<{ exports: { seconds: number, peak_mib: number, bytes: number }[], larger: { peak_mib: number }, xmllint_seconds: number[], check_seconds: number }>} */
export function saftFigures(tools) {
  measured ??= measure(tools);
  return measured;
}

async function measure({ say, rounds }) {
  const folder = dataFolder();
  const server = await startEmbedded({
    dataDirectory: folder,
    uid: process.getuid?.() ?? 1,
    durable: false,
    log: () => undefined,
  });
  await migrate(server);
  const owner = await openOwner(server);
  try {
    say('100,000 invoices into the books');
    const small = await fillBooks(owner, 100_000, '500000000');
    say('300,000 invoices into the books');
    const large = await fillBooks(owner, 300_000, '501442600');
    return await rounded({ say, rounds }, server.connection, small, large, join(folder, 'saft.xml'));
  } finally {
    await owner.end();
    await server.stop();
  }
}

async function rounded({ say, rounds }, connection, small, large, file) {
  const exports = [];
  const xmllint_seconds = [];
  // In turns, so that what else the machine does meets both.
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    exports.push(await exported({ connection, companyId: small, file }));
    if (hasXmllint) xmllint_seconds.push(linted(file));
  }
  const from = performance.now();
  const report = await checkSaft(createReadStream(file));
  if (report.errors > 0) throw new Error(`the file has errors: ${JSON.stringify(report.counts)}`);
  const check_seconds = (performance.now() - from) / 1000;
  say('300,000 invoices');
  const larger = await exported({ connection, companyId: large, file });
  rmSync(file);
  return { exports, xmllint_seconds, check_seconds, larger };
}

async function exported(question) {
  const child = start('saft-process.mjs');
  return await child.ask(question);
}

function linted(file) {
  const from = performance.now();
  const { status, stderr } = spawnSync(xmllint, ['--noout', '--stream', '--schema', schema, file], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`xmllint says no: ${stderr.slice(0, 300)}`);
  return (performance.now() - from) / 1000;
}

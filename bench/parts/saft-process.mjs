// One export in a process of its own, so that its peak memory is its own: { connection, companyId, file } by IPC.

import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { openDb } from '../../dist/db/open.js';
import { exportSaft } from '../../dist/operations/saft/export-saft.js';
import { period } from './saft-books.mjs';

const program = { producerTaxId: '500000000', productId: 'Certo/Bench', version: '0', certificateNumber: 9999 };

process.on('message', async ({ connection, companyId, file }) => {
  const db = await openDb({ connection, max: 1 });
  const out = createWriteStream(file);
  const from = performance.now();
  const { bytes } = await exportSaft(db, { companyId, ...period, program }, async (portion) => {
    if (!out.write(portion)) await once(out, 'drain');
  });
  out.end();
  await once(out, 'finish');
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage();
  const peak_mib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  await db.close();
  process.send({ seconds, bytes, peak_mib, cpu_seconds: (user + system) / 1e6 });
  process.disconnect();
});

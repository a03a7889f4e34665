// `certo verify` beside the running service: every number, signature, seal and event of many documents, in a process of
// its own. Given as seconds for 100,000, from as many as are made in reasonable time; the work is the same for each.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inFlight } from '../parts/client.mjs';
import { createDrafts, issue } from '../parts/invoices.mjs';

export const title = 'Verify 100,000 documents';
export const unit = 's';
export const floor = { most: 60 };

const count = 5_000;
const main = new URL('../../dist/main.js', import.meta.url).pathname;

export async function measure({ bench, say }) {
  const service = await bench.service();
  const step = 1_000;
  for (let made = 0; made < count; made += step) {
    say(`${made} of ${count} documents`);
    const drafts = await createDrafts(service, step, 32);
    await inFlight(step, 32, (i) => issue(service, drafts[i]));
  }
  say('verifying');
  const seconds = await verify(service, ['--company', service.company.id]);
  const { documents, findings } = seconds.told;
  if (findings !== 0 || documents < count) throw new Error(`verify found ${findings} in ${documents} documents`);
  // What a command costs before its first document.
  const idle = await verify(service, ['--company', service.others.Z.id]);
  const each = (seconds.taken - idle.taken) / (documents - idle.told.documents);
  return { value: each * 100_000, details: { words: `${documents} documents of three lines`, documents, each } };
}

async function verify({ environment }, args) {
  const from = performance.now();
  const child = spawn(process.execPath, [main, 'verify', '--json', ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  await once(child, 'exit');
  return { taken: (performance.now() - from) / 1000, told: JSON.parse(text) };
}

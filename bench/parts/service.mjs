// The service as people run it: `node dist/main.js serve`, its own process, its own data folder, limits switched off.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openClient } from './client.mjs';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const cleanups = [];

/** What has to be ended before the run is over; the last comes first. */
export function atEnd(cleanup) {
  cleanups.push(cleanup);
}

/** Ends every process and removes every folder that rows left. */
export async function closeAll() {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** What rows share: one running service with a company, started when first asked for. */
export function openBench() {
  let shared;
  return {
    /** @returns {Promise<{ baseUrl: string, company: object, client: ReturnType<typeof openClient> }>} */
    service() {
      shared ??= startPrepared();
      return shared;
    },
    /** The same for one row alone, which stops it: what other rows issued is still being reported from theirs. */
    fresh: startPrepared,
  };
}

/** A data folder that is removed at the end. As root, PostgreSQL's user has to reach it: /tmp is open to all. */
export function dataFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'certo-bench-')));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function environment(folder, port) {
  const { PATH, HOME, TMPDIR } = process.env;
  return {
    PATH,
    HOME,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    PORT: String(port),
    CERTO_DATA_DIR: folder,
    CERTO_API_KEY_RATE: '0',
    CERTO_IP_RATE: '0',
    CERTO_METRICS_PORT: '0',
  };
}

/** Starts `serve`. Resolves at once: whether it answers is the caller's question. */
export function serve(folder, port) {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: environment(folder, port),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (said = (said + chunk).slice(-20_000)));
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  };
  cleanups.push(stop);
  return { pid: child.pid, port, baseUrl: `http://127.0.0.1:${port}`, stop, said: () => said, child };
}

/** Asks until the service answers with this status; milliseconds since `from`. */
export async function firstAnswer(
  service,
  path,
  { headers = {}, status = 200, from = performance.now(), patience_ms = 60_000 } = {},
) {
  const client = openClient(service.baseUrl, headers);
  try {
    for (;;) {
      const answer = await client.call('GET', path).catch(() => undefined);
      if (answer?.status === status) return performance.now() - from;
      if (service.child.exitCode !== null || performance.now() - from > patience_ms) {
        throw new Error(
          `the service does not answer GET ${path} (last: ${answer?.status}); it said:\n${service.said()}`,
        );
      }
      await sleep(2);
    }
  } finally {
    client.close();
  }
}

/** What `certo demo --json` tells of the companies; makes them when they are not there. */
export async function demo(folder, port) {
  const child = spawn(process.execPath, [main, 'demo', '--json'], {
    env: environment(folder, port),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`certo demo ended with ${code}`);
  return JSON.parse(text);
}

/**
 * Milliseconds until the simulated AT answers, as an authority across the net: at once it would take more of the
 * processor, on the same machine, than the service, and the faster documents are issued the more.
 */
const authority_ms = 300;

/** A running service with company A of the demo. */
export async function startPrepared() {
  const folder = dataFolder();
  const port = await freePort();
  const service = serve(folder, port);
  await firstAnswer(service, '/health/ready');
  const { companies, simulator } = await demo(folder, port);
  await slowAuthority(simulator.control);
  const company = companies.A;
  const client = openClient(service.baseUrl, { 'x-api-key': company.apiKey });
  cleanups.push(() => client.close());
  return { ...service, folder, company, others: companies, client, environment: environment(folder, port) };
}

async function slowAuthority(control) {
  const client = openClient(control);
  await client.expect(200, 'PUT', '/__fault', { kind: 'slow', milliseconds: authority_ms });
  client.close();
}

/** Peak of the memory that was resident, in MB (Linux: VmHWM of /proc). Threads are inside, children are not. */
export function peakMemory(pid) {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(found[1]) * 1024) / 1e6;
}

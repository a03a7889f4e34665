/** Figures for Prometheus on a port of loopback: the process, the requests, and what waits for the tax authority. */
import { createServer, type Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { blockColumns, blockReasons, blocksOf } from './blocked.ts';

export interface Metrics {
  /** Counts one finished request. */
  readonly observe: (route: string, status: number, seconds: number) => void;
  close(): Promise<void>;
}

/** Issuing takes about 5 ms, a PDF about 10 ms more; beyond 10 s a client has given up. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Listens, or rejects (EADDRINUSE). Figures of the database are asked for when somebody reads them. */
export async function openMetrics(owner: Pool, port: number): Promise<Metrics> {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Finished requests by route and status.',
    labelNames: ['route', 'status'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by route and status.',
    labelNames: ['route', 'status'] as const,
    buckets,
    registers,
  });
  addBooks(owner, registers);
  const server = await listen(registry, port);
  return {
    observe(route, status, seconds) {
      requests.inc({ route, status });
      durations.observe({ route, status }, seconds);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What stands in the books, whichever process wrote it; without the database only that it is not there. */
function addBooks(owner: Pool, registers: Registry[]): void {
  new Gauge({
    name: 'certo_database_up',
    help: 'Whether the database answers: 1 or 0. While it does not, figures of the books are left out.',
    registers,
    async collect() {
      this.set((await asked(owner, 'select')) === undefined ? 0 : 1);
    },
  });
  new Counter({
    name: 'certo_documents_issued_total',
    help: 'Numbered documents in the books by type.',
    labelNames: ['type'] as const,
    registers,
    async collect() {
      const rows = await asked(
        owner,
        `select document_type as type, sum(last_number - start_number + 1)::text as count
         from certo.series where last_number >= start_number group by document_type`,
      );
      this.reset();
      for (const { type, count } of rows ?? []) this.inc({ type: type as string }, Number(count));
    },
  });
  new Gauge({
    name: 'certo_at_pending_documents',
    help: 'Documents of which the tax authority has yet to be told that they were issued, cancelled or invoiced.',
    registers,
    async collect() {
      show(this, await reports(owner, 'PENDING', 'count(*)'));
    },
  });
  new Gauge({
    name: 'certo_at_oldest_pending_seconds',
    help: 'How long the oldest report to the tax authority has been waiting; 0 when none waits.',
    registers,
    async collect() {
      show(this, await reports(owner, 'PENDING', `greatest(0, extract(epoch from certo.now() - min(${waitsSince})))`));
    },
  });
  new Gauge({
    name: 'certo_at_refused_documents',
    help: 'Documents of which the tax authority refused to take note: certo reports refused names them and why.',
    registers,
    async collect() {
      show(this, await reports(owner, 'REJECTED', 'count(*)'));
    },
  });
  new Gauge({
    name: 'certo_blocked_companies',
    help: 'Companies that issue nothing until the findings of a check are resolved, or the clock has caught up.',
    labelNames: ['reason'] as const,
    registers,
    async collect() {
      const rows = await asked(owner, `select ${blockColumns} from certo.companies c`);
      this.reset();
      if (rows === undefined) return;
      const blocks = rows.map(blocksOf);
      for (const reason of blockReasons)
        this.set({ reason }, blocks.filter(({ reasons }) => reasons.includes(reason)).length);
    },
  });
}

// Of what the AT has, a later change waits: since it happened, not since the document was issued.
const waitsSince = 'case when at_told is null then issued_at else coalesce(canceled_at, converted_at, issued_at) end';

/** Of what the tax authority has not taken note of; undefined without the database. */
async function reports(owner: Pool, status: 'PENDING' | 'REJECTED', expression: string): Promise<number | undefined> {
  const rows = await asked(
    owner,
    `select (${expression})::text as figure from certo.documents where at_status = '${status}'`,
  );
  return rows === undefined ? undefined : Number(rows[0]?.['figure'] ?? 0);
}

function show(gauge: Gauge, figure: number | undefined): void {
  if (figure === undefined) gauge.remove();
  else gauge.set(figure);
}

// Prometheus gives a reading 10 s.
const longest_ask_ms = 5_000;

/** The rows; undefined when the database does not give them: that must not take the process's own figures along. */
async function asked(owner: Pool, text: string): Promise<Record<string, unknown>[] | undefined> {
  const answer = owner.query(text).then(
    ({ rows }) => rows as Record<string, unknown>[],
    () => undefined,
  );
  const late = new AbortController();
  const waited = setTimeout(longest_ask_ms, undefined, { signal: late.signal }).catch(() => undefined);
  try {
    return await Promise.race([answer, waited]);
  } finally {
    late.abort();
  }
}

async function listen(registry: Registry, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  return server;
}

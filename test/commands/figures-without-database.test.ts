/** What the figures say while the database does not: those of the process are wanted then most of all. */
import { createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { openMetrics } from '../../src/commands/metrics.ts';
import { takenPort } from './command-line.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function figuresOver(databasePort: number): Promise<{ status: number; text: string }> {
  const owner = new pg.Pool({ host: '127.0.0.1', port: databasePort, user: 'certo', database: 'certo' });
  owner.on('error', () => undefined);
  const free = await takenPort();
  free.release();
  const metrics = await openMetrics(owner, free.port);
  ends.push(() => metrics.close());
  metrics.observe('/invoices', 503, 0.01);
  const reply = await fetch(`http://127.0.0.1:${free.port}/metrics`);
  return { status: reply.status, text: await reply.text() };
}

function expectTheProcessOnly({ status, text }: { status: number; text: string }): void {
  expect(status).toBe(200);
  expect(text).toContain('http_requests_total{route="/invoices",status="503"} 1');
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).toContain('certo_database_up 0');
  // No figure is better than one that is not so.
  expect(text).not.toMatch(/^certo_(?!database_up)/m);
}

test('a database that is not there: the process shows its own figures, and that it has no database', async () => {
  const closed = await takenPort();
  closed.release();
  expectTheProcessOnly(await figuresOver(closed.port));
});

test('a database that never answers: the figures come without it', async () => {
  const silent = await listenSilently();
  expectTheProcessOnly(await figuresOver(silent.port));
});

/** Takes connections and says nothing. */
async function listenSilently(): Promise<{ readonly port: number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port };
}

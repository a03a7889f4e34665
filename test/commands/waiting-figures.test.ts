/** What the figures for operators say of reports: how many wait, and for how long, and how many were refused. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Metrics, openMetrics } from '../../src/commands/metrics.ts';
import { refusedReports, tellAgain } from '../../src/operations/reports/tell-again.ts';
import { eventually } from '../eventually.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { takenPort } from './command-line.ts';

const day_seconds = 86_400;

let service: Service;
let A: TestCompany;
let metrics: Metrics;
let port: number;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-02T10:00:00Z') });
  ({ A } = service.companies);
  const free = await takenPort();
  free.release();
  port = free.port;
  metrics = await openMetrics(service.owner, port);
});
afterAll(async () => {
  await metrics.close();
  await service.stop();
});

async function read(): Promise<(name: string) => number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return (name) => Number(new RegExp(`^certo_at_${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function waiting(): Promise<{ documents: number; oldest: number }> {
  const of = await read();
  return { documents: of('pending_documents'), oldest: of('oldest_pending_seconds') };
}

test('a document waits since it was issued, its cancellation or conversion since that happened', async () => {
  const invoice = await A.issue(await A.draft());
  const proforma = await A.proposal();
  await service.setClock(new Date('2026-03-04T10:00:00Z'));
  const issued = await waiting();
  expect(issued.documents).toBe(2);
  expect(issued.oldest).toBeGreaterThan(2 * day_seconds - 60);

  const clock = service.startReports();
  await eventually(async () => expect(await waiting()).toEqual({ documents: 0, oldest: 0 }));
  await clock.stop();

  // The AT has both: what it has not heard yet is only seconds old.
  await A.post(`/invoices/${invoice.id}/cancel`, { reason: 'Erro no pedido' });
  const canceled = await waiting();
  expect(canceled.documents).toBe(1);
  expect(canceled.oldest).toBeLessThan(3600);
  await A.issue((await A.post<InvoiceJson>(`/proposals/${proforma.id}/convert`, {})).json);
  await service.setClock(new Date('2026-03-04T12:00:00Z'));
  const all = await waiting();
  expect(all.documents).toBe(3);
  expect(all.oldest).toBeGreaterThan(3600);
  expect(all.oldest).toBeLessThan(day_seconds);
});

test('what the authority refused is counted until it is told again', async () => {
  const refused = async () => (await read())('refused_documents');
  expect(await refused()).toBe(0);
  await service.control('PUT', '/__fault', { kind: 'document-refused', count: 1, operation: 'reportInvoice' });
  await A.issue(await A.draft());
  const clock = service.startReports();
  try {
    await eventually(async () => expect(await refused()).toBe(1));
    expect(await tellAgain(service.world, A.id, await refusedReports(service.world.db, A.id))).toBe(1);
    await eventually(async () => expect(await refused()).toBe(0));
  } finally {
    await clock.stop();
  }
});

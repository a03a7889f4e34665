/** What the figures for operators say of reports that wait: how many there are, and for how long. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Metrics, openMetrics } from '../../src/commands/metrics.ts';
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

async function waiting(): Promise<{ documents: number; oldest: number }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const of = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { documents: of('certo_at_pending_documents'), oldest: of('certo_at_oldest_pending_seconds') };
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

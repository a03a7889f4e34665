/** Documents that the service itself issued, over the wire: what it froze is what the export has to make a file of. */
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import { findingSentence } from '../../src/fiscal/saft/check/findings.ts';
import { exportSaft } from '../../src/operations/saft/export-saft.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { schemaFaults } from './saft-schema.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: ['A', 'Z'], clock: new Date('2026-03-31T22:30:00Z') });
});
afterAll(() => service.stop());

const program = { producerTaxId: '508025095', productId: 'Certo/Certo', version: '1', certificateNumber: 9999 };

async function tradeOf(company: TestCompany): Promise<void> {
  const post = async (path: string, body: unknown) => expect((await company.post(path, body)).status).toBeLessThan(300);
  const draft = async (over: Record<string, unknown>) => company.issue(await company.draft(over));
  const business = await company.customer({
    name: 'Atelier «Maré», Lda',
    taxpayerNumber: '501442600',
    country: 'PT',
    city: 'Porto',
  });
  const abroad = await company.customer({ name: 'Ὀδυσσεὺς GmbH', taxpayerNumber: '136695976', country: 'DE' });
  const lesson = await company.item({
    name: 'Aula',
    type: 'SERVICE',
    unitPrice: 33.333333,
    vatRate: 'EXEMPT',
    vatExemptionReason: 'M07',
  });
  const work = await company.item({
    name: 'Projeto',
    type: 'SERVICE',
    unitPrice: 99.99,
    vatRate: 'NORMAL',
    withholdingTaxAvailable: true,
    withholdingTaxType: 'IRS',
    withholdingTaxPercent: 23,
  });
  const bread = await company.item({ name: 'Pão', type: 'PRODUCT', unitPrice: 0.55, vatRate: 'REDUCED' });
  const items = [
    { id: bread.id, quantity: 100, unitDiscountType: 'PERCENT', unitDiscountPercent: 8.8 },
    { id: lesson.id, quantity: 3 },
    { id: work.id, quantity: 1.5 },
  ];
  const invoice = await draft({
    type: 'INVOICE',
    customerId: business.id,
    items,
    globalDiscountType: 'PERCENT',
    globalDiscountPercent: 10,
  });
  await post(`/invoices/${invoice.id}/pay`, { amount: 17.01, method: 'MB' });
  await post('/invoices/credit-notes', { parentInvoiceId: invoice.id, reason: 'Devolução' });
  const paid = await draft({ type: 'INVOICE', customerId: business.id, items });
  for (const amount of [33.33, 0.01, undefined])
    await post(`/invoices/${paid.id}/pay`, amount === undefined ? {} : { amount });
  await draft({ type: 'INVOICE', customerId: abroad.id, items, currency: 'USD', exchangeRate: 0.9215 });
  await draft({ type: 'SIMPLIFIED_INVOICE', items: [{ id: bread.id, quantity: 2 }], payment: { method: 'Numerário' } });
  await draft({
    type: 'INVOICE_RECEIPT',
    customerId: business.id,
    items: [{ id: work.id, quantity: 1 }],
    payment: { method: 'TB' },
  });
  await draft({
    type: 'DEBIT_NOTE',
    customerId: business.id,
    items: [{ id: work.id, quantity: 1 }],
    parentInvoiceId: paid.id,
    reason: 'Acerto',
  });
  const wrong = await draft({ type: 'INVOICE', customerId: business.id, items });
  await post(`/invoices/${wrong.id}/cancel`, { reason: 'Engano' });
  await company.draft({ type: 'INVOICE', customerId: business.id, items });
}

test.each(['A', 'Z'] as const)('company %s: valid, without findings, every signature verified', async (letter) => {
  const company = service.companies[letter];
  await tradeOf(company);
  const portions: Uint8Array[] = [];
  const days = { from: '2026-03-01', to: '2026-03-31' };
  const written = await exportSaft(
    service.db,
    { companyId: company.id, ...days, program },
    (bytes) => void portions.push(bytes),
  );
  const xml = Buffer.concat(portions).toString('utf8');
  expect(written.bytes).toBe(Buffer.byteLength(xml));
  expect(schemaFaults(xml)).toEqual([]);
  const publicKey = createPublicKey(service.publicPem);
  const report = await checkSaft(one(Buffer.from(xml)), { publicKeys: () => publicKey });
  expect(report.findings.map((finding) => `${finding.document}: ${findingSentence(finding, 'en')}`)).toEqual([]);
  expect(report.documents).toEqual({ invoice: 8, movement: 0, work: 0, payment: 4 });
  expect(written.counts).toEqual({ SALES: 8, RECEIPT: 4 });
  expect(report.hashes).toEqual({ verified: 8, unverified: 0 });
  expect(xml.match(/<InvoiceStatus>A/g)).toHaveLength(1);
});

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

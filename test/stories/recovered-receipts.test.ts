/** Lost receipts: recovered over their invoices, so that nothing is paid twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Problem } from '../../src/fiscal/refusal.ts';
import { type FileDocument, planRecovery } from '../../src/operations/recovery/plan.ts';
import { recoverDocument } from '../../src/operations/recovery/recover.ts';
import type { RecoveredBody } from '../../src/operations/recovery/recovered-document.ts';
import type { RecoveredNote } from '../../src/operations/recovery/recovered-note.ts';
import type { RecoveredReceipt } from '../../src/operations/recovery/recovered-receipt.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import { textOf } from '../golden/print-reading.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { saftOf } from './saft-of.ts';

let service: Service;
let A: TestCompany;
let customerId: string;
let itemId: string;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-03-31T10:00:00Z') });
  ({ A } = service.companies);
  for (const documentType of ['INVOICE', 'CREDIT_NOTE', 'RECEIPT'] as const) {
    await registerSeries(service.world, A.id, { documentType, code: 'R2026', kind: 'R' });
  }
  customerId = (await A.customer({ name: 'Cliente, SA', taxpayerNumber: '501442600' })).id;
  itemId = (await A.item({ unitPrice: 100 })).id;
});
afterAll(() => service.stop());

const original = { kind: 'D', date: '2026-03-31', total: 369 } as const;
const lost = (number: string, over: Partial<RecoveredBody> = {}): RecoveredBody => ({
  ...original,
  original: number,
  type: 'INVOICE',
  cae: '62010',
  customerId,
  items: [{ id: itemId, quantity: 3 }],
  ...over,
});
const receipt = (number: string, invoice: string, over: Partial<RecoveredReceipt> = {}): RecoveredReceipt => ({
  ...original,
  original: number,
  type: 'RECEIPT',
  parentInvoiceNumber: invoice,
  customerId,
  ...over,
});
const note = (number: string, invoice: string, over: Partial<RecoveredNote> = {}): RecoveredNote => ({
  ...original,
  original: number,
  type: 'CREDIT_NOTE',
  parentInvoiceNumber: invoice,
  customerId,
  reason: 'Devolução',
  ...over,
});
const invoice = async () =>
  (await A.issue(await A.draft({ customerId, items: [{ id: itemId, quantity: 3 }] }))) as InvoiceJson & {
    number: string;
  };
const planned = (documents: readonly FileDocument[], digest = JSON.stringify(documents)) =>
  planRecovery(service.db, service.app.world, { companyId: A.id, digest, documents });
async function recover(...documents: readonly FileDocument[]) {
  const digest = JSON.stringify(documents);
  const done = [];
  for (const one of await planned(documents))
    done.push(await recoverDocument(service.db, service.app.world, { companyId: A.id, digest }, one));
  return done;
}
async function told(...documents: readonly FileDocument[]): Promise<string[]> {
  try {
    await planned(documents, 'problems');
    return [];
  } catch (error) {
    return (error as { problems: Problem[] }).problems.map(({ pointer, code }) => `${pointer} ${code}`);
  }
}
async function rowOf(id: string) {
  const { rows } = await service.owner.query('select * from certo.documents where id = $1', [id]);
  return rows[0];
}
const standingOf = async (id: string) => {
  const { status, outstanding, credited } = await rowOf(id);
  return [status, outstanding, credited];
};

test('the receipt of an invoice in the books: it is paid, and is not paid again', async () => {
  const one = await invoice();
  const body = receipt('RG A2026/7', one.number, { total: 100, method: 'MB' });
  const [part] = await recover(body);
  expect(part).toMatchObject({ number: 'RG R2026/1', before: false });
  expect(await standingOf(one.id)).toEqual(['ISSUED', '269.00', '0.00']);
  expect(await told({ ...body, original: 'rg A2026/07' })).toEqual(['/documents/0/original RECOVERED_ALREADY']);
  const more = await A.post<{ errors: Problem[] }>(`/invoices/${one.id}/pay`, { amount: 269.01 });
  expect(more.json.errors.map(({ code }) => code)).toEqual(['AMOUNT_EXCEEDS_OUTSTANDING']);
  const [rest] = await recover(receipt('RG A2026/8', one.number, { total: 269 }));
  expect(await standingOf(one.id)).toEqual(['PAID', '0.00', '0.00']);
  expect((await A.post(`/invoices/${one.id}/pay`)).status).toBe(400);
  // It is taken back as any other.
  expect((await A.post(`/invoices/${rest!.id}/cancel`)).status).toBe(200);
  expect(await standingOf(one.id)).toEqual(['ISSUED', '269.00', '0.00']);
  expect((await recover(body)).map(({ before }) => before)).toEqual([true]);
});

test('an invoice, its receipt and its note of one file and one day, in whatever order', async () => {
  const two = { items: [{ line: 1, quantity: 2 }], total: 246 };
  const documents = [
    note('NC L2026/1', 'FT L2026/1', two),
    receipt('RG L2026/1', 'FT L2026/1'),
    lost('FT L2026/1'),
    receipt('RG L2026/2', 'FT L2026/2', { total: 123 }),
    note('NC L2026/2', 'FT L2026/2', two),
    lost('FT L2026/2'),
  ];
  const done = await recover(...documents);
  expect(done.map(({ number }) => number.slice(0, 2))).toEqual(['FT', 'FT', 'RG', 'RG', 'NC', 'NC']);
  expect(await standingOf(done[0]!.id)).toEqual(['PAID', '0.00', '246.00']);
  expect(await standingOf(done[1]!.id)).toEqual(['PAID', '0.00', '246.00']);
  expect((await recover(...documents)).every(({ before }) => before)).toBe(true);
});

test('under the cash VAT scheme it is an RC, in a series of its own, as its invoice says', async () => {
  const [one] = await recover(lost('FT C2026/1', { cashVat: true }));
  const body = receipt('RC C2026/1', 'FT C2026/1', { total: 123 });
  expect(await told(body)).toEqual(['/documents/0/type NO_RECOVERY_SERIES']);
  await registerSeries(service.world, A.id, { documentType: 'RECEIPT', code: 'RC2026', kind: 'R', cashVat: true });
  expect(await told({ ...body, original: 'RG C2026/1' })).toEqual(['/documents/0/original RECOVERED_TYPE']);
  const [copy, form] = await recover(body, receipt('rc/0002', one!.number, { kind: 'M', total: 123 }));
  expect([copy!.number, form!.number]).toEqual(['RC RC2026/1', 'RC RC2026/2']);
  expect((await recover(body, receipt('rc/0002', one!.number, { kind: 'M', total: 123 }))).length).toBe(2);
  const rows = await Promise.all([copy!, form!].map(({ id }) => rowOf(id)));
  // The authority has the lost one by the number that it had.
  expect(rows.map((row) => row.at_status)).toEqual(['NOT_APPLICABLE', 'PENDING']);
  expect(rows[0].content.settles[0]).toMatchObject({
    net: '100.00',
    tax: '23.00',
    document: { original: 'FT C2026/1' },
  });
  const { url } = (await A.get<{ url: string }>(`/invoices/${copy!.id}/pdf`)).json;
  const text = (await textOf((await service.open(url)).bytes)).replace(/\s+/g, ' ');
  expect(text).toContain('Cópia do documento original -RCD RC C2026/1');
});

test('what stands against receipts is told at its place, and nothing is written', async () => {
  const one = await invoice();
  const simplified = await A.issue(await A.draft({ type: 'SIMPLIFIED_INVOICE', payment: { method: 'NU' } }));
  const heads = async () => (await service.owner.query('select id, last_number from certo.series order by id')).rows;
  const before = await heads();
  const other = (await A.customer({ name: 'Outro, Lda', taxpayerNumber: '508025095' })).id;
  expect(
    await told(
      receipt('RG X2026/1', 'FT A2026/9999'),
      receipt('RG X2026/2', one.number, { total: 369.01 }),
      receipt('RG X2026/3', one.number, { date: '2026-03-30', customerId: other }),
      receipt('RG X2026/4', simplified.number!),
      receipt('RC X2026/5', one.number),
      receipt('RG X2026/6', one.number),
      receipt('RG X2026/7', one.number, { total: 0.01 }),
    ),
  ).toEqual([
    '/documents/0/parentInvoiceNumber RECOVERED_PARENT',
    '/documents/1/total AMOUNT_EXCEEDS_OUTSTANDING',
    '/documents/2/date DATE_BEFORE_PARENT',
    '/documents/2/customerId PARENT_DIFFERS',
    '/documents/3/parentInvoiceNumber NOT_PAYABLE',
    '/documents/4/original RECOVERED_TYPE',
    '/documents/6/parentInvoiceNumber INVALID_STATE',
  ]);
  expect(await heads()).toEqual(before);
});

test('paid after the plan was made, it is refused', async () => {
  const one = await invoice();
  const documents = [receipt('RG Y2026/1', one.number)];
  const [late] = await planned(documents, 'late');
  expect((await A.post(`/invoices/${one.id}/pay`, { amount: 1 })).status).toBe(200);
  const run = recoverDocument(service.db, service.app.world, { companyId: A.id, digest: 'late' }, late!);
  await expect(run).rejects.toMatchObject({ problems: [{ code: 'AMOUNT_EXCEEDS_OUTSTANDING', pointer: '/total' }] });
});

test('SAF-T has them as recovered, over the invoice by the number that it had; the books are sound', async () => {
  const { xml } = await saftOf(service, A, '2026-03-01', '2026-03-31');
  const payments = xml.match(/<Payment>\n[\s\S]*?<\/Payment>\n/g)!;
  const of = (number: string) => payments.find((text) => text.includes(`<PaymentRefNo>${number}<`))!;
  expect(of('RG R2026/1')).toMatch(/<SourcePayment>M</);
  expect(of('RC RC2026/1')).toMatch(/<SourcePayment>M<[\s\S]*<OriginatingON>FT C2026\/1</);
  expect(of('RC RC2026/1')).toMatch(/<TaxPercentage>23/);
  expect(await service.findings(A.id)).toEqual([]);
});

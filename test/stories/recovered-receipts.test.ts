/** Lost receipts: recovered over their invoices, so that nothing is paid twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Problem } from '../../src/fiscal/refusal.ts';
import type { FileDocument } from '../../src/operations/recovery/plan.ts';
import type { RecoveredNote } from '../../src/operations/recovery/recovered-note.ts';
import type { RecoveredReceipt } from '../../src/operations/recovery/recovered-receipt.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import { textOf } from '../golden/print-reading.ts';
import { type LostDocuments, openLostDocuments, told as toldOf } from './lost-documents.ts';
import { saftOf } from './saft-of.ts';

let service: LostDocuments['service'];
let A: LostDocuments['A'];
let customerId: string;
let lost: LostDocuments['lost'];
let invoice: LostDocuments['invoice'];
let opened: LostDocuments;

beforeAll(async () => {
  opened = await openLostDocuments(['INVOICE', 'CREDIT_NOTE', 'RECEIPT']);
  ({ service, A, customerId, lost, invoice } = opened);
});
afterAll(() => service.stop());

const original = { kind: 'D', date: '2026-03-31', total: 369 } as const;
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
const recover = (...documents: readonly FileDocument[]) => opened.recover(documents);
const told = async (...documents: readonly FileDocument[]) => toldOf(await opened.problemsOf(...documents));
async function rowOf(id: string) {
  const { rows } = await service.owner.query('select * from certo.documents where id = $1', [id]);
  return rows[0];
}
const standingOf = (id: string) => opened.standingOf(id);

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

test('what is recovered over an invoice is issued by who the company is, not by who it was at the invoice', async () => {
  const [one, other] = [await invoice(), await invoice()];
  const change = 'update certo.companies set address = $2 where id = $1';
  const before = (await rowOf(one.id)).content.issuer.address;
  await service.owner.query(change, [A.id, 'Rua Nova, 9']);
  const done = await recover(receipt('RG V2026/1', one.number), note('NC V2026/1', other.number));
  const issuers = await Promise.all([...done, one].map(async ({ id }) => (await rowOf(id)).content.issuer.address));
  expect(issuers).toEqual(['Rua Nova, 9', 'Rua Nova, 9', before]);
  await service.owner.query(change, [A.id, before]);
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
  const [late] = await opened.planned(documents, 'late');
  expect((await A.post(`/invoices/${one.id}/pay`, { amount: 1 })).status).toBe(200);
  await expect(opened.recoverOne(late!, 'late')).rejects.toMatchObject({
    problems: [{ code: 'AMOUNT_EXCEEDS_OUTSTANDING', pointer: '/total' }],
  });
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

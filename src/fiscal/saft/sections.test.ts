/** What each section tells of a document besides its money: to whom, under which activity and key, in which currency. */
import { expect, test } from 'vitest';
import { readSaft, type Tree } from '../../../test/certification/saft-reading.ts';
import { sampleContent } from '../../../test/fiscal-samples.ts';
import {
  customers,
  goods,
  header,
  lesson,
  openDesk,
  receiptContent,
  refOf,
  settledOf,
  sourceOf,
  textOf,
  transportContent,
} from '../../../test/golden/saft-samples.ts';
import type { Content } from '../document.ts';
import type { SaftDocument, SaftSource } from './source.ts';
import { writeSaft } from './write.ts';

const money = { currency: 'USD', exchangeRate: '0.5' };
const customer = customers.business;
const own = { customer, cae: '47111' };

async function* listed<T>(values: readonly T[]): AsyncGenerator<readonly T[]> {
  yield values;
}

const read = async (documents: readonly SaftDocument[], over: Partial<SaftSource> = {}) =>
  readSaft(await textOf(writeSaft(sourceOf(documents, over))));

/** An invoice, a pro forma, a transport document with values and a receipt, in that order. */
async function ofEachSection(more: Partial<Content>, over: Partial<SaftDocument> = {}): Promise<Tree[]> {
  const desk = openDesk();
  const invoice = await desk.issue(sampleContent('INVOICE', [goods], { ...own, ...more }), { over });
  await desk.issue(sampleContent('PROFORMA', [goods], { ...own, ...more }), { over });
  await desk.issue(transportContent('GUIA_DE_REMESSA', [goods], true, { ...own, ...more }), { over });
  await desk.issue(receiptContent([settledOf(invoice)], { ...own, ...more }), { over });
  const { invoices, works, movements, payments } = await read(desk.documents);
  return [invoices, works, movements, payments].map(([one]) => one);
}

test('the customer under the tax identity that the document shows', async () => {
  const told = await ofEachSection({}, { identity: 2 });
  expect(told.map(({ CustomerID }) => CustomerID)).toEqual(Array(4).fill('01JYJW448HE00800000000000A-2'));
  const file = await read([], { customers: listed([customer, { ...customer, identity: 2 }]) });
  expect(file.customers.map(({ CustomerID }) => CustomerID)).toEqual([
    '01JYJW448HE00800000000000A',
    '01JYJW448HE00800000000000A-2',
  ]);
});

test('its activity, and another currency, in every section that has them', async () => {
  const told = await ofEachSection(money);
  expect(told.map(({ EACCode }) => EACCode)).toEqual(['47111', '47111', '47111', undefined]);
  expect(told.map(({ DocumentTotals }) => DocumentTotals.Currency)).toMatchObject(
    Array(4).fill({ CurrencyCode: 'USD', ExchangeRate: '0.5' }),
  );
});

test('who issued it, and who has cancelled it since', async () => {
  const told = await ofEachSection({}, { status: 'A', statusBy: 'user-2', reason: 'Engano' });
  expect(told.map(({ SourceID, DocumentStatus }) => [SourceID, DocumentStatus.SourceID])).toEqual(
    Array(4).fill(['key-1', 'user-2']),
  );
});

test('the version of the key that signed it, before what it was recovered of', async () => {
  const desk = openDesk();
  const over = (document: SaftDocument): SaftDocument => ({
    ...document,
    issued: { ...document.issued, keyVersion: 2 },
  });
  const recovered = { kind: 'M', original: 'abc/1' } as const;
  for (const content of [
    sampleContent('INVOICE', [goods], own),
    sampleContent('INVOICE', [goods], { ...own, recovered }),
  ])
    await desk.issue(content);
  for (const type of ['GUIA_DE_REMESSA', 'GUIA_DE_TRANSPORTE'] as const)
    await desk.issue(transportContent(type, [goods], false, own));
  await desk.issue(sampleContent('PROFORMA', [goods], own));
  const { invoices, movements, works } = await read(desk.documents.map(over));
  expect([...invoices, ...movements, ...works].map(({ HashControl }) => HashControl)).toEqual([
    '2',
    '2-FTM abc/1',
    '2',
    '2',
    '2',
  ]);
});

test('a debit note waits for its payment as an invoice does', async () => {
  const desk = openDesk();
  const parent = { ...refOf(await desk.issue(sampleContent('INVOICE', [goods], own))), reason: 'Acerto' };
  await desk.issue(sampleContent('DEBIT_NOTE', [goods], { ...own, parent, dueDate: '2026-05-01' }));
  const note = (await read(desk.documents)).document('ND A2026/1');
  expect(note.DocumentTotals.Settlement).toEqual({ PaymentTerms: 'Vencimento: 2026-05-01' });
});

test('a receipt of a recovered invoice quotes its original, and tells its notes', async () => {
  const desk = openDesk();
  const invoice = await desk.issue(sampleContent('INVOICE', [goods], own));
  const document = { ...refOf(invoice), original: 'FTM abc/00001' };
  await desk.issue(receiptContent([settledOf(invoice, { document })], { ...own, notes: 'Obrigado' }));
  const { Line, Description } = (await read(desk.documents)).document('RG A2026/1');
  expect(Line[0].SourceDocumentID[0].OriginatingON).toBe('FTM abc/00001');
  expect(Description).toBe('Obrigado');
});

test('a code that is in no table any more has a reason all the same', async () => {
  const desk = openDesk();
  const invoice = await desk.issue(sampleContent('INVOICE', [lesson], own));
  const lines = invoice.content.lines.map((line) => ({ ...line, exemptionCode: 'M03' }));
  const { invoices } = await read([{ ...invoice, content: { ...invoice.content, lines } }]);
  expect(invoices[0].Line[0]).toMatchObject({ TaxExemptionReason: 'Isenção M03', TaxExemptionCode: 'M03' });
});

test('the head of a period over two years, of a program with another certificate, of a company without its town', async () => {
  const program = { ...header.program, certificateNumber: 177 };
  const company = { ...header.company, city: '', postalCode: '' };
  const { file } = await read([], { header: { ...header, from: '2025-12-01', to: '2026-01-31', program, company } });
  expect(file.Header).toMatchObject({
    FiscalYear: '2025',
    StartDate: '2025-12-01',
    EndDate: '2026-01-31',
    SoftwareCertificateNumber: '177',
    CompanyAddress: { City: 'Desconhecido', PostalCode: 'Desconhecido' },
  });
});

test('a rate that had ended before the period, of a note on an older invoice, ends nowhere in it', async () => {
  const taxes = [{ region: 'PT-MA', taxCode: 'RED', rate: '5' }] as const;
  const { file } = await read([], { header: { ...header, from: '2024-11-01', to: '2024-11-30' }, taxes });
  const { TaxTableEntry } = file.MasterFiles.TaxTable;
  expect(TaxTableEntry).toMatchObject([{ TaxPercentage: '5.00' }]);
  expect(TaxTableEntry[0]).not.toHaveProperty('TaxExpirationDate');
});

test('a discount in another currency is told in euros, as the line that it was taken from', async () => {
  const discounted = { ...goods, discount: { type: 'PERCENT', value: '10' } } as const;
  const desk = openDesk();
  await desk.issue(sampleContent('INVOICE', [discounted], { ...own, ...money }));
  const { Line } = (await read(desk.documents)).document('FT A2026/1');
  // 22.20 less 2.22, at half a euro each.
  expect(Line[0]).toMatchObject({ CreditAmount: '9.99', SettlementAmount: '1.11' });
});

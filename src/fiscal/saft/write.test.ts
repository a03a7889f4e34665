import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';
import { sampleContent, sampleLine, takenBy } from '../../../test/fiscal-samples.ts';
import {
  customers,
  everything,
  goods,
  header,
  idOf,
  openDesk,
  receiptContent,
  refOf,
  settledOf,
  sourceOf,
  textOf,
  transportContent,
} from '../../../test/golden/saft-samples.ts';
import { schemaFaults } from '../../../test/golden/saft-schema.ts';
import { creditNoteOver } from '../correct.ts';
import { round2, sum } from '../decimal.ts';
import type { Content, DocumentType, LineInput } from '../document.ts';
import { Refusal } from '../refusal.ts';
import { checkSaft } from './check/check-saft.ts';
import { findingSentence } from './check/findings.ts';
import type { SaftDocument, SaftSource } from './source.ts';
import { writeSaft } from './write.ts';

const arrays = new Set([
  'Invoice',
  'StockMovement',
  'WorkDocument',
  'Payment',
  'Line',
  'Customer',
  'Product',
  'TaxTableEntry',
  'WithholdingTax',
]);
const parser = new XMLParser({
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
  isArray: (name) => arrays.has(name),
});

// Whatever a test looks for in a file: the parser's plain objects.
// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
type Parsed = any;
const parsed = (xml: string): Parsed => withoutBlanks(parser.parse(xml).AuditFile);

/** Line ends between elements are no content. */
function withoutBlanks(value: Parsed): Parsed {
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([name, text]) => name !== '#text' || String(text).trim() !== '');
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutBlanks(inner)]));
}

const xmlOf = (documents: readonly SaftDocument[], over: Partial<SaftSource> = {}) =>
  textOf(writeSaft(sourceOf(documents, over)));

async function invoiceOf(content: Content, over: Partial<SaftDocument> = {}): Promise<Parsed> {
  const document = await openDesk().issue(content, { over });
  const xml = await xmlOf([document]);
  expect(schemaFaults(xml)).toEqual([]);
  return parsed(xml);
}

const all = everything();
const file = all.then(async ({ documents }) => parsed(await xmlOf(documents)));
const sales = file.then((audit) => audit.SourceDocuments.SalesInvoices.Invoice);
const byNumber = async (number: string): Promise<Parsed> => {
  const { SalesInvoices, MovementOfGoods, WorkingDocuments, Payments } = (await file).SourceDocuments;
  return [
    ...SalesInvoices.Invoice,
    ...MovementOfGoods.StockMovement,
    ...WorkingDocuments.WorkDocument,
    ...Payments.Payment,
  ].find((d: Parsed) => (d.InvoiceNo ?? d.DocumentNumber ?? d.PaymentRefNo) === number);
};

describe('a file with every kind of document', () => {
  test('is valid by the schema', async () => {
    const { documents } = await all;
    expect(schemaFaults(await xmlOf(documents))).toEqual([]);
  });

  test('the schema would say no', async () => {
    const { documents } = await all;
    const xml = await xmlOf(documents);
    expect(schemaFaults(xml.replace('<TaxEntity>Global</TaxEntity>\n', ''))).not.toEqual([]);
  });

  test('has nothing that our own check objects to, and every signature verifies from the file alone', async () => {
    const { documents, publicKey } = await all;
    const report = await checkSaft(writeSaft(sourceOf(documents)), { publicKeys: () => publicKey });
    expect(report.findings.map((finding) => findingSentence(finding, 'en'))).toEqual([]);
    const signed = documents.filter(({ issued }) => issued.hash !== '').length;
    expect(report.hashes).toEqual({ verified: signed, unverified: 0 });
    expect(Object.values(report.documents).reduce((a, b) => a + b)).toBe(documents.length);
  });

  test('says the same in Windows-1252, with references for what that lacks', async () => {
    const { documents } = await all;
    const odd = { ...header, company: { ...header.company, name: 'Ωmega “Łódź” 😀 € \u0081 & <filhos>' } };
    const source = () => sourceOf(documents, { header: odd });
    const utf8 = await textOf(writeSaft(source(), 'UTF-8'));
    const windows = await textOf(writeSaft(source(), 'Windows-1252'), 'windows-1252');
    expect(windows).toContain('encoding="Windows-1252"');
    expect(windows).toContain('&#937;mega “&#321;ód&#378;” &#128512; € &#129; &amp; &lt;filhos&gt;');
    expect(parsed(windows)).toEqual(parsed(utf8));
    expect(parsed(windows).Header.CompanyName).toBe(odd.company.name);
    expect((await checkSaft(writeSaft(source(), 'Windows-1252'))).findings).toEqual([]);
  });

  test('one byte per character in Windows-1252, also for its own upper half', async () => {
    let bytes = 0;
    let text = '';
    for await (const portion of writeSaft(sourceOf([]), 'Windows-1252')) {
      bytes += portion.length;
      text += new TextDecoder('windows-1252').decode(portion);
    }
    expect(text).toContain('«Ágata»');
    expect(bytes).toBe(text.length);
  });
});

describe('sums', () => {
  test('leave out cancelled documents; entries do not', async () => {
    const { documents } = await all;
    const { SalesInvoices, WorkingDocuments, Payments } = (await file).SourceDocuments;
    const nets = (code: RegExp, statuses: string) => {
      const counted = documents.filter(({ issued, status }) => code.test(issued.number) && statuses.includes(status));
      return round2(sum(counted.flatMap(({ content }) => content.lines.map(({ eur }) => eur.net))));
    };
    expect(SalesInvoices.NumberOfEntries).toBe(String(SalesInvoices.Invoice.length));
    expect(SalesInvoices.TotalCredit).toBe(nets(/^(?:FT|FS|FR|ND) /, 'N'));
    expect(SalesInvoices.TotalDebit).toBe(nets(/^NC /, 'N'));
    // A converted pro forma keeps counting, a cancelled one does not.
    expect(WorkingDocuments.WorkDocument.map((d: Parsed) => d.DocumentStatus.WorkStatus)).toEqual(['F', 'N', 'A']);
    expect(WorkingDocuments.TotalCredit).toBe(nets(/^PF /, 'NF'));
    expect(Payments.NumberOfEntries).toBe('4');
  });

  test('transport documents count lines and quantities', async () => {
    const { NumberOfMovementLines, TotalQuantityIssued } = (await file).SourceDocuments.MovementOfGoods;
    // GT 12 + 3, GR 12 + 1, a cancelled GR with one line of 12, and three of 3.
    expect([NumberOfMovementLines, TotalQuantityIssued]).toEqual(['8', '37']);
  });

  test.each([
    ['SALES', 'SalesInvoices', { credit: '1.00' }],
    ['SALES', 'SalesInvoices', { debit: '1.00' }],
    ['SALES', 'SalesInvoices', { count: 1 }],
    ['TRANSPORT', 'MovementOfGoods', { count: 7 }],
    ['TRANSPORT', 'MovementOfGoods', { quantity: '36' }],
  ] as const)('that are not those of the documents end the export: %s %s %j', async (family, element, wrong) => {
    const { documents } = await all;
    const source = sourceOf(documents);
    const section = source.sections[family]!;
    const sections = { ...source.sections, [family]: { ...section, sums: { ...section.sums, ...wrong } } };
    await expect(textOf(writeSaft({ ...source, sections }))).rejects.toThrow(`of ${element} sum to`);
  });

  test('a period without documents is a valid file', async () => {
    const xml = await xmlOf([]);
    expect(schemaFaults(xml)).toEqual([]);
    expect((await checkSaft(writeSaft(sourceOf([])))).findings).toEqual([]);
    expect(xml).not.toContain('TaxTable');
  });
});

describe('sales documents', () => {
  test('an invoice: order, sides, prices after discounts, exemption, terms', async () => {
    const invoice = await byNumber('FT A2026/1');
    expect(Object.keys(invoice)).toEqual([
      'InvoiceNo',
      'ATCUD',
      'DocumentStatus',
      'Hash',
      'HashControl',
      'Period',
      'InvoiceDate',
      'InvoiceType',
      'SpecialRegimes',
      'SourceID',
      'EACCode',
      'SystemEntryDate',
      'CustomerID',
      'Line',
      'DocumentTotals',
    ]);
    const [bread, , , lesson] = invoice.Line;
    // 12 × 1.85 = 22.20; less 8.8 % = 20.2464; less 10 % = 18.22 (18.22176).
    expect(bread).toMatchObject({
      Quantity: '12',
      UnitPrice: '1.518333',
      CreditAmount: '18.22',
      SettlementAmount: '3.98',
      TaxPointDate: '2026-03-02',
    });
    expect(bread.Tax).toEqual({ TaxType: 'IVA', TaxCountryRegion: 'PT', TaxCode: 'RED', TaxPercentage: '6.00' });
    expect(bread).not.toHaveProperty('TaxExemptionReason');
    expect(lesson).toMatchObject({
      TaxExemptionReason: 'Isento artigo 9.º do CIVA',
      TaxExemptionCode: 'M07',
      Description: 'Aula de padaria,\n2 horas',
    });
    expect(invoice.DocumentTotals.Settlement).toEqual({ PaymentTerms: 'Vencimento: 2026-04-05' });
    expect(invoice.CustomerID).toBe('01JYJW448HE00800000000000A');
    expect(invoice.HashControl).toBe('1');
    expect(invoice.DocumentStatus).toMatchObject({ InvoiceStatus: 'N', SourceBilling: 'P' });
  });

  test('no terms where the due date is the day itself, no Payment on an invoice that waits', async () => {
    const { DocumentTotals } = await byNumber('FT A2026/2');
    expect(Object.keys(DocumentTotals)).toEqual(['TaxPayable', 'NetTotal', 'GrossTotal']);
  });

  test('another currency: EUR in the books, the document’s beside it', async () => {
    const { documents } = await all;
    const { content } = documents.find(({ issued }) => issued.number === 'FT A2026/4')!;
    const { DocumentTotals, Line } = await byNumber('FT A2026/4');
    expect(DocumentTotals).toEqual({
      TaxPayable: content.books.tax,
      NetTotal: content.books.net,
      GrossTotal: content.books.gross,
      Currency: { CurrencyCode: 'GBP', CurrencyAmount: content.totals.gross, ExchangeRate: '1.16' },
    });
    expect(Line[0]).toMatchObject({ CreditAmount: '1160.00', UnitPrice: '116.00' });
  });

  test('cancelled: status, when, by whom, why; nothing else changes', async () => {
    const { DocumentStatus, SourceID, Hash } = await byNumber('FT A2026/3');
    expect(DocumentStatus).toEqual({
      InvoiceStatus: 'A',
      InvoiceStatusDate: '2026-03-06T18:00:00',
      Reason: 'Erro de emissão',
      SourceID: 'user-2',
      SourceBilling: 'P',
    });
    expect([SourceID, Hash.length]).toEqual(['key-1', 172]);
  });

  test('paid at once: FR and FS tell how much, after withholding, and how where that is a known means', async () => {
    const paid = await byNumber('FR A2026/1');
    expect(paid.DocumentTotals.Payment).toEqual([{ PaymentAmount: '1000.00', PaymentDate: '2026-03-05' }]);
    expect(paid.WithholdingTax).toEqual([
      {
        WithholdingTaxType: 'IRS',
        WithholdingTaxDescription: 'Artigo 101.º, n.º 1, alínea b) do CIRS',
        WithholdingTaxAmount: '230.00',
      },
    ]);
    const simple = await byNumber('FS A2026/1');
    expect(simple.DocumentTotals.Payment).toEqual([
      { PaymentMechanism: 'NU', PaymentAmount: '23.53', PaymentDate: '2026-03-06' },
    ]);
    expect(simple.CustomerID).toBe('CF');
  });

  test('no withholding where nothing is withheld', async () => {
    const free = { ...goods, unitPrice: '0', withholding: { type: 'IRS' as const, percent: '23' } };
    const [invoice] = (await invoiceOf(sampleContent('INVOICE', [free]))).SourceDocuments.SalesInvoices.Invoice;
    expect(invoice).not.toHaveProperty('WithholdingTax');
  });

  test.each([
    ['3000000', '1', '33.333333', '2000000.01', '0.666667', '0.66666667'],
    ['1000000', '0.123456', '8.8', '112591.87', '0.112592', '0.11259187'],
    ['999999999.999999', '0.000001', '99', '10.00', '0.00', '0.00000001'],
    ['9999.999999', '9.999999', '50', '49999.99', '4.999999', '4.999999'],
    ['2000000', '0.5', '0', '1000000.00', '0.50', '0.50'],
  ])('%s × %s less %s %% is told with as many decimals as it takes', async (quantity, unitPrice, value, ...told) => {
    const line = { ...goods, quantity, unitPrice, discount: { type: 'PERCENT' as const, value } };
    const [net, unitNet, exact] = told;
    const document = await openDesk().issue(sampleContent('INVOICE', [line]));
    expect(document.content.lines[0]).toMatchObject({ net, unitNet });
    expect(await xmlOf([document])).toContain(`<UnitPrice>${exact}</UnitPrice>`);
    expect((await checkSaft(writeSaft(sourceOf([document])))).findings).toEqual([]);
  });

  test('Quantity × UnitPrice is the amount, within a cent, of any line of any document', async () => {
    // In whole 10⁻³⁰, with nothing of ours.
    const parts = (text: string) => {
      const [whole = '', fraction = ''] = text.split('.');
      expect(fraction.length).toBeLessThanOrEqual(15);
      return BigInt(whole + fraction.padEnd(15, '0'));
    };
    /** Above 0 and below `most`, of none, two or six decimals. */
    const decimals = (most: number) =>
      fc
        .tuple(fc.integer({ min: 1, max: most - 1 }), fc.integer({ min: 0, max: 999_999 }), fc.constantFrom(0, 2, 6))
        .map(
          ([whole, fraction, places]) =>
            `${whole}${places === 0 ? '' : `.${String(fraction).padStart(6, '0').slice(0, places)}`}`,
        );
    const small = fc.integer({ min: 1, max: 99_999 }).map((millionths) => `0.${String(millionths).padStart(6, '0')}`);
    const line = fc
      .record({
        quantity: fc.oneof(small, decimals(10_000), decimals(100_000_000)),
        unitPrice: fc.oneof(small, decimals(1000)),
        discount: fc.option(decimals(99).map((value) => ({ type: 'PERCENT' as const, value }))),
      })
      .map(({ discount, ...rest }): LineInput => ({ ...goods, ...rest, ...(discount === null ? {} : { discount }) }));
    const types = ['INVOICE', 'CREDIT_NOTE', 'PROFORMA', 'GUIA_DE_REMESSA'] as const;
    const foreign = { currency: 'USD', exchangeRate: '0.921537' };
    const some = fc.array(line, { minLength: 1, maxLength: 15, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...types), some, fc.boolean(), async (type, given, abroad) => {
        const lines = given.map((one, i) => ({ ...one, id: `l-${i}` }));
        const more = { customer: customers.business, ...(abroad ? foreign : {}) };
        const desk = openDesk();
        if (type === 'GUIA_DE_REMESSA') await desk.issue(transportContent(type, lines, true, more));
        else if (type !== 'CREDIT_NOTE') await desk.issue(sampleContent(type, lines, more));
        else {
          const invoice = await desk.issue(sampleContent('INVOICE', lines, more));
          const over = creditNoteOver(
            invoice.content,
            takenBy([]),
            lines.map(({ id, quantity }) => ({ id, quantity })),
            () => 'n',
          );
          const parent = { ...refOf(invoice), reason: 'Devolução' };
          await desk.issue({ ...sampleContent('CREDIT_NOTE', lines, more), ...over, parent });
        }
        const xml = await xmlOf(desk.documents);
        expect(schemaFaults(xml)).toEqual([]);
        const told = [...xml.matchAll(/<Quantity>(.*)<[\s\S]*?<UnitPrice>(.*)<[\s\S]*?<(?:Credit|Debit)Amount>(.*)</g)];
        expect(told).toHaveLength(lines.length * desk.documents.length);
        for (const [, quantity, price, amount] of told) {
          const apart = parts(quantity!) * parts(price!) - parts(amount!) * 10n ** 15n;
          expect(apart < 0n ? -apart : apart).toBeLessThanOrEqual(10n ** 28n);
        }
        expect((await checkSaft(writeSaft(sourceOf(desk.documents)))).findings).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('only notes refer to what they correct, with the side turned for credit notes', async () => {
    const documents = await sales;
    const refers = documents.filter((d: Parsed) => d.Line.some((line: Parsed) => line.References !== undefined));
    expect(new Set(refers.map((d: Parsed) => d.InvoiceType))).toEqual(new Set(['NC', 'ND']));
    const note = await byNumber('NC A2026/1');
    expect(note.Line[0].References).toEqual({ Reference: 'FT A2026/1', Reason: 'Devolução' });
    expect(note.Line[0]).toHaveProperty('DebitAmount');
    expect((await byNumber('ND A2026/1')).Line[0]).toHaveProperty('CreditAmount');
  });

  test('a converted pro forma is named on each line', async () => {
    const [line] = (await byNumber('FT A2026/5')).Line;
    expect(line.OrderReferences).toEqual({ OriginatingON: 'PF A2026/1', OrderDate: '2026-03-06' });
  });

  test('recovered ones say what they stand for, and are quoted by it', async () => {
    const form = await byNumber('FT R2026/1');
    expect([form.HashControl, form.DocumentStatus.SourceBilling]).toEqual(['1-FTM abc/00001', 'M']);
    expect((await byNumber('FT R2026/2')).HashControl).toBe('1-FTD FT A2025/00099');
    expect((await byNumber('NC A2026/2')).Line[0].References.Reference).toBe('FTM abc/00001');
  });

  test('the cash scheme is flagged; training documents are there like all that was issued', async () => {
    expect((await byNumber('FT C2026/1')).SpecialRegimes.CashVATSchemeIndicator).toBe('1');
    expect((await byNumber('FT A2026/1')).SpecialRegimes.CashVATSchemeIndicator).toBe('0');
    expect(await byNumber('FT F2026/1')).toBeDefined();
  });

  test('that serve as transport documents tell the places and times', async () => {
    const { transport } = transportContent('GUIA_DE_TRANSPORTE', [goods], false);
    const audit = await invoiceOf({ ...sampleContent('INVOICE', [goods]), transport });
    const [invoice] = audit.SourceDocuments.SalesInvoices.Invoice;
    expect(invoice.MovementStartTime).toBe('2026-03-30T10:30:00');
    expect(invoice.Line[0].CreditAmount).toBe('22.20');
  });
});

describe('transport documents', () => {
  test('without values: goods, no money, no tax; times are local', async () => {
    const movement = await byNumber('GT A2026/1');
    expect(Object.keys(movement)).toEqual([
      'DocumentNumber',
      'ATCUD',
      'DocumentStatus',
      'Hash',
      'HashControl',
      'Period',
      'MovementDate',
      'MovementType',
      'SystemEntryDate',
      'CustomerID',
      'SourceID',
      'EACCode',
      'MovementComments',
      'ShipTo',
      'ShipFrom',
      'MovementEndTime',
      'MovementStartTime',
      'ATDocCodeID',
      'Line',
      'DocumentTotals',
    ]);
    expect(movement).toMatchObject({
      MovementStartTime: '2026-03-30T10:30:00',
      MovementEndTime: '2026-03-30T14:00:00',
      ATDocCodeID: '123456789012',
    });
    expect(movement.ShipFrom.DeliveryID).toBe('AA-00-AA');
    expect(movement.DocumentStatus.MovementStatus).toBe('F');
    expect(movement.Line[0]).toMatchObject({ Quantity: '12', UnitPrice: '0.00', CreditAmount: '0.00' });
    expect(movement.Line[0]).not.toHaveProperty('Tax');
    expect(movement.DocumentTotals).toEqual({ TaxPayable: '0.00', NetTotal: '0.00', GrossTotal: '0.00' });
  });

  test('with values: prices, rates, exemptions', async () => {
    const movement = await byNumber('GR A2026/1');
    expect(movement.Line[0]).toMatchObject({
      UnitPrice: '1.85',
      CreditAmount: '22.20',
      Tax: { TaxPercentage: '6.00' },
    });
    expect(movement.Line[1].TaxExemptionCode).toBe('M07');
    expect(movement.Line[0]).not.toHaveProperty('TaxPointDate');
    expect(movement).not.toHaveProperty('ATDocCodeID');
  });

  test('civil time is the company’s: one hour earlier on the Azores', async () => {
    const document = await openDesk().issue(transportContent('GUIA_DE_TRANSPORTE', [goods], false));
    const xml = await xmlOf([document], { header: { ...header, region: 'PT-AC' } });
    expect(xml).toContain('<MovementStartTime>2026-03-30T09:30:00</MovementStartTime>');
  });
});

describe('receipts', () => {
  test('credit what was paid and debit the note set off, without tax and without a signature', async () => {
    const receipt = await byNumber('RG A2026/1');
    expect(receipt).not.toHaveProperty('Hash');
    expect(receipt.Line.map((line: Parsed) => Object.keys(line))).toEqual([
      ['LineNumber', 'SourceDocumentID', 'CreditAmount'],
      ['LineNumber', 'SourceDocumentID', 'DebitAmount'],
    ]);
    const { documents } = await all;
    const { content } = documents.find(({ issued }) => issued.number === 'RG A2026/1')!;
    expect(receipt.DocumentTotals).toEqual({
      TaxPayable: content.books.tax,
      NetTotal: content.books.net,
      GrossTotal: content.books.gross,
    });
    expect(receipt.PaymentMethod).toEqual({
      PaymentMechanism: 'TB',
      PaymentAmount: content.books.toPay,
      PaymentDate: '2026-03-10',
    });
  });

  test('tell what the payer withheld, and receive that much less', async () => {
    const receipt = await byNumber('RG A2026/2');
    expect(receipt.WithholdingTax).toHaveLength(1);
    expect(receipt.PaymentMethod).toEqual({ PaymentAmount: '1000.00', PaymentDate: '2026-03-11' });
    expect(receipt.DocumentTotals.GrossTotal).toBe('1230.00');
  });

  test('of the cash scheme: RC, a line per rate with its tax', async () => {
    const receipt = await byNumber('RC C2026/1');
    expect(receipt.PaymentType).toBe('RC');
    expect(
      receipt.Line.map((line: Parsed) => [line.LineNumber, line.CreditAmount, line.Tax.TaxCode, line.TaxExemptionCode]),
    ).toEqual([
      ['1', '22.20', 'RED', undefined],
      ['2', '1000.00', 'NOR', undefined],
      ['3', '50.00', 'ISE', 'M07'],
    ]);
  });

  test('in another currency put Currency last', async () => {
    const desk = openDesk();
    const invoice = await desk.issue(sampleContent('INVOICE', [goods], { currency: 'USD', exchangeRate: '0.5' }));
    await desk.issue(receiptContent([settledOf(invoice)], { currency: 'USD', exchangeRate: '0.5' }), {
      day: '2026-03-10',
    });
    expect(schemaFaults(await xmlOf(desk.documents))).toEqual([]);
  });
});

describe('masters', () => {
  test('the final consumer is one generic record; a consumer with a name has one of their own', async () => {
    const found = (await file).MasterFiles.Customer;
    expect(found.find((c: Parsed) => c.CustomerID === 'CF')).toEqual({
      CustomerID: 'CF',
      AccountID: 'Desconhecido',
      CustomerTaxID: '999999990',
      CompanyName: 'Consumidor final',
      BillingAddress: {
        AddressDetail: 'Desconhecido',
        City: 'Desconhecido',
        PostalCode: 'Desconhecido',
        Country: 'Desconhecido',
      },
      SelfBillingIndicator: '0',
    });
    const maria = found.find((c: Parsed) => c.CompanyName === 'Maria Silva');
    expect([maria.CustomerTaxID, maria.BillingAddress.Country]).toEqual(['999999990', 'PT']);
    expect(maria.CustomerID).toMatch(/^[0-9A-Z]{26}$/);
    expect(found.find((c: Parsed) => c.BillingAddress.Country === 'DK').CustomerTaxID).toBe('12345678');
  });

  test('the final consumer has the generic number, whatever stands on the record', async () => {
    const customer = { ...customers.consumer, taxpayerNumber: '123456789', address: 'Rua' };
    const [found] = (await invoiceOf(sampleContent('INVOICE', [goods], { customer }))).MasterFiles.Customer;
    expect([found.CustomerTaxID, found.BillingAddress.AddressDetail]).toEqual(['999999990', 'Desconhecido']);
  });

  test('addresses that do not fit are left out, names are cut', async () => {
    const customer = {
      ...customers.business,
      name: 'Ã'.repeat(101),
      website: `https://${'a'.repeat(60)}.example`,
      phone: '1'.repeat(21),
      address: '',
    };
    const audit = await invoiceOf(sampleContent('INVOICE', [goods], { customer }));
    const [found] = audit.MasterFiles.Customer;
    expect(found.CompanyName).toBe('Ã'.repeat(100));
    expect(found).not.toHaveProperty('Website');
    expect(found).not.toHaveProperty('Telephone');
    expect(found.BillingAddress.AddressDetail).toBe('Desconhecido');
  });

  test('goods and services, described in at least two characters', async () => {
    const audit = await invoiceOf(sampleContent('INVOICE', [{ ...goods, name: 'X' }, sampleLine({ itemId: 'S1' })]));
    expect(audit.MasterFiles.Product).toEqual([
      { ProductType: 'P', ProductCode: goods.itemId, ProductDescription: 'X ', ProductNumberCode: goods.itemId },
      { ProductType: 'S', ProductCode: 'S1', ProductDescription: 'Consultoria', ProductNumberCode: 'S1' },
    ]);
  });

  test('a rate that ended within the period says when: Madeira’s reduced rate on 2024-09-30', async () => {
    const period = { ...header, from: '2024-09-01', to: '2024-10-31' };
    const taxes = [
      { region: 'PT-MA', taxCode: 'RED', rate: '5' },
      { region: 'PT-MA', taxCode: 'RED', rate: '4' },
      { region: 'PT', taxCode: 'ISE', rate: '0' },
    ] as const;
    const audit = parsed(await xmlOf([], { header: period, taxes }));
    expect(audit.MasterFiles.TaxTable.TaxTableEntry.map((t: Parsed) => [t.TaxPercentage, t.TaxExpirationDate])).toEqual(
      [
        ['5.00', '2024-09-30'],
        ['4.00', undefined],
        ['0.00', undefined],
      ],
    );
  });

  test('the normal rate of the Azores until 2021-06-30, each rate under its name', async () => {
    const period = { ...header, from: '2021-06-30', to: '2021-07-01' };
    const taxes = [
      { region: 'PT-AC', taxCode: 'NOR', rate: '18' },
      { region: 'PT-AC', taxCode: 'NOR', rate: '16' },
      { region: 'PT', taxCode: 'INT', rate: '13' },
      { region: 'PT-MA', taxCode: 'RED', rate: '5' },
    ] as const;
    const audit = parsed(await xmlOf([], { header: period, taxes }));
    expect(audit.MasterFiles.TaxTable.TaxTableEntry.map((t: Parsed) => [t.Description, t.TaxExpirationDate])).toEqual([
      ['IVA - Taxa normal - Açores', '2021-06-30'],
      ['IVA - Taxa normal - Açores', undefined],
      ['IVA - Taxa intermédia - Continente', undefined],
      ['IVA - Taxa reduzida - Madeira', undefined],
    ]);
  });

  test('what fills several portions is told once, in order', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => ({ ...customers.business, id: `cliente-${i}` }));
    const customersOf = async function* () {
      yield many.slice(0, 700);
      yield many.slice(700);
    };
    const portions: string[] = [];
    for await (const portion of writeSaft(sourceOf([], { customers: customersOf() })))
      portions.push(new TextDecoder().decode(portion));
    expect(portions.length).toBeGreaterThan(1);
    expect(parsed(portions.join('')).MasterFiles.Customer.map((c: Parsed) => c.CustomerID)).toEqual(
      many.map(({ id }) => id),
    );
  });

  test('a character that XML cannot hold costs that character, not the file', async () => {
    const audit = await invoiceOf(sampleContent('INVOICE', [{ ...goods, name: 'A\u0000B\ud800C\ufffe ]]> \r\n' }]));
    expect(audit.MasterFiles.Product[0].ProductDescription).toContain('A\ufffdB\ufffdC\ufffd ]]> \r');
  });
});

const money = (most: number) => fc.integer({ min: 0, max: most }).map((cents) => (cents / 100).toFixed(2));
const line: fc.Arbitrary<LineInput> = fc
  .record({
    name: fc.string({ unit: 'grapheme', minLength: 2, maxLength: 60 }),
    description: fc.option(fc.string({ unit: 'binary', maxLength: 220 }), { nil: undefined }),
    quantity: fc.integer({ min: 1, max: 5_000_000 }).map((n) => String(n / 1000)),
    unitPrice: fc.integer({ min: 0, max: 90_000_000 }).map((n) => (n / 10_000).toFixed(4)),
    rate: fc.constantFrom('NORMAL', 'INTERMEDIATE', 'REDUCED', 'EXEMPT' as const),
    region: fc.constantFrom('PT', 'PT-MA', 'PT-AC' as const),
    exemption: fc.constantFrom('M01', 'M05', 'M07', 'M15', 'M16', 'M40', 'M99'),
    discount: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
    withheld: fc.boolean(),
    item: fc.integer({ min: 0, max: 5 }),
    productType: fc.constantFrom('PRODUCT', 'SERVICE' as const),
  })
  .map(({ rate, exemption, discount, withheld, item, ...rest }) => ({
    ...rest,
    id: 'l',
    itemId: idOf(`item ${item}`),
    unit: 'UNIT',
    vatRate: rate,
    ...(rate === 'EXEMPT' ? { exemptionCode: exemption } : {}),
    ...(discount === undefined ? {} : { discount: { type: 'PERCENT' as const, value: String(discount) } }),
    ...(withheld ? { withholding: { type: 'IRS' as const, percent: '11.5' } } : {}),
  }));
const plan = fc.record({
  type: fc.constantFrom<DocumentType>(
    'INVOICE',
    'SIMPLIFIED_INVOICE',
    'INVOICE_RECEIPT',
    'DEBIT_NOTE',
    'PROFORMA',
    'GUIA_DE_TRANSPORTE',
    'RECEIPT',
  ),
  lines: fc.array(line, { minLength: 1, maxLength: 6 }),
  status: fc.constantFrom('N', 'N', 'N', 'A' as const),
  customer: fc.constantFrom(...Object.values(customers)),
  currency: fc.constantFrom('EUR', 'EUR', 'USD'),
  rate: fc.integer({ min: 1, max: 3_000_000 }).map((n) => (n / 1_000_000).toFixed(6)),
  global: fc.option(money(3000), { nil: undefined }),
  valued: fc.boolean(),
});
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never;

/** The content of a plan; undefined where the law refuses it (a global discount above the total). */
function contentOf(
  { type, lines, customer, currency, rate, global, valued }: Plan,
  earlier: readonly SaftDocument[],
): Content | undefined {
  const invoices = earlier.filter(({ content }) => content.type === 'INVOICE');
  if (type === 'RECEIPT')
    return invoices.length === 0
      ? undefined
      : receiptContent(
          invoices.map((d) => settledOf(d)),
          { customer },
        );
  // What is cancelled has no notes.
  const parent = invoices.find(({ status }) => status !== 'A');
  if (type === 'DEBIT_NOTE' && parent === undefined) return undefined;
  const more = {
    customer,
    currency,
    exchangeRate: currency === 'EUR' ? undefined : rate,
    globalDiscount: global === undefined ? undefined : { type: 'AMOUNT' as const, value: global },
    parent:
      type === 'DEBIT_NOTE'
        ? { id: 'p', number: parent!.issued.number, date: '2026-03-06', type: 'INVOICE' as const, reason: 'Acerto' }
        : undefined,
  };
  try {
    return type === 'GUIA_DE_TRANSPORTE'
      ? transportContent(type, lines, valued, more)
      : sampleContent(type, lines, more);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

test('whatever is issued, the file is valid, sums up, and its signatures verify', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('UTF-8', 'Windows-1252' as const),
      async (plans, encoding) => {
        const desk = openDesk();
        for (const one of plans) {
          const content = contentOf(one, desk.documents);
          if (content !== undefined) await desk.issue(content, { status: one.status });
        }
        const xml = await textOf(writeSaft(sourceOf(desk.documents), encoding), encoding);
        expect(schemaFaults(xml)).toEqual([]);
        const report = await checkSaft(writeSaft(sourceOf(desk.documents), encoding), {
          publicKeys: () => desk.publicKey,
        });
        expect(report.findings.map((finding) => findingSentence(finding, 'en'))).toEqual([]);
        expect(report.hashes.verified).toBe(desk.documents.filter(({ issued }) => issued.hash !== '').length);
      },
    ),
    { numRuns: 120 },
  );
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DocumentType } from '../fiscal/document.ts';
import * as s from './fixtures/samples.ts';
import { schemaFault } from './fixtures/xsd.ts';
import { bodies } from './messages.ts';
import type { XmlElement } from './read-xml.ts';
import { childrenOf, readXml, textOf } from './read-xml.ts';
import type { AtDocumentCode } from './reports.ts';

const salesTypes: DocumentType[] = ['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'CREDIT_NOTE', 'DEBIT_NOTE'];

function dataOf(xml: string, name: string): XmlElement {
  return childrenOf(readXml(xml)!, name)[0]!;
}

function summaries(xml: string, name = 'InvoiceData') {
  return childrenOf(dataOf(xml, name), 'LineSummary').map((line) => {
    const tax = childrenOf(line, 'Tax')[0]!;
    return [
      textOf(line, 'DebitCreditIndicator'),
      textOf(line, 'Amount'),
      textOf(tax, 'TaxCountryRegion'),
      textOf(tax, 'TaxCode'),
      textOf(tax, 'TaxPercentage'),
      textOf(line, 'TaxExemptionCode'),
    ];
  });
}

describe('bodies are valid against the real schemas', () => {
  it.each(salesTypes)('%s', (type) => {
    expect(schemaFault('documents', bodies.reportInvoice(s.sales(type)))).toBeUndefined();
    expect(schemaFault('documents', bodies.changeInvoiceStatus(s.change(type, 'A')))).toBeUndefined();
  });

  it('every optional part at once', () => {
    const input = s.mixedLines.map((line, i) =>
      i === 0 ? { ...line, withholding: { type: 'IRS' as const, percent: '23' } } : line,
    );
    const report = s.sales('INVOICE', {
      content: s.content('INVOICE', { input, taxPointDate: '2026-11-19', customer: s.foreigner }),
      cashVat: true,
      eac: '10711',
      origins: { '1': [{ number: 'PF A2026/7', date: '2026-11-01' }, { number: 'GT A2026/2' }] },
    });
    const xml = bodies.reportInvoice(report);
    expect(schemaFault('documents', xml)).toBeUndefined();
    expect(xml).toContain('<doc:WithholdingTaxType>IRS</doc:WithholdingTaxType>');
    expect(xml).toContain('<doc:CustomerTaxIDCountry>GR</doc:CustomerTaxIDCountry>');
    expect(xml).toContain('<doc:TaxPointDate>2026-11-19</doc:TaxPointDate>');
    // The line with an origin stands alone; the fourth line has its tax but no origin.
    expect(summaries(xml).filter((row) => row[3] === 'NOR')).toHaveLength(2);
  });

  it('working documents, receipts, transport, series', () => {
    expect(schemaFault('documents', bodies.reportWork(s.sales('PROFORMA', { eac: '10711' })))).toBeUndefined();
    expect(schemaFault('documents', bodies.changeWorkStatus(s.change('PROFORMA', 'F')))).toBeUndefined();
    expect(schemaFault('documents', bodies.reportPayment(s.payment()))).toBeUndefined();
    const receipt = { ...s.payment(), status: 'A' as const };
    expect(schemaFault('documents', bodies.changePaymentStatus(receipt))).toBeUndefined();
    expect(schemaFault('transport', bodies.reportTransport(s.transport()))).toBeUndefined();
    const all = s.transport({
      status: 'A',
      atDocCode: '1099214626',
      end: '2026-11-21T20:00:00',
      valued: true,
      toSupplier: true,
      origins: { '1': [{ number: 'FT A2026/1' }] },
    });
    expect(schemaFault('transport', bodies.reportTransport(all))).toBeUndefined();
    const bare = s.transport({ loading: {}, unloading: { country: 'ES', city: 'Vigo' }, licensePlate: undefined });
    expect(schemaFault('transport', bodies.reportTransport(bare))).toBeUndefined();
  });

  it('series', () => {
    const key = { series: 'A2026', documentCode: 'FT' as AtDocumentCode, validationCode: 'CSDF7T5H' };
    const register = {
      series: 'A2026',
      documentCode: 'RG' as const,
      firstNumber: 1,
      startDate: '2026-11-21',
      certificateNumber: 9999,
    };
    const query = { ...key, kind: 'N', registeredFrom: '2026-01-01', registeredTo: '2026-12-31', state: 'A' } as const;
    const built = [
      bodies.registerSeries(register),
      bodies.finalizeSeries({ ...key, lastNumber: 12, justification: 'fim <do> ano' }),
      bodies.annulSeries(key),
      bodies.listSeries({}),
      bodies.listSeries(query),
    ];
    for (const xml of built) expect(schemaFault('series', xml)).toBeUndefined();
    expect(built[0]).toBe(
      '<ns2:registarSerie xmlns:ns2="http://at.gov.pt/"><serie>A2026</serie><tipoSerie>N</tipoSerie><classeDoc>PY</classeDoc>' +
        '<tipoDoc>RG</tipoDoc><numInicialSeq>1</numInicialSeq><dataInicioPrevUtiliz>2026-11-21</dataInicioPrevUtiliz>' +
        '<numCertSWFatur>9999</numCertSWFatur><meioProcessamento>PI</meioProcessamento></ns2:registarSerie>',
    );
  });
});

describe('line summary', () => {
  it('one entry per tax, exemption and region, in EUR, summing to the net total', () => {
    const xml = bodies.reportInvoice(s.sales('INVOICE'));
    expect(summaries(xml)).toEqual([
      ['C', '21.00', 'PT', 'NOR', '23.00', undefined],
      ['C', '6.67', 'PT', 'RED', '6.00', undefined],
      ['C', '200.00', 'PT', 'ISE', '0.00', 'M07'],
      ['C', '20.00', 'PT-MA', 'INT', '12.00', undefined],
      ['C', '14.00', 'PT', 'ISE', '0.00', 'M16'],
    ]);
    expect(xml).toContain('<doc:NetTotal>261.67</doc:NetTotal>');
  });

  it('a credit note is on the debit side and names what it corrects in each entry', () => {
    const xml = bodies.reportInvoice(s.sales('CREDIT_NOTE'));
    const data = dataOf(xml, 'InvoiceData');
    for (const line of childrenOf(data, 'LineSummary')) {
      expect(textOf(line, 'DebitCreditIndicator')).toBe('D');
      expect(textOf(line, 'Reference')).toBe('FT A2026/1');
    }
  });

  it('a note on a recovered invoice quotes the original', () => {
    const parent = {
      id: 'p',
      number: 'FT R2026/1',
      original: 'FTM abc/00001',
      date: '2026-11-20',
      type: 'INVOICE',
    } as const;
    for (const type of ['CREDIT_NOTE', 'DEBIT_NOTE'] as const) {
      const xml = bodies.reportInvoice(s.sales(type, { content: s.content(type, { parent }) }));
      const told = childrenOf(dataOf(xml, 'InvoiceData'), 'LineSummary').map((line) => textOf(line, 'Reference'));
      expect(new Set(told)).toEqual(new Set(['FTM abc/00001']));
    }
  });

  it('foreign currency is told in EUR', () => {
    const content = s.content('INVOICE', { currency: 'USD', exchangeRate: '0.917431' });
    const xml = bodies.reportInvoice(s.sales('INVOICE', { content }));
    expect(xml).toContain(`<doc:GrossTotal>${content.books.gross}</doc:GrossTotal>`);
    expect(content.books.gross).not.toBe(content.totals.gross);
  });

  it('gives a residual cent to the largest group and refuses more than that', () => {
    const content = s.content('INVOICE');
    const off = (net: string) => s.sales('INVOICE', { content: { ...content, books: { ...content.books, net } } });
    expect(summaries(bodies.reportInvoice(off('261.68')))[2]?.[1]).toBe('200.01');
    expect(summaries(bodies.reportInvoice(off('261.66')))[2]?.[1]).toBe('199.99');
    // A cent for each of the five.
    expect(summaries(bodies.reportInvoice(off('261.72')))[2]?.[1]).toBe('200.05');
    for (const net of ['261.73', '261.61']) expect(() => bodies.reportInvoice(off(net))).toThrow(/do not sum/);
  });

  it('what is exempt alike in two regions is told for each', () => {
    const exempt = { vatRate: 'EXEMPT', exemptionCode: 'M07', quantity: '1', unitPrice: '10' } as const;
    const input = [s.line('1', exempt), s.line('2', { ...exempt, region: 'PT-AC' }), s.line('3', exempt)];
    expect(summaries(bodies.reportInvoice(s.sales('INVOICE', { content: s.content('INVOICE', { input }) })))).toEqual([
      ['C', '20.00', 'PT', 'ISE', '0.00', 'M07'],
      ['C', '10.00', 'PT-AC', 'ISE', '0.00', 'M07'],
    ]);
  });

  it('sums to NetTotal for any lines', () => {
    const lines = fc.array(
      fc.record({
        quantity: fc.integer({ min: 1, max: 999_999 }).map((n) => (n / 1000).toFixed(3)),
        unitPrice: fc.integer({ min: 0, max: 99_999_999 }).map((n) => (n / 10000).toFixed(4)),
        vatRate: fc.constantFrom('NORMAL' as const, 'INTERMEDIATE' as const, 'REDUCED' as const),
        region: fc.constantFrom('PT' as const, 'PT-MA' as const, 'PT-AC' as const),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(lines, fc.boolean(), (given, foreign) => {
        const input = given.map((more, i) => s.line(String(i), more));
        const content = s.content('INVOICE', {
          input,
          ...(foreign ? { currency: 'JPY', exchangeRate: '0.006123' } : {}),
        });
        const rows = summaries(bodies.reportInvoice(s.sales('INVOICE', { content })));
        const sum = rows.reduce((total, row) => total + BigInt(row[1]!.replace('.', '')), 0n);
        expect(sum).toBe(BigInt(content.books.net.replace('.', '')));
        expect(new Set(rows.map((row) => row.slice(2).join())).size).toBe(rows.length);
      }),
      { numRuns: 60 },
    );
  });
});

describe('details', () => {
  it('the unknown buyer, the uncertified program, hash characters that need escaping', () => {
    const xml = bodies.reportInvoice(
      s.sales('SIMPLIFIED_INVOICE', { content: s.content('SIMPLIFIED_INVOICE', { customer: s.consumer }) }),
    );
    expect(xml).toContain('<doc:CustomerTaxID>999999990</doc:CustomerTaxID><doc:CustomerTaxIDCountry>Desconhecido<');
    expect(xml).toContain('<doc:HashCharacters>a&amp;&lt;9</doc:HashCharacters>');
    const report = s.sales('INVOICE');
    const uncertified = { ...report, issued: { ...report.issued, certificateNumber: 0 } };
    expect(bodies.reportInvoice(uncertified)).toContain('<doc:HashCharacters>0</doc:HashCharacters>');
  });

  it('says whether it is of the cash VAT scheme; nothing is billed by the buyer, or without paper', () => {
    for (const [cashVat, told] of [
      [true, '1'],
      [false, '0'],
    ] as const) {
      const data = dataOf(bodies.reportInvoice(s.sales('INVOICE', { cashVat })), 'InvoiceData');
      const flags = ['SelfBillingIndicator', 'CashVATSchemeIndicator', 'PaperLessIndicator'];
      expect(flags.map((name) => textOf(data, name))).toEqual(['0', told, '0']);
    }
  });

  it('a receipt credits what it pays, and debits the notes that are set off', () => {
    expect(summaries(bodies.reportPayment(s.payment()), 'PaymentData')).toEqual([
      ['C', '20.00', 'PT', 'NOR', '23.00', undefined],
      ['C', '100.00', 'PT', 'ISE', '0.00', 'M07'],
      ['D', '10.00', 'PT', 'NOR', '23.00', undefined],
    ]);
  });

  it('sums withholding per kind', () => {
    expect(bodies.reportPayment(s.payment())).toContain(
      '<doc:WithholdingTaxType>IRS</doc:WithholdingTaxType><doc:WithholdingTaxAmount>4.80</doc:WithholdingTaxAmount>',
    );
  });

  it('leaves out withholding where nothing is withheld, as SAF-T does', () => {
    const withholding = { type: 'IRS' as const, percent: '23' };
    const input = [s.line('1', { unitPrice: '0', withholding }), s.line('2')];
    const free = s.content('INVOICE', { input });
    expect(free.books.withholdings).toMatchObject([{ type: 'IRS', amount: '0.00' }]);
    expect(bodies.reportInvoice(s.sales('INVOICE', { content: free }))).not.toContain('WithholdingTax');
    const receipt = { ...s.payment(), withholdings: free.books.withholdings };
    expect(bodies.reportPayment(receipt)).not.toContain('WithholdingTax');
  });

  it('transport: foreign places left out, long tax ids never cut, unpriced lines 0.00, names cut to what fits', () => {
    const far = { ...s.foreigner, taxpayerNumber: '123456789012345678901', name: '😀'.repeat(120) };
    const xml = bodies.reportTransport(
      s.transport({ content: s.content('GUIA_DE_TRANSPORTE', { input: [s.line('1')], customer: far }) }),
    );
    expect(schemaFault('transport', xml)).toBeUndefined();
    expect(xml).toContain('<CustomerTaxID>999999990</CustomerTaxID><CustomerName>');
    expect(xml).toContain(`<CustomerName>${'😀'.repeat(100)}</CustomerName>`);
    expect(xml).toContain('<UnitOfMeasure>un</UnitOfMeasure><UnitPrice>0.00</UnitPrice>');
    const unknownPostal = s.transport({ loading: { city: 'Faro', postalCode: '8000' } });
    expect(bodies.reportTransport(unknownPostal)).toContain(
      '<AddressFrom><City>Faro</City><Country>PT</Country></AddressFrom>',
    );
  });

  it('transport: texts are cut to what the schema takes and not a character more', () => {
    const long = '😀'.repeat(300);
    const place = { address: long, city: long, postalCode: '4000-123', country: 'PT' };
    const customer = { ...s.business, ...place, name: long };
    const content = s.content('GUIA_DE_TRANSPORTE', {
      input: [s.line('1', { name: long, unit: long })],
      customer,
      issuer: { ...s.issuer, ...place, name: long },
    });
    const xml = bodies.reportTransport(
      s.transport({ content, loading: place, unloading: place, licensePlate: 'X'.repeat(33) }),
    );
    expect(schemaFault('transport', xml)).toBeUndefined();
    const longest = {
      CompanyName: 100,
      CustomerName: 100,
      ProductDescription: 200,
      UnitOfMeasure: 20,
      Addressdetail: 210,
      City: 50,
      VehicleID: 32,
    };
    for (const [element, length] of Object.entries(longest)) {
      const texts = [...xml.matchAll(new RegExp(`<${element}>([^<]*)</`, 'g'))].map(([, text]) => [...text!].length);
      expect([element, new Set(texts)]).toEqual([element, new Set([length])]);
    }
    // A number of 20 characters fits, one of 21 is not told.
    const told = (length: number) =>
      bodies.reportTransport(
        s.transport({ content: { ...content, customer: { ...s.foreigner, taxpayerNumber: 'A'.repeat(length) } } }),
      );
    expect(told(20)).toContain(`<CustomerTaxID>${'A'.repeat(20)}</CustomerTaxID>`);
    expect(told(21)).toContain('<CustomerTaxID>999999990</CustomerTaxID>');
  });

  it('transport: a price has as many decimals as its quantity needs, the same as in SAF-T', () => {
    const input = [
      s.line('1', { quantity: '3000000', unitPrice: '1', discount: { type: 'PERCENT', value: '33.333333' } }),
    ];
    const xml = bodies.reportTransport(s.transport({ content: s.content('GUIA_DE_REMESSA', { input }), valued: true }));
    expect(schemaFault('transport', xml)).toBeUndefined();
    expect(xml).toContain('<UnitPrice>0.66666667</UnitPrice>');
  });

  it('transport: a foreign number that looks like a NIF is not told, since the message has no country', () => {
    const told = (taxpayerNumber: string, country: string) =>
      textOf(
        readXml(
          bodies.reportTransport(
            s.transport({
              content: s.content('GUIA_DE_TRANSPORTE', {
                input: [s.line('1')],
                customer: { ...s.foreigner, taxpayerNumber, country },
              }),
            }),
          ),
        )!,
        'CustomerTaxID',
      );
    expect(told('136695976', 'DE')).toBe('999999990');
    expect(told('U12345678', 'AT')).toBe('U12345678');
    expect(told('501442600', 'PT')).toBe('501442600');
    expect(told('1366959761', 'DE')).toBe('1366959761');
  });

  it.each<[string, Parameters<typeof s.transport>[0] & object, string | undefined]>([
    [
      'all of it',
      { unloading: { address: 'Rua 1', city: 'Faro', postalCode: '8000-123' } },
      'Rua 1, Faro, 8000-123, PT',
    ],
    ['its street', { unloading: { address: 'Rua 1' } }, 'Rua 1, PT'],
    ['its town', { unloading: { city: 'Faro', country: 'PT' } }, 'Faro, PT'],
    ['its postal code', { unloading: { postalCode: '8000-123' } }, '8000-123, PT'],
    ['half a postal code', { unloading: { city: 'Faro', postalCode: '8000' } }, 'Faro, PT'],
    ['a postal code and more', { unloading: { city: 'Faro', postalCode: '8000-1234' } }, 'Faro, PT'],
    ['more and a postal code', { unloading: { city: 'Faro', postalCode: '18000-123' } }, 'Faro, PT'],
    ['blank texts', { unloading: { address: '', city: '', postalCode: '' } }, undefined],
    ['its country', { unloading: { country: 'PT' } }, undefined],
    ['that it is abroad', { unloading: { city: 'Vigo', country: 'ES' } }, undefined],
    ['nothing', { unloading: undefined }, undefined],
  ])('transport: of a place of which %s is known', (_, over, told) => {
    const xml = bodies.reportTransport(s.transport(over));
    expect(schemaFault('transport', xml)).toBeUndefined();
    const [to] = childrenOf(readXml(xml)!, 'AddressTo');
    expect(to?.children.map(({ name }) => textOf(to, name)).join(', ')).toBe(told);
  });

  it('transport: number, ATCUD, places and times, in the order of the schema', () => {
    const message = s.transport({ end: '2026-11-21T20:00:00', valued: true });
    const told = readXml(bodies.reportTransport(message))!;
    expect(told.children.map(({ name }) => name).join(' ')).toBe(
      'TaxRegistrationNumber CompanyName CompanyAddress DocumentNumber ATCUD MovementStatus MovementDate MovementType CustomerTaxID CustomerAddress CustomerName AddressTo AddressFrom MovementEndTime MovementStartTime VehicleID Line Line',
    );
    const { issued, end, start } = message;
    const texts = ['DocumentNumber', 'ATCUD', 'MovementType', 'MovementEndTime', 'MovementStartTime'];
    expect(texts.map((name) => textOf(told, name))).toEqual([issued.number, issued.atcud, 'GR', end, start]);
    const cities = ['AddressTo', 'AddressFrom'].map((name) => textOf(childrenOf(told, name)[0]!, 'City'));
    expect(cities).toEqual(['Porto', 'Lisboa']);
  });

  it('refuses what would be a fault of ours', () => {
    expect(() => bodies.reportTransport(s.transport({ status: 'A' }))).toThrow(/needs the code/);
    const report = s.sales('INVOICE');
    const nameless = { ...report, content: { ...report.content, issuer: { id: 'x', name: 'x' } } };
    expect(() => bodies.reportInvoice(nameless)).toThrow(/nine digits/);
  });
});

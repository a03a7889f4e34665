import { describe, expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../../test/fiscal-samples.ts';
import type { Content } from '../../fiscal/document.ts';
import { signedText } from '../../fiscal/hash-chain.ts';
import { type DecidedIssue, decideIssue, finishIssue } from '../../fiscal/issue.ts';
import { receiptOver } from '../../fiscal/standing.ts';
import { documentFaults, type StoredDocument, type StoredSeries } from './verify-document.ts';

const series: StoredSeries = { code: 'A2026', documentType: 'INVOICE', atType: 'FT', validationCode: 'AAJFF1XZ' };
const previousHash = `${'b'.repeat(170)}A=`;
const hash = `${'a'.repeat(170)}A=`;

function stored(content: Content, of: StoredSeries = series): StoredDocument {
  const decided = decideIssue({
    content,
    head: { ...of, lastSequence: 4, lastHash: previousHash, kind: 'N', cashVat: false },
    seriesStart: undefined,
    now: new Date('2026-03-02T10:00:00Z'),
    region: 'PT',
    notReady: [],
    certificateNumber: 9999,
    keyVersion: 1,
  }) as DecidedIssue;
  const { parts } = decided;
  const issued = finishIssue(decided, parts === undefined ? '' : hash);
  const { totals } = decided.content;
  return {
    ...issued,
    type: content.type,
    signedText: parts === undefined ? null : signedText(parts, previousHash),
    dueDate: decided.dueDate,
    customerName: content.customer.name,
    currency: content.currency,
    net: totals.net,
    tax: totals.tax,
    gross: totals.gross,
    toPay: totals.toPay,
    content: decided.content,
  };
}

const lines = [
  sampleLine({ discount: { type: 'PERCENT', value: '10' } }),
  sampleLine({ id: 'two', vatRate: 'EXEMPT', exemptionCode: 'M07', quantity: '3' }),
  sampleLine({ id: 'three', withholding: { type: 'IRS', percent: '25' } }),
];
const honest = stored(sampleContent('INVOICE', lines, { date: '2026-03-02', dueDate: '2026-03-02' }));
/** Its draft said neither day. */
const undated = stored(sampleContent('INVOICE', lines));

/** The document with one member of it changed, as a copy; parts that are one object here are two in what is stored. */
function altered(path: string, value: unknown, document = honest): StoredDocument {
  const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
  const names = path.split('.');
  const last = names.pop()!;
  const place = names.reduce((at, name) => at[name] as Record<string, unknown>, copy);
  expect(place).toHaveProperty(last);
  place[last] = value;
  return copy as unknown as StoredDocument;
}

test('an honest document has no fault, in EUR and in another currency', () => {
  expect(documentFaults(honest, series, previousHash)).toEqual([]);
  const foreign = stored(sampleContent('INVOICE', [sampleLine()], { currency: 'USD', exchangeRate: '0.913' }));
  expect(documentFaults(foreign, series, previousHash)).toEqual([]);
});

test('so it is when it is due later, and as a receipt, which has no signature and no lines', () => {
  const later = stored(sampleContent('INVOICE', lines, { date: '2026-03-02', dueDate: '2026-04-01' }));
  expect(documentFaults(later, series, previousHash)).toEqual([]);
  const { content } = honest;
  const invoice = {
    id: 'invoice',
    type: 'INVOICE',
    status: 'ISSUED',
    number: honest.number,
    date: '2026-03-02',
  } as const;
  const parent = { ...invoice, content, outstanding: content.totals.toPay, children: [] };
  const receipts: StoredSeries = { ...series, documentType: 'RECEIPT', atType: 'RG' };
  const receipt = stored(receiptOver(parent, '100.00', { method: 'MB', date: '2026-03-02' }, undefined), receipts);
  expect(documentFaults(receipt, receipts, '')).toEqual([]);
  expect(documentFaults(altered('content.totals.net', '1.00', receipt), receipts, '').join('\n')).toMatch(/a total of/);
});

test('a QR code as it was made before is none: a valued transport document of 0.00 had no region', () => {
  const guides: StoredSeries = { ...series, documentType: 'GUIA_DE_REMESSA', atType: 'GR' };
  const place = { address: 'Rua 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' };
  const transport = { start: '2026-03-02T12:00:00.000Z', loading: place, unloading: place, valued: true };
  const free = sampleContent('GUIA_DE_REMESSA', [sampleLine({ unitPrice: '0' })], { transport });
  const gift = stored(free, guides);
  const faults = (qr: string) => documentFaults({ ...gift, qr }, guides, previousHash);
  expect(gift.qr).toContain('*I1:PT*N:0.00*');
  expect(faults(gift.qr)).toEqual([]);
  expect(faults(gift.qr.replace('I1:PT', 'I1:0'))).toEqual([]);
  expect(faults(gift.qr.replace('I1:PT', 'I1:PT-AC'))).toEqual([expect.stringMatching(/QR code/)]);
});

describe('an altered one has', () => {
  test.each([
    ['number', 'FT A2026/6', /should have the number FT A2026\/5/],
    ['sequence', 6, /should have the number FT A2026\/6/],
    ['atcud', 'AAJFF1XZ-6', /ATCUD AAJFF1XZ-6, not AAJFF1XZ-5/],
    ['qr', 'A:500000000', /QR code/],
    ['signedText', '2026-03-02;2026-03-02T10:00:00;FT A2026/5;1.00;', /signed text/],
    ['signedText', null, /signed text/],
    ['certificateNumber', 1, /QR code/],
    ['date', '2026-03-01', /the date 2026-03-01 beside the frozen 2026-03-02/],
    ['dueDate', '2026-04-01', /due date/],
    ['customerName', 'Outra', /the customer Outra beside the frozen Maria Silva/],
    ['currency', 'USD', /currency/],
    ['gross', '1.00', /the total 1.00 beside the frozen/],
    ['net', '1.00', /net amount/],
    ['tax', '1.00', /VAT/],
    ['toPay', '1.00', /amount to pay/],
    ['content.customer.name', 'Outra', /customer/],
    ['content.customer.taxpayerNumber', '501442600', /QR code/],
    ['content.totals.gross', '1.00', /total/],
    ['content.totals.withholding', '1.00', /withholding/],
    ['content.books.gross', '1.00', /in the books/],
    ['content.books.tax', '1.00', /VAT in the books/],
    ['content.netBeforeDiscount', '1.00', /before discounts/],
    ['content.lines.0.net', '1.00', /net amount of .* its lines make/],
    ['content.lines.0.tax', '1.00', /VAT of .* its lines make/],
    ['content.lines.1.eur.net', '1.00', /in the books/],
    ['content.lines.0.discountAmount', '0.00', /a line 1 that is not its value less its discount/],
    ['content.totals.groups.0.base', '1.00', /net amount/],
    ['content.lines', undefined, /cannot be read/],
    ['content', null, /cannot be read/],
  ])('%s', (path, value, fault) => {
    expect(documentFaults(altered(path, value), series, previousHash).join('\n')).toMatch(fault);
  });

  test.each([
    ['date', '2026-03-01', ['QR code', 'due date 2026-03-02 beside the frozen 2026-03-01', 'signed text']],
    ['dueDate', '2026-04-01', ['due date 2026-04-01 beside the frozen 2026-03-02']],
  ])('%s, which its draft left open', (path, value, faults) => {
    expect(documentFaults(undated, series, previousHash)).toEqual([]);
    expect(documentFaults(altered(path, value, undated), series, previousHash)).toEqual(
      faults.map((fault) => expect.stringContaining(fault)),
    );
  });

  // Each is looked at for itself: what says the same of another one does not tell it.
  test.each([
    ['content.totals.groups.0.tax', ['has VAT of 43.70 instead of 1']],
    ['content.totals.withholdings.0.amount', ['has withholding tax of 25.00 instead of 1']],
    ['content.lines.0.eur.tax', ['has VAT in the books of 43.70, and its lines make 24']],
    [
      'content.totals.toPay',
      ['has the amount to pay', 'has an amount to pay with its withholding of 26 instead of 533.70'],
    ],
    ['content.totals.gross', ['has the total', 'has a total of 1.00', 'has an amount to pay with its withholding of']],
    ['hash', []],
  ])('%s: all that is told of it', (path, faults) => {
    expect(documentFaults(altered(path, '1.00'), series, previousHash)).toEqual(
      faults.map((fault) => expect.stringContaining(fault)),
    );
  });

  test('a series of another type', () => {
    expect(documentFaults(honest, { ...series, documentType: 'DEBIT_NOTE' }, previousHash)).toEqual([
      'is INVOICE in a series of DEBIT_NOTE',
    ]);
  });
});

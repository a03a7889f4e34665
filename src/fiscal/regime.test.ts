import { describe, expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { atStatusOf, isCommunicated } from './communicated.ts';
import { type Content, type DocumentType, documentTypes } from './document.ts';
import { exemptions } from './exemptions.ts';
import { inCashVat, mayBeCashVat, regimeOf, type SeriesRegime, schemeOf, typeCode } from './regime.ts';

const business = { id: 'c', name: 'Cliente, SA', taxpayerNumber: '501442600', country: 'PT' };
const sale = (type: DocumentType, more: Partial<Content> = {}) =>
  sampleContent(type, [sampleLine()], { customer: business, ...more });
const exempt = (exemptionCode: string) => sampleLine({ id: exemptionCode, vatRate: 'EXEMPT', exemptionCode });
const series = (over: Partial<SeriesRegime> = {}): SeriesRegime => ({ code: 'A', kind: 'N', cashVat: false, ...over });
const parent = { id: 'p', number: 'FT A/1', date: '2026-03-01', type: 'INVOICE' } as const;
const since = { from: '2026-01-01' };
const day = '2026-03-02';

test('a period holds its first and its last day', () => {
  const period = { from: '2026-01-01', until: '2026-12-31' };
  const days = ['2025-12-31', '2026-01-01', '2026-12-31', '2027-01-01'];
  expect(days.map((one) => inCashVat(period, one))).toEqual([false, true, true, false]);
  expect(inCashVat(since, '2099-01-01')).toBe(true);
  expect(inCashVat(undefined, day)).toBe(false);
});

test('the scheme is about sales and receipts', () => {
  const codes = Object.entries(documentTypes).filter(([type]) => mayBeCashVat(type as DocumentType));
  expect(codes.map(([, { code }]) => code).toSorted()).toEqual(['FR', 'FS', 'FT', 'NC', 'ND', 'RG']);
});

test('receipts under the scheme are RC, everything else keeps its code', () => {
  expect(typeCode({ type: 'RECEIPT' })).toBe('RG');
  expect(typeCode({ type: 'RECEIPT', cashVat: true })).toBe('RC');
  expect(typeCode({ type: 'INVOICE', cashVat: true })).toBe('FT');
});

describe('the scheme of what names no series', () => {
  test.each(['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE'] as const)('%s to a business', (type) => {
    expect(schemeOf(sale(type))).toBe('when-in-force');
  });
  test.each(['PROFORMA', 'GUIA_DE_TRANSPORTE'] as const)('%s makes no tax due', (type) => {
    expect(schemeOf(sale(type))).toBe('never');
  });
  test.each([
    ['a private person, who may be a sole trader', { ...business, taxpayerNumber: '123456789' }],
    ['somebody without a number', { id: 'c', name: 'Maria Silva', country: 'PT' }],
    ['the final consumer', { id: 'c', name: 'Consumidor final', finalConsumer: true }],
    ['a business abroad', { ...business, country: 'ES' }],
  ] as const)('never of itself to %s', (_who, customer) => {
    expect(schemeOf(sale('INVOICE', { customer }))).toBe('never');
  });
  const beside = (code: string) => {
    const { from } = exemptions.find((exemption) => exemption.code === code)!;
    // M26 is in force on its first days only, M35 not before July 2026.
    const taxPoint = code === 'M26' || from > day ? from : day;
    return sampleContent('INVOICE', [sampleLine(), exempt(code)], { customer: business, taxPoint });
  };
  const outside = 'M05 M06 M16 M30 M31 M32 M33 M34 M35 M40 M41 M42 M43'.split(' ');
  test.each(outside)('a line under %s takes the document out of it, and no series of it takes the document', (code) => {
    expect(schemeOf(beside(code))).toBe('never');
    expect(() => regimeOf(beside(code), series({ cashVat: true }), day, since)).toThrow('CASH_VAT_EXCLUDED');
  });
  test('a line under any other code beside a taxed one leaves it in; alone there is no tax to delay', () => {
    for (const { code } of exemptions.filter((exemption) => !outside.includes(exemption.code))) {
      expect([code, schemeOf(beside(code))]).toEqual([code, 'when-in-force']);
      expect(regimeOf(beside(code), series({ cashVat: true }), day, since)).toEqual({ cashVat: true });
    }
    expect(schemeOf(sampleContent('INVOICE', [exempt('M07')], { customer: business }))).toBe('never');
  });
  test('notes and receipts follow', () => {
    expect(schemeOf(sale('CREDIT_NOTE', { parent, cashVat: true }))).toBe('always');
    expect(schemeOf(sale('DEBIT_NOTE', { parent, cashVat: true }))).toBe('always');
    expect(schemeOf(sale('CREDIT_NOTE', { parent }))).toBe('never');
    expect(schemeOf(sale('DEBIT_NOTE', { parent }))).toBe('never');
  });
});

describe('what the series makes of a document', () => {
  test('its mentions', () => {
    expect(regimeOf(sale('INVOICE'), series(), day, since)).toEqual({});
    expect(regimeOf(sale('INVOICE'), series({ cashVat: true }), day, since)).toEqual({ cashVat: true });
    expect(regimeOf(sale('INVOICE'), series({ kind: 'F' }), day, undefined)).toEqual({ training: true });
    const recovered = sale('INVOICE', { recovered: { kind: 'M', original: 'a/1' }, cashVat: true });
    expect(regimeOf(recovered, series({ kind: 'R' }), day, undefined)).toEqual({ cashVat: true });
  });
  test('a mention of the draft does not survive a series without it', () => {
    expect(regimeOf(sale('INVOICE', { cashVat: true, training: true }), series(), day, since)).toEqual({});
  });
  test('recovery and other series do not mix', () => {
    const recovered = sale('INVOICE', { recovered: { kind: 'M', original: 'a/1' } });
    expect(() => regimeOf(recovered, series(), day, since)).toThrow(/recovery series/);
    expect(() => regimeOf(sale('INVOICE'), series({ kind: 'R' }), day, since)).toThrow(/recovery series/);
  });
  test.each([
    ['TRAINING_DIFFERS', sale('CREDIT_NOTE', { parent }), series({ kind: 'F' })],
    ['TRAINING_DIFFERS', sale('CREDIT_NOTE', { parent, training: true }), series()],
    ['TRAINING_DIFFERS', sale('INVOICE', { origin: parent, training: true }), series()],
    ['TRAINING_DIFFERS', sale('INVOICE', { origin: parent }), series({ kind: 'F' })],
    ['CASH_VAT_DIFFERS', sale('RECEIPT', { parent }), series({ cashVat: true })],
    ['CASH_VAT_DIFFERS', sale('CREDIT_NOTE', { parent, cashVat: true }), series()],
    ['CASH_VAT_EXCLUDED', sale('INVOICE', { customer: { ...business, country: 'ES' } }), series({ cashVat: true })],
    [
      'CASH_VAT_EXCLUDED',
      sale('INVOICE', { customer: { ...business, taxpayerNumber: undefined } }),
      series({ cashVat: true }),
    ],
    [
      'CASH_VAT_EXCLUDED',
      sale('INVOICE', { customer: { ...business, finalConsumer: true } }),
      series({ cashVat: true }),
    ],
  ] as const)('%s', (code, content, where) => {
    expect(() => regimeOf(content, where, day, since)).toThrow(code);
  });
  test('CASH_VAT_NOT_IN_FORCE before its first day', () => {
    expect(() => regimeOf(sale('INVOICE'), series({ cashVat: true }), '2025-12-31', since)).toThrow(
      'CASH_VAT_NOT_IN_FORCE',
    );
  });
});

test('the AT is told of everything but normal receipts, training, and what it knows already', () => {
  const recovered = { kind: 'D', original: 'FT A/1' } as const;
  expect(isCommunicated(sale('INVOICE'))).toBe(true);
  expect(['INVOICE', 'RECEIPT'].map((type) => atStatusOf(sale(type as DocumentType)))).toEqual([
    'PENDING',
    'NOT_APPLICABLE',
  ]);
  expect(isCommunicated(sale('RECEIPT'))).toBe(false);
  expect(isCommunicated(sale('RECEIPT', { cashVat: true }))).toBe(true);
  expect(isCommunicated(sale('INVOICE', { training: true }))).toBe(false);
  expect(isCommunicated(sale('RECEIPT', { cashVat: true, training: true }))).toBe(false);
  expect(isCommunicated(sale('INVOICE', { recovered }))).toBe(true);
  expect(isCommunicated(sale('INVOICE', { recovered: { ...recovered, known: true } }))).toBe(false);
});

import { expect, test } from 'vitest';
import { refusalOf, sampleContent, sampleLine, takenBy } from '../../test/fiscal-samples.ts';
import { type Credited, creditNote } from './credit-note.ts';
import type { Content, DocumentType } from './document.ts';

const lines = [sampleLine({ id: 'a', quantity: '2' }), sampleLine({ id: 'b', vatRate: 'REDUCED', unitPrice: '10.00' })];
const now = { id: 'issuer', name: 'Casa Nova, Lda', taxpayerNumber: '500000000', country: 'PT' };
let ids = 0;
const newId = () => `n${++ids}`;

function issued(type: DocumentType, over: Partial<Content> = {}, more: Partial<Credited> = {}): Credited {
  return {
    id: 'i',
    type,
    status: 'ISSUED',
    number: 'FT A2026/7',
    date: '2026-03-02',
    content: sampleContent(type, lines, over),
    outstanding: '256.60',
    children: [],
    taken: [],
    ...more,
  };
}

test('a note has what its invoice has, its issuer as it is now, and says what it takes back and why', () => {
  const over = {
    cashVat: true,
    training: true,
    notes: 'da fatura',
    description: 'da fatura',
    dueDate: '2026-04-01',
    payment: { method: 'CC', date: '2026-03-02' },
  };
  const invoice = issued('INVOICE', over);
  const note = creditNote(invoice, { reason: 'Devolução', date: '2026-03-05', notes: 'da nota' }, now, newId);
  const { customer, cae, currency, cashVat, training } = invoice.content;
  expect(note).toMatchObject({ type: 'CREDIT_NOTE', issuer: now, customer, cae, currency, cashVat, training });
  expect(note).toMatchObject({ date: '2026-03-05', notes: 'da nota', taxPointDate: '2026-03-02' });
  const parent = { id: 'i', number: 'FT A2026/7', date: '2026-03-02', type: 'INVOICE', reason: 'Devolução' };
  expect(note.parent).toEqual(parent);
  expect(note.lines.map(({ number, originLineId, quantity }) => [number, originLineId, quantity])).toEqual([
    [1, 'a', '2'],
    [2, 'b', '1'],
  ]);
  expect(note.totals).toMatchObject({ net: '210.00', tax: '46.60', gross: '256.60' });
  // What is the invoice's own.
  expect(note.description ?? note.dueDate ?? note.payment).toBeUndefined();
});

test('its rates are those of the tax point of its invoice, where that is another day than its date', () => {
  const invoice = issued('INVOICE', { taxPointDate: '2026-02-27' });
  expect(creditNote(invoice, { reason: 'Anulação' }, now, newId).taxPointDate).toBe('2026-02-27');
});

test('it is over what other notes have left, whatever receipts there are', () => {
  const first = creditNote(issued('INVOICE'), { reason: 'x', items: [{ id: 'a', quantity: '1.5' }] }, now, newId);
  const receipt = { type: 'RECEIPT', totals: first.totals, books: first.books } as const;
  const children = [{ ...receipt, type: 'CREDIT_NOTE' } as const, receipt];
  const taken = takenBy([first]).lines;
  const rest = creditNote(issued('INVOICE', {}, { children, taken }), { reason: 'x' }, now, newId);
  expect(rest.lines.map(({ quantity }) => quantity)).toEqual(['0.5', '1']);
  expect(rest.totals).toMatchObject({ net: '60.00', gross: '72.10' });
});

test('what others have taken whole is not on it', () => {
  const first = creditNote(issued('INVOICE'), { reason: 'x', items: [{ id: 'a', quantity: '2' }] }, now, newId);
  const children = [{ type: 'CREDIT_NOTE', totals: first.totals, books: first.books } as const];
  const taken = takenBy([first]).lines;
  const rest = creditNote(issued('INVOICE', {}, { children, taken }), { reason: 'x' }, now, newId);
  expect(rest.lines.map(({ number, originLineId }) => [number, originLineId])).toEqual([[1, 'b']]);
});

test('half of a line has half of its discount, in its currency and in euros', () => {
  const discounted = [
    sampleLine({ id: 'a', quantity: '4', unitPrice: '25', discount: { type: 'PERCENT', value: '10' } }),
    sampleLine({ id: 'b' }),
  ];
  const content = sampleContent('INVOICE', discounted, { currency: 'USD', exchangeRate: '0.5' });
  const items = [{ id: 'a', quantity: '2' }, { id: 'b' }];
  const note = creditNote({ ...issued('INVOICE'), content }, { reason: 'x', items }, now, newId);
  expect(note.lines.map(({ gross, discountAmount, net, eur }) => [gross, discountAmount, net, eur])).toEqual([
    ['50.00', '5.00', '45.00', { net: '22.50', tax: '5.18', unitNet: '11.25', discountAmount: '2.50' }],
    ['100.00', '0.00', '100.00', { net: '50.00', tax: '11.50', unitNet: '50.00', discountAmount: '0.00' }],
  ]);
});

test.each(['SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE'] as const)('%s may be credited, also paid', (type) => {
  const note = creditNote(issued(type, {}, { status: 'PAID' }), { reason: 'x' }, now, newId);
  expect(note.totals.gross).toBe('256.60');
});

test.each<[string, DocumentType, Partial<Credited>]>([
  ['a credit note', 'CREDIT_NOTE', {}],
  ['a receipt', 'RECEIPT', {}],
  ['a draft', 'INVOICE', { status: 'DRAFT', number: null, date: null }],
  ['what is cancelled', 'INVOICE', { status: 'CANCELED' }],
])('%s may not', (_, type, more) => {
  const credit = () => creditNote(issued(type, {}, more), { reason: 'x' }, now, newId);
  expect(refusalOf(credit).code).toBe('NOT_CREDITABLE');
});

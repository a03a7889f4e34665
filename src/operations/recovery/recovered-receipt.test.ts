import { expect, test } from 'vitest';
import { refusalOf, sampleContent, sampleLine } from '../../../test/fiscal-samples.ts';
import { validate } from '../../engine/validate.ts';
import type { Head } from '../../fiscal/standing.ts';
import { recoveryProblems } from './recovered-document.ts';
import { askedReceipt, RecoveredReceipt, recoveredReceipt } from './recovered-receipt.ts';

const issuer = { id: 'issuer', name: 'Casa Nova, Lda', taxpayerNumber: '500000000', country: 'PT' };
const content = sampleContent('INVOICE', [sampleLine()]);
const { gross } = content.totals;
const invoice = (over: Partial<Head> = {}): Head => ({
  id: 'i',
  type: 'INVOICE',
  status: 'ISSUED',
  number: 'FT A2026/7',
  date: '2026-03-02',
  content,
  outstanding: gross,
  children: [],
  ...over,
});
const body: RecoveredReceipt = {
  kind: 'D',
  original: 'RG A2026/5',
  type: 'RECEIPT',
  parentInvoiceNumber: 'FT A2026/7',
  customerId: '0197a5c2-0000-7000-8000-000000000000',
  date: '2026-03-02',
  total: 12.5,
  method: 'MB',
};
const asked = (over: Partial<RecoveredReceipt> = {}) => ({
  ...askedReceipt({ ...body, ...over }, 'PT'),
  customerId: content.customer.id,
});

test('what a file says of a receipt, and what it may not say', () => {
  expect(validate(RecoveredReceipt, body, 'file')).toEqual([]);
  expect(validate(RecoveredReceipt, { ...body, total: 0 }, 'file').map(({ pointer }) => pointer)).toEqual(['/total']);
  expect(recoveryProblems({ ...body })).toEqual([]);
  expect(recoveryProblems({ ...body, original: 'RC A2026/5' })).toEqual([]);
  expect(recoveryProblems({ ...body, method: 'pérolas' }).map(({ pointer }) => pointer)).toEqual(['/method']);
  expect(recoveryProblems({ ...body, original: 'NC A2026/5' }).map(({ code }) => code)).toEqual(['RECOVERED_TYPE']);
});

test('it is over so much of its invoice, paid on its day', () => {
  const made = recoveredReceipt(invoice(), asked(), issuer);
  expect(made).toMatchObject({ type: 'RECEIPT', issuer, totals: { toPay: '12.50' } });
  expect(made.payment).toEqual({ method: 'MB', date: '2026-03-02' });
  expect(made.recovered).toEqual({ kind: 'D', original: 'RG A2026/5', known: true });
});

test('refused: more than is outstanding, what is paid, what waits for no payment, another code than its invoice has', () => {
  const refused = (head: Head, over?: Partial<RecoveredReceipt>) => {
    const { code, problems } = refusalOf(() => recoveredReceipt(head, asked(over), issuer));
    return problems.length === 0 ? [code] : problems.map((problem) => `${problem.pointer} ${problem.code}`);
  };
  expect(refused(invoice(), { total: Number(gross) + 0.01 })).toEqual(['/total AMOUNT_EXCEEDS_OUTSTANDING']);
  expect(refused(invoice({ status: 'PAID', outstanding: '0.00' }))).toEqual(['INVALID_STATE']);
  expect(refused(invoice({ type: 'INVOICE_RECEIPT' }))).toEqual(['NOT_PAYABLE']);
  expect(refused(invoice({ content: { ...content, cashVat: true } }))).toEqual(['/original RECOVERED_TYPE']);
  expect(refused(invoice(), { original: 'RC A2026/5', date: '2026-03-01' })).toEqual([
    '/date DATE_BEFORE_PARENT',
    '/original RECOVERED_TYPE',
  ]);
});

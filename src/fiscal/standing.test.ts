import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusalOf, sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { add, isZero, subtract, sum, toNumber } from './decimal.ts';
import type { Content, DocumentType } from './document.ts';
import {
  amountToPay,
  balanceWith,
  checkCancelable,
  type Hanging,
  type Head,
  type Named,
  openBalance,
  receiptOver,
  refOf,
  standing,
} from './standing.ts';

/** One that was just issued. */
function issued(content: Content, more: Partial<Head> = {}): Head {
  const { type, totals } = content;
  return {
    id: 'i',
    type,
    number: 'FT A2026/7',
    date: '2026-03-01',
    content,
    children: [],
    ...standing(type, totals.toPay),
    ...more,
  };
}

const hanging = (content: Content): Hanging => content;

function codeOf(work: () => unknown): string {
  const { code, problems } = refusalOf(work);
  return problems[0]?.code ?? code;
}

describe('after its issue', () => {
  test.each<[DocumentType, string, 'ISSUED' | 'PAID', string]>([
    ['INVOICE', '12.3', 'ISSUED', '12.30'],
    ['INVOICE', '0', 'PAID', '0.00'],
    ['DEBIT_NOTE', '0.00', 'PAID', '0.00'],
    // Paid by what they are: nothing of them is ever outstanding.
    ['INVOICE_RECEIPT', '12.30', 'ISSUED', '0.00'],
    ['SIMPLIFIED_INVOICE', '0', 'ISSUED', '0.00'],
    ['CREDIT_NOTE', '5', 'ISSUED', '0.00'],
    ['RECEIPT', '5', 'ISSUED', '0.00'],
  ])('%s of %s is %s with %s to be received', (type, toReceive, status, outstanding) => {
    expect(standing(type, toReceive)).toEqual({ status, outstanding });
  });
});

describe('what may be paid', () => {
  const invoice = issued(sampleContent('INVOICE', [sampleLine({ unitPrice: '100', quantity: '1' })]));
  const nothing = sampleContent('INVOICE', [sampleLine({ unitPrice: '0' })]);

  test('is everything outstanding, or a part of it', () => {
    expect(amountToPay(invoice, undefined)).toBe(invoice.outstanding);
    expect(amountToPay(invoice, 0.01)).toBe('0.01');
    expect(amountToPay(invoice, toNumber(invoice.outstanding))).toBe(invoice.outstanding);
  });

  test.each<[string, Head, number | undefined, string]>([
    ['more than that', invoice, toNumber(add(invoice.outstanding, '0.01')), 'AMOUNT_EXCEEDS_OUTSTANDING'],
    ['a draft', { ...invoice, number: null, status: 'DRAFT' }, undefined, 'INVALID_STATE'],
    [
      'a draft of a type that waits for none',
      issued(sampleContent('INVOICE_RECEIPT'), { number: null, status: 'DRAFT' }),
      undefined,
      'INVALID_STATE',
    ],
    [
      'one of nothing that is not PAID, from before it was',
      issued(nothing, { status: 'ISSUED' }),
      undefined,
      'INVALID_STATE',
    ],
    ['one that is cancelled', { ...invoice, status: 'CANCELED', outstanding: '0.00' }, undefined, 'INVALID_STATE'],
    ['one that is paid', { ...invoice, status: 'PAID', outstanding: '0.00' }, undefined, 'INVALID_STATE'],
    ['a type that waits for no payment', issued(sampleContent('INVOICE_RECEIPT')), undefined, 'NOT_PAYABLE'],
  ])('is not %s', (_, head, asked, code) => {
    expect(codeOf(() => amountToPay(head, asked))).toBe(code);
  });

  test('is asked of a true balance only', () => {
    const outstanding = subtract(invoice.outstanding, '0.01');
    expect(() => amountToPay({ ...invoice, outstanding }, undefined)).toThrow(
      'the stored balance is what the documents say',
    );
  });
});

test('receipts in whatever parts sum to the document, which is PAID with the last and not before', () => {
  const price = fc.integer({ min: 1, max: 99_999 }).map((cents) => (cents / 100).toFixed(2));
  const lines = fc.array(fc.record({ unitPrice: price, quantity: fc.constantFrom('1', '3', '2.5') }), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(
      lines,
      fc.boolean(),
      fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { maxLength: 4 }),
      (of, withheld, parts) => {
        const withholding = withheld ? { type: 'IRS' as const, percent: '25' } : undefined;
        const content = sampleContent(
          'INVOICE',
          of.map((line) => sampleLine({ ...line, withholding })),
        );
        let head = issued(content);
        const pay = (asked: number | undefined): void => {
          const amount = amountToPay(head, asked);
          const receipt = receiptOver(head, amount, { method: 'NU', date: '2026-03-02' }, undefined);
          expect(receipt.totals.toPay).toBe(amount);
          const children = [...head.children, hanging(receipt)];
          const { credited, ...stands } = balanceWith(head, children);
          expect(credited).toBe('0.00');
          head = { ...head, ...stands, children };
        };
        for (const part of parts) {
          const cents = Math.floor(toNumber(head.outstanding) * part * 100);
          if (head.status === 'ISSUED' && cents > 0) pay(cents / 100);
          expect(head.status).toBe(isZero(head.outstanding) ? 'PAID' : 'ISSUED');
        }
        if (head.status === 'ISSUED') pay(undefined);
        expect([head.status, head.outstanding]).toEqual(['PAID', '0.00']);
        for (const member of ['net', 'tax', 'gross', 'withholding'] as const) {
          expect(toNumber(sum(head.children.map(({ totals }) => totals[member])))).toBe(
            toNumber(content.totals[member]),
          );
        }
        expect(isZero(openBalance(head).books.toPay)).toBe(true);
      },
    ),
    { numRuns: 100 },
  );
});

test('a credit note takes from what is open, a debit note does not', () => {
  const whole = sampleContent('INVOICE');
  const head = issued(whole);
  const credit = hanging({ ...whole, type: 'CREDIT_NOTE' });
  const debit = hanging({ ...whole, type: 'DEBIT_NOTE' });
  expect(balanceWith(head, [credit])).toEqual({ status: 'PAID', outstanding: '0.00', credited: whole.totals.gross });
  expect(balanceWith(head, [debit])).toEqual({ status: 'ISSUED', outstanding: head.outstanding, credited: '0.00' });
  const noted = { ...head, children: [debit] };
  expect(amountToPay(noted, undefined)).toBe(head.outstanding);
  expect(receiptOver(noted, '0.01', { method: 'NU', date: '2026-03-02' }, undefined)).toEqual(
    receiptOver(head, '0.01', { method: 'NU', date: '2026-03-02' }, undefined),
  );
});

describe('cancelling', () => {
  const head = issued(sampleContent('INVOICE'));
  const child = (type: DocumentType, number: string): Named => ({ type, number });

  test('is refused while something hangs on the document, notes before receipts', () => {
    const receipt = child('RECEIPT', 'RG A2026/1');
    const notes = [child('DEBIT_NOTE', 'ND A2026/2'), child('CREDIT_NOTE', 'NC A2026/3')];
    expect(codeOf(() => checkCancelable(head, [receipt]))).toBe('HAS_PAYMENTS');
    for (const note of notes) {
      expect(codeOf(() => checkCancelable(head, [receipt, note]))).toBe('HAS_NOTES');
    }
    expect(refusalOf(() => checkCancelable(head, notes)).facts).toEqual({
      numbers: 'ND A2026/2, NC A2026/3',
    });
  });

  test('is refused of drafts, and once', () => {
    expect(codeOf(() => checkCancelable({ ...head, number: null, status: 'DRAFT' }, []))).toBe('INVALID_STATE');
    expect(codeOf(() => checkCancelable({ ...head, status: 'CANCELED' }, []))).toBe('ALREADY_CANCELED');
    checkCancelable(head, []);
    checkCancelable({ ...head, status: 'PAID' }, []);
  });
});

test('only what is issued is named by others', () => {
  const head = issued(sampleContent('INVOICE'));
  expect(refOf(head)).toEqual({ id: 'i', number: 'FT A2026/7', date: '2026-03-01', type: 'INVOICE' });
  const recovered = { kind: 'M', original: 'abc/00001' } as const;
  expect(refOf({ ...head, content: { ...head.content, recovered } }).original).toBe('FTM abc/00001');
  expect(() => refOf({ ...head, number: null })).toThrow('only what is issued is named by others');
});

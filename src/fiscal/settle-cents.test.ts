/** What is open to the cent: where parts of an invoice leave a cent that is of no rate, or less than half of one in euros. */
import { expect, it } from 'vitest';
import { sampleContent, sampleLine, takenBy } from '../../test/fiscal-samples.ts';
import { creditNoteOver } from './correct.ts';
import { add, round2, sum } from './decimal.ts';
import type { Content, LineInput, Priced, Totals } from './document.ts';
import { bookedPart, type Open, openOf, settledPart } from './settle.ts';

type Sides = { readonly totals: Totals; readonly books: Totals };
/** A payment of so much, or a note of so much of the line with the id. */
type Step = string | readonly [id: string, quantity: string];

const invoiced = (lines: readonly Partial<LineInput>[], exchangeRate?: string): Content => {
  const each = lines.map((line, i) => sampleLine({ id: 'abc'[i]!, ...line }));
  return sampleContent('INVOICE', each, exchangeRate === undefined ? {} : { currency: 'USD', exchangeRate });
};
const exempt = { vatRate: 'EXEMPT', exemptionCode: 'M07' } as const;
const withheld = { type: 'IRS', percent: '11.5' } as const;

/** What is open after these payments and notes, in both currencies. */
function openAfter(invoice: Content, steps: readonly Step[]): { readonly totals: Open; readonly books: Open } {
  const [notes, parts]: [Priced[], Sides[]] = [[], []];
  const open = () => ({
    totals: openOf(
      invoice.totals,
      parts.map(({ totals }) => totals),
    ),
    books: openOf(
      invoice.books,
      parts.map(({ books }) => books),
    ),
  });
  for (const step of steps) {
    if (typeof step === 'string') {
      const before = open();
      const totals = settledPart(before.totals, step);
      parts.push({ totals, books: bookedPart(before, totals) });
      continue;
    }
    const [id, quantity] = step;
    const note = creditNoteOver(invoice, takenBy(notes), [{ id, quantity }], () => 'x');
    notes.push(note);
    parts.push(note);
  }
  return open();
}

/** What a payment tells in the books. */
function booked(open: { readonly totals: Open; readonly books: Open }, amount: string): Totals {
  return bookedPart(open, settledPart(open.totals, amount));
}

it('where nothing is left nothing is, also where notes and payments left a rate a cent of tax', () => {
  const invoice = invoiced([
    { unitPrice: '0.15', region: 'PT-MA' },
    { quantity: '3', unitPrice: '0.02', vatRate: 'REDUCED' },
  ]);
  const { totals } = openAfter(invoice, ['0.04', ['b', '2.88'], ['a', '0.74'], '0.01']);
  expect(totals).toMatchObject({ net: '0.00', tax: '0.00', gross: '0.00', toPay: '0.00' });
  expect(totals.groups.map(({ base, tax }) => [base, tax])).toEqual([
    ['0.00', '0.00'],
    ['0.00', '0.00'],
  ]);
});

/** Of 100.00 at 23 % and as much at 6 %, after a part that told these bases and taxes: what is open. */
function openAfterTelling(...told: readonly (readonly [base: string, tax: string])[]): (readonly [string, string])[] {
  const { totals } = invoiced([{ unitPrice: '100' }, { unitPrice: '100', vatRate: 'REDUCED' }]);
  const groups = totals.groups.map((group, i) => ({ ...group, base: told[i]![0], tax: told[i]![1] }));
  const [net, tax] = [round2(sum(told.map(([base]) => base))), round2(sum(told.map(([, one]) => one)))];
  const gross = round2(add(net, tax));
  const open = openOf(totals, [{ ...totals, net, tax, gross, toPay: gross, groups }]);
  return open.groups.map((group) => [group.base, group.tax]);
}

it('what is open is told as it is while its tax is that of its rates, within a cent for each', () => {
  // 11.50 and 3.00 is what the rates give of 49.99, each rounded for itself.
  expect(openAfterTelling(['50.01', '11.49'], ['50.01', '2.99'])).toEqual([
    ['49.99', '11.51'],
    ['49.99', '3.01'],
  ]);
  // A rate of which nothing is left has no cent.
  expect(openAfterTelling(['50.00', '11.48'], ['100.00', '6.00'])).toEqual([
    ['50.02', '11.50'],
    ['0.00', '0.00'],
  ]);
});

it('a payment tells no more tax than is open, where earlier parts told all of it', () => {
  const small = { unitPrice: '0.05' };
  const { totals } = invoiced([small, { ...small, region: 'PT-MA' }, { ...small, region: 'PT-AC' }]);
  const groups = totals.groups.map((group) => ({ ...group, base: '0.00' }));
  const open = openOf(totals, [{ ...totals, net: '0.00', gross: '0.03', toPay: '0.03', groups }]);
  expect([open.gross, open.tax]).toEqual(['0.15', '0.00']);
  expect(settledPart(open, '0.14')).toMatchObject({ net: '0.14', tax: '0.00', gross: '0.14' });
});

it('the payment that closes an invoice takes what is left, in the books too, however its cents came about', () => {
  const invoice = invoiced(
    [
      { ...exempt, quantity: '2', unitPrice: '18.9' },
      { unitPrice: '15.89', vatRate: 'REDUCED' },
      { unitPrice: '0.06', region: 'PT-MA' },
    ],
    '0.5',
  );
  const open = openAfter(invoice, [
    ['b', '0.68'],
    ['c', '0.55'],
  ]);
  const { net, tax, gross, groups } = open.books;
  expect([net, tax, gross]).toEqual(['21.45', '0.17', '21.62']);
  expect(booked(open, open.totals.toPay)).toMatchObject({ net, tax, gross, groups });
});

it('what is withheld of a base that is less than a cent is told', () => {
  const invoice = invoiced([
    { ...exempt, quantity: '5', unitPrice: '7.22' },
    { unitPrice: '0.05', region: 'PT-MA', withholding: withheld },
  ]);
  const { totals } = openAfter(invoice, [['a', '4.05'], '1.52', ['b', '0.81']]);
  const last = settledPart(totals, totals.toPay);
  expect([last.gross, last.withholding, last.toPay]).toEqual(['5.35', '0.01', '5.34']);
  expect(last.withholdings.map(({ base, amount }) => [base, amount])).toEqual([['0.00', '0.01']]);
});

it('a payment tells of the base of what is withheld its own part', () => {
  const invoice = invoiced([{ unitPrice: '310', withholding: { type: 'IRS', percent: '23' } }]);
  const first = settledPart(openOf(invoice.totals, []), '100.01');
  const second = settledPart(openOf(invoice.totals, [first]), '209.99');
  const told = [first, second].map(({ withholdings }) => withholdings.map(({ base, amount }) => [base, amount]));
  expect(told).toEqual([[['100.01', '23.00']], [['209.99', '48.30']]]);
});

it('a share is rounded once: what is a little less than half a cent in euros is none', () => {
  const invoice = invoiced([{ quantity: '5', unitPrice: '18.86', vatRate: 'INTERMEDIATE', region: 'PT-AC' }], '0.5');
  // 51.39 × 0.01 / 102.79 is 0.0049995.
  expect(booked(openAfter(invoice, []), '0.01')).toMatchObject({ net: '0.00', gross: '0.00', toPay: '0.00' });
});

it('a payment tells no more tax than it is', () => {
  const invoice = invoiced(
    [
      { ...exempt, quantity: '2', unitPrice: '0.17', withholding: withheld },
      { quantity: '5', unitPrice: '2573.62', vatRate: 'REDUCED' },
    ],
    '0.00058',
  );
  const open = openAfter(invoice, [
    ['b', '3.4'],
    ['a', '0.02'],
  ]);
  expect(booked(open, '0.05')).toMatchObject({ net: '0.00', tax: '0.00', gross: '0.00', toPay: '0.00' });
});

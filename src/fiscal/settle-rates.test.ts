import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sampleContent, sampleLine, takenBy } from '../../test/fiscal-samples.ts';
import { creditNoteOver } from './correct.ts';
import { add, compare, fromNumber, isZero, percentOf, round2, sum } from './decimal.ts';
import type { Content, LineInput, Priced, TaxGroup, Totals } from './document.ts';
import { qrPayload } from './qr-payload.ts';
import { bookedPart, openOf, partOf, settledPart } from './settle.ts';
import { rateKey } from './tax-groups.ts';

const stamps = {
  number: 'RC CX26/1',
  atcud: 'AAJFF1XZ-1',
  date: '2026-03-02',
  shortHash: '',
  certificateNumber: 9999,
};

/** The message of a receipt of the cash VAT scheme, as fields. */
function qrOf(books: Totals): Record<string, string> {
  const content = { ...sampleContent('RECEIPT'), cashVat: true, totals: books, books };
  return Object.fromEntries(
    qrPayload(content, stamps)
      .split('*')
      .map((field) => field.split(/:(.*)/s)),
  );
}

const at = (fields: Record<string, string>, places: string): string =>
  sum(Object.entries(fields).flatMap(([name, value]) => (new RegExp(`^[IJK][${places}]$`).test(name) ? [value] : [])));

function tellsItsTotals(books: Totals): void {
  const fields = qrOf(books);
  expect(round2(at(fields, '468'))).toBe(fields['N']);
  expect(round2(add(at(fields, '2357'), at(fields, '468')))).toBe(fields['O']);
  for (const { base, tax } of books.groups) expect([base, tax]).not.toEqual(['0.00', '0.00']);
}

/** As the AT looks at a receipt of the cash VAT scheme: the tax that its rates give, within a cent for each of them. */
function taxedByItsRates({ groups, tax }: Totals): void {
  const given = sum(groups.map(({ base, rate }) => round2(percentOf(rate, base))));
  const off = Math.abs(Number(tax) - Number(given));
  expect(off, JSON.stringify(groups)).toBeLessThan((groups.length + 0.5) / 100);
}

const rates: readonly Partial<LineInput>[] = [
  {},
  { vatRate: 'REDUCED' },
  { vatRate: 'INTERMEDIATE' },
  { region: 'PT-MA', vatRate: 'REDUCED' },
  { region: 'PT-MA' },
  { region: 'PT-AC', vatRate: 'INTERMEDIATE' },
  { vatRate: 'EXEMPT', exemptionCode: 'M07' },
  { region: 'PT-AC', vatRate: 'EXEMPT', exemptionCode: 'M99' },
];
const withheld = { type: 'IRS', percent: '23' } as const;
const line: fc.Arbitrary<LineInput> = fc
  .record({
    rate: fc.constantFrom(...rates),
    quantity: fc.integer({ min: 1, max: 5 }).map(String),
    cents: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2000 })),
    isWithheld: fc.boolean(),
  })
  .map(({ rate, quantity, cents, isWithheld }) =>
    sampleLine({
      ...rate,
      quantity,
      unitPrice: fromNumber(cents / 100),
      withholding: isWithheld ? withheld : undefined,
    }),
  );
const lines = fc
  .array(line, { minLength: 1, maxLength: 6 })
  .map((all) => all.map((one, i) => ({ ...one, id: `l${i}` })));

it('a receipt tells no tax of a rate of which it tells no base', () => {
  const content = sampleContent('INVOICE', [
    sampleLine({ quantity: '5', unitPrice: '3.30', vatRate: 'REDUCED', withholding: withheld }),
    sampleLine({ unitPrice: '0.13', region: 'PT-MA', vatRate: 'REDUCED' }),
    sampleLine({ quantity: '5', unitPrice: '2.60' }),
  ]);
  const part = settledPart(openOf(content.totals, []), '1.07');
  expect(part.tax).toBe('0.14');
  expect(part.groups.map(({ region, rate, base, tax }) => [region, rate, base, tax])).toEqual([
    ['PT', '6', '0.60', '0.03'],
    ['PT', '23', '0.47', '0.11'],
  ]);
  tellsItsTotals(part);
});

it('a rate that a credit note has taken whole is not told by the last receipt', () => {
  const original = sampleContent('INVOICE', [
    sampleLine({ id: 'a', unitPrice: '3.30', vatRate: 'REDUCED', withholding: withheld }),
    sampleLine({ id: 'b', unitPrice: '2.60' }),
  ]);
  const note = creditNoteOver(original, takenBy([]), [{ id: 'a', quantity: '1' }], () => 'x');
  const open = openOf(original.totals, [note.totals]);
  for (const last of [settledPart(open, open.toPay), partOf(open, open.toPay, open.toPay)]) {
    expect(last).toMatchObject({ net: '2.60', tax: '0.60', withholding: '0.00', withholdings: [] });
    expect(last.groups).toEqual([{ region: 'PT', taxCode: 'NOR', rate: '23', base: '2.60', tax: '0.60' }]);
  }
});

it.each([
  [['NORMAL', 'REDUCED'], '22.90', 'a', '1', [['6', '78.40', '4.70']]],
  [['NORMAL', 'REDUCED'], '114.50', 'b', '0.8', [['23', '24.15', '5.55']]],
  [['NORMAL', 'REDUCED'], '114.50', 'a', '0.8', [['6', '15.19', '0.91']]],
  [
    ['NORMAL', 'INTERMEDIATE', 'REDUCED'],
    '34.20',
    'a',
    '1',
    [
      ['13', '84.38', '10.97'],
      ['6', '84.39', '5.06'],
    ],
  ],
] as const)(
  'of %j, %s paid, a note of %s × %s: what is left has the tax of its rates',
  (vatRates, paid, id, quantity, left) => {
    const original = sampleContent(
      'INVOICE',
      vatRates.map((vatRate, i) => sampleLine({ id: 'abc'[i]!, unitPrice: '100', vatRate })),
    );
    const first = settledPart(openOf(original.totals, []), paid);
    const note = creditNoteOver(original, takenBy([]), [{ id, quantity }], () => 'x');
    const open = openOf(original.totals, [first, note.totals]);
    const last = settledPart(open, open.toPay);
    expect(last.groups.map(({ rate, base, tax }) => [rate, base, tax])).toEqual(left);
    tellsItsTotals(last);
    taxedByItsRates(last);
    // In two payments as in one.
    const half = settledPart(open, '7.35');
    const rest = openOf(original.totals, [first, note.totals, half]);
    for (const part of [half, settledPart(rest, rest.toPay)]) taxedByItsRates(part);
    expect(openOf(original.totals, [first, note.totals, last])).toMatchObject({ toPay: '0.00', gross: '0.00' });
  },
);

it.each([
  ['much too little', '51.75', ['8.25', '2.75']],
  ['a little too little', '50.03', ['11.47', '2.97']],
  ['a little too much', '49.97', ['11.53', '3.03']],
  ['much too much', '48.25', ['13.50', '4.50']],
] as const)(
  'where earlier parts told %s tax, what is left has the tax of its rates all the same',
  (_how, base, taxes) => {
    const original = sampleContent('INVOICE', [
      sampleLine({ id: 'a', unitPrice: '100' }),
      sampleLine({ id: 'b', unitPrice: '100', vatRate: 'REDUCED' }),
    ]);
    const half = settledPart(openOf(original.totals, []), '114.50');
    expect(half).toMatchObject({ net: '100.00', tax: '14.50' });
    const groups = half.groups.map((group, i) => ({ ...group, base, tax: taxes[i]! }));
    const told = { net: round2(add(base, base)), tax: round2(sum(taxes)) };
    const open = openOf(original.totals, [{ ...half, ...told, groups }]);
    const last = settledPart(open, open.toPay);
    expect(last.gross).toBe('114.50');
    taxedByItsRates(last);
  },
);

it('a payment that is worth nothing in euros tells the rate that most of it is of, with 0.00', () => {
  const rated = [sampleLine({ unitPrice: '0.10', vatRate: 'REDUCED' }), sampleLine({ unitPrice: '0.90' })];
  for (const lines of [rated, rated.toReversed()]) {
    const original = sampleContent('INVOICE', lines, { currency: 'KRW', exchangeRate: '0.00058' });
    for (const amount of ['0.01', '0.50', original.totals.toPay]) {
      const open = { totals: openOf(original.totals, []), books: openOf(original.books, []) };
      const booked = bookedPart(open, settledPart(open.totals, amount));
      expect(booked).toMatchObject({ net: '0.00', tax: '0.00', gross: '0.00', toPay: '0.00' });
      expect(booked.groups).toEqual([{ region: 'PT', taxCode: 'NOR', rate: '23', base: '0.00', tax: '0.00' }]);
      expect(qrOf(booked)).toMatchObject({ I1: 'PT', N: '0.00', O: '0.00' });
    }
  }
});

it('a payment that is worth something in euros tells its rates as they are there', () => {
  const rated = [sampleLine({ unitPrice: '106', vatRate: 'REDUCED' }), sampleLine({ unitPrice: '10' })];
  const { totals, books } = sampleContent('INVOICE', rated, { currency: 'USD', exchangeRate: '0.5' });
  const open = { totals: openOf(totals, []), books: openOf(books, []) };
  const all = bookedPart(open, settledPart(open.totals, totals.toPay));
  expect(all).toEqual(books);
  const half = bookedPart(open, settledPart(open.totals, '62.33'));
  expect(half.groups.map(({ taxCode, base, tax }) => [taxCode, base, tax])).toEqual([
    ['RED', '26.50', '1.59'],
    ['NOR', '2.50', '0.58'],
  ]);
});

it('receipts and credit notes of several rates: each QR code sums to its totals, and together they are the invoice', () => {
  const step = fc.record({
    isNote: fc.boolean(),
    line: fc.nat(5),
    percent: fc.integer({ min: 1, max: 100 }),
    cents: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(lines, fc.array(step, { maxLength: 8 }), (all, steps) => {
      const original: Content = sampleContent('INVOICE', all);
      const notes: Priced[] = [];
      const parts: Totals[] = [];
      let isOvertaken = false;
      for (const { isNote, line: place, percent, cents } of [...steps, { isNote: false, line: 0, percent: 100 }].map(
        (one) => ({ cents: undefined, ...one }),
      )) {
        const open = openOf(original.books, parts);
        if (isNote) {
          const of = original.lines[place % original.lines.length]!;
          const taken = notes.flatMap((note) => note.lines.filter((other) => other.originLineId === of.id));
          const left = Number(of.quantity) - Number(sum(taken.map(({ quantity }) => quantity)));
          const quantity = fromNumber(Math.floor(left * percent) / 100);
          if (isZero(quantity)) continue;
          const note = creditNoteOver(original, takenBy(notes), [{ id: of.id, quantity }], () => 'x');
          notes.push(note);
          parts.push(note.books);
          isOvertaken ||= overtakes(note.books, open);
          continue;
        }
        const share = cents === undefined ? ((Number(open.toPay) * percent) / 100).toFixed(2) : fromNumber(cents / 100);
        const amount = compare(share, open.toPay) > 0 || percent === 100 ? open.toPay : round2(share);
        if (isZero(amount)) continue;
        const receipt = settledPart(open, amount);
        for (const group of receipt.groups) expect(exceeds(group, open.groups)).toBe(false);
        tellsItsTotals(receipt);
        taxedByItsRates(receipt);
        parts.push(receipt);
      }
      const left = openOf(original.books, parts);
      expect(left.toPay).toBe('0.00');
      // What notes leave may be withheld whole: no payment is left to tell it.
      if (isOvertaken || !isZero(left.gross)) return;
      for (const group of original.books.groups) {
        const own = parts.flatMap((part) => part.groups.filter((other) => rateKey(group) === rateKey(other)));
        const told = [sum(own.map(({ base }) => base)), sum(own.map(({ tax }) => tax))].map(Number);
        // The cents that a note leaves of its rounding are told by the receipts behind it as far as these stay right.
        expect(Math.abs(told[0]! - Number(group.base))).toBeLessThan((notes.length + 0.5) / 100);
        expect(Math.abs(told[1]! - Number(group.tax))).toBeLessThan((notes.length + 0.5) / 100);
      }
    }),
    { numRuns: 300 },
  );
});

function exceeds(part: TaxGroup, open: readonly TaxGroup[]): boolean {
  const whole = open.find((group) => rateKey(group) === rateKey(part))!;
  return compare(part.base, whole.base) > 0 || compare(part.tax, whole.tax) > 0;
}

/** A note of what payments, which settle all lines in proportion, had settled already. */
const overtakes = (note: Totals, open: Totals): boolean =>
  (['net', 'tax', 'withholding', 'toPay'] as const).some((member) => compare(note[member], open[member]) > 0) ||
  note.groups.some((group) => exceeds(group, open.groups));

it('behind notes of many rates a payment tells its own fair tax, within a cent, however small it is', () => {
  const taxed = rates.slice(0, 6);
  const all = fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: taxed.length, maxLength: taxed.length });
  fc.assert(
    fc.property(
      all,
      fc.array(fc.nat(5), { maxLength: 6 }),
      fc.integer({ min: 1, max: 999 }),
      (cents, noted, permille) => {
        const input = taxed.map((rate, i) =>
          sampleLine({ ...rate, id: `l${i}`, quantity: '7', unitPrice: fromNumber(cents[i]! / 100) }),
        );
        const original: Content = sampleContent('INVOICE', input);
        const notes: Priced[] = [];
        for (const place of new Set(noted)) {
          const wanted = [{ id: original.lines[place]!.id, quantity: '3' }];
          notes.push(creditNoteOver(original, takenBy(notes), wanted, () => 'x'));
        }
        const open = openOf(
          original.totals,
          notes.map(({ totals }) => totals),
        );
        const amount = ((Number(open.toPay) * permille) / 1000).toFixed(2);
        if (isZero(amount)) return;
        const { tax, gross } = settledPart(open, amount);
        // Of what is open of each rate, what all of it was taxed with.
        const fairTax = open.groups.reduce((all, { base, tax }, i) => {
          const whole = original.totals.groups[i]!;
          return all + ((Number(base) + Number(tax)) * Number(whole.tax)) / (Number(whole.base) + Number(whole.tax));
        }, 0);
        const fair = (fairTax * Number(gross)) / Number(open.gross);
        expect(Math.abs(Number(tax) - fair)).toBeLessThan(0.01001);
      },
    ),
    { numRuns: 500 },
  );
});

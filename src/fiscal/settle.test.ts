import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sampleContent, sampleLine, takenBy } from '../../test/fiscal-samples.ts';
import { growth, no_square } from '../../test/growth.ts';
import { creditNoteOver } from './correct.ts';
import { add, compare, fromNumber, isZero, round2, sum } from './decimal.ts';
import type { Content, Discount, LineInput, Priced, TaxGroup, Totals } from './document.ts';
import type { Refusal } from './refusal.ts';
import { openOf, partOf, settledPart } from './settle.ts';
import { withholdingKey } from './tax-groups.ts';
import { price } from './totals.ts';

const line: fc.Arbitrary<LineInput> = fc.record({
  id: fc.uuid(),
  itemId: fc.constant('item'),
  name: fc.constant('Artigo'),
  productType: fc.constant('PRODUCT' as const),
  unit: fc.constant('UNIT'),
  quantity: fc.integer({ min: 1, max: 5000 }).map((n) => fromNumber(n / 100)),
  unitPrice: fc.integer({ min: 1, max: 3_000_000 }).map((n) => fromNumber(n / 10_000)),
  vatRate: fc.constantFrom('NORMAL' as const, 'REDUCED' as const, 'INTERMEDIATE' as const),
  region: fc.constantFrom('PT' as const, 'PT-AC' as const),
  discount: fc.option(
    fc.record({ type: fc.constant('PERCENT' as const), value: fc.integer({ min: 0, max: 100 }).map(String) }),
    { nil: undefined },
  ),
  withholding: fc.option(
    fc.record({
      type: fc.constantFrom('IRS' as const, 'IRC' as const),
      percent: fc.constantFrom('23', '11.5'),
      reason: fc.constantFrom(undefined, 'Norma A', 'Norma B'),
    }),
    {
      nil: undefined,
    },
  ),
});
/** Each with an id of its own: of two with the same a note could not say which it takes. */
const several = (maxLength: number): fc.Arbitrary<LineInput[]> =>
  fc.array(line, { minLength: 1, maxLength }).map((all) => all.map((one, i) => ({ ...one, id: `line ${i}` })));

const priced = fc
  .record({ lines: several(6), foreign: fc.boolean() })
  .map(({ lines, foreign }) =>
    price({
      lines,
      taxPoint: '2026-03-02',
      currency: foreign ? 'USD' : 'EUR',
      ...(foreign ? { exchangeRate: '0.923417' } : {}),
    }),
  )
  .filter((document) => compare(document.totals.toPay, '0.05') > 0);

const sameRate = (a: TaxGroup, b: TaxGroup): boolean =>
  a.region === b.region && a.taxCode === b.taxCode && a.rate === b.rate && a.exemptionCode === b.exemptionCode;

function ties(totals: Totals): void {
  expect(round2(add(totals.net, totals.tax))).toBe(totals.gross);
  expect(round2(add(totals.toPay, totals.withholding))).toBe(totals.gross);
  expect(round2(sum(totals.groups.map((group) => group.base)))).toBe(totals.net);
  expect(round2(sum(totals.groups.map((group) => group.tax)))).toBe(totals.tax);
}

it('payments in any parts sum to the document, in its currency and in the books', () => {
  fc.assert(
    fc.property(priced, fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 6 }), (document, percents) => {
      const paid: { totals: Totals; books: Totals }[] = [];
      const pay = (percent: number) => {
        const open = openOf(
          document.totals,
          paid.map((part) => part.totals),
        );
        const amount = percent === 100 ? open.toPay : ((Number(open.toPay) * percent) / 100).toFixed(2);
        if (isZero(amount) || compare(amount, open.toPay) > 0) return;
        const totals = settledPart(open, amount);
        expect(totals.toPay).toBe(round2(amount));
        const before = openOf(
          document.books,
          paid.map((part) => part.books),
        );
        const books = partOf(before, amount, open.toPay);
        ties(totals);
        ties(books);
        paid.push({ totals, books });
      };
      for (const percent of [...percents, 100]) pay(percent);
      for (const which of ['totals', 'books'] as const) {
        for (const member of ['net', 'tax', 'gross', 'withholding', 'toPay'] as const) {
          expect(round2(sum(paid.map((part) => part[which][member])))).toBe(document[which][member]);
        }
        // Kind by kind, as receipts tell what was withheld.
        for (const { base, amount, ...whole } of document[which].withholdings) {
          const isOwn = (one: typeof whole) => withholdingKey(one) === withholdingKey(whole);
          const own = paid.flatMap((part) => part[which].withholdings.filter(isOwn));
          expect([round2(sum(own.map((one) => one.base))), round2(sum(own.map((one) => one.amount)))]).toEqual([
            base,
            amount,
          ]);
        }
        // Rate by rate, as receipts of the cash VAT scheme tell it.
        for (const group of document[which].groups) {
          const parts = paid.flatMap((part) => part[which].groups.filter((other) => sameRate(group, other)));
          expect([round2(sum(parts.map(({ base }) => base))), round2(sum(parts.map(({ tax }) => tax)))]).toEqual([
            group.base,
            group.tax,
          ]);
        }
      }
      expect(
        openOf(
          document.totals,
          paid.map((part) => part.totals),
        ).toPay,
      ).toBe('0.00');
    }),
    { numRuns: 300 },
  );
});

it('payments and credit notes in any order: each receipt ties, rate by rate, and together they are the document', () => {
  const step = fc.record({ isNote: fc.boolean(), line: fc.nat(5), percent: fc.integer({ min: 1, max: 100 }) });
  fc.assert(
    fc.property(priced, fc.array(step, { maxLength: 6 }), (document, steps) => {
      const original = { ...sampleContent('INVOICE'), ...document } as Content;
      const notes: Priced[] = [];
      const parts: { totals: Totals; books: Totals }[] = [];
      let next = 0;
      const openIn = (which: 'totals' | 'books') =>
        openOf(
          document[which],
          parts.map((part) => part[which]),
        );
      for (const { isNote, line: at, percent } of [...steps, { isNote: false, line: 0, percent: 100 }]) {
        const open = openIn('totals');
        if (isNote) {
          const of = original.lines[at % original.lines.length]!;
          const taken = notes.flatMap((note) => note.lines.filter((other) => other.originLineId === of.id));
          const left = Number(of.quantity) - Number(sum(taken.map(({ quantity }) => quantity)));
          const quantity = fromNumber(Math.floor(left * percent) / 100);
          if (isZero(quantity)) continue;
          const note = creditNoteOver(original, takenBy(notes), [{ id: of.id, quantity }], () => `line-${next++}`);
          notes.push(note);
          parts.push(note);
          continue;
        }
        const amount = percent === 100 ? open.toPay : ((Number(open.toPay) * percent) / 100).toFixed(2);
        if (isZero(amount)) continue;
        const receipt = { totals: settledPart(open, amount), books: partOf(openIn('books'), amount, open.toPay) };
        for (const totals of [receipt.totals, receipt.books]) {
          ties(totals);
          expect(round2(sum(totals.withholdings.map((group) => group.amount)))).toBe(totals.withholding);
        }
        parts.push(receipt);
      }
      expect(openIn('totals').toPay).toBe('0.00');
    }),
    { numRuns: 300 },
  );
});

it('what is left to pay when notes took all bases, but for a cent of tax, has a base with its own tax', () => {
  const invoice = sampleContent('INVOICE', [
    sampleLine({ id: 'a', quantity: '6.59', unitPrice: '295.4302', vatRate: 'INTERMEDIATE' }),
    sampleLine({
      id: 'b',
      quantity: '11.99',
      unitPrice: '229.6944',
      vatRate: 'INTERMEDIATE',
      discount: { type: 'PERCENT', value: '2' },
      withholding: { type: 'IRS', percent: '23' },
    }),
  ]);
  const parts: Totals[] = [];
  const open = () => openOf(invoice.totals, parts);
  parts.push(settledPart(open(), '4119.85'));
  parts.push(creditNoteOver(invoice, takenBy([]), [{ id: 'b', quantity: '2.27' }], () => 'note').totals);
  parts.push(settledPart(open(), '0.49'));
  const last = settledPart(open(), '48.83');
  ties(last);
  expect(last.groups.map(({ base, tax }) => [base, tax])).toEqual([['43.21', '5.62']]);
});

it('a payment is never more than what is open', () => {
  const open = openOf(price({ lines: fc.sample(line, 1), taxPoint: '2026-03-02', currency: 'EUR' }).totals, []);
  expect(() => settledPart(open, round2(add(open.toPay, '0.01')))).toThrow(/at most what is open/);
  expect(() => settledPart(open, '0')).toThrow(/above 0/);
});

it('credit notes in any parts sum to the invoice, line by line and rate by rate', () => {
  fc.assert(
    fc.property(
      priced,
      fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 99 })), { maxLength: 5 }),
      (document, steps) => {
        const original = { ...sampleContent('INVOICE'), ...document } as Content;
        const notes: Priced[] = [];
        let next = 0;
        const newId = () => `line-${next++}`;
        for (const [index, percent] of steps) {
          const of = original.lines[index % original.lines.length]!;
          const used = sum(
            notes.flatMap((note) => note.lines.filter((l) => l.originLineId === of.id).map((l) => l.quantity)),
          );
          const quantity = fromNumber(Math.floor((Number(of.quantity) - Number(used)) * percent) / 100);
          if (isZero(quantity)) continue;
          notes.push(creditNoteOver(original, takenBy(notes), [{ id: of.id, quantity }], newId));
        }
        notes.push(creditNoteOver(original, takenBy(notes), undefined, newId));
        for (const note of notes) {
          ties(note.totals);
          ties(note.books);
          expect(round2(sum(note.lines.map((l) => l.net)))).toBe(note.totals.net);
          expect(round2(sum(note.lines.map((l) => l.tax)))).toBe(note.totals.tax);
          expect(round2(sum(note.lines.map((l) => l.eur.tax)))).toBe(note.books.tax);
          expect(round2(sum(note.lines.map((l) => l.withholdingAmount)))).toBe(note.totals.withholding);
        }
        for (const which of ['totals', 'books'] as const) {
          for (const member of ['net', 'tax', 'gross', 'withholding', 'toPay'] as const) {
            expect(round2(sum(notes.map((note) => note[which][member])))).toBe(document[which][member]);
          }
          for (const { amount, ...whole } of document[which].withholdings) {
            const isOwn = (one: typeof whole) => withholdingKey(one) === withholdingKey(whole);
            const own = notes.flatMap((note) => note[which].withholdings.filter(isOwn));
            expect(round2(sum(own.map((group) => group.amount)))).toBe(amount);
          }
        }
        expect(() => creditNoteOver(original, takenBy(notes), undefined, newId)).toThrow('INVALID_REQUEST');
      },
    ),
    { numRuns: 300 },
  );
});

it('notes know what the global discount took off their lines, and together that of the invoice', () => {
  const lines = [
    sampleLine({ id: 'a', quantity: '100', unitPrice: '0.55', discount: { type: 'PERCENT', value: '8.8' } }),
    sampleLine({ id: 'b' }),
  ];
  const noted = (globalDiscount: Discount | undefined) => {
    const original = sampleContent('INVOICE', lines, { globalDiscount });
    const part = creditNoteOver(original, takenBy([]), [{ id: 'a', quantity: '33' }], () => 'x');
    const rest = creditNoteOver(original, takenBy([part]), undefined, () => 'x');
    expect(round2(add(part.globalDiscountAmount, rest.globalDiscountAmount))).toBe(original.globalDiscountAmount);
    return [part.globalDiscount, part.globalDiscountAmount];
  };
  expect(noted({ type: 'PERCENT', value: '10' })).toEqual([{ type: 'PERCENT', value: '10' }, '1.65']);
  expect(noted({ type: 'AMOUNT', value: '15.02' })).toEqual([{ type: 'AMOUNT', value: '1.65' }, '1.65']);
  expect(noted(undefined)).toEqual([undefined, '0.00']);
});

it('what a note tells of the global discount is never more than all that came off its lines', () => {
  const globalDiscount = { type: 'PERCENT', value: '3' } as const;
  const parts = fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 5 });
  fc.assert(
    fc.property(several(4), parts, (lines, percents) => {
      const original = sampleContent('INVOICE', lines, { globalDiscount });
      const notes: Priced[] = [];
      const open = (of: LineInput) =>
        notes
          .flatMap((note) => note.lines.filter((other) => other.originLineId === of.id))
          .reduce((left, one) => left - Number(one.quantity), Number(of.quantity));
      for (const percent of percents) {
        const wanted = original.lines.map((of) => ({
          id: of.id,
          quantity: fromNumber(Math.floor(open(of) * percent) / 100),
        }));
        const some = wanted.filter(({ quantity }) => !isZero(quantity));
        if (some.length > 0) notes.push(creditNoteOver(original, takenBy(notes), some, () => 'x'));
      }
      notes.push(creditNoteOver(original, takenBy(notes), undefined, () => 'x'));
      for (const { netBeforeDiscount, globalDiscountAmount, totals } of notes) {
        expect(compare(add(totals.net, globalDiscountAmount), netBeforeDiscount)).toBeLessThanOrEqual(0);
      }
    }),
    { numRuns: 200 },
  );
});

it('a note takes no more of a line than is open, and each line once', () => {
  const document = price({ lines: fc.sample(line, 2), taxPoint: '2026-03-02', currency: 'EUR' });
  const original = { ...sampleContent('INVOICE'), ...document } as Content;
  const [first] = original.lines;
  const codes = (wanted: { id: string; quantity: string }[]): string[] => {
    try {
      creditNoteOver(original, takenBy([]), wanted, () => 'x');
      return [];
    } catch (error) {
      return (error as Refusal).problems.map(({ code, pointer }) => `${pointer} ${code}`);
    }
  };
  expect(codes([{ id: first!.id, quantity: add(first!.quantity, '0.000001') }])).toEqual([
    '/items/0/quantity QUANTITY_EXCEEDS_OPEN',
  ]);
  expect(
    codes([
      { id: first!.id, quantity: first!.quantity },
      { id: first!.id, quantity: first!.quantity },
    ]),
  ).toEqual(['/items/1/id DUPLICATE_LINE']);
  expect(codes([{ id: 'other', quantity: '1' }])).toEqual(['/items/0/id UNKNOWN_LINE']);
});

it('what a note took of one kind of withholding, beyond what payments had left of it, the other kind is withheld less', () => {
  const withheld = (id: string, unitPrice: string, type: 'IRS' | 'IRC') =>
    sampleLine({ id, unitPrice, withholding: { type, percent: '25' } });
  const invoice = sampleContent('INVOICE', [withheld('a', '100', 'IRS'), withheld('b', '300', 'IRC')]);
  const half = settledPart(openOf(invoice.totals, []), '196.00');
  const note = creditNoteOver(invoice, takenBy([]), [{ id: 'a', quantity: '1' }], () => 'x');
  const open = openOf(invoice.totals, [half, note.totals]);
  expect(open.withholding).toBe('25.00');
  const { withholdings } = settledPart(open, open.toPay);
  expect(withholdings.map(({ type, amount }) => [type, amount])).toEqual([['IRC', '25.00']]);
});

it('a partial payment withholds in proportion, and the last takes the residue', () => {
  const totals: Totals = {
    ...price({ lines: fc.sample(line, 1), taxPoint: '2026-03-02', currency: 'EUR' }).totals,
    net: '310.00',
    tax: '71.30',
    gross: '381.30',
    withholding: '71.30',
    toPay: '310.00',
    groups: [{ region: 'PT', taxCode: 'NOR', rate: '23', base: '310.00', tax: '71.30' }],
    withholdings: [{ type: 'IRS', percent: '23', base: '310.00', amount: '71.30' }],
  };
  const first = settledPart(openOf(totals, []), '100.01');
  expect(first).toMatchObject({ toPay: '100.01', withholding: '23.00', gross: '123.01', tax: '23.00', net: '100.01' });
  const second = settledPart(openOf(totals, [first]), '209.99');
  expect(second).toMatchObject({ toPay: '209.99', withholding: '48.30', gross: '258.29', tax: '48.30', net: '209.99' });
});

it('what it takes to see what is open grows as the kinds of withholding do', async () => {
  const standing = (kinds: number) => {
    const lines = Array.from({ length: kinds }, (_, i) =>
      sampleLine({ id: `line-${i}`, withholding: { type: 'IRS', percent: '25', reason: `Norma ${i}` } }),
    );
    const { totals } = sampleContent('INVOICE', lines);
    const before = Array.from({ length: 20 }, () => totals);
    return () => openOf(totals, before);
  };
  expect(await growth(standing, 16)).toBeLessThan(no_square);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleContent, sampleLine, takenBy } from '../../test/fiscal-samples.ts';
import { growth, no_square } from '../../test/growth.ts';
import { creditNoteOver } from './correct.ts';
import { divide, fromNumber, multiply, round2, sum } from './decimal.ts';
import type { Content, Priced, PricedLine } from './document.ts';
import { price } from './totals.ts';

interface Over {
  readonly discount?: PricedLine['discount'];
  readonly money?: { readonly currency: string; readonly exchangeRate: string };
}

/** One line at 23 %, taken back piece by piece. */
function takenBack(quantity: number, unitPrice: string, over: Over = {}): { original: Priced; notes: Priced[] } {
  const line = {
    itemId: 'item-1',
    name: 'Peça',
    productType: 'PRODUCT' as const,
    unit: 'UNIT' as const,
    id: 'line-1',
    quantity: String(quantity),
    unitPrice,
    region: 'PT' as const,
    vatRate: 'NORMAL' as const,
    discount: over.discount,
  };
  const money = over.money ?? { currency: 'EUR' };
  const original = price({ lines: [line], taxPoint: '2026-03-02', ...money });
  const content = { ...sampleContent('INVOICE'), ...original, ...money } as Content;
  const notes: Priced[] = [];
  for (let i = 0; i < quantity; i++) {
    notes.push(
      creditNoteOver(content, takenBy(notes), [{ id: original.lines[0]!.id, quantity: '1' }], () => `note-${i}`),
    );
  }
  return { original, notes };
}

const cents = (a: string, b: string): number => Math.abs(Math.round((Number(a) - Number(b)) * 100));

test('fifty notes of a piece each: no note makes up for the rounding of all before it', () => {
  for (const unitPrice of ['10.02', '0.11', '0.105']) {
    const { original, notes } = takenBack(50, unitPrice);
    expect(round2(sum(notes.map((note) => note.totals.tax)))).toBe(original.totals.tax);
    expect(round2(sum(notes.map((note) => note.totals.net)))).toBe(original.totals.net);
    for (const { totals, lines } of notes) {
      expect(cents(totals.tax, round2(divide(multiply(totals.net, '23'), '100', 2)))).toBeLessThanOrEqual(1);
      expect(cents(totals.net, round2(unitPrice))).toBeLessThanOrEqual(1);
      expect(lines[0]!.discountAmount).toBe('0.00');
    }
  }
});

test('the books tell the discount that the note shows, and none where the invoice has none', () => {
  const discount = { type: 'AMOUNT', value: '0.01' } as const;
  const cases = [
    [7, '0.105'],
    [7, '10.005', { discount }],
    [7, '0.335', { discount }],
    [2, '10.014', { discount }],
  ] as const;
  for (const [quantity, unitPrice, over] of cases) {
    for (const { lines } of takenBack(quantity, unitPrice, over).notes) {
      expect([unitPrice, lines[0]!.eur.discountAmount]).toEqual([unitPrice, lines[0]!.discountAmount]);
    }
  }
  const money = { currency: 'USD', exchangeRate: '0.9123' };
  const shown = (over: Over) => takenBack(7, '0.115', over).notes.map(({ lines }) => lines[0]!.eur.discountAmount);
  expect(new Set(shown({ money }))).toEqual(new Set(['0.00']));
  expect(shown({ money, discount })[0]).toBe('0.01');
});

test('the books tell the discount of a note in euros: of an invoice in euros the one it shows, of any other its worth', () => {
  const milli = (max: number) => fc.integer({ min: 1, max }).map((value) => fromNumber(value / 1000));
  const currency = fc.constantFrom(undefined, '0.0067', '0.9123', '1', '7.45');
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      milli(500_000),
      milli(1000),
      currency,
      (quantity, price, part, rate) => {
        const discount = { type: 'AMOUNT', value: multiply(price, part) } as const;
        const money = rate === undefined ? undefined : { currency: 'USD', exchangeRate: rate };
        const { original, notes } = takenBack(quantity, price, { discount, ...(money && { money }) });
        const lines = notes.map((note) => note.lines[0]!);
        if (rate === undefined) {
          for (const line of lines) expect(line.eur.discountAmount).toBe(line.discountAmount);
        }
        // Each rounds what it is of, its price and its net.
        const told = sum(lines.map((line) => line.eur.discountAmount));
        expect(cents(told, original.lines[0]!.eur.discountAmount)).toBeLessThanOrEqual(2 * quantity);
      },
    ),
  );
});

test('any piece of any line: at most a cent from its own rounding, and together the whole', () => {
  const cent = fc.integer({ min: 1, max: 2_000_000 }).map((price) => fromNumber(price / 1000));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), cent, (quantity, unitPrice) => {
      const { original, notes } = takenBack(quantity, unitPrice);
      expect(round2(sum(notes.map((note) => note.totals.toPay)))).toBe(original.totals.toPay);
      for (const { totals } of notes) {
        expect(cents(totals.tax, round2(divide(multiply(totals.net, '23'), '100', 2)))).toBeLessThanOrEqual(1);
        expect(cents(totals.net, round2(unitPrice))).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 100 },
  );
});

/** An invoice of one line at 23 % with notes over pieces of it, of which some are cancelled, and one over the next piece. */
function behindCancelled(unitPrice: string, pieces: readonly number[], kept: readonly number[], next: number) {
  const withholding = { type: 'IRS', percent: '11.5' } as const;
  const quantity = String(pieces.reduce((a, b) => a + b, next + 1));
  const original = sampleContent('INVOICE', [sampleLine({ quantity, unitPrice, withholding })]);
  const noteOver = (before: readonly Priced[], quantity?: number) =>
    creditNoteOver(
      original,
      takenBy(before),
      quantity === undefined ? undefined : [{ id: 'line', quantity: String(quantity) }],
      () => 'n',
    );
  const notes: Priced[] = [];
  for (const quantity of pieces) notes.push(noteOver(notes, quantity));
  const standing = notes.filter((_, i) => kept.includes(i));
  const note = noteOver(standing, next);
  const rest = noteOver([...standing, note]);
  return { original, note, notes: [...standing, note, rest] };
}

const rounded = (percent: string, amount: string): string => round2(divide(multiply(amount, percent), '100', 2));

test('a note behind cancelled ones does not make up for the cents of those that stand: the AT would refuse its tax', () => {
  // 0.69 and 0.69 stand, of 0.70, 0.69, 0.24 and 0.69: their cents made 0.25 of the 0.23 that a piece is taxed with.
  const { note } = behindCancelled('1.01', [3, 3, 1, 3], [1, 3], 1);
  expect([note.totals.net, note.totals.tax]).toEqual(['1.01', '0.24']);
});

test('no note withholds more than it has, whatever cents cancelled ones have left of the withholding', () => {
  const { notes } = behindCancelled('0.006', [1, 3, 4, 3, 3], [0, 1, 3], 1);
  for (const { totals } of notes) expect(Number(totals.withholding)).toBeLessThanOrEqual(Number(totals.net));
});

test('whichever notes were cancelled, the next is at most a cent from its own rounding, and all are the whole', () => {
  const price = fc.integer({ min: 100, max: 20_000 }).map((value) => fromNumber(value / 1000));
  const pieces = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 });
  const kept = fc.array(fc.nat({ max: 11 }), { maxLength: 8 });
  fc.assert(
    fc.property(price, pieces, kept, fc.integer({ min: 1, max: 4 }), (unitPrice, given, standing, next) => {
      const { original, note, notes } = behindCancelled(unitPrice, given, standing, next);
      const { net, tax, withholding } = note.totals;
      const { net: whole, quantity } = original.lines[0]!;
      expect(cents(net, round2(divide(multiply(whole, String(next)), quantity, 2)))).toBeLessThanOrEqual(1);
      expect(cents(tax, rounded('23', net))).toBeLessThanOrEqual(1);
      expect(cents(withholding, rounded('11.5', net))).toBeLessThanOrEqual(1);
      for (const amount of ['net', 'tax', 'withholding', 'toPay'] as const)
        expect(round2(sum(notes.map(({ totals }) => totals[amount])))).toBe(original.totals[amount]);
    }),
    { numRuns: 300 },
  );
});

test('what a note takes to make grows as the lines do, and as the notes before it', async () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, i) => sampleLine({ id: `line-${i}`, quantity: '99' }));
  const made = (count: number, notes: number) => {
    const content = sampleContent('INVOICE', lines(count));
    const wanted = content.lines.map(({ id }) => ({ id, quantity: '0.01' }));
    const first = creditNoteOver(content, takenBy([]), wanted, () => 'x');
    const before = takenBy(Array.from({ length: notes }, () => first));
    return () => creditNoteOver(content, before, wanted, () => 'y');
  };
  expect(await growth((count) => made(count, 4), 25)).toBeLessThan(no_square);
  expect(await growth((count) => made(10, count), 16)).toBeLessThan(no_square);
});

test('what a note takes to make grows as the kinds of withholding do', async () => {
  const made = (kinds: number) => {
    const lines = Array.from({ length: kinds }, (_, i) =>
      sampleLine({ id: `line-${i}`, quantity: '9', withholding: { type: 'IRS', percent: '25', reason: `Norma ${i}` } }),
    );
    const content = sampleContent('INVOICE', lines);
    const wanted = content.lines.map(({ id }) => ({ id, quantity: '0.01' }));
    const first = creditNoteOver(content, takenBy([]), wanted, () => 'x');
    expect(first.totals.withholdings).toHaveLength(kinds);
    const before = takenBy([first, first]);
    return () => creditNoteOver(content, before, wanted, () => 'y');
  };
  expect(await growth(made, 5)).toBeLessThan(no_square);
});

test('the taxes of a note stand in the order of its own lines: its QR code begins with the region of the first', () => {
  const lines = [sampleLine({ id: 'mainland' }), sampleLine({ id: 'madeira', region: 'PT-MA' })];
  const original = price({ lines, taxPoint: '2026-03-02', currency: 'EUR' });
  const content = { ...sampleContent('INVOICE'), ...original } as Content;
  const regions = (ids: string[]) => {
    const wanted = ids.map((id) => ({ id, quantity: '1' }));
    const note = creditNoteOver(content, takenBy([]), wanted, () => 'x');
    expect(note.lines.map(({ number }) => number)).toEqual(wanted.map((_, i) => i + 1));
    return note.totals.groups.map(({ region }) => region);
  };
  expect(regions(['mainland', 'madeira'])).toEqual(['PT', 'PT-MA']);
  expect(regions(['madeira', 'mainland'])).toEqual(['PT-MA', 'PT']);
  expect(regions(['madeira'])).toEqual(['PT-MA']);
});

test('notes that are the whole have the tax of their invoice to the cent, also where that was rounded line by line', () => {
  const priced = sampleContent('INVOICE', [sampleLine({ quantity: '2', unitPrice: '10.00' })]);
  const taxed = (tax: string, gross: string) => (totals: Content['totals']) => {
    const groups = totals.groups.map((group) => ({ ...group, tax }));
    return { ...totals, tax, gross, toPay: gross, groups };
  };
  const notesOver = (tax: string, gross: string, quantity: string) => {
    const of = taxed(tax, gross);
    const invoice = { ...priced, totals: of(priced.totals), books: of(priced.books) };
    const all = creditNoteOver(invoice, takenBy([]), undefined, () => 'line');
    const first = creditNoteOver(invoice, takenBy([]), [{ id: 'line', quantity }], () => 'line');
    const last = creditNoteOver(invoice, takenBy([first]), undefined, () => 'line');
    return [all, first, last].map(({ totals, books }) => [totals.tax, books.tax]);
  };
  expect(notesOver('4.63', '24.63', '1')).toEqual([
    ['4.63', '4.63'],
    ['2.30', '2.30'],
    ['2.33', '2.33'],
  ]);
  // A tax of 4.58 would be more than there is.
  expect(notesOver('4.57', '24.57', '1.99')).toEqual([
    ['4.57', '4.57'],
    ['4.57', '4.57'],
    ['0.00', '0.00'],
  ]);
});

test('what a note takes of a tax stands on its lines by what they are in its currency, in euros by what they are there', () => {
  const withholding = { type: 'IRS', percent: '25' } as const;
  const taken = (exchangeRate: string, ...prices: string[]) => {
    const lines = prices.map((unitPrice, i) => sampleLine({ id: `line-${i}`, unitPrice, withholding }));
    const invoice = sampleContent('INVOICE', lines, { currency: 'USD', exchangeRate });
    const note = creditNoteOver(invoice, takenBy([]), undefined, () => 'line');
    return note.lines.map(({ tax, withholdingAmount, eur }) => [tax, withholdingAmount, eur.net, eur.tax]);
  };
  expect(taken('0.05', '1.10', '2.30')).toEqual([
    ['0.25', '0.28', '0.06', '0.01'],
    ['0.53', '0.57', '0.12', '0.03'],
  ]);
  expect(taken('0.01', '13.51', '6.49')).toEqual([
    ['3.11', '3.38', '0.14', '0.04'],
    ['1.49', '1.62', '0.06', '0.01'],
  ]);
});

test('what is exempt under one code in two territories is two taxes: a note has that of its own line', () => {
  const exempt = { vatRate: 'EXEMPT', exemptionCode: 'M07', quantity: '2' } as const;
  const invoice = sampleContent('INVOICE', [
    sampleLine({ ...exempt, id: 'mainland', unitPrice: '10.00' }),
    sampleLine({ ...exempt, id: 'azores', unitPrice: '7.00', region: 'PT-AC' }),
  ]);
  const note = (...ids: string[]) => {
    const wanted = ids.map((id) => ({ id, quantity: '1' }));
    return creditNoteOver(invoice, takenBy([]), wanted, () => 'line').totals.groups.map(({ region, base }) => [
      region,
      base,
    ]);
  };
  expect(note('azores')).toEqual([['PT-AC', '7.00']]);
  expect(note('azores', 'mainland')).toEqual([
    ['PT-AC', '7.00'],
    ['PT', '10.00'],
  ]);
});

test('a note tells the norm under which its lines were withheld, also of an invoice that has them together', () => {
  const withheld = (id: string, reason: string) =>
    sampleLine({ id, unitPrice: '100', withholding: { type: 'IRS', percent: '25', reason } });
  const invoice = sampleContent('INVOICE', [withheld('a', 'Norma A'), withheld('b', 'Norma B')]);
  const noted = (content: Content, ...ids: readonly string[]) =>
    creditNoteOver(
      content,
      takenBy([]),
      ids.map((id) => ({ id, quantity: '1' })),
      () => ids[0]!,
    );
  const group = { type: 'IRS', percent: '25', base: '100.00', amount: '25.00' };
  expect(noted(invoice, 'b').totals.withholdings).toEqual([{ ...group, reason: 'Norma B' }]);
  const [together] = invoice.totals.withholdings;
  const withholdings = [{ ...together!, base: '200.00', amount: '50.00' }];
  const older = { ...invoice, totals: { ...invoice.totals, withholdings }, books: { ...invoice.books, withholdings } };
  const note = noted(older, 'b');
  expect(note.totals.withholdings).toEqual([{ ...group, reason: 'Norma A' }]);
  expect([note.lines[0]!.withholdingAmount, note.totals.withholding]).toEqual(['25.00', '25.00']);
  // Of several groups the one of the line's own type and percentage.
  const others = [
    { type: 'IRC' as const, percent: '25', base: '100.00', amount: '25.00' },
    { type: 'IRS' as const, percent: '11.5', base: '100.00', amount: '11.50' },
  ];
  const among = (content: Content): Content => ({
    ...content,
    totals: { ...content.totals, withholdings: [...others, ...withholdings] },
  });
  expect(noted(among(older), 'b').totals.withholdings).toEqual([{ ...group, reason: 'Norma A' }]);
});

test('a note that rounding gives a cent less than its price has no part of the global discount for it', () => {
  // 0.50 off 100.67 is 0.00 of 0.67: all of it is the other line's.
  const lines = [
    sampleLine({ id: 'cheap', quantity: '2', unitPrice: '0.335' }),
    sampleLine({ id: 'dear', unitPrice: '100.00' }),
  ];
  const original = sampleContent('INVOICE', lines, { globalDiscount: { type: 'AMOUNT', value: '0.50' } });
  expect(original.lines.map(({ net }) => net)).toEqual(['0.67', '99.50']);
  const notes: Priced[] = [];
  for (let i = 0; i < 2; i++)
    notes.push(creditNoteOver(original, takenBy(notes), [{ id: 'cheap', quantity: '1' }], () => `note-${i}`));
  expect(notes.map(({ totals }) => totals.net)).toEqual(['0.34', '0.33']);
  expect(notes.map(({ globalDiscountAmount }) => globalDiscountAmount)).toEqual(['0.00', '0.00']);
  expect(notes.map((note) => (note as Content).globalDiscount)).toEqual([undefined, undefined]);
});

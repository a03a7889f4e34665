import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusalOf, sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import {
  checkConversion,
  convertedOf,
  discountOf,
  openOf,
  originOf,
  type Proforma,
  takenLines,
  takesOf,
  type WantedLine,
} from './convert.ts';
import { add, compare, fromNumber, isZero, subtract, sum, trimmed } from './decimal.ts';
import type { Content, Discount, LineInput } from './document.ts';

const proforma = (lines: readonly LineInput[], globalDiscount?: Discount): Content =>
  sampleContent('PROFORMA', lines, { globalDiscount });
const line = (id: string, quantity: string, over: Partial<LineInput> = {}) =>
  sampleLine({ id, itemId: `item ${id}`, name: id, quantity, ...over });

/** The invoice that a conversion makes, priced by the law; throws where it could not be priced. */
function invoiceOf(from: Content, standing: readonly Content[], wanted?: readonly WantedLine[]): Content {
  const open = openOf(
    from.lines,
    standing.flatMap(({ lines }) => lines),
  );
  const taken = takenLines(from.lines, open, wanted);
  const lines = taken.map(({ line: own, quantity }, i) => ({ ...own, id: `n${i}`, originLineId: own.id, quantity }));
  return sampleContent('INVOICE', lines, { globalDiscount: discountOf(from, taken, standing, open) });
}
const discounts = (invoices: readonly Content[]) =>
  sum(invoices.map(({ globalDiscount }) => globalDiscount?.value ?? '0'));
const codes = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (refusal) {
    return (refusal as { problems: { code: string; pointer: string }[] }).problems.map(({ code, pointer }) => [
      code,
      pointer,
    ]);
  }
};

describe('what is open', () => {
  test('a line of an invoice takes from the line it was made of', () => {
    const { lines } = proforma([line('a', '5'), line('b', '2.5')]);
    const { quantities, exceeded } = openOf(lines, [
      { ...line('x', '1.5'), originLineId: 'a' },
      { ...line('y', '2.5'), originLineId: 'b' },
    ]);
    expect([Object.fromEntries(quantities), exceeded]).toEqual([{ a: '3.5', b: '0' }, []]);
  });

  test('one written anew takes from the lines of its item, in order; of another item it takes nothing', () => {
    const { lines } = proforma([line('a', '2', { itemId: 'i' }), line('b', '2', { itemId: 'i' })]);
    const taking = (quantity: string, itemId = 'i') => openOf(lines, [line('x', quantity, { itemId })]);
    expect(Object.fromEntries(taking('3').quantities)).toEqual({ a: '0', b: '1' });
    expect(taking('4').exceeded).toEqual([]);
    expect(taking('4.000001').exceeded).toEqual(['x']);
    expect(Object.fromEntries(taking('9', 'another').quantities)).toEqual({ a: '2', b: '2' });
  });

  test('whoever takes nothing of it: lines of other items that name none of its lines', () => {
    const { lines } = proforma([line('a', '2', { itemId: 'i' })]);
    const other = line('x', '1', { itemId: 'j' });
    expect(takesOf(lines, [other])).toBe(false);
    expect(takesOf(lines, [{ ...other, originLineId: 'z' }])).toBe(false);
    expect(takesOf(lines, [other, line('y', '1', { itemId: 'i' })])).toBe(true);
    expect(takesOf(lines, [{ ...other, originLineId: 'a' }])).toBe(true);
  });

  test('lines of other items were added: they come from no pro forma', () => {
    const { lines } = proforma([line('a', '2', { itemId: 'i' })]);
    const invoice = sampleContent('INVOICE', [
      line('x', '1', { itemId: 'i' }),
      line('y', '1', { itemId: 'j' }),
      { ...line('z', '1', { itemId: 'k' }), originLineId: 'a' },
    ]);
    const origin = { id: 'p', number: 'PF A2026/1', date: '2026-03-02', type: 'PROFORMA' } as const;
    const converted = convertedOf({ ...invoice, origin }, lines);
    expect(converted.lines.map((own) => originOf(converted, own)?.number)).toEqual([
      'PF A2026/1',
      undefined,
      'PF A2026/1',
    ]);
    // Nothing is said of an invoice that has nothing else.
    const whole = { ...invoice, origin, lines: invoice.lines.slice(0, 1) };
    expect(convertedOf(whole, lines)).toEqual(whole);
    expect(originOf(whole, whole.lines[0]!)).toEqual(origin);
  });

  test('lines that name theirs come first, whatever the order of the invoices', () => {
    const { lines } = proforma([line('a', '2', { itemId: 'i' }), line('b', '2', { itemId: 'i' })]);
    const anew = line('x', '2', { itemId: 'i' });
    const tied = { ...line('y', '2', { itemId: 'i' }), originLineId: 'a' };
    expect(openOf(lines, [anew, tied]).exceeded).toEqual([]);
    expect(openOf(lines, [anew, tied, { ...tied, name: 'z', quantity: '0.1' }]).exceeded).toEqual(['z']);
  });
});

describe('the lines of a conversion', () => {
  const { lines } = proforma([line('a', '5'), line('b', '2', { itemId: 'i' }), line('c', '3', { itemId: 'i' })]);
  const open = openOf(lines, [{ ...line('x', '4'), originLineId: 'a' }]);
  const taken = (wanted?: readonly WantedLine[]) =>
    takenLines(lines, open, wanted).map(({ line: { id }, quantity }) => [id, quantity]);

  test('everything open, or what is named: by the line, or by its item where no other line has it', () => {
    expect(taken()).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
    expect(
      taken([
        { id: 'item a', quantity: '1' },
        { id: 'c', quantity: '0.5' },
      ]),
    ).toEqual([
      ['a', '1'],
      ['c', '0.5'],
    ]);
  });

  test('every problem is named at once', () => {
    const wanted = [
      { id: 'a', quantity: '1.01' },
      { id: 'item a', quantity: '1' },
      { id: 'i', quantity: '1' },
      { id: 'unknown', quantity: '1' },
    ];
    expect(codes(() => taken(wanted))).toEqual([
      ['QUANTITY_EXCEEDS_OPEN', '/items/0/quantity'],
      ['DUPLICATE_LINE', '/items/1/id'],
      ['UNKNOWN_LINE', '/items/2/id'],
      ['UNKNOWN_LINE', '/items/3/id'],
    ]);
  });

  test('nothing left is no line', () => {
    const used = openOf(
      lines,
      lines.map((own) => ({ ...own, originLineId: own.id })),
    );
    expect(takenLines(lines, used, undefined)).toEqual([]);
  });
});

describe('the global discount', () => {
  test('a percentage stays', () => {
    const from = proforma([line('a', '2')], { type: 'PERCENT', value: '10' });
    expect(invoiceOf(from, [], [{ id: 'a', quantity: '1' }]).globalDiscount).toEqual({ type: 'PERCENT', value: '10' });
  });

  test('of an amount each gets its part, and the last what is left', () => {
    const from = proforma([line('a', '3')], { type: 'AMOUNT', value: '100' });
    const standing: Content[] = [];
    for (const expected of ['33.33', '33.33', '33.34']) {
      standing.push(invoiceOf(from, standing, [{ id: 'a', quantity: '1' }]));
      expect(standing.at(-1)?.globalDiscount?.value).toBe(expected);
    }
    expect(trimmed(sum(standing.map(({ totals }) => totals.net)), 2)).toBe(from.totals.net);
  });

  test('drafts made side by side do not get more together than there is', () => {
    const from = proforma([line('a', '2')], { type: 'AMOUNT', value: '0.05' });
    const half = () => invoiceOf(from, [], [{ id: 'a', quantity: '1' }]);
    expect(discounts([half(), half()])).toBe('0.04');
  });

  test('a line that is taken whole gets its part, and not what is for the others', () => {
    const from = proforma([line('a', '1'), line('b', '3')], { type: 'AMOUNT', value: '10' });
    const first = invoiceOf(from, [], [{ id: 'a', quantity: '1' }]);
    const rest = invoiceOf(from, [first]);
    expect([first, rest].map(({ globalDiscount }) => globalDiscount?.value)).toEqual(['2.50', '7.50']);
  });

  test('of everything is a discount of everything in each part', () => {
    const from = proforma([line('a', '4', { unitPrice: '2.5' })], { type: 'AMOUNT', value: '10' });
    expect(from.totals.gross).toBe('0.00');
    expect(invoiceOf(from, [], [{ id: 'a', quantity: '1' }]).totals.gross).toBe('0.00');
  });

  test('that an invoice before did not use is used as far as the rest bears it', () => {
    const from = proforma([line('a', '2', { unitPrice: '10' })], { type: 'AMOUNT', value: '15' });
    const without = { ...invoiceOf(from, [], [{ id: 'a', quantity: '1' }]), globalDiscount: undefined };
    const rest = invoiceOf(from, [without]);
    expect([rest.globalDiscount?.value, rest.totals.net]).toEqual(['10.00', '0.00']);
  });
});

const arbitraryLine = fc.record({
  quantity: fc.oneof(
    fc.integer({ min: 1, max: 20 }),
    fc.integer({ min: 1, max: 9_999 }).map((n) => n / 100),
  ),
  unitPrice: fc.oneof(
    fc.integer({ min: 0, max: 99_999 }).map((n) => n / 100),
    fc.integer({ min: 0, max: 9_999_999 }).map((n) => n / 1_000_000),
  ),
  discount: fc.constantFrom<Discount | undefined>(
    undefined,
    { type: 'PERCENT', value: '33.333333' },
    { type: 'PERCENT', value: '100' },
  ),
});
const arbitraryProforma = fc
  .record({ lines: fc.array(arbitraryLine, { minLength: 1, maxLength: 5 }), cents: fc.integer({ min: 0, max: 1000 }) })
  .map(({ lines, cents }) => {
    const asked = lines.map(({ quantity, unitPrice, discount }, i) =>
      line(`l${i}`, fromNumber(quantity), { unitPrice: fromNumber(unitPrice), discount, itemId: `i${i % 3}` }),
    );
    const { net } = proforma(asked).totals;
    // From nothing to all of it.
    const value = ((Math.floor(Number(net) * 100) * cents) / 1000 / 100).toFixed(2);
    return proforma(asked, { type: 'AMOUNT', value: compare(value, net) > 0 ? net : value });
  });
/** What happens next: a draft over some shares of what is open, an issue of one of the drafts, or a cancellation. */
const step = fc.oneof(
  fc.record({
    act: fc.constant('convert' as const),
    shares: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 5, maxLength: 5 }),
  }),
  fc.record({ act: fc.constant('issue' as const), which: fc.nat(9) }),
  fc.record({ act: fc.constant('cancel' as const), which: fc.nat(9) }),
);

test('however it is split, side by side, cancelled and taken again: never beyond quantities nor the discount', () => {
  const noneLost = { full: 0 };
  fc.assert(
    fc.property(arbitraryProforma, fc.array(step, { maxLength: 25 }), (from, steps) => {
      const whole = from.globalDiscount!.value;
      let standing: Content[] = [];
      const drafts: Content[] = [];
      const openNow = (more: readonly Content[] = []) =>
        openOf(
          from.lines,
          [...standing, ...more].flatMap(({ lines }) => lines),
        );
      const holds = () => {
        const { quantities, exceeded } = openNow();
        expect(exceeded).toEqual([]);
        for (const own of from.lines) {
          const invoiced = sum(
            standing
              .flatMap(({ lines }) => lines)
              .filter(({ originLineId }) => originLineId === own.id)
              .map(({ quantity }) => quantity),
          );
          expect(trimmed(add(invoiced, quantities.get(own.id)!))).toBe(trimmed(own.quantity));
        }
        expect(compare(discounts(standing), whole)).not.toBe(1);
      };
      for (const one of steps) {
        if (one.act === 'convert') {
          const { quantities } = openNow();
          const wanted = from.lines.flatMap(({ id }, i) => {
            const quantity = fromNumber(Math.floor(Number(quantities.get(id)!) * one.shares[i]! * 10_000) / 1_000_000);
            return isZero(quantity) ? [] : [{ id, quantity }];
          });
          // Pricing takes every draft: it would throw.
          if (wanted.length > 0) drafts.push(invoiceOf(from, standing, wanted));
        } else if (one.act === 'issue') {
          const draft = drafts[one.which];
          if (draft === undefined || openNow([draft]).exceeded.length > 0) continue;
          drafts.splice(one.which, 1);
          standing.push(draft);
        } else standing = standing.filter((_, i) => i !== one.which);
        holds();
      }
      const rest = takenLines(from.lines, openNow(), undefined);
      if (rest.length > 0) standing.push(invoiceOf(from, standing));
      holds();
      // The whole of it was invoiced: all of the discount was given, unless what was left could not bear more.
      const lost = subtract(whole, discounts(standing));
      if (isZero(lost)) noneLost.full += 1;
      else if (rest.length > 0) expect(standing.at(-1)?.totals.net).toBe('0.00');
    }),
    { numRuns: 400 },
  );
  expect(noneLost.full).toBeGreaterThan(100);
});

describe('an invoice of a pro forma is issued', () => {
  const content = proforma([line('a', '2'), line('b', '1')]);
  const ref = { id: 'p', number: 'PF A2026/1', date: '2026-03-01', type: 'PROFORMA' } as const;
  const stands = (more: Partial<Proforma> = {}): Proforma => ({
    ref,
    status: 'CREATED',
    content,
    invoiced: [],
    ...more,
  });
  const half = invoiceOf(content, [], [{ id: 'a', quantity: '1' }]);
  const whole = invoiceOf(content, []);
  const refused = (invoice: Content, one: Proforma): unknown => {
    const { code, facts } = refusalOf(() => checkConversion(invoice, one));
    return [code, facts];
  };

  test('as long as there is so much of it', () => {
    checkConversion(whole, stands());
    checkConversion(half, stands({ invoiced: [half], status: 'ISSUED' }));
    const exceeded = ['PROPOSAL_EXCEEDED', { number: 'PF A2026/1', items: 'a' }];
    expect(refused(half, stands({ invoiced: [half, half] }))).toEqual(exceeded);
    expect(refused(whole, stands({ invoiced: [half] }))).toEqual(exceeded);
  });

  test('not of one that is cancelled, nor with nothing of it', () => {
    expect(refused(whole, stands({ status: 'CANCELED' }))).toEqual(['PROPOSAL_CANCELED', { number: 'PF A2026/1' }]);
    const other = sampleContent('INVOICE', [sampleLine({ id: 'x', itemId: 'another' })]);
    expect(refused(other, stands())).toEqual(['PROPOSAL_NOT_TAKEN', { number: 'PF A2026/1' }]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleLine } from '../../test/fiscal-samples.ts';
import { add, compare, round2, sum } from './decimal.ts';
import type { Discount, LineInput, Priced, PriceInput, Totals } from './document.ts';
import { type Problem, Refusal } from './refusal.ts';
import { price } from './totals.ts';

const asked = (lines: readonly LineInput[], more: Partial<PriceInput> = {}): PriceInput => ({
  lines,
  taxPoint: '2026-03-02',
  currency: 'EUR',
  ...more,
});

function problemsOf(input: PriceInput): readonly Problem[] {
  try {
    price(input);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'INVALID_REQUEST') return error.problems;
    throw error;
  }
  return [];
}

test("the AT's classic: 100 × 0.55 less 8.8 %, 1 × 100, 10 % on all, makes 166.22", () => {
  const lines = [
    sampleLine({ quantity: '100', unitPrice: '0.55', discount: { type: 'PERCENT', value: '8.8' } }),
    sampleLine(),
  ];
  const priced = price(asked(lines, { globalDiscount: { type: 'PERCENT', value: '10' } }));
  expect(priced.lines.map((l) => [l.gross, l.discountAmount, l.net, l.unitNet])).toEqual([
    ['55.00', '9.86', '45.14', '0.4514'],
    ['100.00', '10.00', '90.00', '90.00'],
  ]);
  expect(priced.totals).toMatchObject({ net: '135.14', tax: '31.08', gross: '166.22', toPay: '166.22' });
  expect([priced.netBeforeDiscount, priced.globalDiscountAmount]).toEqual(['155.00', '15.02']);
});

test('0.65 at 23 % is the 0.80 of the till', () => {
  expect(price(asked([sampleLine({ unitPrice: '0.65' })])).totals).toMatchObject({
    net: '0.65',
    tax: '0.15',
    gross: '0.80',
  });
});

test('1000.00 with 23 % IRS withheld: gross 1230.00, to pay 1000.00', () => {
  const withholding = { type: 'IRS', percent: '23.000000', reason: 'Artigo 101.º do CIRS' } as const;
  const { totals, lines } = price(asked([sampleLine({ unitPrice: '1000.00', withholding })]));
  expect(totals).toMatchObject({ gross: '1230.00', withholding: '230.00', toPay: '1000.00' });
  expect(totals.withholdings).toEqual([
    { type: 'IRS', percent: '23', reason: 'Artigo 101.º do CIRS', base: '1000.00', amount: '230.00' },
  ]);
  expect(lines[0]?.withholdingAmount).toBe('230.00');
});

test('withholding is apart by type, percentage and legal norm', () => {
  const lineOf = (type: 'IRS' | 'IRC' | 'IS', percent: string, reason?: string) =>
    sampleLine({ unitPrice: '0.02', withholding: { type, percent, reason } });
  const { totals } = price(
    asked([
      lineOf('IRS', '25', 'CIRS 101.º n.º 1 e)'),
      lineOf('IRC', '25.00'),
      lineOf('IRS', '25.0', 'CIRS 101.º n.º 1 d)'),
      lineOf('IRS', '25', 'CIRS 101.º n.º 1 e)'),
      lineOf('IS', '25'),
    ]),
  );
  expect(totals.withholdings).toEqual([
    { type: 'IRS', percent: '25', reason: 'CIRS 101.º n.º 1 e)', base: '0.04', amount: '0.01' },
    { type: 'IRC', percent: '25', base: '0.02', amount: '0.01' },
    { type: 'IRS', percent: '25', reason: 'CIRS 101.º n.º 1 d)', base: '0.02', amount: '0.01' },
    { type: 'IS', percent: '25', base: '0.02', amount: '0.01' },
  ]);
});

test('groups by region, code, rate and exemption code, in order of the lines', () => {
  const exempt = (exemptionCode: string) => sampleLine({ vatRate: 'EXEMPT', exemptionCode });
  const lines = [
    sampleLine(),
    exempt('M07'),
    sampleLine({ region: 'PT-AC' }),
    exempt('M99'),
    exempt('M07'),
    sampleLine(),
  ];
  expect(price(asked(lines)).totals.groups).toEqual([
    { region: 'PT', taxCode: 'NOR', rate: '23', base: '200.00', tax: '46.00' },
    { region: 'PT', taxCode: 'ISE', rate: '0', exemptionCode: 'M07', base: '200.00', tax: '0.00' },
    { region: 'PT-AC', taxCode: 'NOR', rate: '16', base: '100.00', tax: '16.00' },
    { region: 'PT', taxCode: 'ISE', rate: '0', exemptionCode: 'M99', base: '100.00', tax: '0.00' },
  ]);
});

test('two regions with the same rate stay two groups', () => {
  const lines = (['PT-MA', 'PT-AC'] as const).map((region) => sampleLine({ region, vatRate: 'REDUCED' }));
  expect(price(asked(lines)).totals.groups).toEqual([
    { region: 'PT-MA', taxCode: 'RED', rate: '4', base: '100.00', tax: '4.00' },
    { region: 'PT-AC', taxCode: 'RED', rate: '4', base: '100.00', tax: '4.00' },
  ]);
});

test('VAT is rounded per group, and the lines share it out to the cent', () => {
  const { lines, totals } = price(asked([1, 2, 3].map(() => sampleLine({ unitPrice: '0.02' }))));
  expect(totals).toMatchObject({ net: '0.06', tax: '0.01' });
  expect(lines.map((line) => line.tax)).toEqual(['0.00', '0.01', '0.00']);
});

test('an amount off the whole document', () => {
  const lines = [1, 2, 3].map(() => sampleLine({ unitPrice: '10' }));
  const priced = price(asked(lines, { globalDiscount: { type: 'AMOUNT', value: '10' } }));
  expect(priced.lines.map((line) => line.net)).toEqual(['6.67', '6.67', '6.66']);
  expect([priced.totals.net, priced.globalDiscountAmount]).toEqual(['20.00', '10.00']);
});

test('an amount off each unit', () => {
  const [line] = price(
    asked([sampleLine({ quantity: '3', unitPrice: '0.333333', discount: { type: 'AMOUNT', value: '0.1' } })]),
  ).lines;
  expect(line).toMatchObject({ gross: '1.00', net: '0.70', discountAmount: '0.30', unitNet: '0.233333' });
});

test('another currency: each line is converted and rounded, then grouped and taxed in EUR', () => {
  const lines = [
    sampleLine({ unitPrice: '0.05' }),
    sampleLine({ unitPrice: '0.05', discount: { type: 'PERCENT', value: '20' } }),
  ];
  const priced = price(asked(lines, { currency: 'USD', exchangeRate: '0.9' }));
  expect(priced.totals).toMatchObject({ net: '0.09', tax: '0.02', gross: '0.11' });
  // 0.045 → 0.05 and 0.036 → 0.04: 0.09 EUR, where converting the sum would give 0.08.
  expect(priced.books).toMatchObject({ net: '0.09', tax: '0.02', gross: '0.11' });
  expect(priced.lines[1]?.eur).toEqual({ net: '0.04', tax: '0.01', unitNet: '0.04', discountAmount: '0.01' });
});

test('refuses everything that is wrong at once, each at its place', () => {
  const lines = [
    sampleLine({ discount: { type: 'PERCENT', value: '100.000001' } }),
    sampleLine({ unitPrice: '10', discount: { type: 'AMOUNT', value: '10.01' } }),
    sampleLine({ vatRate: 'EXEMPT' }),
    sampleLine({ vatRate: 'EXEMPT', exemptionCode: 'M03' }),
    sampleLine({ vatRate: 'EXEMPT', exemptionCode: 'M26' }),
    sampleLine({ exemptionCode: 'M07' }),
    sampleLine({ fixedRate: '21.00' }),
    sampleLine({ region: 'PT-MA', vatRate: 'REDUCED', fixedRate: '5' }),
    sampleLine({ fixedRate: '23.00' }),
  ];
  const found = problemsOf(asked(lines, { globalDiscount: { type: 'PERCENT', value: '101' }, exchangeRate: '1' }));
  expect(found.map((problem) => `${problem.pointer} ${problem.code}`)).toEqual([
    '/items/0/unitDiscountPercent DISCOUNT_OUT_OF_RANGE',
    '/items/1/unitDiscountAmount DISCOUNT_OUT_OF_RANGE',
    '/items/2/vatExemptionReason EXEMPTION_REQUIRED',
    '/items/3/vatExemptionReason EXEMPTION_UNKNOWN',
    '/items/4/vatExemptionReason EXEMPTION_UNKNOWN',
    '/items/5/vatExemptionReason EXEMPTION_NOT_ALLOWED',
    '/items/6/vatRate VAT_RATE_NOT_IN_FORCE',
    '/items/7/vatRate VAT_RATE_NOT_IN_FORCE',
    '/globalDiscountPercent DISCOUNT_OUT_OF_RANGE',
    '/exchangeRate EXCHANGE_RATE_NOT_ALLOWED',
  ]);
  expect(found[3]?.facts).toMatchObject({ code: 'M03', date: '2026-03-02' });
  expect(found[6]?.facts).toEqual({ expected: '23 %', vatRate: 'NORMAL', region: 'PT', date: '2026-03-02' });
});

test('the tax point chooses the rate', () => {
  const madeira = [sampleLine({ region: 'PT-MA', vatRate: 'REDUCED', fixedRate: '5' })];
  expect(price(asked(madeira, { taxPoint: '2024-09-30' })).totals.tax).toBe('5.00');
  expect(problemsOf(asked(madeira, { taxPoint: '2024-10-01' }))).toHaveLength(1);
  expect(problemsOf(asked([sampleLine()], { taxPoint: '2005-01-01' }))[0]?.code).toBe('VAT_RATE_NOT_IN_FORCE');
});

test('discounts at their edges', () => {
  const of = (globalDiscount: Discount) => problemsOf(asked([sampleLine(), sampleLine()], { globalDiscount }));
  expect(of({ type: 'AMOUNT', value: '200.00' })).toEqual([]);
  expect(of({ type: 'AMOUNT', value: '200.01' })).toEqual([
    { code: 'DISCOUNT_OUT_OF_RANGE', pointer: '/globalDiscountAmount' },
  ]);
  expect(of({ type: 'PERCENT', value: '100' })).toEqual([]);
  const free = price(asked([sampleLine({ discount: { type: 'AMOUNT', value: '100' } })]));
  expect(free.totals).toMatchObject({ net: '0.00', tax: '0.00', gross: '0.00', toPay: '0.00' });
  expect(free.lines[0]).toMatchObject({ gross: '100.00', discountAmount: '100.00', unitNet: '0.00' });
});

test('currency and exchange rate belong together', () => {
  expect(problemsOf(asked([sampleLine()], { currency: 'USD' }))).toEqual([
    { code: 'EXCHANGE_RATE_REQUIRED', pointer: '/exchangeRate' },
  ]);
});

test('totals stay below 1e13, in the document and in the books', () => {
  const big = (unitPrice: string, quantity = '1') => [
    sampleLine({ unitPrice, quantity, vatRate: 'EXEMPT', exemptionCode: 'M07' }),
  ];
  const tooLarge = [{ code: 'AMOUNT_TOO_LARGE', pointer: '/items' }];
  expect(price(asked(big('9999999999999.99'))).totals.gross).toBe('9999999999999.99');
  expect(problemsOf(asked(big('10000000000000')))).toEqual(tooLarge);
  expect(problemsOf(asked(big('9999999999999.995')))).toEqual(tooLarge);
  expect(problemsOf(asked([sampleLine({ unitPrice: '9000000000000' })]))).toEqual(tooLarge);
  expect(problemsOf(asked(big('9000000000000'), { currency: 'KWD', exchangeRate: '3' }))).toEqual(tooLarge);
  expect(
    problemsOf(asked([sampleLine({ unitPrice: '9000000000000' })], { currency: 'JPY', exchangeRate: '0.006' })),
  ).toEqual(tooLarge);
  expect(
    problemsOf(asked(big('999999999', '999999999'), { globalDiscount: { type: 'PERCENT', value: '100' } })),
  ).toEqual(tooLarge);
});

// ---- Against a second implementation, in exact fractions of bigints ----

type Fraction = readonly [bigint, bigint];
const fraction = (text: string): Fraction => {
  const [whole = '', part = ''] = text.split('.');
  return [BigInt(whole + part), 10n ** BigInt(part.length)];
};
const times = (a: Fraction, b: Fraction): Fraction => [a[0] * b[0], a[1] * b[1]];
const minus = (a: Fraction, b: Fraction): Fraction => [a[0] * b[1] - b[0] * a[1], a[1] * b[1]];
const toCents = ([n, d]: Fraction): bigint => (200n * n + d) / (2n * d);
const less = (a: Fraction, percent: string): Fraction =>
  times(a, times(minus([100n, 1n], fraction(percent)), [1n, 100n]));
const shown = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
const total = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n);

function oracle(input: PriceInput) {
  const gross = input.lines.map((line) => toCents(times(fraction(line.quantity), fraction(line.unitPrice))));
  const values = input.lines.map((line): Fraction => {
    const base = times(fraction(line.quantity), fraction(line.unitPrice));
    if (line.discount === undefined) return base;
    if (line.discount.type === 'PERCENT') return less(base, line.discount.value);
    return minus(base, times(fraction(line.quantity), fraction(line.discount.value)));
  });
  const cents = values.map(toCents);
  let nets = cents;
  if (input.globalDiscount?.type === 'PERCENT')
    nets = values.map((value) => toCents(less(value, input.globalDiscount!.value)));
  if (input.globalDiscount?.type === 'AMOUNT') {
    const amount = fraction(input.globalDiscount.value);
    let left = toCents(amount);
    const [sumOfAll, unit] = values.reduce(([a, b], [c, d]): Fraction => [a * d + c * b, b * d], [0n, 1n]);
    nets = cents.map((value, index) => {
      const behind = total(cents.slice(index + 1));
      let share = sumOfAll === 0n ? 0n : toCents(times(amount, times(values[index]!, [unit, sumOfAll])));
      if (share > left) share = left;
      if (share > value) share = value;
      if (left - share > behind) share = left - behind;
      left -= share;
      return value - share;
    });
  }
  const rates: Record<string, bigint> = {
    'PT NORMAL': 23n,
    'PT REDUCED': 6n,
    'PT-MA INTERMEDIATE': 12n,
    'PT-AC NORMAL': 16n,
    'PT EXEMPT': 0n,
  };
  const books = (amounts: readonly bigint[]) => {
    const bases = new Map<string, bigint>();
    const withheld = new Map<string, bigint>();
    input.lines.forEach((line, index) => {
      const key = `${line.region} ${line.vatRate} ${line.exemptionCode ?? ''}`;
      bases.set(key, (bases.get(key) ?? 0n) + amounts[index]!);
      if (line.withholding === undefined) return;
      const kept = `${line.withholding.type} ${line.withholding.percent} ${line.withholding.reason}`;
      withheld.set(kept, (withheld.get(kept) ?? 0n) + amounts[index]!);
    });
    const tax = [...bases].map(([key, base]) => (base * rates[key.split(' ').slice(0, 2).join(' ')]! + 50n) / 100n);
    const kept = [...withheld].map(([key, base]) =>
      toCents(times([base, 100n], times(fraction(key.split(' ')[1]!), [1n, 100n]))),
    );
    const net = total(amounts);
    return { net, tax: total(tax), bases: [...bases.values()], taxes: tax, withholding: total(kept) };
  };
  const eur =
    input.exchangeRate === undefined
      ? nets
      : nets.map((net) => toCents(times([net, 100n], fraction(input.exchangeRate!))));
  return { gross, nets, document: books(nets), books: books(eur) };
}

const decimalText = (most: number, places: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 10 ** places - 1 }))
    .map(([whole, part]) => `${whole}.${String(part).padStart(places, '0')}`);
const percent = fc.oneof(fc.constantFrom('0', '100', '50', '33.333333', '8.8'), decimalText(99, 6));
const kinds = fc.constantFrom<Partial<LineInput>>(
  {},
  { vatRate: 'REDUCED' },
  { region: 'PT-MA', vatRate: 'INTERMEDIATE' },
  { region: 'PT-AC' },
  { vatRate: 'EXEMPT', exemptionCode: 'M07' },
  { vatRate: 'EXEMPT', exemptionCode: 'M99' },
);
const withholdings = fc.constantFrom<LineInput['withholding']>(
  undefined,
  { type: 'IRS', percent: '23' },
  { type: 'IRS', percent: '23', reason: 'CIRS 101.º n.º 1 a)' },
  { type: 'IRS', percent: '11.5' },
  { type: 'IRC', percent: '25' },
);
const lineArb = fc
  .record({
    kind: kinds,
    withholding: withholdings,
    quantity: fc.oneof(
      fc.constantFrom('1', '2', '3', '0.000001', '0.333333'),
      decimalText(500, 3).map((q) => (/^0\.0+$/.test(q) ? '1' : q)),
    ),
    unitPrice: fc.oneof(fc.constantFrom('0', '0.005', '0.01', '19.99'), decimalText(2000, 2), decimalText(5, 6)),
    discount: fc.option(percent),
    perUnit: fc.boolean(),
  })
  .map(({ kind, withholding, quantity, unitPrice, discount, perUnit }): LineInput => {
    const own: Discount | undefined =
      discount === null
        ? undefined
        : perUnit
          ? { type: 'AMOUNT', value: round2(String(Math.floor(Number(unitPrice) * Number(discount)) / 100)) }
          : { type: 'PERCENT', value: discount };
    const fits = own?.type !== 'AMOUNT' || compare(own.value, unitPrice) <= 0;
    return sampleLine({ ...kind, quantity, unitPrice, withholding, discount: fits ? own : undefined });
  });
const inputArb = fc
  .record({
    lines: fc.array(lineArb, { minLength: 1, maxLength: 8 }),
    whole: fc.option(fc.record({ amount: fc.boolean(), percent })),
    rate: fc.option(fc.constantFrom('0.9', '1.234567', '0.005', '110.5')),
  })
  .map(({ lines, whole, rate }): PriceInput => {
    const input = asked(lines, rate === null ? {} : { currency: 'USD', exchangeRate: rate });
    if (whole === null) return input;
    if (!whole.amount) return { ...input, globalDiscount: { type: 'PERCENT', value: whole.percent } };
    const cents = total(oracle(input).nets);
    const value = shown((cents * toCents(fraction(whole.percent))) / 10_000n);
    return { ...input, globalDiscount: { type: 'AMOUNT', value } };
  });

test('agrees with exact fractions, to the cent', () => {
  fc.assert(
    fc.property(inputArb, (input) => {
      const priced = price(input);
      const expected = oracle(input);
      expect(priced.lines.map((line) => line.gross)).toEqual(expected.gross.map(shown));
      expect(priced.lines.map((line) => line.net)).toEqual(expected.nets.map(shown));
      for (const name of ['totals', 'books'] as const) {
        const want = name === 'totals' ? expected.document : expected.books;
        const { net, tax, withholding, groups } = priced[name];
        expect({ net, tax, withholding }).toEqual({
          net: shown(want.net),
          tax: shown(want.tax),
          withholding: shown(want.withholding),
        });
        expect(groups.map((group) => [group.base, group.tax])).toEqual(
          want.bases.map((base, i) => [shown(base), shown(want.taxes[i]!)]),
        );
      }
    }),
    { numRuns: 600 },
  );
});

function ties(totals: Totals, lines: readonly { net: string; tax: string }[]): void {
  const equal = (a: string, b: string) => expect(compare(a, b), `${a} = ${b}`).toBe(0);
  equal(add(totals.net, totals.tax), totals.gross);
  equal(sum(lines.map((line) => line.net)), totals.net);
  equal(sum(totals.groups.map((group) => group.base)), totals.net);
  equal(sum(totals.groups.map((group) => group.tax)), totals.tax);
  equal(sum(lines.map((line) => line.tax)), totals.tax);
  equal(add(totals.toPay, totals.withholding), totals.gross);
  equal(sum(totals.withholdings.map((group) => group.amount)), totals.withholding);
}

test('everything ties, nothing is negative, money has two decimals', () => {
  const money = /^(?:0|[1-9]\d*)\.\d\d$/;
  fc.assert(
    fc.property(inputArb, (input) => {
      const priced: Priced = price(input);
      ties(priced.totals, priced.lines);
      ties(
        priced.books,
        priced.lines.map((line) => line.eur),
      );
      expect(compare(sum(priced.lines.map((line) => line.withholdingAmount)), priced.totals.withholding)).toBe(0);
      priced.lines.forEach((line, index) => {
        expect(line.number).toBe(index + 1);
        for (const amount of [
          line.gross,
          line.net,
          line.tax,
          line.discountAmount,
          line.withholdingAmount,
          line.eur.net,
          line.eur.tax,
          line.eur.discountAmount,
        ]) {
          expect(amount).toMatch(money);
        }
        expect(line.unitNet).toMatch(/^(?:0|[1-9]\d*)\.\d{2,6}$/);
        expect(compare(add(line.net, line.discountAmount), line.gross)).toBe(0);
        if (input.currency === 'EUR')
          expect(line.eur).toMatchObject({ net: line.net, tax: line.tax, unitNet: line.unitNet });
        const key = (other: typeof line) =>
          `${other.region} ${other.taxCode} ${other.rate} ${other.exemptionCode ?? ''}`;
        const group = priced.totals.groups.find((g) => key({ ...line, ...g }) === key(line));
        const parts = priced.lines.filter((other) => key(other) === key(line)).map((other) => other.tax);
        expect(compare(sum(parts), group!.tax)).toBe(0);
      });
      const before = add(priced.totals.net, priced.globalDiscountAmount);
      if (input.globalDiscount === undefined) expect(priced.globalDiscountAmount).toBe('0.00');
      if (input.globalDiscount?.type === 'AMOUNT')
        expect(compare(priced.globalDiscountAmount, input.globalDiscount.value)).toBe(0);
      expect(compare(before, priced.netBeforeDiscount)).toBeLessThanOrEqual(0);
    }),
    { numRuns: 300 },
  );
});

test('a 100 % discount of either kind leaves nothing', () => {
  fc.assert(
    fc.property(inputArb, (input) => {
      const plain = { ...input, globalDiscount: undefined };
      const all: Discount[] = [
        { type: 'PERCENT', value: '100' },
        { type: 'AMOUNT', value: price(plain).totals.net },
      ];
      for (const globalDiscount of all) {
        expect(price({ ...input, globalDiscount }).books).toMatchObject({
          net: '0.00',
          tax: '0.00',
          gross: '0.00',
          toPay: '0.00',
        });
      }
    }),
    { numRuns: 100 },
  );
});

test('the order of the lines changes no group', () => {
  const sorted = (totals: Totals) => [...totals.groups].map((group) => JSON.stringify(group)).sort();
  fc.assert(
    fc.property(inputArb, fc.infiniteStream(fc.nat()), (input, chance) => {
      fc.pre(input.globalDiscount?.type !== 'AMOUNT');
      const turned = input.lines
        .map((line) => ({ line, at: chance.next().value as number }))
        .sort((a, b) => a.at - b.at);
      const other = price({ ...input, lines: turned.map(({ line }) => line) });
      const first = price(input);
      expect(sorted(other.totals)).toEqual(sorted(first.totals));
      expect(sorted(other.books)).toEqual(sorted(first.books));
      expect(other.totals.withholding).toBe(first.totals.withholding);
    }),
    { numRuns: 200 },
  );
});

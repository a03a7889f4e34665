/**
 * Histories as fast-check draws and shrinks them: wishes, which become acts only when it is known what there is (a
 * payment of "one cent more than is outstanding" of "some document that waits for one").
 */
import fc from 'fast-check';
import { customers, type DocumentType, items, type Region } from './catalogue.ts';
import type { Line, Off } from './money.ts';

/** What happens to the connection while a request is under way. */
export type Harm = 'none' | 'hang up' | 'kill';

/** Which document: mostly one that the act is apt for. */
export interface Pick {
  readonly isApt: boolean;
  readonly nth: number;
}

export type AmountWish = 'all' | 'exactly' | 'a cent more' | 'nothing' | 'a cent' | { readonly permille: number };
export type QuantityWish = 'what is open' | 'more' | { readonly permille: number };

/** Days from today. */
type DayWish = number | undefined;

export interface DraftWish {
  readonly type: DocumentType;
  readonly customer: number;
  readonly lines: readonly Line[];
  readonly off: Off | undefined;
  readonly date: DayWish;
  readonly due: DayWish;
  readonly parent: Pick | undefined;
  readonly reason: boolean;
}

type NoteWish = readonly { readonly line: number; readonly quantity: QuantityWish }[];

export type Wish =
  | { readonly kind: 'create'; readonly draft: DraftWish }
  | {
      readonly kind: 'patch';
      readonly on: Pick;
      readonly parts: number;
      readonly draft: DraftWish;
      readonly note: NoteWish;
    }
  | { readonly kind: 'delete'; readonly on: Pick }
  | { readonly kind: 'issue'; readonly on: Pick; readonly isStale: boolean }
  | { readonly kind: 'pay'; readonly on: Pick; readonly amount: AmountWish; readonly date: DayWish }
  | {
      readonly kind: 'credit';
      readonly on: Pick;
      readonly items: NoteWish | undefined;
      readonly issue: boolean;
      readonly date: DayWish;
    }
  | { readonly kind: 'cancel'; readonly on: Pick }
  | { readonly kind: 'read'; readonly on: Pick }
  | { readonly kind: 'again'; readonly act: number; readonly isOther: boolean }
  | { readonly kind: 'day' };

export interface Step {
  readonly wish: Wish;
  readonly harm: Harm;
  /** Milliseconds from sending to the harm. */
  readonly after: number;
  /** Sent at the same time as the next one. */
  readonly isTogether: boolean;
  /** Which of the two services. */
  readonly at: 0 | 1;
}

export interface History {
  readonly region: Region;
  /** Drafts to begin with, some of them issued. */
  readonly openings: readonly { readonly draft: DraftWish; readonly isIssued: boolean }[];
  readonly steps: readonly Step[];
}

/** So many to one; shrinks to the first. */
function mostly<T>(...choices: readonly [weight: number, fc.Arbitrary<T>][]): fc.Arbitrary<T> {
  return fc.oneof({ withCrossShrink: true }, ...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}
const just = fc.constant;
const often = (percent: number): fc.Arbitrary<boolean> => mostly([100 - percent, just(false)], [percent, just(true)]);
const maybe = <T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  mostly<T | undefined>([100 - percent, just(undefined)], [percent, arbitrary]);

const pick: fc.Arbitrary<Pick> = fc.record({ isApt: mostly([88, just(true)], [12, just(false)]), nth: fc.nat(7) });
const day = mostly<DayWish>([82, just(undefined)], [8, just(0)], [7, fc.integer({ min: -3, max: -1 })], [3, just(1)]);
const due = mostly<DayWish>([60, just(undefined)], [30, fc.nat(40)], [10, fc.integer({ min: -5, max: -1 })]);
const quantity = mostly(
  [40, just(1_000)],
  [25, fc.integer({ min: 1, max: 9 }).map((n) => n * 1_000)],
  [25, fc.integer({ min: 1, max: 5_000 })],
  [3, just(100_000_000)],
);
const line: fc.Arbitrary<Line> = fc
  .record({
    item: fc.nat(items.length - 1),
    quantity,
    price: maybe(25, mostly([4, fc.integer({ min: 1, max: 2_000_000 })], [1, just(1)], [1, just(0)])),
    off: maybe(
      25,
      mostly<{ percent: number } | { permille: number }>(
        [3, fc.record({ percent: fc.nat(10_000) })],
        [2, fc.record({ permille: fc.nat(1_000) })],
      ),
    ),
  })
  .map(({ off, ...rest }) => ({
    ...rest,
    off: off === undefined || 'percent' in off ? off : eachOf(rest, off.permille),
  }));

/** Cents per unit, never more than it costs. */
function eachOf({ item, price }: { item: number; price: number | undefined }, permille: number): { each: number } {
  return { each: Math.floor(((price ?? items[item]!.price) * permille) / 100_000) };
}

const off = maybe(
  20,
  mostly<Off>(
    [3, fc.record({ percent: fc.nat(10_000) })],
    [4, fc.record({ amount: fc.nat(3_000) })],
    [1, just({ percent: 10_000 })],
  ),
);
const draftOf = (type: fc.Arbitrary<DocumentType>): fc.Arbitrary<DraftWish> =>
  fc.record({
    type,
    customer: fc.nat(customers.length - 1),
    lines: fc.array(line, { minLength: 1, maxLength: 4 }),
    off,
    date: day,
    due,
    parent: maybe(92, pick),
    reason: often(92),
  });
const salesType = mostly<DocumentType>(
  [6, just('INVOICE')],
  [2, just('SIMPLIFIED_INVOICE')],
  [2, just('INVOICE_RECEIPT')],
);
const anyType = mostly<DocumentType>(
  [12, salesType],
  [6, just('DEBIT_NOTE')],
  [1, just('CREDIT_NOTE')],
  [1, just('RECEIPT')],
);
const permille = fc.record({ permille: fc.integer({ min: 1, max: 999 }) });
const noteItems = fc.array(
  fc.record({
    line: fc.nat(5),
    quantity: mostly<QuantityWish>([4, permille], [4, just('what is open')], [1, just('more')]),
  }),
  { minLength: 1, maxLength: 3 },
);
const amount = mostly<AmountWish>(
  [5, just('all')],
  [5, permille],
  [3, just('exactly')],
  [3, just('a cent more')],
  [1, just('a cent')],
  [1, just('nothing')],
);

const wish = mostly<Wish>(
  [8, fc.record({ kind: just('create' as const), draft: draftOf(anyType) })],
  [14, fc.record({ kind: just('issue' as const), on: pick, isStale: often(10) })],
  [16, fc.record({ kind: just('pay' as const), on: pick, amount, date: day })],
  [
    14,
    fc.record({ kind: just('credit' as const), on: pick, items: maybe(65, noteItems), issue: often(75), date: day }),
  ],
  [11, fc.record({ kind: just('cancel' as const), on: pick })],
  [
    8,
    fc.record({
      kind: just('patch' as const),
      on: pick,
      parts: fc.integer({ min: 1, max: 15 }),
      draft: draftOf(salesType),
      note: noteItems,
    }),
  ],
  [4, fc.record({ kind: just('delete' as const), on: pick })],
  [9, fc.record({ kind: just('again' as const), act: fc.nat(12), isOther: often(30) })],
  [3, fc.record({ kind: just('read' as const), on: pick })],
  [5, fc.record({ kind: just('day' as const) })],
);

const step: fc.Arbitrary<Step> = fc.record({
  wish,
  harm: mostly<Harm>([1_050, just('none')], [150, just('hang up')], [3, just('kill')]),
  after: fc.nat(9),
  isTogether: often(15),
  at: fc.constantFrom(0, 1),
});

/** One history of about a dozen acts, of a few documents. */
export const history: fc.Arbitrary<History> = fc.noBias(
  fc.record({
    region: fc.constantFrom<Region>('PT', 'PT-AC', 'PT-MA'),
    openings: fc.array(fc.record({ draft: draftOf(salesType), isIssued: often(75) }), {
      minLength: 1,
      maxLength: 3,
      size: 'max',
    }),
    steps: fc.array(step, { minLength: 1, maxLength: 18, size: 'max' }),
  }),
);

/**
 * Payments: what of a document a payment settles. Everything is taken from what is still open, in proportion, and the
 * payment that closes the document takes all that is left, so that the receipts of an invoice (with its credit notes)
 * sum to it to the cent: net, tax, gross and withholding (VAT page, section 4; documents page, section 7).
 */
import {
  add,
  compare,
  divide,
  excess,
  isZero,
  multiply,
  percentOf,
  round2,
  smaller,
  subtract,
  sum,
} from './decimal.ts';
import type { Decimal, TaxGroup, Totals, WithholdingGroup } from './document.ts';
import { assert } from './refusal.ts';
import { spread, spreadRates } from './spread.ts';
import { rateKey, sharesOf, withholdingKey } from './tax-groups.ts';

const cent = '0.01';

/** What is open of a document in one currency. Never negative: where notes and receipts overlap, 0. */
export interface Open {
  readonly net: Decimal;
  readonly tax: Decimal;
  readonly gross: Decimal;
  readonly withholding: Decimal;
  /** gross − withholding: what is still to be received. */
  readonly toPay: Decimal;
  readonly groups: readonly TaxGroup[];
  readonly withholdings: readonly WithholdingGroup[];
  /** What `gross` is taxed with as the document was, rate by rate, six decimals: `tax` without what roundings left of it. */
  readonly fairTax: Decimal;
}

/** What is open of `totals` after the active receipts and credit notes before. */
export function openOf(totals: Totals, before: readonly Totals[]): Open {
  const toPay = rest(
    totals.toPay,
    before.map((part) => part.toPay),
  );
  const withholding = rest(
    totals.withholding,
    before.map((part) => part.withholding),
  );
  const tax = rest(
    totals.tax,
    before.map((part) => part.tax),
  );
  const gross = round2(add(toPay, withholding));
  const groups = tied(restOfRates(totals, before), totals.groups, gross, smaller(tax, gross));
  const openTax = round2(sum(groups.map((group) => group.tax)));
  const takenOf = sharesOf(
    before.flatMap((part) => part.withholdings),
    withholdingKey,
    (group) => group.amount,
  );
  const withholdings = totals.withholdings.map((group) => {
    const taken = takenOf(withholdingKey(group));
    return { ...group, base: rest(group.base, [taken.base]), amount: rest(group.amount, [taken.amount]) };
  });
  return {
    toPay,
    withholding,
    tax: openTax,
    gross,
    net: round2(subtract(gross, openTax)),
    groups,
    withholdings: tiedWithholdings(withholdings, withholding),
    fairTax: sum(groups.map((group, i) => taxWithin(add(group.base, group.tax), totals.groups[i]!))),
  };
}

/** What `gross` of a rate is taxed with, as all of it was. */
function taxWithin(gross: Decimal, { base, tax }: TaxGroup): Decimal {
  return divide(multiply(gross, tax), nonZero(add(base, tax)), 6);
}

function restOfRates(totals: Totals, before: readonly Totals[]): readonly TaxGroup[] {
  const takenOf = sharesOf(
    before.flatMap((part) => part.groups),
    rateKey,
    (group) => group.tax,
  );
  return totals.groups.map((group) => {
    const taken = takenOf(rateKey(group));
    return { ...group, base: rest(group.base, [taken.base]), tax: rest(group.tax, [taken.amount]) };
  });
}

/**
 * Open groups that make what is open, with the tax of their rates, within a cent for each: a receipt that tells another
 * tax is refused (SAF-T page, sections 7 and 9). They do already, but where a note took more of a rate than payments,
 * which settle all rates in proportion, had left of it, or where the cents of many notes add up. What was paid of a rate
 * then pays for the others: what is open is spread over them. Where nothing is left of any rate it is of all.
 */
function tied(
  open: readonly TaxGroup[],
  whole: readonly TaxGroup[],
  gross: Decimal,
  tax: Decimal,
): readonly TaxGroup[] {
  const base = sum(open.map((group) => group.base));
  const levied = sum(open.map((group) => group.tax));
  if (compare(add(base, tax), gross) === 0 && compare(levied, tax) === 0 && isFair(open, tax)) return open;
  const from = isZero(base) ? whole : open;
  const shares = spread(
    from.map((group) => add(group.base, group.tax)),
    gross,
  );
  return from.map((group, i) => {
    const share = shares[i]!;
    const levy = round2(divide(multiply(share, group.rate), add('100', group.rate), 2));
    return { ...group, base: round2(subtract(share, levy)), tax: levy };
  });
}

/** Whether the tax is that of the rates, within a cent for each. */
function isFair(groups: readonly TaxGroup[], tax: Decimal): boolean {
  const told = groups.filter(({ base }) => !isZero(base));
  const levied = sum(told.map(({ base, rate }) => round2(percentOf(rate, base))));
  const most = multiply(cent, String(told.length));
  return compare(excess(levied, tax), most) <= 0 && compare(excess(tax, levied), most) <= 0;
}

/** What is open of each kind makes what is withheld of what is open, or more, where a note took more of a kind than was left. */
function tiedWithholdings(open: readonly WithholdingGroup[], withholding: Decimal): readonly WithholdingGroup[] {
  const amounts = spread(
    open.map((group) => group.amount),
    withholding,
  );
  return open.map((group, i) => ({ ...group, amount: amounts[i]! }));
}

/**
 * The part of what is open that a payment of `amount` (received, after withholding) settles; `amount` is above 0 and at
 * most `open.toPay`. The result's toPay is exactly `amount`.
 */
export function settledPart(open: Open, amount: Decimal): Totals {
  assert(compare(amount, '0') > 0 && compare(amount, open.toPay) <= 0, 'a payment is above 0 and at most what is open');
  return partOf(open, amount, open.toPay);
}

/**
 * The same part in another currency's books: what `amount` of `whole` is there. Rates and withholdings of which nothing
 * is taken are not among its groups: a receipt does not tell them.
 */
export function partOf(open: Open, amount: Decimal, whole: Decimal): Totals {
  return withoutEmpty(compare(amount, whole) === 0 ? open : proportionOf(open, amount, whole));
}

/**
 * What a payment that settles `paid` of a document settles in the books, of which `open.books` is left. It tells a rate at
 * least: a payment of less than half a cent in euros is one of 0.00 at the rate that most of it is of, since a receipt of
 * the cash VAT scheme has a line, and each of its lines a tax (SAF-T page, sections 7 and 8).
 */
export function bookedPart(open: { readonly totals: Open; readonly books: Open }, paid: Totals): Totals {
  const part = partOf(open.books, paid.toPay, open.totals.toPay);
  if (part.groups.length > 0) return part;
  const most = paid.groups.reduce((best, group) => (compare(group.base, best.base) > 0 ? group : best));
  return { ...part, groups: [{ ...most, base: '0.00', tax: '0.00' }] };
}

function withoutEmpty({ net, tax, gross, withholding, toPay, ...part }: Totals): Totals {
  return {
    net,
    tax,
    gross,
    withholding,
    toPay,
    groups: part.groups.filter(({ base, tax }) => !(isZero(base) && isZero(tax))),
    withholdings: part.withholdings.filter(({ base, amount }) => !(isZero(base) && isZero(amount))),
  };
}

function proportionOf(open: Open, amount: Decimal, whole: Decimal): Totals {
  const share = (value: Decimal): Decimal => round2(divide(multiply(value, amount), whole, 2));
  const toPay = compare(whole, open.toPay) === 0 ? round2(amount) : share(open.toPay);
  const withholding = share(open.withholding);
  const gross = round2(add(toPay, withholding));
  const withheld = spread(
    open.withholdings.map((group) => group.amount),
    withholding,
  );
  const tax = taxOf(open, gross);
  const net = round2(subtract(gross, tax));
  return {
    net,
    tax,
    gross,
    withholding,
    toPay,
    groups: spreadRates(open.groups, net, tax),
    withholdings: open.withholdings.map((group, i) => ({ ...group, base: share(group.base), amount: withheld[i]! })),
  };
}

/**
 * What a payment of `gross` tells of the tax: so much that what is left of it is what the rest is fairly taxed with, and no
 * cents add up for the last payment however many there are before it; but within a cent of its own fair tax.
 */
function taxOf(open: Open, gross: Decimal): Decimal {
  const fairOf = (part: Decimal): Decimal => divide(multiply(open.fairTax, part), nonZero(open.gross), 6);
  const fair = fairOf(gross);
  const tax = excess(open.tax, round2(fairOf(excess(open.gross, gross))));
  const [least, most] = [excess(fair, cent), add(fair, cent)];
  if (compare(tax, least) < 0 || compare(tax, most) > 0) return smaller(smaller(round2(fair), open.tax), gross);
  return round2(smaller(tax, gross));
}

function rest(whole: Decimal, parts: readonly Decimal[]): Decimal {
  const used = sum(parts);
  return round2(compare(used, whole) >= 0 ? '0' : subtract(whole, used));
}

const nonZero = (a: Decimal): Decimal => (isZero(a) ? '1' : a);

/**
 * How net and tax of a part (a payment, or what is left after one) spread over the rates that are open: in proportion, in
 * whole cents. A rate of which no base is taken gives no tax, and one whose base is taken whole gives all of its tax, so
 * that no receipt tells tax of nothing, now or when the rest is paid.
 */
import { add, compare, divide, excess, isZero, larger, multiply, round2, smaller, subtract, sum } from './decimal.ts';
import type { Decimal, TaxGroup } from './document.ts';
import { assert } from './refusal.ts';

/** What each share may be, at least and at most. */
interface Bounds {
  readonly least: Decimal;
  readonly most: Decimal;
}

const cent = '0.01';

/**
 * The rates with the base and the tax that a part takes of them: `net` and `tax` together, none more than it has; they
 * are no more than all have. Only where all bases are too small for it (a payment of a cent) tax stands without base.
 */
export function spreadRates(open: readonly TaxGroup[], net: Decimal, tax: Decimal): TaxGroup[] {
  const bases = spread(
    open.map((group) => group.base),
    net,
  );
  const candidates = [() => bases, () => basesThatBear(open, net)];
  for (const candidate of candidates) {
    const found = candidate();
    const taxes = found && taxesOf(open, found, tax);
    if (found !== undefined && taxes !== undefined) return rated(open, found, taxes);
  }
  return rated(open, bases, taxesAnyhow(open, bases, tax));
}

const rated = (open: readonly TaxGroup[], bases: readonly Decimal[], taxes: readonly Decimal[]): TaxGroup[] =>
  open.map((group, i) => ({ ...group, base: bases[i]!, tax: taxes[i]! }));

/** A cent of each taxed rate at least, and a cent less than all of it at most: whatever its tax is then can be borne. */
function basesThatBear(open: readonly TaxGroup[], net: Decimal): Decimal[] | undefined {
  const bounds = open.map(({ base, tax }): Bounds => {
    const isDivisible = !isZero(tax) && compare(base, cent) > 0;
    return isDivisible ? { least: cent, most: subtract(base, cent) } : { least: '0', most: base };
  });
  return spreadWithin(
    open.map((group) => group.base),
    net,
    bounds,
  );
}

/** In proportion to what the bases would be taxed with. Undefined: these bases can't bear it. */
function taxesOf(open: readonly TaxGroup[], bases: readonly Decimal[], tax: Decimal): Decimal[] | undefined {
  const bounds = open.map((group, i): Bounds => {
    const base = bases[i]!;
    if (isZero(base)) return { least: '0', most: '0' };
    return { least: compare(base, group.base) === 0 ? group.tax : '0', most: group.tax };
  });
  return spreadWithin(owed(open, bases), tax, bounds);
}

const owed = (open: readonly TaxGroup[], bases: readonly Decimal[]): Decimal[] =>
  open.map(({ base, tax }, i) => (isZero(base) ? '0' : divide(multiply(tax, bases[i]!), base, 6)));

/** Where some rate gives tax without base: one of which no base is taken weighs nothing, and bears what the others can't. */
function taxesAnyhow(open: readonly TaxGroup[], bases: readonly Decimal[], tax: Decimal): Decimal[] {
  const bounds = open.map((group): Bounds => ({ least: '0', most: group.tax }));
  const taxes = spreadWithin(owed(open, bases), tax, bounds);
  assert(taxes !== undefined, 'a part has no more tax than is open');
  return taxes;
}

/** Running-total rounding: each share is the growth of the rounded proportion, so they sum exactly and are never negative. */
export function spread(values: readonly Decimal[], amount: Decimal): Decimal[] {
  const total = sum(values);
  let running = '0';
  let given = '0';
  return values.map((value) => {
    running = add(running, value);
    const upTo = proportion(amount, running, total);
    const share = round2(subtract(upTo, given));
    given = upTo;
    return share;
  });
}

/** The same, each share within its bounds; undefined where they leave no room for the amount. */
function spreadWithin(weights: readonly Decimal[], amount: Decimal, bounds: readonly Bounds[]): Decimal[] | undefined {
  let least = sum(bounds.map((bound) => bound.least));
  let most = sum(bounds.map((bound) => bound.most));
  if (compare(amount, least) < 0 || compare(amount, most) > 0) return undefined;
  const total = sum(weights);
  let running = '0';
  let given = '0';
  return weights.map((weight, i) => {
    const own = bounds[i]!;
    running = add(running, weight);
    least = subtract(least, own.least);
    most = subtract(most, own.most);
    const left = subtract(amount, given);
    const fair = excess(proportion(amount, running, total), given);
    const share = smaller(
      larger(fair, larger(own.least, excess(left, most))),
      smaller(own.most, subtract(left, least)),
    );
    given = add(given, share);
    return round2(share);
  });
}

const proportion = (amount: Decimal, part: Decimal, whole: Decimal): Decimal =>
  isZero(whole) ? '0' : round2(divide(multiply(amount, part), whole, 2));

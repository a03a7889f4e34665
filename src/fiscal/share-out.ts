import { compare, divide, isZero, multiply, round2, subtract } from './decimal.ts';
import type { Decimal } from './document.ts';

/**
 * An amount (2 decimals) shared over lines in proportion to their values (2 decimals), in whole cents; `amount` is at
 * most the sum of the values. Each share is rounded half up and the last line takes the residue, but no share takes
 * more than is left or leaves more than the lines after it can bear: 0.50 over a hundred lines of 0.01 is still possible.
 */
export function shareOut(amount: Decimal, values: readonly Decimal[], total: Decimal): readonly Decimal[] {
  let left = amount;
  let behind = total;
  return values.map((value) => {
    behind = subtract(behind, value);
    const share = bounded(proportion(amount, value, total), excess(left, behind), left);
    left = subtract(left, share);
    return round2(share);
  });
}

/** A total of 0 has only values of 0, and nothing to share. */
function proportion(amount: Decimal, value: Decimal, total: Decimal): Decimal {
  return isZero(total) ? '0' : divide(multiply(amount, value), total, 2);
}

function bounded(share: Decimal, least: Decimal, most: Decimal): Decimal {
  if (compare(share, least) < 0) return least;
  return compare(share, most) > 0 ? most : share;
}

function excess(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) > 0 ? subtract(a, b) : '0';
}

import { compare, divide, excess, isZero, multiply, round2, smaller, subtract, sum } from './decimal.ts';
import type { Decimal } from './document.ts';

/**
 * An amount (2 decimals) shared over lines in proportion to their exact values, in whole cents; `amount` is at most the
 * sum of the values as they are without it, rounded to cents. Each share is rounded half up and the last line takes the
 * residue, but no share takes more than its line has or than is left, or leaves more than the lines after it can bear: 0.50
 * over a hundred lines of 0.01 is still possible.
 */
export function shareOut(amount: Decimal, values: readonly Decimal[]): readonly Decimal[] {
  const total = sum(values);
  const rooms = values.map(round2);
  let left = amount;
  let behind = sum(rooms);
  return values.map((value, i) => {
    const room = rooms[i]!;
    behind = subtract(behind, room);
    const share = bounded(proportion(amount, value, total), excess(left, behind), smaller(left, room));
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
  return smaller(share, most);
}

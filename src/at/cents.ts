/** Money with two decimals as whole cents: sums of the AT's messages need no more, and a bigint is exact. */
import type { Decimal } from '../fiscal/document.ts';

/** "1230.5" → 123050n. Throws on a sign, an exponent or more than two decimals. */
export function cents(amount: Decimal): bigint {
  const found = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount);
  if (found === null) throw new Error('assertion failed: an amount of money has at most two decimals and no sign');
  return BigInt(`${found[1]}${(found[2] ?? '').padEnd(2, '0')}`);
}

/** 123050n → "1230.50". */
export function money(value: bigint): Decimal {
  if (value < 0n) throw new Error('assertion failed: an amount of money is not negative');
  const digits = value.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

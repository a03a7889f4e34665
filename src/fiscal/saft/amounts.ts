/**
 * Exact sums over very many amounts: whole numbers of 10⁻⁸ as bigint, since a big.js object per line would take longer
 * than writing or checking the line itself. Prices have at most 6 decimals here, elsewhere seldom more than 8; of unit prices more are read.
 */
import type { Decimal } from '../document.ts';

const places = 8;
const scale = 10n ** BigInt(places);
/** Characters of an amount that is read: each sum that a longer one goes into would be as long. */
export const longest_amount = 100;
/** What the schema's xs:decimal allows of a non-negative number, spaces collapsed. */
const decimalText = /^\+?(\d*)(?:\.(\d*))?$/;

/** One cent. */
export const cent = scale / 100n;

/**
 * "1230.5" → 123050000000n. Decimals beyond the eighth (or `kept`) are cut. Undefined for what is no non-negative decimal, or
 * too long.
 */
export function unitsOf(text: string, kept = places): bigint | undefined {
  const found = text.length > longest_amount ? null : decimalText.exec(text);
  if (found === null) return undefined;
  const [, whole = '', fraction = ''] = found;
  if (whole === '' && fraction === '') return undefined;
  return BigInt(whole + (fraction.length > kept ? fraction.slice(0, kept) : fraction.padEnd(kept, '0')));
}

/** Exact text, with at least two decimals and no zeros behind those. */
export function unitsText(units: bigint): Decimal {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '').padEnd(2, '0');
  return `${sign}${digits.slice(0, -places)}.${fraction}`;
}

/** Decimals of a price that are read: more than any program's numbers have. */
const price_places = 20;
const priceScale = 10n ** BigInt(price_places);

/** `quantity` × the price that `text` says, rounded down to 10⁻⁸. Undefined for what is no price. */
export function priced(quantity: bigint, text: string): bigint | undefined {
  const price = unitsOf(text, price_places);
  return price === undefined ? undefined : (quantity * price) / priceScale;
}

/** The distance between two amounts. */
export function apart(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

/**
 * Decimal text of at most fifteen digits as a whole number of its last decimal place, which a double holds exactly. Nearly
 * all amounts of a document are of that kind, and so are calculated without an object for each (decisions/0006).
 */
import type { Decimal } from './document.ts';

/** Digits that surely fit a double, whatever they are. */
const most_digits = 15;
const [digit_0, digit_9] = [48, 57];
export const point = 46;
const powers = Array.from({ length: most_digits + 1 }, (_, exponent) => 10 ** exponent);

/** Stands for "does not fit": whoever gets it calculates with big.js. */
export const unfit = -1;

/** Decimals of what `read` has read last: an object for both would be half its price. */
export let scale = 0;

/** The number without its point; its decimals are in `scale`. `unfit`: too long, or not decimal text. */
export function read(text: Decimal): number {
  const { length } = text;
  if (length > most_digits + 1 || length === 0) return unfit;
  let value = 0;
  let from = length;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code >= digit_0 && code <= digit_9) value = value * 10 + (code - digit_0);
    else if (code === point && from === length && at > 0 && at < length - 1) from = at + 1;
    else return unfit;
  }
  if (from === length && length > most_digits) return unfit;
  scale = length - from;
  return value;
}

/** value × 10^places; `unfit` when a double does not hold it. */
export function shifted(value: number, places: number): number {
  if (places > most_digits) return value === 0 ? 0 : unfit;
  return fitting(value * powers[places]!);
}

/** A whole number that was calculated from such: itself while it is exact. */
export function fitting(value: number): number {
  return value <= Number.MAX_SAFE_INTEGER && value >= 0 ? value : unfit;
}

/**
 * n ÷ d rounded half up, of whole numbers that fit, d above zero. The quotient of two such doubles is never rounded up to the
 * next whole number: where n = qd − 1, it lies 1/d ≥ q/2^53 below q, which is more than half the way to its neighbour.
 */
export function rounded(n: number, d: number): number {
  const quotient = Math.floor(n / d);
  const rest = n - quotient * d;
  return rest >= d - rest ? quotient + 1 : quotient;
}

/** Without trailing zeros. */
export function written(value: number, decimals: number): Decimal {
  let [digits, places] = [value, decimals];
  while (places > 0 && digits % 10 === 0) {
    digits /= 10;
    places -= 1;
  }
  return writtenFixed(digits, places);
}

/** With exactly so many decimals. */
export function writtenFixed(value: number, decimals: number): Decimal {
  if (decimals === 0) return String(value);
  const digits = String(value).padStart(decimals + 1, '0');
  const whole = digits.length - decimals;
  return `${digits.slice(0, whole)}.${digits.slice(whole)}`;
}

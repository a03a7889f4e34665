/**
 * Exact decimal arithmetic on text. Money, quantities, rates and percentages live as decimal text everywhere; this file
 * is the only one that knows big.js, which calculates what is too long for small-decimal.ts. Nothing here rounds unless
 * its name or its docstring says so, and rounding is always half away from zero (all values are non-negative, so: half
 * up).
 *
 * Binary floats are not an option: Despacho 8632/2014, 3.2.3 asks for more than two decimals inside and an exact total.
 */
import { Big } from 'big.js';
import type { Decimal } from './document.ts';
import { assert } from './refusal.ts';
import { fitting, point, read, rounded, scale, shifted, unfit, written, writtenFixed } from './small-decimal.ts';

/** Our own constructor, so that no other user of big.js can change our rounding (1 = half up). */
const Exact = Big();
Exact.RM = 1;

/** Division needs the number of decimals on the constructor; one per asked precision. */
const dividers: ReturnType<typeof Big>[] = [];

/** a + b, exact. */
export function add(a: Decimal, b: Decimal): Decimal {
  const [left, right, places] = aligned(a, b);
  const result = left === unfit || right === unfit ? unfit : fitting(left + right);
  return result === unfit ? new Exact(a).plus(b).toFixed() : written(result, places);
}

/** a − b, exact. A negative result is a fault of ours: no amount in the books is below zero. */
export function subtract(a: Decimal, b: Decimal): Decimal {
  const [left, right, places] = aligned(a, b);
  if (left !== unfit && right !== unfit && left >= right) return written(left - right, places);
  const result = new Exact(a).minus(b);
  assert(result.s === 1 || result.c[0] === 0, `negative amount: ${a} - ${b}`);
  return result.abs().toFixed();
}

/** a × b, exact. */
export function multiply(a: Decimal, b: Decimal): Decimal {
  return product(a, b, 0) ?? new Exact(a).times(b).toFixed();
}

/** a ÷ b rounded to `places` decimals; b above zero. */
export function divide(a: Decimal, b: Decimal, places: number): Decimal {
  const n = read(a);
  const decimalsOfA = scale;
  const d = read(b);
  if (n !== unfit && d > 0) {
    const up = places + scale - decimalsOfA;
    const [over, under] = up >= 0 ? [shifted(n, up), d] : [n, shifted(d, -up)];
    if (over !== unfit && under !== unfit) return writtenFixed(rounded(over, under), places);
  }
  let divider = dividers[places];
  if (divider === undefined) {
    divider = Big();
    divider.RM = 1;
    divider.DP = places;
    dividers[places] = divider;
  }
  return new divider(a).div(b).toFixed(places);
}

/** The sum of any number of values, exact; "0" of none. */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = '0';
  for (const value of values) total = add(total, value);
  return total;
}

/** `percent` % of `amount`, exact. */
export function percentOf(percent: Decimal, amount: Decimal): Decimal {
  return product(amount, percent, 2) ?? new Exact(amount).times(percent).times('0.01').toFixed();
}

/** −1, 0 or 1 as a is below, equal to or above b: "1.0" equals "1". */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const [left, right] = aligned(a, b);
  if (left === unfit || right === unfit) return new Exact(a).cmp(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The one of the two that is not below the other; b where they are equal. */
export function larger(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) > 0 ? a : b;
}

/** The one of the two that is not above the other; a where they are equal. */
export function smaller(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) > 0 ? b : a;
}

/** What a is above b, exact; "0" where it is not. */
export function excess(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) > 0 ? subtract(a, b) : '0';
}

/** Whether it is 0, however it is written. */
export function isZero(a: Decimal): boolean {
  return /^[0.]*$/.test(a);
}

/** Rounded to, and written with, exactly `places` decimals. */
export function fixed(a: Decimal, places: number): Decimal {
  const value = read(a);
  const more = places - scale;
  const result = value === unfit ? unfit : more > 0 ? shifted(value, more) : rounded(value, 10 ** -more);
  return result === unfit ? new Exact(a).toFixed(places) : writtenFixed(result, places);
}

/** Rounded to money: exactly two decimals, half away from zero. */
export function round2(a: Decimal): Decimal {
  // Most amounts come here with two decimals already; parsing them again would be half the time of pricing a document.
  return a.charCodeAt(a.length - 3) === point ? a : fixed(a, 2);
}

/** The same value without trailing zeros, but with at least `least` decimals. Never rounds. */
export function trimmed(a: Decimal, least = 0): Decimal {
  const value = read(a);
  const short = value === unfit ? new Exact(a).toFixed() : written(value, scale);
  return decimals(short) >= least ? short : fixed(short, least);
}

/** How many decimals the value has, trailing zeros not counted. */
export function decimals(a: Decimal): number {
  const start = a.indexOf('.');
  if (start < 0) return 0;
  let end = a.length;
  while (a[end - 1] === '0') end -= 1;
  return end - start - 1;
}

/** How many decimals a JSON number has when written without exponent, sign ignored: 1e-7 has 7. */
export function decimalsOf(value: number): number {
  return Number.isFinite(value) ? decimals(fromNumber(Math.abs(value))) : 0;
}

/** A JSON number (finite, not negative) as decimal text without exponent: 1e-7 is "0.0000001". */
export function fromNumber(value: number): Decimal {
  assert(Number.isFinite(value) && value >= 0, 'not a non-negative number');
  const text = String(value);
  return text.includes('e') ? new Exact(text).abs().toFixed() : text;
}

/** For replies only: the nearest JSON number. Exact up to 15 significant digits, which every stored amount stays below. */
export function toNumber(a: Decimal): number {
  return Number(a);
}

/** Both as whole numbers of the same decimal place, and how many decimals that is; `unfit` for what does not fit. */
function aligned(a: Decimal, b: Decimal): readonly [left: number, right: number, places: number] {
  const left = read(a);
  const decimalsOfA = scale;
  const right = read(b);
  if (left === unfit || right === unfit) return [unfit, unfit, 0];
  if (decimalsOfA === scale) return [left, right, scale];
  return decimalsOfA > scale
    ? [left, shifted(right, decimalsOfA - scale), decimalsOfA]
    : [shifted(left, scale - decimalsOfA), right, scale];
}

/** a × b ÷ 10^more, exact; undefined when it does not fit. */
function product(a: Decimal, b: Decimal, more: number): Decimal | undefined {
  const left = read(a);
  const decimalsOfA = scale;
  const right = read(b);
  const result = left === unfit || right === unfit ? unfit : fitting(left * right);
  return result === unfit ? undefined : written(result, decimalsOfA + scale + more);
}

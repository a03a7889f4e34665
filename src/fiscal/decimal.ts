/**
 * Exact decimal arithmetic on text. Money, quantities, rates and percentages live as decimal text everywhere; this file
 * is the only one that knows big.js. Nothing here rounds unless its name or its docstring says so, and rounding is
 * always half away from zero (all values are non-negative, so: half up).
 *
 * Binary floats are not an option: Despacho 8632/2014, 3.2.3 asks for more than two decimals inside and an exact total.
 */
import { Big } from 'big.js';
import type { Decimal } from './document.ts';
import { assert } from './refusal.ts';

const decimalText = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
const point = 46;
/** Our own constructor, so that no other user of big.js can change our rounding (1 = half up). */
const Exact = Big();
Exact.RM = 1;

/** Division needs the number of decimals on the constructor; one per asked precision. */
const dividers: ReturnType<typeof Big>[] = [];

/** Digits with an optional fraction: no sign, no exponent, no spaces, no leading zeros. */
export function isDecimal(value: unknown): value is Decimal {
  return typeof value === 'string' && decimalText.test(value);
}

/** The text itself when it is decimal text; anything else is a fault of ours (input is checked at the door). */
export function decimal(value: unknown): Decimal {
  assert(isDecimal(value), 'not decimal text');
  return value;
}

/** a + b, exact. */
export function add(a: Decimal, b: Decimal): Decimal {
  return new Exact(a).plus(b).toFixed();
}

/** a − b, exact. A negative result is a fault of ours: no amount in the books is below zero. */
export function subtract(a: Decimal, b: Decimal): Decimal {
  const result = new Exact(a).minus(b);
  assert(result.s === 1 || result.c[0] === 0, `negative amount: ${a} - ${b}`);
  return result.abs().toFixed();
}

/** a × b, exact. */
export function multiply(a: Decimal, b: Decimal): Decimal {
  return new Exact(a).times(b).toFixed();
}

/** a ÷ b rounded to `places` decimals; b above zero. */
export function divide(a: Decimal, b: Decimal, places: number): Decimal {
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
  let total = new Exact(0);
  for (const value of values) total = total.plus(value);
  return total.toFixed();
}

/** `percent` % of `amount`, exact. */
export function percentOf(percent: Decimal, amount: Decimal): Decimal {
  return new Exact(amount).times(percent).times('0.01').toFixed();
}

/** −1, 0 or 1 as a is below, equal to or above b: "1.0" equals "1". */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  return new Exact(a).cmp(b);
}

/** Whether it is 0, however it is written. */
export function isZero(a: Decimal): boolean {
  return /^[0.]*$/.test(a);
}

/** Rounded to, and written with, exactly `places` decimals. */
export function fixed(a: Decimal, places: number): Decimal {
  return new Exact(a).toFixed(places);
}

/** Rounded to money: exactly two decimals, half away from zero. */
export function round2(a: Decimal): Decimal {
  // Most amounts come here with two decimals already; parsing them again would be half the time of pricing a document.
  return a.charCodeAt(a.length - 3) === point ? a : new Exact(a).toFixed(2);
}

/** The same value without trailing zeros, but with at least `least` decimals. Never rounds. */
export function trimmed(a: Decimal, least = 0): Decimal {
  const short = new Exact(a).toFixed();
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
  return new Exact(String(value)).abs().toFixed();
}

/** For replies only: the nearest JSON number. Exact up to 15 significant digits, which every stored amount stays below. */
export function toNumber(a: Decimal): number {
  return Number(a);
}

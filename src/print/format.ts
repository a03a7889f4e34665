/**
 * Figures and dates as the paper shows them. European Portuguese for everyone: the figures of a fiscal document are
 * read by the tax authority too, so the language of the labels does not change them.
 *
 * In: exact decimal text and civil days (see fiscal/document.ts). Out: text for eyes. Nothing here rounds.
 */
import type { Day, Decimal } from '../fiscal/document.ts';
import { assert } from '../fiscal/refusal.ts';

/** U+202F, narrow no-break space: groups of thousands never break over two lines. */
const narrow = '\u202f';
/** U+00A0, between a figure and its unit. */
const space = '\u00a0';

/** "1234567.5" → "1 234 567,5"; at least `least` decimals (zeros are added), the others kept as they are. */
export function figure(value: Decimal, least = 0): string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(value);
  assert(match !== null, 'not decimal text');
  const whole = match[1]!.replace(/\B(?=(\d{3})+$)/g, narrow);
  const fraction = (match[2] ?? '').padEnd(least, '0');
  return fraction === '' ? whole : `${whole},${fraction}`;
}

/** Money in its currency: "1 234,56 €"; other currencies by their ISO 4217 code, "1 234,56 USD". */
export function money(value: Decimal, currency: string): string {
  return figure(value, 2) + space + (currency === 'EUR' ? '€' : currency);
}

/** A unit price: 2 decimals at least, at most what was agreed, without superfluous zeros: "0.550000" → "0,55". */
export function price(value: Decimal): string {
  return figure(trimmed(value), 2);
}

/** A quantity, rate or percentage without superfluous zeros: "2.50" → "2,5", "23.000000" → "23". */
export function quantity(value: Decimal): string {
  return figure(trimmed(value));
}

/** "23" → "23 %". */
export function percent(value: Decimal): string {
  return `${quantity(value)}${space}%`;
}

/** DD-MM-YYYY, one of the two forms that AT accepts on paper (documents and mentions: the document date). */
export function day(value: Day): string {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  assert(match !== null, 'not a civil day');
  return `${match[3]}-${match[2]}-${match[1]}`;
}

/** "2026-11-21T10:32:05" → "21-11-2026 10:32" (working documents print date and hour: DL 28/2019, article 7 no. 2). */
export function dayAndHour(value: string): string {
  return `${day(value.slice(0, 10))}${space}${value.slice(11, 16)}`;
}

function trimmed(value: Decimal): Decimal {
  return value.includes('.') ? value.replace(/\.?0+$/, '') : value;
}

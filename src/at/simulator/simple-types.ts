/** Simple types of XML Schema (part 2, second edition) as far as the AT's schemas use them. */
import { isDay } from '../../fiscal/time.ts';
import type { Simple } from './structure.ts';

const collapse = (text: string): string => text.replace(/[\t\n\r ]+/g, ' ').replace(/^ | $/g, '');

/** xs:string between two lengths, counted in characters. */
export const text =
  (min: number, max: number): Simple =>
  (value) => {
    const length = value.length <= max ? value.length : [...value].length;
    return length >= min && length <= max;
  };

/** xs:string without limits. */
export const anyText: Simple = () => true;

/** xs:string with a pattern (anchored, as xs:pattern is) and an optional length limit. */
export const matching = (pattern: RegExp, max = Number.POSITIVE_INFINITY): Simple => {
  const whole = new RegExp(`^(?:${pattern.source})$`, 'u');
  return (value) => whole.test(value) && text(0, max)(value);
};

/** xs:string that is one of these, letter by letter. */
export const oneOf =
  (...values: string[]): Simple =>
  (value) =>
    values.includes(value);

/** xs:integer between two values, optionally with a limit of digits. */
export const integer =
  (min: bigint, max?: bigint): Simple =>
  (value) => {
    const found = collapse(value);
    if (!/^[+-]?\d{1,100}$/.test(found)) return false;
    const number = BigInt(found.replace('+', ''));
    return number >= min && (max === undefined || number <= max);
  };

/** xs:decimal; with limits, given in hundredths. */
export const decimal =
  (minHundredths?: bigint, maxHundredths?: bigint): Simple =>
  (value) => {
    const found = collapse(value);
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(found) || found.length > 100) return false;
    if (minHundredths === undefined || maxHundredths === undefined) return true;
    const [whole = '', fraction = ''] = found.replace(/^[+-]/, '').split('.');
    const scaled = BigInt(`${whole || '0'}${fraction}`) * (found.startsWith('-') ? -1n : 1n);
    const unit = 10n ** BigInt(fraction.length);
    return scaled * 100n >= minHundredths * unit && scaled * 100n <= maxHundredths * unit;
  };

const zone = '(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d|[+-]14:00)?';
const dateForm = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})${zone}$`);
const dateTimeForm = new RegExp(
  `^(\\d{4}-\\d{2}-\\d{2})T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?|24:00:00(?:\\.0+)?)${zone}$`,
);

/** xs:date of the years 0001 to 9999. */
export const date: Simple = (value) => isDay(dateForm.exec(collapse(value))?.[1] ?? '');
/** xs:dateTime of the years 0001 to 9999; 24:00:00 is one. */
export const dateTime: Simple = (value) => isDay(dateTimeForm.exec(collapse(value))?.[1] ?? '');
/** xs:boolean: true, false, 1 or 0. */
export const boolean: Simple = (value) => ['true', 'false', '1', '0'].includes(collapse(value));

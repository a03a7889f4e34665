/** The simple types of the schema: what a text may be, and what to say when it is not (schema 1.04_01, last part). */
import { shortened } from '../../cut.ts';
import { isCountry, isCurrency } from '../../identifiers.ts';
import { isDay } from '../../time.ts';
import { longest_amount } from '../amounts.ts';
import type { FindingCode, FindingFacts } from './findings.ts';

/** What is wrong with a text: the code of a finding and its facts. */
export interface LeafFault {
  readonly code: FindingCode;
  readonly facts?: FindingFacts;
}

/** A simple type. Undefined: the text is fine. */
export interface LeafType {
  readonly kind: 'leaf';
  /** Spaces around the value do not count (every type but xs:string). */
  readonly trims: boolean;
  readonly fault: (value: string) => LeafFault | undefined;
}

function leaf(trims: boolean, fault: LeafType['fault']): LeafType {
  return { kind: 'leaf', trims, fault };
}

/** Characters as the schema counts them: code points. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) length -= 1;
  }
  return length;
}

/** xs:string of `least` to `most` characters, perhaps of a form; `form` says it in words for a person. */
export function text(most: number, least = 1, pattern?: RegExp, form = ''): LeafType {
  return leaf(false, (value): LeafFault | undefined => {
    if (value === '') return { code: 'VALUE_EMPTY' };
    if (value.length < least && lengthOf(value) < least) return { code: 'VALUE_TOO_SHORT', facts: { least } };
    if (value.length > most && lengthOf(value) > most) {
      return { code: 'VALUE_TOO_LONG', facts: { most, length: lengthOf(value) } };
    }
    if (pattern !== undefined && !pattern.test(value))
      return { code: 'VALUE_FORM', facts: { value: shown(value), form } };
    return undefined;
  });
}

/** One of a few words. */
export function list(...words: readonly string[]): LeafType {
  const allowed = new Set(words);
  return leaf(false, (value) =>
    allowed.has(value)
      ? undefined
      : { code: 'VALUE_NOT_LISTED', facts: { value: shown(value), allowed: words.join(', ') } },
  );
}

function code(what: FindingFacts[string], isOne: (value: string) => boolean): LeafType {
  return leaf(false, (value) =>
    isOne(value) ? undefined : { code: 'VALUE_NOT_LISTED', facts: { value: shown(value), allowed: what } },
  );
}

/** xs:integer between two bounds. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): LeafType {
  return leaf(true, (value): LeafFault | undefined => {
    if (!/^[+-]?\d+$/.test(value)) return { code: 'VALUE_NOT_NUMBER', facts: { value: shown(value) } };
    const number = Number(value);
    return number >= least && number <= most
      ? undefined
      : { code: 'VALUE_OUT_OF_RANGE', facts: { value: shown(value), least, most } };
  });
}

/** SAFmonetaryType and SAFdecimalType: xs:decimal, 0 or more, of as many digits as are read. */
export const money = leaf(true, (value): LeafFault | undefined => {
  if (value.length > longest_amount) {
    return { code: 'VALUE_TOO_LONG', facts: { most: longest_amount, length: value.length } };
  }
  if (/^\+?(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) return undefined;
  if (/^-(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) {
    return /^-[0.]+$/.test(value) ? undefined : { code: 'VALUE_NEGATIVE', facts: { value: shown(value) } };
  }
  return { code: 'VALUE_NOT_NUMBER', facts: { value: shown(value) } };
});

const zone = /(?:Z|[+-]\d\d:\d\d)$/;

/** xs:date. The schema allows a zone, SAF-T does not. */
export const day = leaf(true, (value) => {
  if (isDay(value)) return undefined;
  const known = isDay(value.replace(zone, ''));
  return { code: known ? 'TIME_WITH_ZONE' : 'VALUE_NOT_DATE', facts: { value: shown(value) } };
});

/** SAFPTDateSpan: a day of 2000 to 9999. */
export const span = leaf(true, (value) => {
  const fault = day.fault(value);
  return fault === undefined && value < '2000' ? { code: 'VALUE_NOT_DATE', facts: { value: shown(value) } } : fault;
});

/** xs:dateTime, without zone and fraction: what is signed has neither. */
export const time = leaf(true, (value) => {
  const plain = value.replace(zone, '').replace(/\.\d+$/, '');
  if (!/^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(plain) || !isDay(plain.slice(0, 10))) {
    return { code: 'VALUE_NOT_TIME', facts: { value: shown(value) } };
  }
  return plain === value ? undefined : { code: 'TIME_WITH_ZONE', facts: { value: shown(value) } };
});

export const country = code('ISO 3166-1', isCountry);
export const customerCountry = code(
  'ISO 3166-1, Desconhecido',
  (value) => value === 'Desconhecido' || isCountry(value),
);
export const taxRegion = code(
  'PT, PT-AC, PT-MA, ISO 3166-1',
  (value) => /^PT-(?:AC|MA)$/.test(value) || isCountry(value),
);

/** Money that was withdrawn, and units of account: the schema still knows them, new documents can't be in them. */
const oldCurrencies = new Set(
  `ANG BGN BOV BYR CHE CHW CLF COU CUC EEK HRK LTL LVL MRO MXV SKK SLL STD TMM USN USS UYI VEF XAG XAU XBA XBB XBC XBD XDR
   XFU XPD XPT XSU XUA ZMK ZWD ZWL ZWR`.split(/\s+/),
);
export const foreignCurrency = code(
  { en: 'ISO 4217, not EUR', pt: 'ISO 4217, exceto EUR' },
  (value) => value !== 'EUR' && (isCurrency(value) || oldCurrencies.has(value)),
);

/** InvoiceNo, DocumentNumber, PaymentRefNo. */
export const documentNumber = text(60, 1, /^[^ ]+ [^/^ ]+\/[0-9]+$/, 'FT A2026/1');
export const hashControl = text(
  70,
  1,
  /^(?:\d+|\d+\.\d+|\d+-[A-Z]{2}M [^/^ ]+\/\d+|\d+-[A-Z]{2}D [^ ]+ [^/^ ]+\/\d+)$/,
  '1, 9999.1, 1-FTM abc/00001, 1-FTD FT A2025/99',
);
export const taxCode = text(10, 1, /^[a-zA-Z0-9.]+$/, 'RED, INT, NOR, ISE, OUT');
export const exemptionCode = text(30, 1, /^(?:M\d\d)+$/, 'M07');

/** A value as a finding shows it: short, on one line. */
export function shown(value: string): string {
  return shortened(value.replace(/\s+/g, ' '), 60);
}

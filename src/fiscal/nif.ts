/**
 * Tax numbers of companies and customers.
 *
 * The form of other EU numbers follows the VIES structure table of the European Commission, without the country prefix
 * (SAF-T CustomerTaxID takes none). Only the form is checked: a wrong check digit abroad is VIES's business. The package
 * stdnum checks more, but costs 115 ms at start; these expressions cost nothing.
 */
import type { RefusalCode } from './refusal.ts';

/** The generic final consumer (Portaria 302/2016, CustomerTaxID). Never a real customer's own number. */
export const finalConsumerNif = '999999990';

/** Allowed first digits: 1 2 3 45 individuals, 5 companies, 6 public bodies, 70–79 and 9x special cases, 8 old traders. */
const nifForm = /^(?:[123568]\d|45|7[01245789]|9[0189])\d{7}$/;

/** A Portuguese NIF: nine digits, an allowed start, and the modulus 11 check digit. True for the final consumer's too. */
export function isNif(text: string): boolean {
  if (!nifForm.test(text)) return false;
  let weighted = 0;
  for (let place = 0; place < 8; place += 1) weighted += (9 - place) * Number(text[place]);
  const rest = weighted % 11;
  return Number(text[8]) === (rest < 2 ? 0 : 11 - rest);
}

/** A NIF that may be an issuer's or a customer's own: valid, and not the generic final consumer's. */
export function isOwnNif(text: string): boolean {
  return isNif(text) && text !== finalConsumerNif;
}

/** The NIF of a natural person: starts with 1, 2, 3 or 45 (non-residents). */
export function isPersonNif(text: string): boolean {
  return isNif(text) && /^(?:[123]|45)/.test(text);
}

/** VIES structures, ISO country code → number without prefix. Old Irish numbers with + or * can't stand in a QR code. */
const viesForms: Readonly<Record<string, RegExp>> = {
  AT: /^U\d{8}$/,
  BE: /^[01]\d{9}$/,
  BG: /^\d{9,10}$/,
  CY: /^\d{8}[A-Z]$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  ES: /^(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])$/,
  FI: /^\d{8}$/,
  FR: /^[A-HJ-NP-Z0-9]{2}\d{9}$/,
  GR: /^\d{9}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^(?:\d[A-Z0-9]\d{5}[A-Z]|\d{7}[A-W][A-I])$/,
  IT: /^\d{11}$/,
  LT: /^(?:\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^[A-Z0-9]{9}B[A-Z0-9]{2}$/,
  PL: /^\d{10}$/,
  RO: /^\d{2,10}$/,
  SE: /^\d{12}$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/,
};

/**
 * Other countries: free text, but only of characters that print and that a QR code can carry: no `*`, and no space at
 * either end (QR page, section 2).
 */
const freeForm = /^(?! )[A-Za-z0-9 ./-]{1,30}(?<! )$/;

/**
 * What is wrong with a tax number of a country (ISO 3166-1 alpha-2), if anything: NIF_INVALID for PT, TAX_ID_INVALID
 * elsewhere, NIF_RESERVED everywhere. Paper, SAF-T and the AT know a buyer with the number of the final consumer as one
 * who gave none, so it is nobody's own.
 */
export function checkTaxId(country: string, text: string): RefusalCode | undefined {
  const isNumber = country === 'PT' ? isNif(text) : (viesForm(country) ?? freeForm).test(text);
  if (!isNumber) return country === 'PT' ? 'NIF_INVALID' : 'TAX_ID_INVALID';
  return text === finalConsumerNif ? 'NIF_RESERVED' : undefined;
}

/** An EU number as the books carry it: "ES B12345678" → "B12345678". Text that fits no EU form comes back unchanged. */
export function withoutPrefix(country: string, text: string): string {
  const form = viesForm(country);
  if (form === undefined || form.test(text)) return text;
  const prefix = prefixOf(country);
  const bare = text.toUpperCase().replace(/[ .-]/g, '');
  const rest = bare.startsWith(prefix) ? bare.slice(prefix.length) : bare;
  return form.test(rest) ? rest : text;
}

/**
 * What the books carry instead of `text`, were it entered as the number of a member state: the number, and the countries
 * (ISO 3166-1 alpha-2) that it would be of. "DE 123456789" → 123456789 of DE. Empty where every country keeps it as it is.
 */
export function keptInstead(text: string): ReadonlyMap<string, readonly string[]> {
  const kept = new Map<string, string[]>();
  for (const country of Object.keys(viesForms)) {
    const number = withoutPrefix(country, text);
    if (number === text) continue;
    const before = kept.get(number);
    if (before === undefined) kept.set(number, [country]);
    else before.push(country);
  }
  return kept;
}

/**
 * The number that VAT between member states knows (RITI article 27, no. 5): with the prefix of the other member state that
 * gave it. Undefined of a number that is none.
 */
export function vatNumber(country: string | undefined, text: string | undefined): string | undefined {
  if (country === undefined || text === undefined || viesForm(country)?.test(text) !== true) return undefined;
  return prefixOf(country) + text;
}

/** Of the numbers that a country gives: its ISO code, but for Greece (VAT Directive article 215). */
const prefixOf = (country: string): string => (country === 'GR' ? 'EL' : country);

function viesForm(country: string): RegExp | undefined {
  return Object.hasOwn(viesForms, country) ? viesForms[country] : undefined;
}

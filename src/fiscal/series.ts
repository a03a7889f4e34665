/** Series identifiers and document numbers (DL 28/2019 article 35; Portaria 195/2020; AT's manual of series). */
import { assert } from './refusal.ts';

/** Letters, digits and single separators `. _ -` between them; not starting with AT, which the tax portal keeps for itself. */
const identifier = /^(?!AT)[A-Z0-9]+(?:[._-][A-Z0-9]+)*$/i;
const longest_identifier = 35;
/** SAF-T InvoiceNo, DocumentNumber, PaymentRefNo. */
const longest_number = 60;

/** An identifier that the AT registers: at most 35 characters. */
export function isSeriesCode(text: string): boolean {
  return text.length <= longest_identifier && identifier.test(text);
}

/** What must be unique per company and document type, for ever: upper and lower case are the same series. */
export function seriesKey(code: string): string {
  return code.toUpperCase();
}

/** The document's id, "FT A2026/1". `typeCode` is the SAF-T type code, which is our internal code as well. */
export function documentNumber(typeCode: string, seriesCode: string, sequence: number): string {
  assert(/^[A-Z]{2}$/.test(typeCode) && isSeriesCode(seriesCode), 'a type code and a series identifier');
  assert(Number.isSafeInteger(sequence) && sequence >= 1, 'a sequence number is a positive whole number');
  const number = `${typeCode} ${seriesCode}/${sequence}`;
  assert(number.length <= longest_number, 'a document number has at most 60 characters');
  return number;
}

/**
 * ATCUD: the unique code of a document (Portaria 195/2020, articles 3 and 4): the validation code that the AT gave the
 * series, a hyphen, and the sequence number exactly as it stands in the document's number.
 */
import { assert } from './refusal.ts';

/** "CSDF7T5H-35": as SAF-T, the QR code and the web services carry it. The validation code is opaque, case kept. */
export function atcud(validationCode: string, sequence: number): string {
  // Printable ASCII but `*`, which would end the field in the QR message (and 70 characters are its length there).
  assert(/^[!-)+-~]{8,53}$/.test(validationCode), 'a validation code has at least 8 characters');
  assert(Number.isSafeInteger(sequence) && sequence >= 1, 'a sequence number is a positive whole number');
  return `${validationCode}-${sequence}`;
}

/** "ATCUD:CSDF7T5H-35": as it is printed, on every page. */
export function printedAtcud(code: string): string {
  return `ATCUD:${code}`;
}

/**
 * The QR message of a document, field by field (AT, "Especificações Técnicas Código QR" v1.0, 13-08-2020; Portaria
 * 195/2020, articles 4 to 6). This file knows the layout; qr-payload.ts knows where the values come from.
 *
 * Fields are `code:value` joined by `*` in the table's order. Optional fields are there exactly when the information
 * exists: nothing is filled with zeros.
 */
import type { Day, Decimal } from './document.ts';
import { assert, Refusal } from './refusal.ts';

/** Bases and taxes of one tax region; each amount has 2 decimals, and is left out when there is none. */
export interface QrRegion {
  /** "PT", "PT-AC", "PT-MA" or another country's code. */
  readonly region: string;
  readonly exempt?: Decimal | undefined;
  readonly reduced?: QrRate | undefined;
  readonly intermediate?: QrRate | undefined;
  readonly normal?: QrRate | undefined;
}

/** 2 decimals each. */
export interface QrRate {
  readonly base: Decimal;
  readonly tax: Decimal;
}

export interface QrFields {
  /** A, without country prefix. */
  readonly issuerNif: string;
  /** B */
  readonly buyerTaxId: string;
  /** C: as SAF-T's customer country. */
  readonly buyerCountry: string;
  /** D */
  readonly typeCode: string;
  /** E */
  readonly status: string;
  /** F */
  readonly date: Day;
  /** G */
  readonly number: string;
  /** H, without label. */
  readonly atcud: string;
  /** I, J, K in order of first appearance; none: "I1:0", a document without VAT rates. */
  readonly regions: readonly QrRegion[];
  /** L: not subject to VAT (SAF-T TaxType NS). */
  readonly notSubject?: Decimal | undefined;
  /** M: stamp duty. */
  readonly stampDuty?: Decimal | undefined;
  /** N: VAT and stamp duty. */
  readonly taxPayable: Decimal;
  /** O: not reduced by withholding. */
  readonly grossTotal: Decimal;
  /** P */
  readonly withholding?: Decimal | undefined;
  /** Q: four characters of the hash; "0" on unsigned documents. */
  readonly hashCharacters: string;
  /** R: digits as the AT assigned them. */
  readonly certificate: string;
  /** S: other information, its elements joined by ";". */
  readonly other?: string | undefined;
}

/** Of one message: there are three blocks of fields for them. */
export const most_regions = 3;

const longest: Readonly<Record<string, number>> = {
  A: 9,
  B: 30,
  C: 12,
  D: 2,
  E: 1,
  F: 8,
  G: 60,
  H: 70,
  N: 16,
  O: 16,
  L: 16,
  M: 16,
  P: 16,
  Q: 4,
  R: 4,
  S: 65,
};

/** What of a message is told with the number. */
export type QrStamps = Pick<QrFields, 'date' | 'number' | 'atcud' | 'hashCharacters' | 'certificate'>;
/** What of it the document says before. */
export type QrDraftFields = Omit<QrFields, keyof QrStamps>;

/** A message without what is told with the number: the fields before those, between them, and behind. */
export interface QrAround {
  readonly before: string;
  readonly between: string;
  readonly behind: string;
}

/** Throws QR_TOO_MANY_REGIONS above `most_regions`; values that can't stand in a field are a fault of ours. */
export function qrAround(fields: QrDraftFields): QrAround {
  const { regions } = fields;
  if (regions.length > most_regions) throw new Refusal('QR_TOO_MANY_REGIONS');
  return {
    before: `A:${fits('A', fields.issuerNif)}${next('B', fields.buyerTaxId)}${next('C', fields.buyerCountry)}${next('D', fields.typeCode)}${next('E', fields.status)}`,
    between: `${regions.length === 0 ? '*I1:0' : regions.map(regionText).join('')}${next('L', fields.notSubject)}${next('M', fields.stampDuty)}${next('N', fields.taxPayable)}${next('O', fields.grossTotal)}${next('P', fields.withholding)}`,
    behind: next('S', fields.other),
  };
}

/** The message of a document that has its number. */
export function qrMessageOf({ before, between, behind }: QrAround, stamps: QrStamps): string {
  const { date, number, atcud, hashCharacters, certificate } = stamps;
  const day = `${date.slice(0, 4)}${date.slice(5, 7)}${date.slice(8)}`;
  const numbered = `${before}${next('F', day)}${next('G', number)}${next('H', atcud)}`;
  return `${numbered}${between}${next('Q', hashCharacters)}${next('R', certificate)}${behind}`;
}

function regionText(region: QrRegion, index: number): string {
  const letter = 'IJK'.charAt(index);
  const { exempt, reduced, intermediate, normal } = region;
  const rates = [exempt, reduced?.base, reduced?.tax, intermediate?.base, intermediate?.tax, normal?.base, normal?.tax];
  return `${next(`${letter}1`, region.region)}${rates.map((value, at) => next(`${letter}${at + 2}`, value)).join('')}`;
}

/** A field behind others; nothing where it is left out. */
function next(code: string, value: string | undefined): string {
  return value === undefined ? '' : `*${code}:${fits(code, value)}`;
}

function fits(code: string, value: string): string {
  // The words are put together only where they are needed: each message has a dozen fields.
  if (!fitsQr(code, value)) assert(false, `QR field ${code}`);
  return value;
}

/** Whether a value can stand in this field. */
export const fitsQr = (code: string, value: string): boolean =>
  value !== '' && !value.includes('*') && value.length <= (longest[code] ?? 16);

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

/** The message. Throws QR_TOO_MANY_REGIONS above three regions; values that can't stand in a field are a fault of ours. */
export function qrMessage(fields: QrFields): string {
  if (fields.regions.length > 3) throw new Refusal('QR_TOO_MANY_REGIONS');
  const out: string[] = [];
  const put = (code: string, value: string | undefined): void => {
    if (value === undefined) return;
    assert(value !== '' && !value.includes('*') && value.length <= (longest[code] ?? 16), `QR field ${code}`);
    out.push(`${code}:${value}`);
  };
  put('A', fields.issuerNif);
  put('B', fields.buyerTaxId);
  put('C', fields.buyerCountry);
  put('D', fields.typeCode);
  put('E', fields.status);
  put('F', fields.date.replaceAll('-', ''));
  put('G', fields.number);
  put('H', fields.atcud);
  if (fields.regions.length === 0) put('I1', '0');
  fields.regions.forEach((region, index) => {
    putRegion('IJK'.charAt(index), region, put);
  });
  put('L', fields.notSubject);
  put('M', fields.stampDuty);
  put('N', fields.taxPayable);
  put('O', fields.grossTotal);
  put('P', fields.withholding);
  put('Q', fields.hashCharacters);
  put('R', fields.certificate);
  put('S', fields.other);
  return out.join('*');
}

function putRegion(letter: string, region: QrRegion, put: (code: string, value: string | undefined) => void): void {
  put(`${letter}1`, region.region);
  put(`${letter}2`, region.exempt);
  put(`${letter}3`, region.reduced?.base);
  put(`${letter}4`, region.reduced?.tax);
  put(`${letter}5`, region.intermediate?.base);
  put(`${letter}6`, region.intermediate?.tax);
  put(`${letter}7`, region.normal?.base);
  put(`${letter}8`, region.normal?.tax);
}

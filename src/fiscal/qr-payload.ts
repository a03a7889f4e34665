/** The QR message of an issued document, from its frozen content and what issuing stamped. Built once and stored. */
import { add, isZero, round2 } from './decimal.ts';
import { type Content, documentTypes, type Issued, type Region, type TaxGroup } from './document.ts';
import { finalConsumerNif } from './nif.ts';
import { type QrRate, type QrRegion, qrMessage } from './qr-message.ts';
import { assert } from './refusal.ts';
import { typeCode } from './regime.ts';

/** The parts of a document's content that the message holds. Amounts are those of the books: EUR. */
export type QrContent = Pick<Content, 'type' | 'issuer' | 'customer' | 'books' | 'cashVat'>;
export type QrIssued = Pick<Issued, 'number' | 'atcud' | 'date' | 'shortHash' | 'certificateNumber'>;

/**
 * The message. `status` is N at issue (A on a copy of a cancelled document).
 *
 * VAT codes: RED → 3/4, INT → 5/6, NOR → 7/8, ISE → 2 whatever the M code. Fields L (not subject), M (stamp duty) and S
 * (other information) never appear: this program issues no NS and no stamp duty lines. Receipts have no hash and no VAT
 * rates: Q:0, I1:0, N:0.00 (practice; the specification shows no receipt); those of the cash VAT scheme tell them. A transport document without values: I1:0.
 */
export function qrPayload(content: QrContent, issued: QrIssued, status: 'N' | 'A' = 'N'): string {
  const { family, signed } = documentTypes[content.type];
  const { books, customer, issuer } = content;
  assert(issuer.taxpayerNumber !== undefined, 'an issuer has a NIF');
  const anonymous = customer.finalConsumer === true;
  const unrated = (family === 'RECEIPT' && content.cashVat !== true) || (family === 'TRANSPORT' && isZero(books.gross));
  return qrMessage({
    issuerNif: issuer.taxpayerNumber,
    buyerTaxId: (anonymous ? undefined : customer.taxpayerNumber) ?? finalConsumerNif,
    buyerCountry: (anonymous ? undefined : customer.country) ?? 'Desconhecido',
    typeCode: typeCode(content),
    status,
    date: issued.date,
    number: issued.number,
    atcud: issued.atcud,
    regions: unrated ? [] : regionsOf(books.groups),
    taxPayable: unrated ? '0.00' : books.tax,
    grossTotal: books.gross,
    withholding: present(books.withholding),
    hashCharacters: signed ? issued.shortHash : '0',
    certificate: String(issued.certificateNumber),
  });
}

function regionsOf(groups: readonly TaxGroup[]): QrRegion[] {
  const regions = new Map<Region, TaxGroup[]>();
  for (const group of groups) {
    const known = regions.get(group.region);
    if (known === undefined) regions.set(group.region, [group]);
    else known.push(group);
  }
  return [...regions].map(([region, own]) => ({
    region,
    exempt: summed(own, 'ISE')?.base,
    reduced: summed(own, 'RED'),
    intermediate: summed(own, 'INT'),
    normal: summed(own, 'NOR'),
  }));
}

/** Base and tax of a code in a region; absent when there is no base (a free line), since nothing is filled with zeros. */
function summed(groups: readonly TaxGroup[], code: TaxGroup['taxCode']): QrRate | undefined {
  let base = '0';
  let tax = '0';
  for (const group of groups) {
    if (group.taxCode !== code) continue;
    base = add(base, group.base);
    tax = add(tax, group.tax);
  }
  return isZero(base) ? undefined : { base: round2(base), tax: round2(tax) };
}

function present(amount: string): string | undefined {
  return isZero(amount) ? undefined : amount;
}

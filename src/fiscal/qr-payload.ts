/** The QR message of an issued document, from its frozen content and what issuing stamped. Built once and stored. */
import { buyerCountry, buyerTaxId } from './buyer.ts';
import { isZero, round2, sum } from './decimal.ts';
import { type Content, documentTypes, type Issued, type Region, type TaxGroup } from './document.ts';
import { type QrAround, type QrRate, type QrRegion, qrAround, qrMessageOf } from './qr-message.ts';
import { assert } from './refusal.ts';
import { typeCode } from './regime.ts';

/** The parts of a document's content that the message holds. Amounts are those of the books: EUR. */
export type QrContent = Pick<Content, 'type' | 'issuer' | 'customer' | 'books' | 'cashVat' | 'transport'>;
export type QrIssued = Pick<Issued, 'number' | 'atcud' | 'date' | 'shortHash' | 'certificateNumber'>;

/** What of the rates a message tells. */
interface Told {
  /** A transport document that shows no rates: I1:0. */
  readonly isUnrated: (content: QrContent) => boolean;
  readonly isTold: (rate: QrRate) => boolean;
  /** A document whose withholding is told. */
  readonly isWithheld: (content: QrContent) => boolean;
}

const told: Told = {
  isUnrated: ({ transport }) => transport?.valued === false,
  isTold: ({ base, tax }) => !(isZero(base) && isZero(tax)),
  // P is the sum of SAF-T's WithholdingTaxAmount, which only sales documents and receipts have.
  isWithheld: ({ type }) => documentTypes[type].family !== 'PROFORMA',
};

/** As messages were made before: pro formas told what an invoice of them would withhold. */
const toldLately: Told = { ...told, isWithheld: () => true };

/** As they were made before that: a total of 0 passed for no values, and tax without a base (a receipt's cent) was left out. */
const toldAtFirst: Told = {
  ...toldLately,
  isUnrated: ({ books }) => isZero(books.gross),
  isTold: ({ base }) => !isZero(base),
};

/**
 * The message, made once at issue: prints of a document that was cancelled since carry it unchanged, with status N.
 *
 * VAT codes: RED → 3/4, INT → 5/6, NOR → 7/8, ISE → 2 whatever the M code. Fields L (not subject), M (stamp duty) and S
 * (other information) never appear: this program issues no NS and no stamp duty lines. A pro forma withholds nothing (P).
 * Receipts have no hash and no VAT rates: Q:0, I1:0, N:0.00 (practice; the specification shows no receipt); those of the
 * cash VAT scheme tell them. A transport document without values: I1:0.
 */
export function qrPayload(content: QrContent, issued: QrIssued): string {
  return qrPayloadOf(qrDrafted(content), issued);
}

/** Of the message what a document says before it has a number. */
export interface QrDrafted extends QrAround {
  readonly isSigned: boolean;
}

/** Throws QR_TOO_MANY_REGIONS above three regions. Only of what could be issued as it is: it has an issuer with a NIF. */
export function qrDrafted(content: QrContent): QrDrafted {
  return draftedOf(content, told);
}

/** `qrPayload`, where what the content says is known. */
export function qrPayloadOf(drafted: QrDrafted, issued: QrIssued): string {
  return qrMessageOf(drafted, {
    date: issued.date,
    number: issued.number,
    atcud: issued.atcud,
    hashCharacters: drafted.isSigned ? issued.shortHash : '0',
    certificate: String(issued.certificateNumber),
  });
}

/** Whether this is the document's message, as it is made now or was before. */
export function isQrPayload(qr: string, content: QrContent, issued: QrIssued): boolean {
  const isMadeThen = (way: Told) => qr === qrPayloadOf(draftedOf(content, way), issued);
  return qr === qrPayload(content, issued) || [toldLately, toldAtFirst].some(isMadeThen);
}

function draftedOf(content: QrContent, { isUnrated, isTold, isWithheld }: Told): QrDrafted {
  const { family, signed } = documentTypes[content.type];
  const { books, customer, issuer } = content;
  assert(issuer.taxpayerNumber !== undefined, 'an issuer has a NIF');
  const unrated = (family === 'RECEIPT' && content.cashVat !== true) || (family === 'TRANSPORT' && isUnrated(content));
  const { before, between, behind } = qrAround({
    issuerNif: issuer.taxpayerNumber,
    buyerTaxId: buyerTaxId(customer),
    buyerCountry: buyerCountry(customer),
    typeCode: typeCode(content),
    status: 'N',
    regions: unrated ? [] : regionsOf(books.groups, isTold),
    taxPayable: unrated ? '0.00' : books.tax,
    grossTotal: books.gross,
    withholding: isWithheld(content) ? present(books.withholding) : undefined,
  });
  return { before, between, behind, isSigned: signed };
}

function regionsOf(groups: readonly TaxGroup[], isTold: Told['isTold']): QrRegion[] {
  const regions = new Map<Region, TaxGroup[]>();
  for (const group of groups) {
    const known = regions.get(group.region);
    if (known === undefined) regions.set(group.region, [group]);
    else known.push(group);
  }
  return [...regions].map(([region, own]) => ({
    region,
    exempt: rateOf('ISE', own, isTold)?.base,
    reduced: rateOf('RED', own, isTold),
    intermediate: rateOf('INT', own, isTold),
    normal: rateOf('NOR', own, isTold),
  }));
}

function rateOf(code: TaxGroup['taxCode'], groups: readonly TaxGroup[], isTold: Told['isTold']): QrRate | undefined {
  const rate = summed(groups.filter(({ taxCode }) => taxCode === code));
  return isTold(rate) ? rate : undefined;
}

const summed = (groups: readonly TaxGroup[]): QrRate => ({
  base: round2(sum(groups.map((group) => group.base))),
  tax: round2(sum(groups.map((group) => group.tax))),
});

function present(amount: string): string | undefined {
  return isZero(amount) ? undefined : amount;
}

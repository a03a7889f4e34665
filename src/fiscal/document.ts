/**
 * The vocabulary of documents: types, families, and the priced document that a draft shows and issuing freezes.
 *
 * Amounts, prices, quantities and percentages are exact decimal text ("1230.00", "0.55"): digits, an optional
 * fraction, no sign, no exponent. They are never JavaScript numbers inside the house; replies convert at the door.
 * Civil days are "YYYY-MM-DD".
 */

import type { Problem } from './refusal.ts';

/** Exact, non-negative decimal text. */
export type Decimal = string;
/** A civil day, "YYYY-MM-DD". */
export type Day = string;

/** Tax regions of SAF-T: mainland, Madeira, Azores. */
export type Region = 'PT' | 'PT-MA' | 'PT-AC';
/** Kinds of rates; what each is in percent depends on date and region (vat-rates.ts). */
export type VatRate = 'NORMAL' | 'INTERMEDIATE' | 'REDUCED' | 'EXEMPT';
/** SAF-T TaxCode for VAT. OUT and NS are not offered. */
export type TaxCode = 'NOR' | 'INT' | 'RED' | 'ISE';
/** SAF-T, WithholdingTaxType: corporate income tax, personal income tax, stamp duty. */
export type WithholdingType = 'IRC' | 'IRS' | 'IS';
export type ProductType = 'PRODUCT' | 'SERVICE';

/** What is numbered, shown and told to the AT in the same way. */
export type Family = 'SALES' | 'RECEIPT' | 'PROFORMA' | 'TRANSPORT';

export interface TypeFacts {
  /** SAF-T type code, also the internal code in the document id ("FT A2026/1"). */
  readonly code: string;
  /** classeDoc of the series web service. */
  readonly atClass: 'SI' | 'PY' | 'WD' | 'MG';
  readonly family: Family;
  readonly signed: boolean;
  /** The title printed on paper, letter for letter (fiscal reference, documents and mentions, section 1). */
  readonly title: string;
  /** Side of the line amounts in SAF-T and in the AT's LineSummary. */
  readonly side: 'CREDIT' | 'DEBIT';
}

/** Every document type this program issues. Source: DL 28/2019; Portaria 302/2016; SeriesWS tables. */
export const documentTypes = {
  INVOICE: { code: 'FT', atClass: 'SI', family: 'SALES', signed: true, title: 'Fatura', side: 'CREDIT' },
  SIMPLIFIED_INVOICE: {
    code: 'FS',
    atClass: 'SI',
    family: 'SALES',
    signed: true,
    title: 'Fatura simplificada',
    side: 'CREDIT',
  },
  INVOICE_RECEIPT: { code: 'FR', atClass: 'SI', family: 'SALES', signed: true, title: 'Fatura-recibo', side: 'CREDIT' },
  DEBIT_NOTE: { code: 'ND', atClass: 'SI', family: 'SALES', signed: true, title: 'Nota de débito', side: 'CREDIT' },
  CREDIT_NOTE: { code: 'NC', atClass: 'SI', family: 'SALES', signed: true, title: 'Nota de crédito', side: 'DEBIT' },
  RECEIPT: { code: 'RG', atClass: 'PY', family: 'RECEIPT', signed: false, title: 'Recibo', side: 'CREDIT' },
  PROFORMA: { code: 'PF', atClass: 'WD', family: 'PROFORMA', signed: true, title: 'Fatura pró-forma', side: 'CREDIT' },
  GUIA_DE_REMESSA: {
    code: 'GR',
    atClass: 'MG',
    family: 'TRANSPORT',
    signed: true,
    title: 'Guia de remessa',
    side: 'CREDIT',
  },
  GUIA_DE_TRANSPORTE: {
    code: 'GT',
    atClass: 'MG',
    family: 'TRANSPORT',
    signed: true,
    title: 'Guia de transporte',
    side: 'CREDIT',
  },
  GUIA_DE_ATIVOS_PROPRIOS: {
    code: 'GA',
    atClass: 'MG',
    family: 'TRANSPORT',
    signed: true,
    title: 'Guia de movimentação de ativos fixos próprios',
    side: 'CREDIT',
  },
  GUIA_DE_CONSIGNACAO: {
    code: 'GC',
    atClass: 'MG',
    family: 'TRANSPORT',
    signed: true,
    title: 'Guia de consignação',
    side: 'CREDIT',
  },
  GUIA_DE_DEVOLUCAO: {
    code: 'GD',
    atClass: 'MG',
    family: 'TRANSPORT',
    signed: true,
    title: 'Guia de devolução',
    side: 'CREDIT',
  },
} as const satisfies Record<string, TypeFacts>;

export type DocumentType = keyof typeof documentTypes;

/** Whether a document of this type says how it was paid: these are paid when they are issued (`standing` in standing.ts). */
export const isPaidAtOnce = (type: DocumentType): boolean =>
  type === 'INVOICE_RECEIPT' || type === 'SIMPLIFIED_INVOICE';

/** PERCENT: `value` is 0–100 with at most 6 decimals. AMOUNT: money in the document's currency, at most 2 decimals. */
export interface Discount {
  readonly type: 'PERCENT' | 'AMOUNT';
  readonly value: Decimal;
}

/** One line as asked, catalogue values and the document's own overrides already merged. */
export interface LineInput {
  readonly id: string;
  /** Credit notes: the line of the original invoice that this one corrects. */
  readonly originLineId?: string | undefined;
  /** Id of the catalogue item, SAF-T ProductCode. */
  readonly itemId: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly productType: ProductType;
  /** API unit type (UNIT, HOUR, …). */
  readonly unit: string;
  /** Above 0, at most 6 decimals. */
  readonly quantity: Decimal;
  /** Without VAT, in the document's currency, at most 6 decimals. */
  readonly unitPrice: Decimal;
  readonly vatRate: VatRate;
  readonly region: Region;
  /** A rate the item fixes by hand (isAutoVATEnabled false); absent: derived from vatRate, region and tax point. */
  readonly fixedRate?: Decimal | undefined;
  /** M code, exactly when vatRate is EXEMPT. */
  readonly exemptionCode?: string | undefined;
  /** The line's own discount; AMOUNT is per unit. */
  readonly discount?: Discount | undefined;
  readonly withholding?:
    | { readonly type: WithholdingType; readonly percent: Decimal; readonly reason?: string | undefined }
    | undefined;
}

/** Everything pricing needs; no clock: `taxPoint` is handed in. */
export interface PriceInput {
  readonly lines: readonly LineInput[];
  readonly globalDiscount?: Discount | undefined;
  /** The day that chooses the rates: tax point, else date, else today. */
  readonly taxPoint: Day;
  readonly currency: string;
  /** EUR per 1 unit of currency, at most 6 decimals; exactly when currency is not EUR. */
  readonly exchangeRate?: Decimal | undefined;
}

/** A line with its money. Amounts have exactly 2 decimals unless said otherwise. */
export interface PricedLine extends LineInput {
  /** 1, 2, 3 … in printed order. */
  readonly number: number;
  /** Percentage in force, e.g. "23", "0". */
  readonly rate: Decimal;
  readonly taxCode: TaxCode;
  /** quantity × unit price, rounded to 2. */
  readonly gross: Decimal;
  /** All discounts of the line (own + share of the global one) = gross − net, never below 0. SAF-T SettlementAmount. */
  readonly discountAmount: Decimal;
  /** After all discounts, without VAT: the document's currency. */
  readonly net: Decimal;
  /** This line's share of its group's VAT; the shares of a group sum to the group's VAT. */
  readonly tax: Decimal;
  /** net ÷ quantity, 2 to 6 decimals. SAF-T UnitPrice, but of large quantities (unit-price.ts). */
  readonly unitNet: Decimal;
  readonly withholdingAmount: Decimal;
  /** The same line in EUR (equal to net, tax, unitNet and discountAmount in an EUR document). */
  readonly eur: {
    readonly net: Decimal;
    readonly tax: Decimal;
    readonly unitNet: Decimal;
    readonly discountAmount: Decimal;
  };
}

/** VAT per (region, tax code, rate, exemption code). */
export interface TaxGroup {
  readonly region: Region;
  readonly taxCode: TaxCode;
  readonly rate: Decimal;
  readonly exemptionCode?: string | undefined;
  readonly base: Decimal;
  readonly tax: Decimal;
}

/** Lines with one kind, percentage and legal norm (`reason`) of withholding. Base and amount with 2 decimals. */
export interface WithholdingGroup {
  readonly type: WithholdingType;
  readonly percent: Decimal;
  readonly reason?: string | undefined;
  readonly base: Decimal;
  readonly amount: Decimal;
}

/** One currency's totals: net + tax = gross; toPay = gross − withholding. All with 2 decimals. */
export interface Totals {
  readonly net: Decimal;
  readonly tax: Decimal;
  readonly gross: Decimal;
  readonly withholding: Decimal;
  readonly toPay: Decimal;
  readonly groups: readonly TaxGroup[];
  readonly withholdings: readonly WithholdingGroup[];
}

/** What pricing returns. `totals` is in the document's currency, `books` in EUR: signed, exported and put in the QR. */
export interface Priced {
  readonly lines: readonly PricedLine[];
  /** Sum of the lines' gross: before any discount, without VAT. */
  readonly netBeforeDiscount: Decimal;
  /** The money of the global discount alone. */
  readonly globalDiscountAmount: Decimal;
  readonly totals: Totals;
  readonly books: Totals;
}

/** A company or a customer as a document shows it. Absent values are left out. */
export interface Party {
  readonly id: string;
  readonly name: string;
  /** NIF for PT, free text elsewhere; absent for a customer who gave none. */
  readonly taxpayerNumber?: string | undefined;
  readonly address?: string | undefined;
  readonly postalCode?: string | undefined;
  readonly city?: string | undefined;
  /** ISO 3166-1 alpha-2; for the built-in final consumer "Desconhecido" in the books. */
  readonly country?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly mobile?: string | undefined;
  readonly website?: string | undefined;
  /** The built-in final consumer. */
  readonly finalConsumer?: boolean | undefined;
}

/** Another document that this one refers to. */
export interface DocumentRef {
  readonly id: string;
  readonly number: string;
  readonly date: Day;
  readonly type: DocumentType;
  /** Of a recovered document: what is quoted in place of its number, see `quotedNumber` in recovery.ts. */
  readonly original?: string | undefined;
}

/** What a receipt settles of one document, in EUR and before withholding: net + tax = gross. */
export interface Settled {
  readonly document: DocumentRef;
  readonly net: Decimal;
  readonly tax: Decimal;
  readonly gross: Decimal;
  /** Withheld by the payer with this payment; gross − withholding is what was received. */
  readonly withholding: Decimal;
  /** Base and tax per rate: receipts of the cash VAT scheme (RC) tell them. */
  readonly groups: readonly TaxGroup[];
}

/** A place of loading or unloading. */
export interface Place {
  readonly address: string;
  readonly postalCode: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

/** What a transport document adds (DL 147/2003). Instants are ISO 8601 in UTC. */
export interface Transport {
  /** Start of the transport: SAF-T MovementStartTime. */
  readonly start: string;
  readonly end?: string | undefined;
  readonly loading: Place;
  readonly unloading: Place;
  readonly licensePlate?: string | undefined;
  readonly comments?: string | undefined;
  /** Whether prices are shown and told; else every amount is 0.00. */
  readonly valued: boolean;
}

/** A document recovered into a recovery series (hash chain, section 6): M printed form, D duplicate after data loss. */
export interface Recovered {
  readonly kind: 'M' | 'D';
  /** M: "abc/00001", the manual series and number. D: the whole original id, "XY 2013A/00099". */
  readonly original: string;
  /** The AT has it already, by its original number: it is not told again. */
  readonly known?: boolean | undefined;
}

/**
 * The document as a draft shows it and issuing freezes it (column `content`). Issuing adds the `Issued` facts.
 */
export interface Content extends Priced {
  readonly type: DocumentType;
  readonly issuer: Party;
  readonly customer: Party;
  readonly cae: string;
  readonly currency: string;
  readonly exchangeRate?: Decimal | undefined;
  readonly globalDiscount?: Discount | undefined;
  /** As the draft says it: what it leaves open is decided with the number, and stands beside the content (`DecidedIssue`). */
  readonly date?: Day | undefined;
  readonly taxPointDate?: Day | undefined;
  /** As `date`. */
  readonly dueDate?: Day | undefined;
  readonly description?: string | undefined;
  readonly notes?: string | undefined;
  readonly payment?: { readonly method?: string | undefined; readonly date?: Day | undefined } | undefined;
  /** The invoice that a credit note, a debit note or a receipt is about; notes say why. */
  readonly parent?: (DocumentRef & { readonly reason?: string | undefined }) | undefined;
  /**
   * Where the document came from: the pro forma it was converted from. SAF-T OrderReferences of its lines but of `added`: the
   * ids of those that were added to it (`originOf` in convert.ts).
   */
  readonly origin?: (DocumentRef & { readonly added?: readonly string[] | undefined }) | undefined;
  /** Receipts only: what the payment settles. */
  readonly settles?: readonly Settled[] | undefined;
  /** Transport documents only. */
  readonly transport?: Transport | undefined;
  /** Issued under the cash VAT scheme: mention, CashVATSchemeIndicator, RC receipts. */
  readonly cashVat?: boolean | undefined;
  /** Of a training series: mention, and the producer's data in place of the issuer's. */
  readonly training?: boolean | undefined;
  readonly recovered?: Recovered | undefined;
  /**
   * Drafts only: why it can't be priced with what its customer, items and company are now. Lines and totals are the last
   * ones that could be, and nothing is issued of them.
   */
  readonly refused?: readonly Problem[] | undefined;
}

/** What issuing stamps. Stored as text, re-exported unchanged, never recomputed (Despacho 8632/2014, 2.6.7). */
export interface Issued {
  /** "FT A2026/1". */
  readonly number: string;
  readonly sequence: number;
  readonly seriesCode: string;
  readonly atcud: string;
  readonly date: Day;
  /** Local civil time of the signature, "YYYY-MM-DDThh:mm:ss". */
  readonly systemEntry: string;
  /** 172 characters of Base64; empty for receipts. */
  readonly hash: string;
  /** Characters 1, 11, 21 and 31 of the hash; empty for receipts. */
  readonly shortHash: string;
  readonly keyVersion: number;
  readonly certificateNumber: number;
  /** The QR message. */
  readonly qr: string;
}

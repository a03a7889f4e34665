/**
 * What is told to the tax authority, as values: the documents' own vocabulary plus what only the moment knows
 * (status, cash VAT, …). Times are local civil times "YYYY-MM-DDThh:mm:ss" without zone, as the document prints them.
 */
import type { Content, Day, Decimal, Issued, Region, TaxCode, WithholdingGroup } from '../fiscal/document.ts';

/** tipoDoc of the series service. RC is the receipt under the cash VAT scheme. */
export type AtDocumentCode =
  | 'FT'
  | 'FS'
  | 'FR'
  | 'ND'
  | 'NC'
  | 'GR'
  | 'GT'
  | 'GA'
  | 'GC'
  | 'GD'
  | 'CM'
  | 'CC'
  | 'FC'
  | 'FO'
  | 'NE'
  | 'OU'
  | 'OR'
  | 'PF'
  | 'RC'
  | 'RG';

/** N normal, F training, R recovery. */
export type SeriesKind = 'N' | 'F' | 'R';

export interface RegisterSeries {
  /** The identifier, at most 35 characters. */
  readonly series: string;
  readonly documentCode: AtDocumentCode;
  /** Default N. */
  readonly kind?: SeriesKind | undefined;
  /** Whole number, at least 1. */
  readonly firstNumber: number;
  /** Today or later (4049 otherwise). */
  readonly startDate: Day;
  /** 0 to 9999; 0 = not certified. */
  readonly certificateNumber: number;
}

/** A registered series: what finalise and annul must name. */
export interface SeriesKey {
  readonly series: string;
  readonly documentCode: AtDocumentCode;
  readonly validationCode: string;
}

export interface FinalizeSeries extends SeriesKey {
  /** Number of the last document issued in it, at least 1. */
  readonly lastNumber: number;
  /** At most 4000 characters. */
  readonly justification?: string | undefined;
}

/** Only for a series in which nothing was ever issued; sending it declares exactly that. */
export type AnnulSeries = SeriesKey;

/** Every member narrows; none: all series of the taxpayer. */
export interface SeriesQuery {
  readonly series?: string | undefined;
  readonly kind?: SeriesKind | undefined;
  readonly documentCode?: AtDocumentCode | undefined;
  readonly validationCode?: string | undefined;
  readonly registeredFrom?: Day | undefined;
  readonly registeredTo?: Day | undefined;
  readonly state?: 'A' | 'N' | 'F' | undefined;
}

/** A series as the AT holds it. Codes are the AT's own texts: a series of another program may hold unusual ones. */
export interface SeriesRecord {
  readonly series: string;
  readonly kind: string;
  readonly documentClass: string;
  readonly documentCode: string;
  /** Digits (up to 25 are allowed, so it stays text). */
  readonly firstNumber: string;
  readonly lastNumber?: string | undefined;
  readonly startDate: Day;
  /** PI invoicing program, PF tax portal, OM other. */
  readonly processing: string;
  /** Digits, "0" of a program without certificate; absent where the AT's answer has none that can be read. */
  readonly certificateNumber?: string | undefined;
  /** Opaque, case as received, 8 characters or more (the test environment gave 10). */
  readonly validationCode: string;
  /** A active, N annulled, F finalised. */
  readonly state: string;
}

/** The document a line came from, e.g. the pro forma: OrderReferences of SAF-T and of the AT's summary. */
export interface OriginDocument {
  readonly number: string;
  readonly date?: Day | undefined;
}

/** What every message about a document carries. */
export interface DocumentReport {
  readonly content: Content;
  readonly issued: Issued;
  /** When the status was set; at issue the same as `issued.systemEntry`. */
  readonly statusDate: string;
  /** An earlier attempt ended as unknown after it was sent: the AT may have this already. */
  readonly resent?: boolean | undefined;
}

/** A sales document (FT, FS, FR, NC, ND) or a working document (PF …). */
export interface SalesReport extends DocumentReport {
  readonly status: 'N' | 'A' | 'F';
  /** The company is in the cash VAT scheme (IVA de caixa). */
  readonly cashVat: boolean;
  /** Activity code, 5 digits. */
  readonly eac?: string | undefined;
  /** Origins of a line by the line's id. */
  readonly origins?: Readonly<Record<string, readonly OriginDocument[]>> | undefined;
}

/** A cancelled or billed ("F", a converted pro forma) document that the AT has already. */
export interface StatusChange extends DocumentReport {
  readonly status: 'A' | 'F';
}

/** One settled part of a document at one tax rate. Amounts in EUR without tax. */
export interface SettledPart {
  readonly document: { readonly number: string; readonly date: Day };
  /** CREDIT: an invoice or debit note that is paid. DEBIT: a credit note that is set off. */
  readonly side: 'CREDIT' | 'DEBIT';
  readonly net: Decimal;
  readonly region: Region;
  readonly taxCode: TaxCode;
  readonly rate: Decimal;
  readonly exemptionCode?: string | undefined;
}

/** A receipt of the cash VAT scheme (RC). Totals in EUR: net + tax = gross. */
export interface PaymentReport extends DocumentReport {
  readonly status: 'N' | 'A';
  readonly settled: readonly SettledPart[];
  readonly totals: { readonly net: Decimal; readonly tax: Decimal; readonly gross: Decimal };
  readonly withholdings?: readonly WithholdingGroup[] | undefined;
}

/** A place of loading or unloading; only Portuguese ones can be told to the AT. */
export interface Place {
  readonly address?: string | undefined;
  readonly postalCode?: string | undefined;
  readonly city?: string | undefined;
  readonly country?: string | undefined;
}

export interface TransportReport extends DocumentReport {
  /** N own goods, T on behalf of third parties, A cancelled. */
  readonly status: 'N' | 'T' | 'A';
  /** The AT's code of this document; required to cancel it. */
  readonly atDocCode?: string | undefined;
  readonly loading: Place;
  readonly unloading?: Place | undefined;
  readonly start: string;
  readonly end?: string | undefined;
  readonly licensePlate?: string | undefined;
  /** False: prices are told as 0.00. */
  readonly valued: boolean;
  /** The recipient is the supplier (goods returned, job work): SupplierTaxID instead of CustomerTaxID. */
  readonly toSupplier?: boolean | undefined;
  readonly origins?: Readonly<Record<string, readonly OriginDocument[]>> | undefined;
}

/**
 * What a SAF-T file is made of, as values: who holds the books, the master data and sums of a period, and its documents
 * in order. The writer asks nothing else of the world, so that a file can be made of a database or of a test's list.
 */
import type { Content, Day, Decimal, Family, Issued, Party, ProductType, Region, TaxCode } from '../document.ts';

/** The program that wrote the books (Header, ProductID and its neighbours). */
export interface SaftProgram {
  /** NIF of the producer: ProductCompanyTaxID, at most 30 characters. */
  readonly producerTaxId: string;
  /** "Program/Producer": exactly one slash, 3 to 255 characters. */
  readonly productId: string;
  /** At most 30 characters. */
  readonly version: string;
  /** Number of the AT's certificate; 0 for a program without one. */
  readonly certificateNumber: number;
}

export interface SaftHeader {
  /** The company; its NIF is also the CompanyID. */
  readonly company: Party;
  /** Its civil time: transport times are instants. */
  readonly region: Region;
  /** First and last document date, inclusive. */
  readonly from: Day;
  readonly to: Day;
  readonly created: Day;
  readonly program: SaftProgram;
  /** At most 255 characters, e.g. that documents of a simulator have no fiscal value. */
  readonly comment?: string | undefined;
}

/** A customer of the period under one tax identity, as the latest record of it that documents show has it. */
export interface SaftCustomer extends Party {
  readonly identity?: number | undefined;
  /** Who speaks for a company. */
  readonly contact?: string | undefined;
  readonly fax?: string | undefined;
}

export interface SaftItem {
  readonly id: string;
  readonly name: string;
  readonly type: ProductType;
}

/** A tax that documents of the period use. */
export interface SaftTax {
  readonly region: Region;
  readonly taxCode: TaxCode;
  readonly rate: Decimal;
}

/** What SAF-T tells of a document's issue. */
export type SaftIssued = Omit<Issued, 'qr' | 'shortHash'>;

/** An issued document with what has become of it since. */
export interface SaftDocument {
  readonly content: Content;
  /** Which of its customer's tax identities it shows, from 1, where the customer had several. */
  readonly identity?: number | undefined;
  readonly issued: SaftIssued;
  /** N normal, A cancelled, F (pro formas and transport documents) invoiced, even in part. */
  readonly status: 'N' | 'A' | 'F';
  /** Local civil time of the last change of status, "YYYY-MM-DDThh:mm:ss". */
  readonly statusAt: string;
  /** Code of the user who made it, at most 30 characters. */
  readonly statusBy: string;
  /** Of a cancellation. */
  readonly reason?: string | undefined;
  /** Code of the user who issued the document. */
  readonly issuedBy: string;
  /** Kind of the series: N normal, F training, R recovery. */
  readonly kind: 'N' | 'F' | 'R';
  /** Transport documents: the code the AT answered. */
  readonly atDocCode?: string | undefined;
}

/** Sums of a section as its head tells them. MovementOfGoods counts lines and quantity, the others entries and money. */
export interface SaftSums {
  /** All documents, cancelled ones too; of MovementOfGoods all lines. */
  readonly count: number;
  readonly debit: Decimal;
  readonly credit: Decimal;
  readonly quantity: Decimal;
}

export interface SaftSection {
  readonly sums: SaftSums;
  /** In order of series and sequence, in portions: one wait per portion instead of one per document. */
  readonly documents: AsyncIterable<readonly SaftDocument[]>;
}

export interface SaftSource {
  readonly header: SaftHeader;
  /** One per customer id and tax identity. */
  readonly customers: AsyncIterable<readonly SaftCustomer[]>;
  readonly items: AsyncIterable<readonly SaftItem[]>;
  readonly taxes: readonly SaftTax[];
  /** A family without documents is left out. */
  readonly sections: Readonly<Partial<Record<Family, SaftSection>>>;
}

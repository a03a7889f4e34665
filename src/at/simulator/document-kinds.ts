/**
 * How the three kinds of documents of the invoice service differ: invoices, working documents, cash VAT receipts.
 * Codes from the response tables of the manual of invoice elements (January 2023).
 */
import type { DocumentEntry } from './ledger.ts';

/** Names of elements and numbers of codes. */
export interface DocumentKind {
  readonly service: DocumentEntry['service'];
  readonly name: 'Invoice' | 'Work' | 'Payment';
  readonly number: string;
  readonly date: string;
  readonly type: string;
  readonly codes: {
    readonly number: number;
    readonly date: number;
    readonly type: number;
    readonly amounts: number;
    readonly exemption: number;
    readonly values: number;
    readonly certificate: number;
    readonly required: number;
    readonly already: number;
    readonly different: number;
    readonly statusDate: number;
    readonly absent: number;
    readonly state: number;
    readonly changeValues: number;
    readonly changeDate: number;
  };
}

/** The names of elements and the AT's numbers of errors, which differ between the three kinds of documents. */
export const documentKinds = {
  Invoice: {
    service: 'invoice',
    name: 'Invoice',
    number: 'InvoiceNo',
    date: 'InvoiceDate',
    type: 'InvoiceType',
    codes: {
      number: -1,
      date: -4,
      type: -5,
      amounts: -7,
      exemption: -8,
      values: -28,
      certificate: -39,
      required: -50,
      already: -10,
      different: -3,
      statusDate: -6,
      absent: -11,
      state: -12,
      changeValues: -31,
      changeDate: -31,
    },
  },
  Work: {
    service: 'work',
    name: 'Work',
    number: 'DocumentNumber',
    date: 'WorkDate',
    type: 'WorkType',
    codes: {
      number: -29,
      date: -21,
      type: -29,
      amounts: -20,
      exemption: -29,
      values: -29,
      certificate: -29,
      required: -51,
      already: -22,
      different: -29,
      statusDate: -45,
      absent: -19,
      state: -37,
      changeValues: -32,
      changeDate: -43,
    },
  },
  Payment: {
    service: 'payment',
    name: 'Payment',
    number: 'PaymentRefNo',
    date: 'TransactionDate',
    type: 'PaymentType',
    codes: {
      number: -30,
      date: -24,
      type: -30,
      amounts: -23,
      exemption: -30,
      values: -30,
      certificate: -30,
      required: -30,
      already: -25,
      different: -30,
      statusDate: -30,
      absent: -38,
      state: -26,
      changeValues: -33,
      changeDate: -27,
    },
  },
} as const satisfies Record<string, DocumentKind>;

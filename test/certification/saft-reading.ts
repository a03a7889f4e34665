/** A SAF-T file as plain objects, read by a parser that is not ours, and its signatures checked from the file alone. */
import { createVerify, type KeyObject } from 'node:crypto';
import { XMLParser } from 'fast-xml-parser';

const many = [
  'Customer',
  'Product',
  'TaxTableEntry',
  'Invoice',
  'StockMovement',
  'WorkDocument',
  'Payment',
  'Line',
  'OrderReferences',
  'References',
  'SourceDocumentID',
  'WithholdingTax',
];
const parser = new XMLParser({
  parseTagValue: false,
  isArray: (name, path) => many.includes(name) && !String(path).endsWith('DocumentTotals.Payment'),
});

/** Elements by name; what may stand several times is a list. */
// biome-ignore lint/suspicious/noExplicitAny: a tree of any shape, read by tests alone
export type Tree = any;

export interface Saft {
  readonly file: Tree;
  readonly customers: readonly Tree[];
  readonly invoices: readonly Tree[];
  readonly movements: readonly Tree[];
  readonly works: readonly Tree[];
  readonly payments: readonly Tree[];
  /** Of any section, by its number. */
  document(number: string): Tree;
}

export function readSaft(xml: string): Saft {
  const file = parser.parse(xml).AuditFile;
  const sources = file.SourceDocuments ?? {};
  const invoices = sources.SalesInvoices?.Invoice ?? [];
  const movements = sources.MovementOfGoods?.StockMovement ?? [];
  const works = sources.WorkingDocuments?.WorkDocument ?? [];
  const payments = sources.Payments?.Payment ?? [];
  const byNumber = new Map<string, Tree>(
    [...invoices, ...movements, ...works, ...payments].map((one) => [numberOf(one), one]),
  );
  return {
    file,
    customers: file.MasterFiles?.Customer ?? [],
    invoices,
    movements,
    works,
    payments,
    document(number) {
      const found = byNumber.get(number);
      if (found === undefined) throw new Error(`${number} is not in the file`);
      return found;
    },
  };
}

export const numberOf = (document: Tree): string =>
  document.InvoiceNo ?? document.DocumentNumber ?? document.PaymentRefNo;

/**
 * What is wrong with numbers and signatures, from the file and the public key alone: each series is numbered without a
 * gap from its first document on, its ATCUD tells the same number, dates and times never go back, and each signature fits
 * date, time, number, total and the signature before it.
 */
export function chainFaults(saft: Saft, key: KeyObject): string[] {
  const faults: string[] = [];
  const last = new Map<string, { sequence: number; hash: string; date: string; entry: string }>();
  for (const document of [...saft.invoices, ...saft.movements, ...saft.works, ...saft.payments]) {
    const number = numberOf(document);
    const [series, digits] = number.split('/') as [string, string];
    const before = last.get(series) ?? { sequence: 0, hash: '', date: '', entry: '' };
    const sequence = Number(digits);
    const hash: string = document.Hash ?? '';
    const date = document.InvoiceDate ?? document.MovementDate ?? document.WorkDate ?? document.TransactionDate;
    const entry: string = document.SystemEntryDate;
    if (sequence !== before.sequence + 1) faults.push(`${number} follows ${before.sequence}`);
    if (!document.ATCUD.endsWith(`-${sequence}`)) faults.push(`${number} has ATCUD ${document.ATCUD}`);
    if (date < before.date || entry < before.entry) faults.push(`${number} goes back in time`);
    const text = `${date};${entry};${number};${document.DocumentTotals.GrossTotal};${before.hash}`;
    const signed = document.PaymentRefNo === undefined;
    if (signed && !createVerify('RSA-SHA1').update(text).verify(key, hash, 'base64'))
      faults.push(`${number} is not signed over ${text}`);
    last.set(series, { sequence, hash, date, entry });
  }
  return faults;
}

const cents = (text: string): bigint => {
  const [whole, fraction = ''] = text.split('.') as [string, string?];
  return BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0').slice(0, 2));
};

/** Sum of amounts with two decimals, exact. */
export function sumOf(amounts: readonly string[]): string {
  const total = amounts.reduce((sum, amount) => sum + cents(amount), 0n);
  return `${total / 100n}.${String(total % 100n).padStart(2, '0')}`;
}

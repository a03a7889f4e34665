/** Whether one stored document agrees with itself: its columns with its frozen content, and each total with its parts. */
import { atcud } from '../../fiscal/atcud.ts';
import { add, compare, sum } from '../../fiscal/decimal.ts';
import { type Content, type DocumentType, documentTypes, type Issued, type Totals } from '../../fiscal/document.ts';
import { isHash, shortHash, signedText } from '../../fiscal/hash-chain.ts';
import { isQrPayload } from '../../fiscal/qr-payload.ts';
import { documentNumber } from '../../fiscal/series.ts';

/** A numbered document as it stands in the books; amounts and days are text. */
export interface StoredDocument {
  readonly sequence: number;
  readonly number: string;
  readonly atcud: string;
  readonly type: DocumentType;
  readonly date: string;
  readonly dueDate: string | null;
  readonly systemEntry: string;
  readonly hash: string;
  /** Null on documents that the law leaves unsigned. */
  readonly signedText: string | null;
  readonly keyVersion: number;
  readonly certificateNumber: number;
  readonly qr: string;
  readonly customerName: string;
  readonly currency: string;
  readonly net: string;
  readonly tax: string;
  readonly gross: string;
  readonly toPay: string;
  readonly content: Content;
}

export interface StoredSeries {
  readonly code: string;
  readonly documentType: DocumentType;
  /** The type as the AT registered it: it stands in each number. */
  readonly atType: string;
  readonly validationCode: string;
}

/** What is wrong, a phrase each; empty when nothing is. Never throws for content that was altered out of shape. */
export function documentFaults(document: StoredDocument, series: StoredSeries, previousHash: string): string[] {
  const parts = [
    () => stampFaults(document, series),
    () => columnFaults(document),
    () => contentFaults(document.content),
    () => signedTextFaults(document, previousHash),
  ];
  return parts.flatMap((part) => {
    try {
      return part();
    } catch (error) {
      return [`has frozen content that cannot be read (${(error as Error).message})`];
    }
  });
}

function stampFaults(document: StoredDocument, series: StoredSeries): string[] {
  const { type, sequence } = document;
  const faults: string[] = [];
  if (type !== series.documentType) faults.push(`is ${type} in a series of ${series.documentType}`);
  const number = documentNumber(series.atType, series.code, sequence);
  if (document.number !== number) faults.push(`should have the number ${number}`);
  const code = atcud(series.validationCode, sequence);
  if (document.atcud !== code) faults.push(`has the ATCUD ${document.atcud}, not ${code}`);
  // A wrong hash is a finding of the chain; without one there are no characters to compare the QR code with.
  if (documentTypes[type].signed && !isHash(document.hash)) return faults;
  if (!isQrPayload(document.qr, document.content, issuedOf(document, series))) {
    faults.push('has a QR code that does not say what the document says');
  }
  return faults;
}

/** The chain proves the signature over these values; the text that is shown beside it must be the same. */
function signedTextFaults(document: StoredDocument, previousHash: string): string[] {
  const { date, systemEntry, number, content, type } = document;
  const parts = { date, systemEntry, number, grossTotal: content.books.gross };
  const text = documentTypes[type].signed ? signedText(parts, previousHash) : null;
  return document.signedText === text ? [] : ['shows a signed text that is not the one its values make'];
}

function issuedOf(document: StoredDocument, series: StoredSeries): Issued {
  const { hash } = document;
  return { ...document, seriesCode: series.code, shortHash: hash === '' ? '' : shortHash(hash) };
}

/** Columns are copies, to filter and sort by; the content is what was issued. */
function columnFaults(document: StoredDocument): string[] {
  const { content } = document;
  const { totals } = content;
  const copies: readonly (readonly [string, unknown, unknown])[] = [
    ['type', document.type, content.type],
    // Days that the draft left open are decided with the number (issue.ts): the date, which is signed, and the due date by it.
    ['date', document.date, content.date ?? document.date],
    ['due date', document.dueDate, content.dueDate ?? document.date],
    ['customer', document.customerName, content.customer.name],
    ['currency', document.currency, content.currency],
  ];
  const amounts: readonly (readonly [string, string, string])[] = [
    ['net amount', document.net, totals.net],
    ['VAT', document.tax, totals.tax],
    ['total', document.gross, totals.gross],
    ['amount to pay', document.toPay, totals.toPay],
  ];
  return [
    ...copies.filter(([, column, frozen]) => column !== frozen),
    ...amounts.filter(([, column, frozen]) => compare(column, frozen) !== 0),
  ].map(([name, column, frozen]) => `has the ${name} ${column} beside the frozen ${frozen}`);
}

function contentFaults(content: Content): string[] {
  // A receipt's amounts are those of the documents it settles: it has no lines of its own.
  if (documentTypes[content.type].family === 'RECEIPT') return totalFaults('', content.totals);
  const { lines, totals, books } = content;
  const faults = [...totalFaults('', totals), ...totalFaults(' in the books', books)];
  const equal = (what: string, whole: string, parts: readonly string[]): void => {
    if (compare(whole, sum(parts)) !== 0) faults.push(`has ${what} of ${whole}, and its lines make ${sum(parts)}`);
  };
  equal(
    'a net amount',
    totals.net,
    lines.map((line) => line.net),
  );
  equal(
    'VAT',
    totals.tax,
    lines.map((line) => line.tax),
  );
  equal(
    'a net amount in the books',
    books.net,
    lines.map((line) => line.eur.net),
  );
  equal(
    'VAT in the books',
    books.tax,
    lines.map((line) => line.eur.tax),
  );
  equal(
    'an amount before discounts',
    content.netBeforeDiscount,
    lines.map((line) => line.gross),
  );
  for (const line of lines) {
    if (compare(line.gross, add(line.net, line.discountAmount)) !== 0) {
      faults.push(`has a line ${line.number} that is not its value less its discount`);
    }
  }
  return faults;
}

function totalFaults(where: string, totals: Totals): string[] {
  const { net, tax, gross, withholding, toPay, groups, withholdings } = totals;
  const faults: string[] = [];
  const equal = (what: string, a: string, b: string): void => {
    if (compare(a, b) !== 0) faults.push(`has ${what}${where} of ${a} instead of ${b}`);
  };
  equal('a total', gross, add(net, tax));
  equal('an amount to pay with its withholding', add(toPay, withholding), gross);
  equal('VAT', tax, sum(groups.map((group) => group.tax)));
  equal('a net amount', net, sum(groups.map((group) => group.base)));
  equal('withholding tax', withholding, sum(withholdings.map((group) => group.amount)));
  return faults;
}

/** A document as a whole: its head, its totals, its status; and each section's head against its documents. */
import { apart, cent, unitsOf, unitsText } from '../amounts.ts';
import { type Book, checkReference, type DocumentKind } from './book.ts';
import type { DocumentSums } from './lines.ts';
import { checkNamed, noteDocument } from './named.ts';
import { checkInvoiced, noteInvoiced } from './origins.ts';
import { checkSeries, type DocumentNames } from './series.ts';
import { allIn, child, type SaftNode, textIn } from './structure.ts';

/** The elements that are called differently in each section. */
export const documentNames: Readonly<Record<DocumentKind, DocumentNames>> = {
  invoice: {
    number: 'InvoiceNo',
    date: 'InvoiceDate',
    type: 'InvoiceType',
    status: 'InvoiceStatus',
    source: 'SourceBilling',
  },
  movement: {
    number: 'DocumentNumber',
    date: 'MovementDate',
    type: 'MovementType',
    status: 'MovementStatus',
    source: 'SourceBilling',
  },
  work: { number: 'DocumentNumber', date: 'WorkDate', type: 'WorkType', status: 'WorkStatus', source: 'SourceBilling' },
  payment: {
    number: 'PaymentRefNo',
    date: 'TransactionDate',
    type: 'PaymentType',
    status: 'PaymentStatus',
    source: 'SourcePayment',
  },
};
/** Statuses that a section's sums leave out. */
const leftOut: Readonly<Record<DocumentKind, string>> = { invoice: 'AF', movement: 'A', work: 'A', payment: 'A' };

/** Every check of a document but those of its lines; adds it to its section. */
export function checkDocument(book: Book, kind: DocumentKind, node: SaftNode, sums: DocumentSums): void {
  const names = documentNames[kind];
  const type = textIn(node, names.type);
  const date = textIn(node, names.date);
  const entry = textIn(node, 'SystemEntryDate');
  const status = child(node, 'DocumentStatus');
  const state = textIn(status, names.status);
  const source = textIn(status, names.source);
  checkReference(book, 'CustomerID', node);
  checkReference(book, 'SupplierID', node);
  checkPeriod(book, node, date);
  checkStatus(book, node, status, names, entry);
  checkSource(book, node, source);
  if (state !== 'A') checkRecovered(book, node);
  const gross = checkTotals(book, kind, type, node, sums);
  if (kind === 'invoice') checkPaid(book, type, node, gross);
  if ((type === 'NC' || type === 'ND') && !sums.references)
    book.findings.tell('REFERENCES_MISSING', node.line, { type });
  const number = textIn(node, names.number);
  if (kind === 'invoice') noteInvoiced(book, type, state, sums, node.line);
  if (kind === 'work' || kind === 'movement') checkInvoiced(book, kind, number, status);
  noteDocument(book, number, date, state === 'A');
  // What was cancelled corrects and settles nothing.
  if (state !== 'A') checkNamed(book, { number, date, line: node.line }, sums);
  const grossTotal = textIn(child(node, 'DocumentTotals'), 'GrossTotal');
  checkSeries(book, { kind, number, type, date, entry, grossTotal, source, node });
  const section = book.sections[kind];
  section.documents += 1;
  section.lines += sums.lines;
  if (state !== '' && leftOut[kind].includes(state)) return;
  // Without its status nobody knows whether it counts.
  if (!sums.complete || state === '') section.complete = false;
  section.debit += sums.debit;
  section.credit += sums.credit;
  section.quantity += sums.quantity;
}

function checkPeriod(book: Book, node: SaftNode, date: string): void {
  const { from, to } = book;
  if (date === '' || from === '' || to === '' || (from <= date && date <= to)) return;
  book.findings.tell('DATE_OUTSIDE_PERIOD', node.line, { date, from, to });
}

function checkStatus(
  book: Book,
  node: SaftNode,
  status: SaftNode | undefined,
  names: DocumentNames,
  entry: string,
): void {
  if (status === undefined) return;
  const since = textIn(status, `${names.status}Date`);
  if (since !== '' && entry !== '' && since < entry) {
    book.findings.tell('STATUS_BEFORE_ENTRY', node.line, { status: since, entry });
  }
  if (textIn(status, names.status) === 'A' && textIn(status, 'Reason') === '') {
    book.findings.tell('CANCEL_REASON_MISSING', status.line);
  }
}

/** Forms of HashControl (hash chain, section 6): P the key's version, I origin and version, M what was recovered. */
function checkSource(book: Book, node: SaftNode, source: string): void {
  const value = textIn(node, 'HashControl');
  const form = /^\d+$/.test(value) ? 'P' : /^\d+\.\d+$/.test(value) ? 'I' : /^\d+-/.test(value) ? 'M' : undefined;
  if (form === undefined || source === '' || form === source) return;
  // A document integrated from a program without certificate has "0".
  if (value === '0' && source === 'I') return;
  book.findings.tell('SOURCE_MISMATCH', node.line, { value, source });
}

/** No two documents that stand are recovered of one original (hash chain, section 6). */
function checkRecovered({ findings, recovered }: Book, node: SaftNode): void {
  const original = /^\d+-(.+)$/.exec(textIn(node, 'HashControl'))?.[1];
  if (original === undefined) return;
  const first = recovered.get(original);
  if (first === undefined) recovered.set(original, node.line);
  else findings.tell('RECOVERED_TWICE', node.line, { original, first });
}

/** GrossTotal, when it is there. */
function checkTotals(
  book: Book,
  kind: DocumentKind,
  type: string,
  node: SaftNode,
  sums: DocumentSums,
): bigint | undefined {
  const totals = child(node, 'DocumentTotals');
  const [tax, net, gross] = ['TaxPayable', 'NetTotal', 'GrossTotal'].map((name) => unitsOf(textIn(totals, name)));
  if (totals === undefined || tax === undefined || net === undefined || gross === undefined) return gross;
  const { line } = totals;
  if (apart(gross, net + tax) >= cent) {
    book.findings.tell('GROSS_TOTAL', line, { value: unitsText(gross), expected: unitsText(net + tax) });
  }
  if (!sums.complete) return gross;
  const lines = apart(sums.credit, sums.debit);
  // Programs differ on whether the lines of an RG carry net or gross amounts.
  const asGross = kind === 'payment' && type === 'RG' && apart(gross, lines) <= cent;
  if (apart(net, lines) > cent && !asGross) {
    book.findings.tell('NET_TOTAL', line, { value: unitsText(net), expected: unitsText(lines) });
  }
  if (sums.allRated && !asGross) checkTaxTotal(book, line, tax, type, sums);
  return gross;
}

/**
 * TaxPayable against the rates. Whether tax is rounded per line or per rate is the program's choice: a cent per line. A
 * note that takes back the last of an invoice takes the cents that the notes before it left. A discount for paying leaves
 * the tax as it was unless the VAT is regularised (CIVA art. 78, no. 2), so either is right.
 */
function checkTaxTotal(book: Book, line: number, tax: bigint, type: string, sums: DocumentSums): void {
  const signed = taxOf(sums.bases);
  const worked = apart(signed, 0n);
  const whole = apart(signed + taxOf(sums.givenOff), 0n);
  const tolerance = cent * BigInt(sums.lines + (type === 'NC' ? 10 : 1));
  if (apart(tax, worked) > tolerance && apart(tax, whole) > tolerance) {
    book.findings.tell('TAX_TOTAL', line, { value: unitsText(tax), expected: unitsText((worked / 10_000n) * 10_000n) });
  }
}

/** In units, of bases in units per percentage in units. */
function taxOf(bases: ReadonlyMap<string, bigint>): bigint {
  const hundred = 10_000_000_000n;
  let tax = 0n;
  for (const [percentage, base] of bases) tax += (base * (unitsOf(percentage) ?? 0n)) / hundred;
  return tax;
}

/** FR and FS say how they were paid: all but what is withheld. An FR has to say it (Portaria 302/2016, Payment). */
function checkPaid(book: Book, type: string, node: SaftNode, gross: bigint | undefined): void {
  const totals = child(node, 'DocumentTotals');
  if (totals === undefined) return;
  const payments = allIn(totals, 'Payment');
  if (payments.length === 0) {
    if (type === 'FR') book.findings.tell('PAYMENT_MISSING', totals.line);
    return;
  }
  if (gross === undefined || (type !== 'FR' && type !== 'FS')) return;
  const withheld = allIn(node, 'WithholdingTax');
  const paid = sumOf(payments, 'PaymentAmount');
  const heldBack = sumOf(withheld, 'WithholdingTaxAmount');
  // Stamp duty may be held back from the price or not.
  const others = withheld.filter((tax) => textIn(tax, 'WithholdingTaxType') !== 'IS');
  const withoutStamp = sumOf(others, 'WithholdingTaxAmount');
  if (paid === undefined || heldBack === undefined || withoutStamp === undefined) return;
  const expected = gross - heldBack;
  if (apart(paid, expected) > cent && apart(paid, gross - withoutStamp) > cent) {
    book.findings.tell('PAYMENT_SUM', totals.line, { value: unitsText(paid), expected: unitsText(expected) });
  }
}

/** Undefined where one can't be read: that was told, and a sum would only repeat it. */
function sumOf(nodes: readonly SaftNode[], name: string): bigint | undefined {
  let sum = 0n;
  for (const node of nodes) {
    const amount = unitsOf(textIn(node, name));
    if (amount === undefined) return undefined;
    sum += amount;
  }
  return sum;
}

/** A section's head against its documents. */
export function checkSection(book: Book, kind: DocumentKind, node: SaftNode): void {
  const { documents, lines, debit, credit, quantity, complete } = book.sections[kind];
  const count = (name: string, expected: number) => {
    const value = textIn(node, name);
    if (value !== '' && Number(value) !== expected) {
      book.findings.tell('SECTION_COUNT', node.line, { name, value, expected });
    }
  };
  const sum = (name: string, expected: bigint) => {
    const told = unitsOf(textIn(node, name));
    if (told === undefined || !complete || apart(told, expected) <= cent) return;
    const facts = {
      name,
      value: unitsText(told),
      expected: unitsText(expected),
      leftOut: [...leftOut[kind]].join(', '),
    };
    book.findings.tell('SECTION_SUM', node.line, facts);
  };
  if (kind === 'movement') {
    count('NumberOfMovementLines', lines);
    sum('TotalQuantityIssued', quantity);
  } else {
    count('NumberOfEntries', documents);
    sum('TotalDebit', debit);
    sum('TotalCredit', credit);
  }
}

/** A line of a document: its number, amount, tax and references; and what lines add up to. */
import { compare } from '../../decimal.ts';
import type { Region, VatRate } from '../../document.ts';
import { exemptionOn, exemptions } from '../../exemptions.ts';
import { findRate } from '../../vat-rates.ts';
import { apart, cent, priced, unitsOf, unitsText } from '../amounts.ts';
import { type Book, checkReference, type DocumentKind } from './book.ts';
import { taxKey } from './masters.ts';
import { allIn, child, type SaftNode, textIn } from './structure.ts';

/** Sums over the lines of one document, in units of 10⁻⁸. */
export interface DocumentSums {
  lines: number;
  debit: bigint;
  credit: bigint;
  quantity: bigint;
  /** Taxable base per percentage, credit less debit. */
  readonly bases: Map<string, bigint>;
  /** Of these, what was given off at a payment (SettlementAmount) and is not in the lines' amounts. */
  readonly givenOff: Map<string, bigint>;
  /** Each line has a Tax with a percentage: only then can TaxPayable be worked out. */
  allRated: boolean;
  references: boolean;
  /** Documents that lines of this one came from (OrderReferences). */
  readonly origins: Set<string>;
  /** Documents that lines of this one name, for whatever reason. */
  readonly named: Set<string>;
  /** Of these, what lines of a note correct (References). */
  readonly corrected: Set<string>;
  /** Each line has its amount: else no sum can be compared, and what is missing was told already. */
  complete: boolean;
}

/** Nothing added yet. */
export function emptySums(): DocumentSums {
  return {
    lines: 0,
    debit: 0n,
    credit: 0n,
    quantity: 0n,
    bases: new Map(),
    givenOff: new Map(),
    allRated: true,
    references: false,
    origins: new Set(),
    named: new Set(),
    corrected: new Set(),
    complete: true,
  };
}

/** What of the document a line is judged by. */
export interface LineOf {
  readonly kind: DocumentKind;
  /** InvoiceType and the like. */
  readonly type: string;
  /** InvoiceDate and the like. */
  readonly date: string;
}

/** Every check of a line; adds it to the sums. */
export function checkLine(book: Book, sums: DocumentSums, of: LineOf, node: SaftNode): void {
  sums.lines += 1;
  const number = textIn(node, 'LineNumber');
  if (number !== '' && Number(number) !== sums.lines) {
    book.findings.tell('LINE_NUMBER', node.line, { value: number, expected: sums.lines });
  }
  const debit = unitsOf(textIn(node, 'DebitAmount'));
  const credit = unitsOf(textIn(node, 'CreditAmount'));
  sums.debit += debit ?? 0n;
  sums.credit += credit ?? 0n;
  if (debit === undefined && credit === undefined) sums.complete = false;
  noteNamed(sums, node);
  if (of.kind !== 'payment') checkGoods(book, sums, of, node, debit ?? credit);
  checkTax(book, sums, node, { ...of, signed: (credit ?? 0n) - (debit ?? 0n) });
}

function noteNamed({ named }: DocumentSums, node: SaftNode): void {
  for (const one of allIn(node, 'References')) named.add(textIn(one, 'Reference'));
  for (const one of allIn(node, 'OrderReferences')) named.add(textIn(one, 'OriginatingON'));
  for (const one of allIn(node, 'SourceDocumentID')) named.add(textIn(one, 'OriginatingON'));
}

function checkGoods(book: Book, sums: DocumentSums, of: LineOf, node: SaftNode, amount: bigint | undefined): void {
  checkReference(book, 'ProductCode', node);
  const quantity = unitsOf(textIn(node, 'Quantity'));
  sums.quantity += quantity ?? 0n;
  if (quantity === undefined) sums.complete = false;
  if (amount !== undefined) checkAmount(book, node, quantity, amount);
  if (of.kind === 'invoice') checkSide(book, of.type, node);
  checkReferences(book, sums, of, node);
  if (of.kind === 'invoice') {
    for (const origin of allIn(node, 'OrderReferences')) sums.origins.add(textIn(origin, 'OriginatingON'));
  }
}

/**
 * Quantity × UnitPrice is the amount, to a cent. Six decimals are all that programs are asked for, so what half of the
 * last of them explains is no error; but whoever takes the file to other validators may meet it there.
 */
function checkAmount(book: Book, node: SaftNode, quantity: bigint | undefined, amount: bigint): void {
  const price = textIn(node, 'UnitPrice');
  const expected = quantity === undefined ? undefined : priced(quantity, price);
  if (quantity === undefined || expected === undefined) return;
  const off = apart(expected, amount);
  if (off <= cent) return;
  const code = off <= cent + halfLast(quantity, price) ? 'LINE_PRICE_ROUNDED' : 'LINE_AMOUNT';
  book.findings.tell(code, node.line, {
    quantity: textIn(node, 'Quantity'),
    price,
    expected: unitsText(expected),
    value: unitsText(amount),
  });
}

/** Half a unit of the last decimal of a price that has six or more, for each of the quantity. */
function halfLast(quantity: bigint, price: string): bigint {
  const point = price.indexOf('.');
  const decimals = point === -1 ? 0 : price.length - point - 1;
  return decimals < 6 ? 0n : (priced(quantity, `0.${'0'.repeat(Math.min(decimals, 19))}5`) ?? 0n);
}

const sides: Readonly<Record<string, string>> = {
  FT: 'CreditAmount',
  FS: 'CreditAmount',
  FR: 'CreditAmount',
  ND: 'CreditAmount',
  NC: 'DebitAmount',
};

function checkSide(book: Book, type: string, node: SaftNode): void {
  const expected = sides[type];
  const name = expected === 'CreditAmount' ? 'DebitAmount' : 'CreditAmount';
  if (expected !== undefined && child(node, name) !== undefined) {
    book.findings.tell('SIDE', node.line, { type, expected, name });
  }
}

/** References name the corrected invoice, so they belong to credit and debit notes only. */
function checkReferences(book: Book, sums: DocumentSums, { kind, type }: LineOf, node: SaftNode): void {
  const references = child(node, 'References');
  if (references === undefined || kind !== 'invoice') return;
  if (textIn(references, 'Reference') !== '') sums.references = true;
  if (/^(?:FT|FS|FR)$/.test(type)) book.findings.tell('REFERENCES_NOT_EXPECTED', references.line, { type });
  else for (const one of allIn(node, 'References')) sums.corrected.add(textIn(one, 'Reference'));
}

function checkTax(book: Book, sums: DocumentSums, node: SaftNode, of: LineOf & { readonly signed: bigint }): void {
  const tax = child(node, 'Tax');
  checkExemption(book, node, tax);
  if (tax === undefined) {
    sums.allRated = false;
    if (of.type === 'RC') book.findings.tell('RC_WITHOUT_TAX', node.line);
    return;
  }
  const percentage = unitsOf(textIn(tax, 'TaxPercentage'));
  if (percentage === undefined) sums.allRated = false;
  else {
    const base = taxBase(book, node) ?? of.signed;
    const key = unitsText(percentage);
    add(sums.bases, key, base);
    const givenOff = of.kind === 'payment' ? (unitsOf(textIn(node, 'SettlementAmount')) ?? 0n) : 0n;
    if (givenOff !== 0n) add(sums.givenOff, key, of.signed < 0n ? -givenOff : givenOff);
  }
  const key = taxKey(tax);
  if (percentage !== undefined && !book.taxes.has(key)) book.findings.tell('TAX_NOT_IN_TABLE', tax.line, { tax: key });
  // A note has the rates and codes of the invoice's day, which this file need not hold.
  if (of.type !== 'NC' && of.type !== 'ND' && of.kind !== 'payment')
    checkInForce(book, node, tax, taxPointIn(node, of));
}

/** Lines of transport documents have no tax point of their own. */
function taxPointIn(node: SaftNode, { kind, date }: LineOf): string {
  return kind === 'movement' ? date : textIn(node, 'TaxPointDate');
}

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units);
}

/** Assertions 1 and 2: no tax exactly with a reason, and reason and code together. */
function checkExemption(book: Book, node: SaftNode, tax: SaftNode | undefined): void {
  const reason = child(node, 'TaxExemptionReason');
  const code = child(node, 'TaxExemptionCode');
  if ((reason === undefined) !== (code === undefined)) {
    const name = reason === undefined ? 'TaxExemptionReason' : 'TaxExemptionCode';
    book.findings.tell('EXEMPTION_INCOMPLETE', node.line, { name });
  }
  const told = child(tax, 'TaxPercentage') ?? child(tax, 'TaxAmount');
  const value = told === undefined ? undefined : unitsOf(told.text);
  if (value === 0n && reason === undefined) book.findings.tell('EXEMPTION_REASON_MISSING', node.line);
  if (value !== undefined && value !== 0n && reason !== undefined) {
    book.findings.tell('EXEMPTION_NOT_EXPECTED', node.line, { tax: told!.text });
  }
}

/** Assertion 3: a line of tax alone has no price and no amount. */
function taxBase(book: Book, node: SaftNode): bigint | undefined {
  const base = child(node, 'TaxBase');
  if (base === undefined) return undefined;
  for (const name of ['UnitPrice', 'DebitAmount', 'CreditAmount']) {
    const value = unitsOf(textIn(node, name));
    if (value !== undefined && value !== 0n) {
      book.findings.tell('TAX_BASE_WITH_VALUE', node.line, { name, value: unitsText(value) });
    }
  }
  const units = unitsOf(base.text) ?? 0n;
  return child(node, 'DebitAmount') === undefined ? units : -units;
}

const vatRates: Readonly<Record<string, Exclude<VatRate, 'EXEMPT'>>> = {
  NOR: 'NORMAL',
  INT: 'INTERMEDIATE',
  RED: 'REDUCED',
};
const exemptionCodes = new Set(exemptions.map(({ code }) => code));
/** Version 3 of the AT's table; codes before it are not known here. */
const firstTable = '2022-07-01';

function checkInForce(book: Book, node: SaftNode, tax: SaftNode, date: string): void {
  if (date === '') return;
  for (const [value] of textIn(node, 'TaxExemptionCode').matchAll(/M\d\d/g)) {
    if (date < firstTable) continue;
    if (!exemptionCodes.has(value)) book.findings.tell('EXEMPTION_CODE_UNKNOWN', node.line, { value });
    else if (exemptionOn(value, date) === undefined)
      book.findings.tell('EXEMPTION_CODE_ENDED', node.line, { value, date });
  }
  const code = textIn(tax, 'TaxCode');
  const region = textIn(tax, 'TaxCountryRegion');
  const vatRate = textIn(tax, 'TaxType') === 'IVA' && /^PT(?:-AC|-MA)?$/.test(region) ? vatRates[code] : undefined;
  const value = unitsOf(textIn(tax, 'TaxPercentage'));
  if (vatRate === undefined || value === undefined) return;
  const expected = findRate(region as Region, vatRate, date);
  if (expected !== undefined && compare(expected, unitsText(value)) !== 0) {
    book.findings.tell('RATE_NOT_IN_FORCE', tax.line, { code, region, expected, date, value: unitsText(value) });
  }
}

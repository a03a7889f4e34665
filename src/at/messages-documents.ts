/**
 * Bodies of the invoice service (Fatcorews.wsdl): invoices, working documents and cash VAT receipts. The schema is
 * elementFormDefault="qualified", so every element carries the prefix.
 */

import { buyerCountry, buyerTaxId } from '../fiscal/buyer.ts';
import type { Decimal, Party, WithholdingGroup } from '../fiscal/document.ts';
import { documentTypes } from '../fiscal/document.ts';
import { cents, money } from './cents.ts';
import { issuerNif } from './issuer-nif.ts';
import type { SummaryLine } from './line-summary.ts';
import { summarise } from './line-summary.ts';
import type {
  DocumentReport,
  OriginDocument,
  PaymentReport,
  SalesReport,
  SettledPart,
  StatusChange,
} from './reports.ts';
import { group, leaf, optional } from './write-xml.ts';

export const documentsNamespace = 'http://factemi.at.min_financas.pt/documents';

/** By operation. Every element is qualified, other than in the services of series and transport. */
export const documentBodies = {
  reportInvoice: (message: SalesReport) => registration('RegisterInvoiceRequest', message, invoiceData(message)),
  changeInvoiceStatus: (message: StatusChange) => statusChange('Invoice', message, invoiceHeader(message)),
  reportWork: (message: SalesReport) => registration('RegisterWorkRequest', message, workData(message)),
  changeWorkStatus: (message: StatusChange) => statusChange('Work', message, workHeader(message)),
  reportPayment: (message: PaymentReport) => registration('RegisterPaymentRequest', message, paymentData(message)),
  changePaymentStatus: (message: StatusChange) => statusChange('Payment', message, paymentHeader(message)),
};

const one = (name: string, value: string): string => leaf(`doc:${name}`, value);
const maybe = (name: string, value: string | undefined): string => optional(`doc:${name}`, value);
const block = (name: string, ...children: string[]): string => group(`doc:${name}`, ...children);

function root(name: string, ...children: string[]): string {
  return `<doc:${name} xmlns:doc="${documentsNamespace}">${children.join('')}</doc:${name}>`;
}

function registration(name: string, message: DocumentReport, data: string): string {
  return root(
    name,
    one('eFaturaMDVersion', '0.0.1'),
    one('AuditFileVersion', '1.04_01'),
    one('TaxRegistrationNumber', issuerNif(message)),
    one('TaxEntity', 'Global'),
    one('SoftwareCertificateNumber', String(message.issued.certificateNumber)),
    data,
  );
}

/** The manual's example calls the block NewInvoiceStatus; the WSDL's element is InvoiceStatus. */
function statusChange(kind: 'Invoice' | 'Work' | 'Payment', message: StatusChange, header: string[]): string {
  return root(
    `Change${kind}StatusRequest`,
    one('eFaturaMDVersion', '0.0.1'),
    one('TaxRegistrationNumber', issuerNif(message)),
    block(`${kind}Header`, ...header),
    status(`${kind}Status`, kind, message),
  );
}

function status(element: string, kind: string, message: { status: string; statusDate: string }): string {
  return block(element, one(`${kind}Status`, message.status), one(`${kind}StatusDate`, message.statusDate));
}

function invoiceHeader({ content, issued }: DocumentReport): string[] {
  return [
    one('InvoiceNo', issued.number),
    one('ATCUD', issued.atcud),
    one('InvoiceDate', issued.date),
    one('InvoiceType', documentTypes[content.type].code),
    one('SelfBillingIndicator', '0'),
    ...customer(content.customer),
  ];
}

function workHeader({ content, issued }: DocumentReport): string[] {
  return [
    one('DocumentNumber', issued.number),
    one('ATCUD', issued.atcud),
    one('WorkDate', issued.date),
    one('WorkType', documentTypes[content.type].code),
    ...customer(content.customer),
  ];
}

function paymentHeader({ content, issued }: DocumentReport): string[] {
  return [
    one('PaymentRefNo', issued.number),
    one('ATCUD', issued.atcud),
    one('TransactionDate', issued.date),
    one('PaymentType', 'RC'),
    ...customer(content.customer),
  ];
}

function invoiceData(message: SalesReport): string {
  const { content, issued } = message;
  return block(
    'InvoiceData',
    ...invoiceHeader(message),
    status('DocumentStatus', 'Invoice', message),
    one('HashCharacters', hashCharacters(message)),
    one('CashVATSchemeIndicator', message.cashVat ? '1' : '0'),
    // 1 only for those who opted at the AT for invoicing without paper (DL 28/2019, article 8).
    one('PaperLessIndicator', '0'),
    maybe('EACCode', message.eac),
    one('SystemEntryDate', issued.systemEntry),
    ...summarise(content, issued.date, message.origins).map(lineSummary(side(message))),
    totals(content.books),
    ...withholdings(content.books.withholdings),
  );
}

function workData(message: SalesReport): string {
  const { content, issued } = message;
  return block(
    'WorkData',
    ...workHeader(message),
    status('DocumentStatus', 'Work', message),
    one('HashCharacters', hashCharacters(message)),
    maybe('EACCode', message.eac),
    one('SystemEntryDate', issued.systemEntry),
    ...summarise(content, issued.date, message.origins).map(lineSummary(side(message))),
    totals(content.books),
  );
}

function paymentData(message: PaymentReport): string {
  return block(
    'PaymentData',
    ...paymentHeader(message),
    status('DocumentStatus', 'Payment', message),
    one('SystemEntryDate', message.issued.systemEntry),
    ...message.settled.map(settledLine),
    totals(message.totals),
    ...withholdings(message.withholdings ?? []),
  );
}

const lineSummary = (indicator: 'C' | 'D') => (line: SummaryLine) =>
  block(
    'LineSummary',
    ...line.origins.map(orderReference),
    one('TaxPointDate', line.taxPoint),
    maybe('Reference', line.reference),
    one('DebitCreditIndicator', indicator),
    one('Amount', line.amount),
    tax(line),
    maybe('TaxExemptionCode', line.exemptionCode),
  );

function settledLine(part: SettledPart): string {
  return block(
    'LineSummary',
    block('SourceDocumentID', one('OriginatingON', part.document.number), one('InvoiceDate', part.document.date)),
    one('DebitCreditIndicator', part.side === 'CREDIT' ? 'C' : 'D'),
    one('Amount', money(cents(part.net))),
    // Optional in the WSDL, but a cash VAT receipt must show the VAT of each line (SAF-T assertion on RC).
    tax(part),
    maybe('TaxExemptionCode', part.exemptionCode),
  );
}

function orderReference(origin: OriginDocument): string {
  return block('OrderReferences', one('OriginatingON', origin.number), maybe('OrderDate', origin.date));
}

function tax(line: { region: string; taxCode: string; rate: Decimal }): string {
  return block(
    'Tax',
    one('TaxType', 'IVA'),
    one('TaxCountryRegion', line.region),
    one('TaxCode', line.taxCode),
    one('TaxPercentage', line.rate.includes('.') ? line.rate : `${line.rate}.00`),
  );
}

/** GrossTotal ignores withholding. */
function totals(sums: { net: Decimal; tax: Decimal; gross: Decimal }): string {
  return block('DocumentTotals', one('TaxPayable', sums.tax), one('NetTotal', sums.net), one('GrossTotal', sums.gross));
}

/** One element per kind of withholding, whatever the percentages; none of a kind of which nothing is withheld, as in SAF-T. */
function withholdings(groups: readonly WithholdingGroup[]): string[] {
  const sums = new Map<string, bigint>();
  for (const { type, amount } of groups) sums.set(type, (sums.get(type) ?? 0n) + cents(amount));
  return [...sums].flatMap(([type, sum]) =>
    sum === 0n
      ? []
      : [block('WithholdingTax', one('WithholdingTaxType', type), one('WithholdingTaxAmount', money(sum)))],
  );
}

function customer(party: Party): [string, string] {
  return [one('CustomerTaxID', buyerTaxId(party)), one('CustomerTaxIDCountry', buyerCountry(party))];
}

function side({ content }: DocumentReport): 'C' | 'D' {
  return documentTypes[content.type].side === 'CREDIT' ? 'C' : 'D';
}

/** "0" while the program is not certified. */
function hashCharacters({ issued }: DocumentReport): string {
  return issued.certificateNumber === 0 ? '0' : issued.shortHash;
}

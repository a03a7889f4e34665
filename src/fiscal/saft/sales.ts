/** Invoice: a document of SalesInvoices (FT, FS, FR, ND, NC). */

import { cut } from '../cut.ts';
import { type Content, type Day, isPaidAtOnce, type Region } from '../document.ts';
import { customerCode, hashControl, typeCodeOf } from './codes.ts';
import { linesXml, type Tally } from './lines.ts';
import { currencyXml, paymentXml, period, shippingXml, statusXml, sumsXml, withholdingXml } from './parts.ts';
import type { SaftDocument } from './source.ts';
import { group, leaf, plain } from './xml-text.ts';

const names = { status: 'InvoiceStatus', source: 'SourceBilling' } as const;

/** One Invoice. */
export function invoiceXml(document: SaftDocument, region: Region, tally: Tally | undefined): string {
  const { content, issued } = document;
  return `<Invoice>\n${leaf('InvoiceNo', issued.number)}${leaf('ATCUD', issued.atcud)}${statusXml(document, names)}<Hash>${
    issued.hash
  }</Hash>\n${leaf('HashControl', hashControl(content, issued))}${period(issued.date)}<InvoiceDate>${
    issued.date
  }</InvoiceDate>\n<InvoiceType>${typeCodeOf(issued)}</InvoiceType>\n${regimes(content)}${leaf(
    'SourceID',
    cut(document.issuedBy, 30),
  )}<EACCode>${content.cae}</EACCode>\n<SystemEntryDate>${issued.systemEntry}</SystemEntryDate>\n${leaf(
    'CustomerID',
    customerCode(content.customer, document.identity),
  )}${shippingXml(content, region, issued.systemEntry)}${linesXml(document, tally)}${totalsXml(content, issued.date)}${withholdingXml(content)}</Invoice>\n`;
}

/** Self-billing and billing for third parties are not offered. */
function regimes({ cashVat }: Content): string {
  return `<SpecialRegimes>\n<SelfBillingIndicator>0</SelfBillingIndicator>\n<CashVATSchemeIndicator>${
    cashVat === true ? '1' : '0'
  }</CashVATSchemeIndicator>\n<ThirdPartiesBillingIndicator>0</ThirdPartiesBillingIndicator>\n</SpecialRegimes>\n`;
}

function totalsXml(content: Content, date: Day): string {
  const paid = isPaidAtOnce(content.type);
  return group(
    'DocumentTotals',
    sumsXml(content) +
      currencyXml(content) +
      termsXml(content, date) +
      (paid ? paymentXml('Payment', content, date) : ''),
  );
}

/** Settlement is for agreements on the future, never for discounts given: here the day until which to pay. */
function termsXml({ type, dueDate }: Content, date: Day): string {
  const waits = type === 'INVOICE' || type === 'DEBIT_NOTE';
  if (!waits || dueDate === undefined || dueDate <= date) return '';
  return group('Settlement', plain('PaymentTerms', `Vencimento: ${dueDate}`));
}

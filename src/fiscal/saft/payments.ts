/**
 * Payment: a receipt (RG; RC of the cash VAT scheme). Its lines are the documents settled, without tax; what was paid is
 * credited, a credit note set off is debited. Receipts are not signed.
 */

import { cut } from '../cut.ts';
import type { Content, Settled, TaxGroup } from '../document.ts';
import { quotedNumber } from '../recovery.ts';
import { unitsOf } from './amounts.ts';
import { customerCode, typeCodeOf } from './codes.ts';
import { exemptionXml, type Tally } from './lines.ts';
import { percentage } from './masters.ts';
import { currencyXml, paymentXml, period, statusXml, sumsXml, withholdingXml } from './parts.ts';
import type { SaftDocument } from './source.ts';
import { group, leaf, optional, plain } from './xml-text.ts';

const names = { status: 'PaymentStatus', source: 'SourcePayment' } as const;

/** One Payment. */
export function receiptXml(document: SaftDocument, tally: Tally | undefined): string {
  const { content, issued } = document;
  const type = typeCodeOf(issued);
  return group(
    'Payment',
    leaf('PaymentRefNo', issued.number) +
      leaf('ATCUD', issued.atcud) +
      period(issued.date) +
      plain('TransactionDate', issued.date) +
      plain('PaymentType', type) +
      optional('Description', content.notes, 200) +
      statusXml(document, names) +
      paymentXml('PaymentMethod', content, issued.date) +
      leaf('SourceID', cut(document.issuedBy, 30)) +
      plain('SystemEntryDate', issued.systemEntry) +
      leaf('CustomerID', customerCode(content.customer, document.identity)) +
      settledXml(content, type === 'RC', tally) +
      group('DocumentTotals', sumsXml(content) + currencyXml(content)) +
      withholdingXml(content),
  );
}

/** A line per document settled; of an RC a line per document and rate, since there each line tells its tax. */
function settledXml({ settles = [] }: Content, withTax: boolean, tally: Tally | undefined): string {
  let xml = '';
  let number = 0;
  for (const settled of settles) {
    const parts = withTax
      ? settled.groups.map((tax) => ({ net: tax.base, tax }))
      : [{ net: settled.net, tax: undefined }];
    for (const { net, tax } of parts) {
      number += 1;
      xml += settledLine(number, settled, net, tax, tally);
    }
  }
  return xml;
}

function settledLine(
  number: number,
  { document }: Settled,
  net: string,
  tax: TaxGroup | undefined,
  tally: Tally | undefined,
): string {
  const debit = document.type === 'CREDIT_NOTE';
  if (tally !== undefined) {
    const units = unitsOf(net) ?? 0n;
    if (debit) tally.debit += units;
    else tally.credit += units;
  }
  return group(
    'Line',
    plain('LineNumber', String(number)) +
      group(
        'SourceDocumentID',
        leaf('OriginatingON', cut(quotedNumber(document), 60)) + plain('InvoiceDate', document.date),
      ) +
      plain(debit ? 'DebitAmount' : 'CreditAmount', net) +
      (tax === undefined ? '' : taxXml(tax)),
  );
}

function taxXml({ region, taxCode, rate, exemptionCode }: TaxGroup): string {
  return (
    group(
      'Tax',
      plain('TaxType', 'IVA') +
        plain('TaxCountryRegion', region) +
        plain('TaxCode', taxCode) +
        plain('TaxPercentage', percentage(rate)),
    ) + (exemptionCode === undefined ? '' : exemptionXml(exemptionCode))
  );
}

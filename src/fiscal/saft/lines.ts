/** Lines of sales, transport and working documents. They differ in three elements and in the value of transports. */

import { originOf } from '../convert.ts';
import { cut } from '../cut.ts';
import { isZero } from '../decimal.ts';
import { documentTypes, type PricedLine } from '../document.ts';
import { quotedNumber } from '../recovery.ts';
import { exactUnitPrice } from '../unit-price.ts';
import { unitText } from '../units.ts';
import { unitsOf } from './amounts.ts';
import { exemptionReason } from './codes.ts';
import { percentage, productDescription } from './masters.ts';
import type { SaftDocument } from './source.ts';
import { group, leaf, optional, plain } from './xml-text.ts';

/** What the section's head counts, in units of 10⁻⁸. */
export interface Tally {
  entries: number;
  lines: number;
  debit: bigint;
  credit: bigint;
  quantity: bigint;
}

/** A tally of nothing. */
export function emptyTally(): Tally {
  return { entries: 0, lines: 0, debit: 0n, credit: 0n, quantity: 0n };
}

/** Every Line of a document. `tally`: where its amounts are counted; undefined for a document that does not count. */
export function linesXml(document: SaftDocument, tally: Tally | undefined): string {
  const { content, issued } = document;
  const { family, side } = documentTypes[content.type];
  const transport = family === 'TRANSPORT';
  const valued = !transport || content.transport?.valued === true;
  const amountName = side === 'DEBIT' ? 'DebitAmount' : 'CreditAmount';
  const origin = originXml(document);
  const taxPoint = transport ? '' : plain('TaxPointDate', content.taxPointDate ?? issued.date);
  const corrected = transport ? '' : correctedXml(document);
  let xml = '';
  for (const line of content.lines) {
    const cameFrom = originOf(content, line) === undefined ? '' : origin;
    const amount = valued ? line.eur.net : '0.00';
    if (tally !== undefined) count(tally, side, amount, line.quantity);
    xml += `<Line>\n<LineNumber>${line.number}</LineNumber>\n${cameFrom}${leaf('ProductCode', line.itemId)}${leaf(
      'ProductDescription',
      productDescription(line.name),
    )}<Quantity>${line.quantity}</Quantity>\n${leaf('UnitOfMeasure', cut(unitText(line.unit), 20))}<UnitPrice>${
      valued ? exactUnitPrice(line) : '0.00'
    }</UnitPrice>\n${taxPoint}${corrected}${leaf('Description', cut(line.description?.trim() ? line.description : line.name, 200))}<${amountName}>${amount}</${amountName}>\n${
      valued ? taxXml(line) : ''
    }</Line>\n`;
  }
  return xml;
}

function count(tally: Tally, side: 'DEBIT' | 'CREDIT', amount: string, quantity: string): void {
  const units = unitsOf(amount) ?? 0n;
  if (side === 'DEBIT') tally.debit += units;
  else tally.credit += units;
  tally.quantity += unitsOf(quantity) ?? 0n;
}

/** Where the document came from: the pro forma or the transport document, on each line of it (Portaria 302/2016, OrderReferences). */
function originXml({ content: { origin } }: SaftDocument): string {
  if (origin === undefined) return '';
  return group('OrderReferences', leaf('OriginatingON', cut(origin.number, 60)) + plain('OrderDate', origin.date));
}

/** The invoice that a credit or debit note corrects, and why. Other documents have no References. */
function correctedXml({ content: { type, parent } }: SaftDocument): string {
  if (parent === undefined || (type !== 'CREDIT_NOTE' && type !== 'DEBIT_NOTE')) return '';
  const reference = leaf('Reference', cut(quotedNumber(parent), 60));
  return group('References', reference + optional('Reason', parent.reason, 50));
}

/** Tax, why there is none, and the discounts of the line. */
function taxXml(line: PricedLine): string {
  const exemption = line.exemptionCode === undefined ? '' : exemptionXml(line.exemptionCode);
  const { discountAmount } = line.eur;
  const discount = isZero(discountAmount) ? '' : plain('SettlementAmount', discountAmount);
  return `<Tax>\n<TaxType>IVA</TaxType>\n<TaxCountryRegion>${line.region}</TaxCountryRegion>\n<TaxCode>${line.taxCode}</TaxCode>\n<TaxPercentage>${percentage(line.rate)}</TaxPercentage>\n</Tax>\n${exemption}${discount}`;
}

/** TaxExemptionReason and TaxExemptionCode, which come together or not at all. */
export function exemptionXml(code: string): string {
  return leaf('TaxExemptionReason', exemptionReason(code)) + leaf('TaxExemptionCode', code);
}

/** StockMovement: a document of MovementOfGoods (GR, GT, GA, GC, GD). Its head is in another order than an invoice's. */

import { cut } from '../cut.ts';
import type { Region } from '../document.ts';
import { customerCode, hashControl, typeCodeOf } from './codes.ts';
import { linesXml, type Tally } from './lines.ts';
import { currencyXml, period, shippingXml, statusXml, sumsXml } from './parts.ts';
import type { SaftDocument } from './source.ts';
import { group, leaf, optional, plain } from './xml-text.ts';

const names = { status: 'MovementStatus', source: 'SourceBilling' } as const;

/** One StockMovement. Without values its lines, its totals and what was signed are 0.00. */
export function movementXml(document: SaftDocument, region: Region, tally: Tally | undefined): string {
  const { content, issued } = document;
  return group(
    'StockMovement',
    leaf('DocumentNumber', issued.number) +
      leaf('ATCUD', issued.atcud) +
      statusXml(document, names) +
      plain('Hash', issued.hash) +
      leaf('HashControl', hashControl(content, issued)) +
      period(issued.date) +
      plain('MovementDate', issued.date) +
      plain('MovementType', typeCodeOf(issued)) +
      plain('SystemEntryDate', issued.systemEntry) +
      leaf('CustomerID', customerCode(content.customer, document.identity)) +
      leaf('SourceID', cut(document.issuedBy, 30)) +
      plain('EACCode', content.cae) +
      optional('MovementComments', content.transport?.comments, 60) +
      shippingXml(content, region, issued.systemEntry) +
      optional('ATDocCodeID', document.atDocCode, 200) +
      linesXml(document, tally) +
      group('DocumentTotals', sumsXml(content) + currencyXml(content)),
  );
}

/** WorkDocument: a document of WorkingDocuments (PF). */

import { cut } from '../cut.ts';
import { customerCode, hashControl, typeCodeOf } from './codes.ts';
import { linesXml, type Tally } from './lines.ts';
import { currencyXml, period, statusXml, sumsXml } from './parts.ts';
import type { SaftDocument } from './source.ts';
import { group, leaf, plain } from './xml-text.ts';

const names = { status: 'WorkStatus', source: 'SourceBilling' } as const;

/** One WorkDocument. */
export function workXml(document: SaftDocument, tally: Tally | undefined): string {
  const { content, issued } = document;
  return group(
    'WorkDocument',
    leaf('DocumentNumber', issued.number) +
      leaf('ATCUD', issued.atcud) +
      statusXml(document, names) +
      plain('Hash', issued.hash) +
      leaf('HashControl', hashControl(content, issued)) +
      period(issued.date) +
      plain('WorkDate', issued.date) +
      plain('WorkType', typeCodeOf(issued)) +
      leaf('SourceID', cut(document.issuedBy, 30)) +
      plain('EACCode', content.cae) +
      plain('SystemEntryDate', issued.systemEntry) +
      leaf('CustomerID', customerCode(content.customer, document.identity)) +
      linesXml(document, tally) +
      group('DocumentTotals', sumsXml(content) + currencyXml(content)),
  );
}

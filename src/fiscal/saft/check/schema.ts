/** The schema of SAF-T (PT) 1.04_01 as a grammar; the root of it. Source: SAFTPT1.04_01.xsd of 2022-05-17. */
import { maybe, one, sequence } from './grammar.ts';
import { sourceDocuments } from './schema-documents.ts';
import { header, ledger, masterFiles } from './schema-masters.ts';

/** The root element. */
export const auditFile = sequence([
  one({ Header: header }),
  one({ MasterFiles: masterFiles }),
  maybe({ GeneralLedgerEntries: ledger }),
  maybe({ SourceDocuments: sourceDocuments }),
]);

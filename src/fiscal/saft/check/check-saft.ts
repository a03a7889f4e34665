/**
 * Checks anybody's SAF-T (PT) file of version 1.04_01, as it streams by: the schema with its assertions, the file's own
 * figures, and with the producer's public key the chain of signatures. Everything is found in one pass; what is kept is
 * one document, the keys of the masters, a few numbers and days per series, what invoices were made of, what was recovered or
 * cancelled, and which documents were named that have not come.
 */
import { addKey, type Book, type DocumentKind, emptyBook, type PublicKey } from './book.ts';
import { decoded } from './decode.ts';
import { checkDocument, checkSection, documentNames } from './documents.ts';
import { type Finding, type FindingCode, type FindingFacts, Findings } from './findings.ts';
import type { RecordName } from './grammar.ts';
import { checkLine, type DocumentSums, emptySums } from './lines.ts';
import {
  checkAccount,
  checkCustomer,
  checkGroupings,
  checkHeader,
  checkLedger,
  checkLedgerLine,
  checkTransaction,
  type LedgerTally,
  taxKey,
} from './masters.ts';
import { readXml, XmlFault } from './reader.ts';
import { checkGaps } from './series.ts';
import { judgeTried } from './signatures.ts';
import { type RecordSink, type SaftNode, Structure, textIn } from './structure.ts';

export interface CheckOptions {
  /** The producer's public key of a version (HashControl); without it and `onlyKey` signatures are not verified. */
  readonly publicKeys?: ((version: number) => PublicKey | undefined) | undefined;
  /**
   * The one key at hand, instead of `publicKeys`: for every version where the file has one, else for the version whose
   * signatures it made; those of other versions are then not verified.
   */
  readonly onlyKey?: PublicKey | undefined;
  /** Findings kept of each code; the rest is only counted. Default 20. */
  readonly mostPerCode?: number | undefined;
}

export interface SaftReport {
  /** In order of line. */
  readonly findings: readonly Finding[];
  /** Every finding, kept or not, by code. */
  readonly counts: Readonly<Partial<Record<FindingCode, number>>>;
  readonly errors: number;
  readonly warnings: number;
  readonly documents: Readonly<Record<DocumentKind, number>>;
  /** Signatures that hold, and those there was nothing to check with: no key of theirs, or not the signature before. */
  readonly hashes: { readonly verified: number; readonly unverified: number };
}

/** Reads the file and says all that is wrong with it. Throws only what the stream itself throws. */
export async function checkSaft(file: AsyncIterable<Uint8Array>, options: CheckOptions = {}): Promise<SaftReport> {
  const findings = new Findings(options.mostPerCode ?? 20);
  const book = emptyBook(findings, { keyOf: options.publicKeys, onlyKey: options.onlyKey });
  const tell = (code: FindingCode, line: number, facts?: FindingFacts) => findings.tell(code, line, facts);
  try {
    await readXml(decoded(file, tell), new Structure(findings, new Records(book)));
  } catch (fault) {
    if (!(fault instanceof XmlFault)) throw fault;
    tell(fault.code, fault.line, fault.facts);
  }
  findings.document = undefined;
  checkGroupings(book);
  checkGaps(book);
  judgeTried(book);
  return reportOf(book);
}

function reportOf({ findings, sections, hashesVerified, hashesUnverified }: Book): SaftReport {
  const kept = [...findings.kept].sort((a, b) => a.line - b.line);
  return {
    findings: kept,
    counts: Object.fromEntries(findings.counts),
    ...findings.severities(),
    documents: {
      invoice: sections.invoice.documents,
      movement: sections.movement.documents,
      work: sections.work.documents,
      payment: sections.payment.documents,
    },
    hashes: { verified: hashesVerified, unverified: hashesUnverified },
  };
}

const kinds: Readonly<Partial<Record<RecordName, DocumentKind>>> = {
  salesInvoices: 'invoice',
  movementOfGoods: 'movement',
  workingDocuments: 'work',
  payments: 'payment',
};

/** Hands each record to its checks. */
class Records implements RecordSink {
  readonly #book: Book;
  #kind: DocumentKind | undefined;
  #sums: DocumentSums = emptySums();
  /** What lines are judged by, as it was found among so many of the document's members: not looked for again at each line. */
  #of = { among: -1, type: '', date: '' };
  readonly #ledger: LedgerTally = { entries: 0, debit: 0n, credit: 0n, complete: true };

  constructor(book: Book) {
    this.#book = book;
  }

  opened(record: RecordName): void {
    if (record !== 'invoice' && record !== 'movement' && record !== 'work' && record !== 'payment') return;
    this.#kind = record;
    this.#sums = emptySums();
    this.#of = { among: -1, type: '', date: '' };
    this.#book.findings.document = undefined;
  }

  closed(record: RecordName, node: SaftNode, around: SaftNode): void {
    const section = kinds[record];
    if (section !== undefined) checkSection(this.#book, section, node);
    else if (record === 'line') this.#line(node, around);
    else if (record === this.#kind) this.#document(this.#kind, node);
    else this.#other(record, node);
  }

  #line(node: SaftNode, around: SaftNode): void {
    const kind = this.#kind;
    if (kind === undefined) return;
    const among = around.children.length;
    const { type, date } = documentNames[kind];
    if (this.#of.among !== among) this.#of = { among, type: textIn(around, type), date: textIn(around, date) };
    checkLine(this.#book, this.#sums, { kind, type: this.#of.type, date: this.#of.date }, node);
  }

  #document(kind: DocumentKind, node: SaftNode): void {
    checkDocument(this.#book, kind, node, this.#sums);
    this.#kind = undefined;
    this.#book.findings.document = undefined;
  }

  #other(record: RecordName, node: SaftNode): void {
    const book = this.#book;
    if (record === 'header') checkHeader(book, node);
    else if (record === 'account') checkAccount(book, node);
    else if (record === 'customer') checkCustomer(book, node);
    else if (record === 'supplier') addKey(book, 'SupplierID', node);
    else if (record === 'product') addKey(book, 'ProductCode', node);
    else if (record === 'tax') book.taxes.add(taxKey(node));
    else if (record === 'ledgerLine') checkLedgerLine(book, this.#ledger, node);
    else if (record === 'transaction') checkTransaction(book, this.#ledger, node);
    else if (record === 'ledger') checkLedger(book, this.#ledger, node);
  }
}

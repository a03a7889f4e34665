/** What a check remembers of the file beyond the document it is reading. */
import type { verifyHash } from '../../hash-chain.ts';
import type { Findings } from './findings.ts';
import type { RecordName } from './grammar.ts';
import type { Naming, SeriesDates } from './named.ts';
import type { SeriesState } from './series.ts';
import type { Tried } from './signatures.ts';
import { type SaftNode, textIn } from './structure.ts';

/** A public key as verifyHash takes it. */
export type PublicKey = Parameters<typeof verifyHash>[0];

/** The four kinds of documents. */
export type DocumentKind = Extract<RecordName, 'invoice' | 'movement' | 'work' | 'payment'>;

/** Sums of a section as its documents make them, in units of 10⁻⁸. */
export interface SectionTally {
  documents: number;
  lines: number;
  debit: bigint;
  credit: bigint;
  quantity: bigint;
  /** False when an amount could not be read: what is wrong there was told, a sum would only repeat it. */
  complete: boolean;
}

export interface Book {
  readonly findings: Findings;
  /** The key of a version; without it and `onlyKey` signatures are not verified. */
  readonly keyOf: ((version: number) => PublicKey | undefined) | undefined;
  /** The one key at hand, whatever its version is; what it made of each version's signatures stands in `tried`. */
  readonly onlyKey: PublicKey | undefined;
  readonly tried: Map<number, Tried>;
  /** Of the header; '' until it was read. */
  from: string;
  to: string;
  /** SoftwareCertificateNumber is there and not 0. */
  certified: boolean;
  /** Keys of the masters with the line where each stands. */
  readonly keys: Readonly<Record<MasterKey, Map<string, number>>>;
  readonly taxes: Set<string>;
  readonly sections: Readonly<Record<DocumentKind, SectionTally>>;
  readonly series: Map<string, SeriesState>;
  /** The type of document that an internal code stands for. */
  readonly codeTypes: Map<string, string>;
  /** Accounts that others are grouped under, with the line: they may stand further down. */
  readonly groupings: Map<string, number>;
  /** Series → number → line of the first invoice that names it as its origin. */
  readonly invoiced: Map<string, Map<number, number>>;
  /** Series → the days of its documents. */
  readonly dates: Map<string, SeriesDates>;
  /** "FT A2026/3", without zeros before the number. */
  readonly cancelled: Set<string>;
  /** Series → number → who named it before it came. */
  readonly awaited: Map<string, Map<number, Naming[]>>;
  /** What documents were recovered of ("FTM abc/00001"), with the line of the one that stands for it. */
  readonly recovered: Map<string, number>;
  readonly unknownKeys: Set<number>;
  /** Signatures that hold. */
  hashesVerified: number;
  /** Signatures there was nothing to check with: no key of theirs, or not the signature before. */
  hashesUnverified: number;
}

export type MasterKey = 'CustomerID' | 'SupplierID' | 'ProductCode' | 'AccountID' | 'JournalID' | 'TransactionID';

const tally = (): SectionTally => ({ documents: 0, lines: 0, debit: 0n, credit: 0n, quantity: 0n, complete: true });

/** A book of which nothing was read yet. */
export function emptyBook(findings: Findings, { keyOf, onlyKey }: Pick<Book, 'keyOf' | 'onlyKey'>): Book {
  return {
    findings,
    keyOf,
    onlyKey,
    tried: new Map(),
    from: '',
    to: '',
    certified: false,
    keys: {
      CustomerID: new Map(),
      SupplierID: new Map(),
      ProductCode: new Map(),
      AccountID: new Map(),
      JournalID: new Map(),
      TransactionID: new Map(),
    },
    taxes: new Set(),
    sections: { invoice: tally(), movement: tally(), work: tally(), payment: tally() },
    series: new Map(),
    codeTypes: new Map(),
    groupings: new Map(),
    invoiced: new Map(),
    dates: new Map(),
    cancelled: new Set(),
    awaited: new Map(),
    recovered: new Map(),
    unknownKeys: new Set(),
    hashesVerified: 0,
    hashesUnverified: 0,
  };
}

/** Notes a key that has to be unique. */
export function addKey(book: Book, name: MasterKey, node: SaftNode): void {
  const value = textIn(node, name);
  if (value === '') return;
  const first = book.keys[name].get(value);
  if (first !== undefined) book.findings.tell('KEY_REPEATED', node.line, { name, value, first });
  else book.keys[name].set(value, node.line);
}

/** Tells a reference that leads nowhere. An element that is missing was told already. */
export function checkReference(book: Book, name: MasterKey, node: SaftNode): void {
  const value = textIn(node, name);
  if (value !== '' && !book.keys[name].has(value)) {
    book.findings.tell('REFERENCE_UNKNOWN', node.line, { name, value });
  }
}

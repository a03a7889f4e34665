/**
 * Documents that the AT lists, from e-Fatura's export, into the books as records that are only shown. All of a file or
 * nothing; the same or an overlapping file again changes nothing. What was issued here is recognised and not kept twice.
 */
import type { EfaturaProblem } from '../../at/efatura/problems.ts';
import { readEfatura } from '../../at/efatura/read-efatura.ts';
import type { EfaturaDocument } from '../../at/efatura/record.ts';
import type { Db, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { actCall } from '../operator.ts';
import { type Kept, keptOf, keyOf, readKept, sameAs, updatedBy, writeKept } from './kept.ts';

export interface ImportAsked {
  readonly companyId: string;
  /** SAF-T's SourceID of whoever imports. */
  readonly actor: string;
  readonly newId: () => string;
  /** Only tell what would happen. */
  readonly dryRun?: boolean | undefined;
}

export interface ImportReport {
  readonly added: number;
  /** Known as they stand in the file. */
  readonly known: number;
  readonly changed: number;
  /** Issued here. */
  readonly own: number;
  /** In the file's order, at most `most_told`. Not empty: nothing was changed. */
  readonly problems: readonly EfaturaProblem[];
  readonly problemCount: number;
  /** The first changed ones. */
  readonly changes: readonly { readonly line: number; readonly number: string }[];
}

const most_told = 100;
/** Documents per round trip. */
const portion = 500;

// One import of a company at a time: two of the same file would each add what the other one adds. A table that was empty
// when the first portion came has no statistics: without these settings every later portion would be looked up by a scan.
const takeTurn = statement(
  'import_turn',
  `select pg_advisory_xact_lock(hashtextextended('certo import ' || certo.current_company()::text, 0)) as turn,
     set_config('enable_seqscan', 'off', true) as scans, set_config('enable_hashjoin', 'off', true) as hashes,
     set_config('enable_mergejoin', 'off', true) as merges`,
);

/** Carries the report out of a transaction that is to be rolled back. */
class NothingKept extends Error {}

/** Reads to the end also when something is wrong, so that everything wrong is told. */
export async function importAtInvoices(
  db: Db,
  asked: ImportAsked,
  chunks: AsyncIterable<Uint8Array>,
): Promise<ImportReport> {
  const run = new Run(asked);
  try {
    await db.transact(entryOfCompany(asked.companyId, asked.actor), async (tx) => {
      await tx.query(takeTurn);
      for await (const { documents, problems } of readEfatura(chunks)) {
        run.tell(problems);
        for (let at = 0; at < documents.length; at += portion) await run.take(tx, documents.slice(at, at + portion));
      }
      if (run.report().problemCount > 0 || asked.dryRun === true) throw new NothingKept();
      await tx.commitWith([actCall('importAtInvoices', run.id, asked.actor)]);
    });
  } catch (error) {
    if (!(error instanceof NothingKept)) throw error;
  }
  return run.report();
}

class Run {
  readonly id: string;
  readonly #asked: ImportAsked;
  readonly #counts = { added: 0, known: 0, changed: 0, own: 0 };
  readonly #problems: EfaturaProblem[] = [];
  readonly #changes: { line: number; number: string }[] = [];
  /** Hashes of the numbers so far: the same one again may say nothing else. 60 MB for the million of a 200 MB file. */
  readonly #seen = new Set<number>();
  #problemCount = 0;

  constructor(asked: ImportAsked) {
    this.#asked = asked;
    this.id = asked.newId();
  }

  tell(problems: readonly EfaturaProblem[]): void {
    this.#problemCount += problems.length;
    this.#problems.push(...problems.slice(0, Math.max(0, most_told - this.#problems.length)));
  }

  /** Compares with what is kept, and writes what is new or other. */
  async take(tx: Tx, documents: readonly EfaturaDocument[]): Promise<void> {
    const found = await readKept(tx, documents);
    const next = new Map<string, { readonly row: Kept; readonly isNew: boolean }>();
    for (const [place, document] of documents.entries()) {
      const { own, series, kept } = found[place]!;
      const key = keyOf(document.number);
      const before = next.get(key)?.row ?? kept;
      if (own) this.#counts.own += 1;
      else if (series !== undefined) this.#missing(document, series);
      else if (before === undefined) {
        this.#counts.added += 1;
        next.set(key, { row: keptOf(document, this.#asked.newId(), this.id), isNew: true });
      } else {
        const row = updatedBy(before, document, this.id);
        if (sameAs(before, row)) this.#counts.known += 1;
        else if (this.#seen.has(hashOf(key))) this.#contradicts(document);
        else {
          this.#changed(document);
          next.set(key, { row, isNew: false });
        }
      }
      this.#seen.add(hashOf(key));
    }
    // What would be rolled back anyway need not be written; contradictions between distant lines are then not told.
    if (this.#problemCount === 0 && next.size > 0) await writeKept(tx, [...next.values()]);
  }

  #missing({ line, number }: EfaturaDocument, series: string): void {
    this.tell([{ line, code: 'OWN_BOOKS_INCOMPLETE', facts: { number, series } }]);
  }

  #contradicts({ line, number }: EfaturaDocument): void {
    this.tell([{ line, code: 'CONTRADICTION', facts: { number } }]);
  }

  #changed({ line, number }: EfaturaDocument): void {
    this.#counts.changed += 1;
    if (this.#changes.length < most_told) this.#changes.push({ line, number });
  }

  report(): ImportReport {
    return {
      ...this.#counts,
      problems: this.#problems.toSorted((a, b) => a.line - b.line),
      problemCount: this.#problemCount,
      changes: this.#changes,
    };
  }
}

/** FNV-1a over two halves: 52 bits. */
function hashOf(text: string): number {
  let [low, high] = [0x811c9dc5, 0x1234567];
  for (let at = 0; at < text.length; at += 1) {
    low = Math.imul(low ^ text.charCodeAt(at), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(at), 0x01000193) + at;
  }
  return (high & 0xfffff) * 0x1_0000_0000 + (low >>> 0);
}

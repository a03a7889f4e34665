/** The SAF-T file of a company's period, out of one snapshot of its books. */
import { snapshot } from '../../db/snapshot.ts';
import type { Db, Tx } from '../../db/transact.ts';
import type { Day, Family } from '../../fiscal/document.ts';
import type { SaftEncoding } from '../../fiscal/saft/encode.ts';
import type { SaftProgram, SaftSection, SaftSource } from '../../fiscal/saft/source.ts';
import { writeSaft } from '../../fiscal/saft/write.ts';
import { dayOf } from '../../fiscal/time.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { documentsOf, readInvoicedOnes } from './documents.ts';
import { customersOf, itemsOf } from './masters.ts';
import { type Period, readPeriod } from './period.ts';

export interface SaftAsked {
  readonly companyId: string;
  /** First and last document date, inclusive. */
  readonly from: Day;
  readonly to: Day;
  readonly program: SaftProgram;
  readonly comment?: string | undefined;
  readonly encoding?: SaftEncoding | undefined;
  /** Told before the first document is read: how many there are. */
  readonly began?: ((documents: number) => void) | undefined;
  /** Told of each portion of documents as it is read. */
  readonly passed?: ((documents: number) => void) | undefined;
}

/** What was written, for the person who asked. */
export interface SaftWritten {
  /** Documents by family. */
  readonly counts: Readonly<Partial<Record<Family, number>>>;
  readonly bytes: number;
}

/**
 * Writes every numbered document dated in the period, cancelled, hidden, recovered and training ones too (a document type
 * can't be left out), portion by portion; `write` is awaited, so a slow reader slows the reading of the books. Whatever
 * it throws ends the export.
 */
export function exportSaft(
  db: Db,
  asked: SaftAsked,
  write: (bytes: Uint8Array) => Promise<void> | void,
): Promise<SaftWritten> {
  return snapshot(db, entryOfCompany(asked.companyId, 'saft'), async (tx) => {
    const period = await readPeriod(tx, asked.from, asked.to);
    asked.began?.(period.documents);
    let bytes = 0;
    for await (const portion of writeSaft(await sourceOf(tx, asked, period), asked.encoding)) {
      bytes += portion.length;
      await write(portion);
    }
    return { counts: countsOf(period), bytes };
  });
}

async function sourceOf(tx: Tx, asked: SaftAsked, period: Period): Promise<SaftSource> {
  const { from, to, program, comment } = asked;
  const { company, region, stretches, sums, taxes } = period;
  const origins = stretches.PROFORMA !== undefined || stretches.TRANSPORT !== undefined;
  const invoiced = origins ? await readInvoicedOnes(tx, from, to) : new Map<string, never>();
  const sections: Partial<Record<Family, SaftSection>> = {};
  for (const family of ['SALES', 'TRANSPORT', 'PROFORMA', 'RECEIPT'] as const) {
    const own = stretches[family];
    const head = sums[family];
    if (own === undefined || head === undefined) continue;
    const documents = documentsOf(tx, { stretches: own, from, to, region, invoiced });
    sections[family] = { sums: head, documents: watched(documents, asked.passed) };
  }
  return {
    header: { company, region, from, to, created: dayOf(period.now, region), program, comment },
    customers: customersOf(tx, from, to),
    items: itemsOf(tx, from, to),
    taxes,
    sections,
  };
}

async function* watched<T>(
  portions: AsyncIterable<readonly T[]>,
  passed: SaftAsked['passed'],
): AsyncGenerator<readonly T[]> {
  for await (const portion of portions) {
    passed?.(portion.length);
    yield portion;
  }
}

function countsOf({ stretches }: Period): SaftWritten['counts'] {
  const counts = Object.entries(stretches).map(([family, own]) => [
    family,
    own.reduce((sum, { count }) => sum + count, 0),
  ]);
  return Object.fromEntries(counts);
}

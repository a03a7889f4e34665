/**
 * LineSummary of the AT's invoice service: one entry per distinct combination of tax (type, region, code), exemption
 * code, tax point, corrected document, origin document and side (manual of invoice elements, 1.6.14). Amounts are
 * EUR book values; their sum equals NetTotal to the cent, and a residual cent goes to the largest group.
 */
import type { Content, Day, Decimal, PricedLine, Region, TaxCode } from '../fiscal/document.ts';
import { quotedNumber } from '../fiscal/recovery.ts';
import { cents, money } from './cents.ts';
import type { OriginDocument } from './reports.ts';

export interface SummaryLine {
  readonly origins: readonly OriginDocument[];
  readonly taxPoint: Day;
  /** The corrected document of a credit or debit note. */
  readonly reference?: string | undefined;
  readonly amount: Decimal;
  readonly region: Region;
  readonly taxCode: TaxCode;
  readonly rate: Decimal;
  readonly exemptionCode?: string | undefined;
}

interface Bucket {
  readonly line: PricedLine;
  readonly origins: readonly OriginDocument[];
  total: bigint;
}

/** The groups in order of first appearance. `date` is the document's date, the tax point where none was recorded. */
export function summarise(
  content: Content,
  date: Day,
  originsOf: Readonly<Record<string, readonly OriginDocument[]>> = {},
): readonly SummaryLine[] {
  const buckets = new Map<string, Bucket>();
  for (const line of content.lines) {
    const origins = originsOf[line.id] ?? [];
    const key = JSON.stringify([
      line.region,
      line.taxCode,
      line.rate,
      line.exemptionCode ?? '',
      origins.map((o) => o.number),
    ]);
    const bucket = buckets.get(key);
    if (bucket === undefined) buckets.set(key, { line, origins, total: cents(line.eur.net) });
    else bucket.total += cents(line.eur.net);
  }
  giveResidue([...buckets.values()], cents(content.books.net));
  const reference = corrects(content) && content.parent !== undefined ? quotedNumber(content.parent) : undefined;
  return [...buckets.values()].map(({ line, origins, total }) => ({
    origins,
    taxPoint: content.taxPointDate ?? date,
    reference,
    amount: money(total),
    region: line.region,
    taxCode: line.taxCode,
    rate: line.rate,
    exemptionCode: line.exemptionCode,
  }));
}

function corrects(content: Content): boolean {
  return content.type === 'CREDIT_NOTE' || content.type === 'DEBIT_NOTE';
}

/** More than a cent per group can't come from rounding: then lines and totals of the document disagree. */
function giveResidue(buckets: readonly Bucket[], net: bigint): void {
  const residue = net - buckets.reduce((sum, bucket) => sum + bucket.total, 0n);
  if (residue === 0n) return;
  const size = residue < 0n ? -residue : residue;
  const largest = buckets.reduce<Bucket | undefined>(
    (best, b) => (best === undefined || b.total > best.total ? b : best),
    undefined,
  );
  if (largest === undefined || size > BigInt(buckets.length) || largest.total + residue < 0n) {
    throw new Error('assertion failed: the lines of the document do not sum to its net total');
  }
  largest.total += residue;
}

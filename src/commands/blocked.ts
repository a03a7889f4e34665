/** What stops a ready company from issuing until the operator acts, or the clock has caught up. */
import { blockedUntil } from '../fiscal/issue.ts';

export const blockReasons = ['INTEGRITY_BROKEN', 'CLOCK_REGRESSION'] as const;

/** Of the company `c` of a query. */
export const blockColumns = `certo.now() as now,
  (select max(s.last_issued_at) from certo.series s where s.company_id = c.id) as last_signed,
  (select count(*)::int from certo.integrity_breaks b where b.company_id = c.id and b.resolved_at is null) as to_resolve`;

export interface Blocks {
  readonly reasons: readonly (typeof blockReasons)[number][];
  /** Where the clock is behind the last signature. */
  readonly nothingSignedUntil: Date | undefined;
  /** What checks of the books have found and nobody has resolved. */
  readonly toResolve: number;
}

/** From a row of `blockColumns`. */
export function blocksOf(row: Readonly<Record<string, unknown>>): Blocks {
  const toResolve = row['to_resolve'] as number;
  const nothingSignedUntil = blockedUntil((row['last_signed'] as Date | null) ?? undefined, row['now'] as Date);
  const isSo = { INTEGRITY_BROKEN: toResolve > 0, CLOCK_REGRESSION: nothingSignedUntil !== undefined };
  return { reasons: blockReasons.filter((reason) => isSo[reason]), nothingSignedUntil, toResolve };
}

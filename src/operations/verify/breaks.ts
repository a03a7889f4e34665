/** What checks of the books found: recorded, and resolved by the operator. While one is open nothing is issued. */
import type { Call, Db, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import type { Finding } from './verify-series.ts';

const recordBreak = statement(
  'integrity_record',
  `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, number, problem)
   values (certo.current_company(), $1, $2, $3, $4, $5, $6) on conflict (company_id, evidence) do nothing returning id`,
);

const countOpen = statement(
  'integrity_open',
  `select count(*)::int as open from certo.integrity_breaks
   where company_id = certo.current_company() and resolved_at is null`,
);

/** How many findings of the company are not resolved: it issues nothing while there is one. */
export async function openBreaks(db: Db, companyId: string): Promise<number> {
  const [row] = await db.read(entryOfCompany(companyId, 'clock')).query(countOpen);
  return row!['open'] as number;
}

/** Records what was not found before; returns that. What was found and resolved before stays resolved. */
export async function recordBreaks(
  world: { readonly db: Db; readonly newId: () => string },
  companyId: string,
  findings: readonly Finding[],
): Promise<Finding[]> {
  if (findings.length === 0) return [];
  const results = await world.db.transact(entryOfCompany(companyId, 'clock'), (tx) =>
    tx.batch(breakCalls(world.newId, findings)),
  );
  return newOf(findings, results);
}

/** The same inside a transaction that somebody else commits. */
export async function recordBreaksWithin(
  world: { readonly db: Pick<Db, 'read'>; readonly newId: () => string },
  companyId: string,
  findings: readonly Finding[],
): Promise<Finding[]> {
  if (findings.length === 0) return [];
  const results = await world.db.read(entryOfCompany(companyId, 'clock')).batch(breakCalls(world.newId, findings));
  return newOf(findings, results);
}

function breakCalls(newId: () => string, findings: readonly Finding[]): Call[] {
  return findings.map(({ evidence, series, documentType, number, problem }) => [
    recordBreak,
    [newId(), evidence, series, documentType, number, problem],
  ]);
}

function newOf(findings: readonly Finding[], results: readonly Row[][]): Finding[] {
  return findings.filter((_, i) => results[i]!.length > 0);
}

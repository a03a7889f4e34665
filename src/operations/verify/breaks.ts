/** What checks of the books found: recorded, and resolved by the operator. While one is open nothing is issued. */
import type { Db } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import type { Finding } from './verify-series.ts';

const recordBreak = statement(
  'integrity_record',
  `insert into certo.integrity_breaks (company_id, id, evidence, series, document_type, number, problem)
   values (certo.current_company(), $1, $2, $3, $4, $5, $6) on conflict (company_id, evidence) do nothing returning id`,
);

/** Records what was not found before; returns that. What was found and resolved before stays resolved. */
export async function recordBreaks(
  world: { readonly db: Db; readonly newId: () => string },
  companyId: string,
  findings: readonly Finding[],
): Promise<Finding[]> {
  if (findings.length === 0) return [];
  const results = await world.db.transact(entryOfCompany(companyId, 'clock'), (tx) =>
    tx.batch(
      findings.map(({ evidence, series, documentType, number, problem }) => [
        recordBreak,
        [world.newId(), evidence, series, documentType, number, problem],
      ]),
    ),
  );
  return findings.filter((_, i) => results[i]!.length > 0);
}

/** Verifies the files that were printed of a company's documents. PostgreSQL digests them: none of them travels. */
import { type Row, statement } from '../../db/transact.ts';
import { findingSeal, printSeal } from '../../fiscal/seal.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import type { VerifyWorld, Watch } from './verify-series.ts';

// The fifth part of a variant is its layout. Of the first three there are prints from before there were seals; none of them
// is given out any more (rendition.ts), so whoever puts one there has nobody to show it to.
const unsealed = `(r.seal is null and split_part(r.variant, '.', 5) in ('v1', 'v2', 'v3'))`;
const readPrints = statement(
  'verify_prints',
  `select r.document_id, r.variant, sha256(r.bytes) as digest, r.seal, d.number, s.code, s.document_type
   from certo.renditions r
   join certo.documents d on d.company_id = r.company_id and d.id = r.document_id
   left join certo.series s on s.company_id = d.company_id and s.id = d.series_id
   where r.company_id = certo.current_company() and (r.document_id, r.variant) > ($1, $2) and not ${unsealed}
   order by r.document_id, r.variant limit $3`,
);
const first = ['00000000-0000-0000-0000-000000000000', ''] as const;

/** What was printed before there were seals is passed over; any other print has one. */
export async function verifyPrints(world: VerifyWorld, companyId: string, watch: Watch): Promise<void> {
  const tx = world.db.read(entryOfCompany(companyId, 'verify'));
  for (let after: readonly string[] = first; ; ) {
    const rows = await tx.query(readPrints, [...after, watch.piece]);
    for (const row of rows) verifyPrint(world, companyId, row, watch);
    await watch.done(0);
    const last = rows.at(-1);
    if (last === undefined || rows.length < watch.piece) return;
    after = [String(last['document_id']), String(last['variant'])];
  }
}

function verifyPrint({ seal }: VerifyWorld, companyId: string, row: Row, watch: Watch): void {
  const [id, variant, number] = [String(row['document_id']), String(row['variant']), String(row['number'])];
  const [made, stored] = [printSeal(seal, id, variant, row['digest'] as Buffer), row['seal'] as Buffer | null];
  if (stored !== null && made.equals(stored)) return;
  const wrong = stored === null ? 'without a seal' : 'that is not the file that was made';
  const problem = `has a print (${variant}) ${wrong}`;
  const evidence = findingSeal(seal, companyId, id, number, problem, made.toString('hex'));
  const [series, documentType] = [String(row['code'] ?? ''), String(row['document_type'] ?? '')];
  watch.found({ companyId, series, documentType, number, problem, evidence });
}

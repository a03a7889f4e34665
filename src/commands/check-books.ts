/** The check of all books, or of one company's, as the operator's commands make it. */
import type { Pool } from 'pg';
import { listSigningKeys } from '../keys/signing-keys.ts';
import { type VerifyWorld, verifyCompany, type Watch } from '../operations/verify/verify-series.ts';

/** Sees every company: a pool of the owner, or a connection in the middle of a transaction. */
type Owner = Pick<Pool, 'query'>;

// Of three lines they are 1.2 MB; of long documents fewer are read.
const piece = 100;

/** Checks the companies, or `only` one, and counts what was checked. */
export async function checkBooks(
  owner: Owner,
  world: Omit<VerifyWorld, 'publicKeys'>,
  only: string | undefined,
  watch: Omit<Watch, 'piece'>,
): Promise<{ companies: number; series: number }> {
  const publicKeys = () => listSigningKeys(owner);
  const counts = { companies: 0, series: 0 };
  for (const companyId of await companyIds(owner, only)) {
    counts.companies += 1;
    counts.series += (await verifyCompany({ ...world, publicKeys }, companyId, { ...watch, piece })).series;
  }
  return counts;
}

/** Numbered documents, by the heads of their series. */
export async function countDocuments(owner: Owner, only: string | undefined): Promise<number> {
  const { rows } = await owner.query(
    `select coalesce(sum(last_number - start_number + 1), 0)::text as count from certo.series
     where last_number >= start_number and ($1::uuid is null or company_id = $1)`,
    [only ?? null],
  );
  return Number(rows[0]?.count);
}

/** Every company that there is, and every one that something in the books names: a row that was removed hides nothing. */
async function companyIds(owner: Owner, only: string | undefined): Promise<string[]> {
  if (only !== undefined) return [only];
  const { rows } = await owner.query<{ id: string }>(
    `with recursive named as (
       (select company_id as id from certo.documents order by company_id limit 1)
       union all
       select (select d.company_id from certo.documents d where d.company_id > n.id order by d.company_id limit 1)
       from named n where n.id is not null)
     select id from certo.companies
     union select company_id from certo.series
     union select id from named where id is not null order by id`,
  );
  return rows.map(({ id }) => id);
}

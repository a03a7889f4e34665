/** What a company says of itself is changed by the operator, and the open drafts say it from then on. */
import { type Db, statement, type Tx, untangled } from '../../db/transact.ts';
import { type Problem, Refusal, refuseAll } from '../../fiscal/refusal.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { overlay, recordOf } from '../customers/customer.ts';
import { changeAndRefresh, openDraftsCall } from '../invoices/refresh-drafts.ts';
import { actCall, operator } from '../operator.ts';
import { issuerColumns } from './company.ts';
import { type CompanyValues, companyProblems } from './company-fields.ts';

// Whoever numbers reads the company behind the lock of its series, or has a draft that was locked before: it is committed, or
// reads what is written here. Not "for update": that would hold up the foreign keys of drafts that name one, which hold the
// company's row already.
const lockSeries = statement(
  'company_change_series',
  'select id from certo.series where company_id = certo.current_company() order by id for no key update',
);
// Whoever makes a draft holds this row until its commit, from before the company was read.
const lockCompany = statement(
  'company_change_lock',
  `select id, name, address, postal_code, city, email, phone, website, cae from certo.companies
   where id = certo.current_company() for update`,
);
const updateCompany = statement(
  'company_change',
  `update certo.companies c set name = $1, address = $2, postal_code = $3, city = $4, email = $5, phone = $6, website = $7, cae = $8,
     updated_at = greatest(certo.now(), c.updated_at + interval '1 millisecond')
   where c.id = certo.current_company() returning ${issuerColumns}`,
);

/**
 * Lays `values` over the company; an empty text takes a field away. Committed when it resolves: nothing is issued with what
 * it was before, by whatever process. `found`: what is wrong with their form. Refuses INVALID_REQUEST, COMPANY_NOT_FOUND.
 */
export function changeCompany(
  owner: Db,
  companyId: string,
  values: CompanyValues,
  found: readonly Problem[],
): Promise<void> {
  const entry = entryOfCompany(companyId, operator);
  return untangled(() => owner.transact(entry, (tx) => changeIn(tx, values, found)));
}

async function changeIn(tx: Tx, values: CompanyValues, found: readonly Problem[]): Promise<void> {
  // Drafts, series, masters: as everyone takes locks.
  await tx.batch([openDraftsCall('company'), [lockSeries, []]]);
  const [row] = await tx.query(lockCompany);
  if (row === undefined) throw new Refusal('COMPANY_NOT_FOUND');
  const { cae = row['cae'] as string[], ...fields } = values;
  const record = overlay(recordOf(row), fields);
  refuseAll([...found, ...companyProblems({ ...record, cae })]);
  const { name, address, postalCode, city, email, phone, website } = record;
  const columns = [name, address, postalCode, city, email, phone, website].map((value) => value ?? null);
  await changeAndRefresh(tx, 'company', [updateCompany, [...columns, cae]]);
  await tx.batch([actCall('changeCompany', String(row['id']))]);
}

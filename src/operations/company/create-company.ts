/** Companies are made by the operator's commands, each with its built-in final consumer. */
import type { Pool } from 'pg';
import { ownerTransaction } from '../../db/owner-transaction.ts';
import type { Region } from '../../fiscal/document.ts';
import { finalConsumerNif } from '../../fiscal/nif.ts';
import { Refusal, refuseAll } from '../../fiscal/refusal.ts';
import type { MasterKey } from '../../keys/sealing.ts';
import { overlay } from '../customers/customer.ts';
import { writeAct } from '../operator.ts';
import type { CompanyValues } from './company-fields.ts';

export interface NewCompany extends CompanyValues {
  readonly name: string;
  readonly taxpayerNumber: string;
  readonly cae: readonly string[];
  readonly region: Region;
}

/**
 * Creates a company and its final consumer in one transaction; returns its id. `company`: nothing is wrong with its fields
 * (company-fields.ts). Refuses COMPANY_EXISTS.
 */
export async function createCompany(owner: Pool, company: NewCompany, newId: () => string): Promise<string> {
  const id = newId();
  const { address, postalCode, city, email, phone, website } = overlay({}, company);
  await ownerTransaction(owner, async (client) => {
    const { rowCount } = await client.query(
      `insert into certo.companies (id, name, taxpayer_number, cae, region, address, postal_code, city, email, phone, website)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (taxpayer_number) do nothing`,
      [
        id,
        company.name,
        company.taxpayerNumber,
        company.cae,
        company.region,
        address ?? null,
        postalCode ?? null,
        city ?? null,
        email ?? null,
        phone ?? null,
        website ?? null,
      ],
    );
    if (rowCount !== 1) throw new Refusal('COMPANY_EXISTS', { nif: company.taxpayerNumber });
    await client.query(
      `insert into certo.customers (company_id, id, created_by, shown_name, name, taxpayer_number, country, system)
       values ($1, $2, 'system', 'Consumidor final', 'Consumidor final', $3, 'PT', true)`,
      [id, newId(), finalConsumerNif],
    );
    await writeAct(client, id, 'createCompany');
  });
  return id;
}

/** Sets the AT sub-user. Readiness starts over: the next query of series tells whether the AT accepts it. */
export async function setAtCredentials(
  owner: Pool,
  master: MasterKey,
  companyId: string,
  credentials: { readonly username: string; readonly password: string },
): Promise<void> {
  const { rows } = await owner.query('select taxpayer_number from certo.companies where id = $1', [companyId]);
  if (rows[0] === undefined) throw new Refusal('COMPANY_NOT_FOUND');
  // "NIF/n" with the company's own NIF (AT web services, section 1).
  if (!new RegExp(`^${rows[0].taxpayer_number}/[0-9]{1,4}$`).test(credentials.username)) {
    refuseAll([{ code: 'INVALID_FORMAT', pointer: '/username', facts: { format: `${rows[0].taxpayer_number}/1` } }]);
  }
  if (credentials.password === '') refuseAll([{ code: 'REQUIRED', pointer: '/password' }]);
  const sealed = master.seal('at-password', Buffer.from(credentials.password, 'utf8'));
  await ownerTransaction(owner, async (client) => {
    await client.query(
      `update certo.companies set at_username = $2, at_password_sealed = $3, at_state = 'NEW', at_synced_at = null, at_series_differ = false, at_sync_next_at = certo.now(),
         at_sync_tries = 0, updated_at = certo.now()
       where id = $1`,
      [companyId, credentials.username, sealed],
    );
    await writeAct(client, companyId, 'setAtCredentials');
  });
}

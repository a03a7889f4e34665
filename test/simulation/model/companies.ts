/**
 * A fresh company for each history, ready to issue, many in one statement: through the API and the tax authority one
 * would cost more than the history. Nothing of them is reported (see parts/model.ts).
 */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { mintToken, tokenHash, tokenHint } from '../../../src/identity/tokens.ts';
import type { Ground } from '../ground.ts';
import { codes, type DocumentType, items, type Region, seriesCode, validationCode } from './catalogue.ts';
import type { Day } from './world.ts';

export interface ModelCompany {
  readonly id: string;
  readonly apiKey: string;
  /** As the catalogue has them. */
  readonly customers: readonly string[];
  readonly items: readonly string[];
  /** First day of its series. */
  readonly seriesStart: Day;
}

const make = `
  with given as (select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[]) as g (id, nif, region, prefix, hash)),
    companies as (
      insert into certo.companies (id, name, taxpayer_number, cae, region, at_username, at_state, at_synced_at)
      select id, 'Modelo, Lda', nif, '{62010}', region, nif || '/1', 'OK', certo.now() from given returning id),
    keys as (
      insert into certo.api_keys (company_id, id, lineage, name, prefix, hash)
      select g.id, g.id, g.id, 'model', prefix, hash from given g join companies using (id)),
    series as (
      insert into certo.series (company_id, id, document_type, at_type, code, status, validation_code, is_default, start_date)
      select c.id, gen_random_uuid(), s.type, s.code, $6, 'ACTIVE', s.validation_code, true, $19::date
      from companies c, unnest($7::text[], $8::text[], $9::text[]) as s (type, code, validation_code)),
    customers as (
      insert into certo.customers (company_id, id, created_by, shown_name, name, taxpayer_number, country)
      select c.id, gen_random_uuid(), 'model', p.name, p.name, p.nif, 'PT'
      from companies c, unnest($10::text[], $11::text[]) as p (name, nif) returning company_id, id, name),
    items as (
      insert into certo.items (company_id, id, created_by, name, type, unit_price, unit_type, vat_rate, vat_territory,
        vat_exemption_reason, withholding_tax_available, withholding_tax_type, withholding_tax_percent, withholding_tax_reason)
      select c.id, gen_random_uuid(), 'model', i.name, i.type, i.price / 10000, 'UNIT', i.vat, 'UNKNOWN',
        case when i.vat = 'EXEMPT' then 'M07' end, i.withheld > 0,
        case when i.withheld > 0 then i.kind end, case when i.withheld > 0 then i.withheld end, i.norm
      from companies c, unnest($12::text[], $13::text[], $14::numeric[], $15::text[], $16::numeric[], $17::text[], $18::text[])
        as i (name, type, price, vat, withheld, kind, norm)
      returning company_id, id, name)
  select company_id, id, name from customers union all select company_id, id, name from items`;

const parties = [
  ['Cliente, Lda', '500000000'],
  ['Maria Modelo', null],
] as const;

let made = 0;

/** One company for each of the regions, in that order, whose series start on this day. */
export async function newCompanies(
  ground: Ground,
  regions: readonly Region[],
  seriesStart: Day,
): Promise<ModelCompany[]> {
  const companies = regions.map((region) => {
    made += 1;
    const apiKey = mintToken('svc_sk_', randomBytes(32));
    return { id: uuidv7(), nif: nifOf(made), region, apiKey };
  });
  const types = Object.keys(codes) as DocumentType[];
  const { rows } = await ground.owner.query<{ company_id: string; id: string; name: string }>(make, [
    companies.map(({ id }) => id),
    companies.map(({ nif }) => nif),
    regions,
    companies.map(({ apiKey }) => tokenHint(apiKey)),
    companies.map(({ apiKey }) => tokenHash(apiKey)),
    seriesCode,
    types,
    types.map((type) => codes[type]),
    types.map(validationCode),
    parties.map(([name]) => name),
    parties.map(([, nif]) => nif),
    items.map(({ name }) => name),
    items.map(({ type }) => type),
    items.map(({ price }) => price),
    items.map(({ vat }) => vat),
    items.map(({ withheld }) => withheld),
    items.map(({ withheldType }) => withheldType ?? 'IRS'),
    items.map(({ norm }) => norm ?? null),
    seriesStart,
  ]);
  const ids = new Map(rows.map((row) => [`${row.company_id} ${row.name}`, row.id]));
  return companies.map(({ id, apiKey }) => ({
    id,
    apiKey,
    customers: parties.map(([name]) => ids.get(`${id} ${name}`)!),
    items: items.map(({ name }) => ids.get(`${id} ${name}`)!),
    seriesStart,
  }));
}

/** The NIF of a company that there is not: 51 and six digits, with its check digit. */
function nifOf(number: number): string {
  const eight = `51${String(number).padStart(6, '0')}`;
  const rest = [...eight].reduce((sum, digit, place) => sum + (9 - place) * Number(digit), 0) % 11;
  return eight + String(rest < 2 ? 0 : 11 - rest);
}

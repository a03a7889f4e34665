/** `certo company`: the companies of this installation. */
import { uuidv7 } from 'uuidv7';
import { openDb } from '../db/open.ts';
import { validate } from '../engine/validate.ts';
import type { Region } from '../fiscal/document.ts';
import { readiness } from '../fiscal/readiness.ts';
import { type Problem, refuseAll } from '../fiscal/refusal.ts';
import { changeCompany } from '../operations/company/change-company.ts';
import { readinessColumns, readinessFacts } from '../operations/company/company.ts';
import { CompanyFields, type CompanyValues, newCompanyProblems } from '../operations/company/company-fields.ts';
import { createCompany } from '../operations/company/create-company.ts';
import { blockColumns, blocksOf } from './blocked.ts';
import { CommandError, exit } from './exit.ts';
import { enterHouse, findCompany } from './guest.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { baseUrlOf } from './running.ts';
import { pairs, table } from './table.ts';

export interface CreateOptions extends Common {
  readonly name: string;
  readonly nif: string;
  readonly cae: readonly string[];
  readonly region: Region;
  readonly address?: string;
  readonly postalCode?: string;
  readonly city?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly website?: string;
}

/** Refuses what is wrong with its fields, all at once, and COMPANY_EXISTS. */
export async function create(outside: Outside, options: CreateOptions): Promise<number> {
  const { json, nif: taxpayerNumber, region, ...company } = options;
  refuseAll([...formProblems(company), ...newCompanyProblems({ ...company, taxpayerNumber })]);
  const { owner } = await enterHouse(outside);
  const id = await createCompany(owner, { ...company, taxpayerNumber, region }, uuidv7);
  if (json === true) tellJson(outside, { id });
  else {
    tell(outside, `${company.name} was added with the id ${id}.`);
    tellSeat(outside, options);
    tell(outside, `Next: certo company credentials ${taxpayerNumber} --username ${taxpayerNumber}/1`);
  }
  return exit.ok;
}

/** Each document has to show where its issuer has its seat (CIVA article 36, no. 5 a): it is not made up for anybody. */
function tellSeat(outside: Outside, { nif, address, postalCode, city }: CreateOptions): void {
  const seat = { '--address': address, '--postal-code': postalCode, '--city': city };
  const missing = Object.entries(seat).flatMap(([option, value]) => (value?.trim() ? [] : [`${option} …`]));
  if (missing.length === 0) return;
  tell(outside, 'Its documents have to show its whole address; say what is missing before anything is issued:');
  tell(outside, `  certo company change ${nif} ${missing.join(' ')}`);
}

export type ChangeOptions = Common & CompanyValues;

/** Changes what was said of it. Refuses what is wrong with that, or with the company afterwards, all at once. */
export async function change(outside: Outside, options: ChangeOptions, company: string): Promise<number> {
  const { json, ...values } = options;
  if (Object.keys(values).length === 0) {
    throw new CommandError(
      exit.usage,
      'Say what changes: --name, --cae, --address, --postal-code, --city, --email, --phone or --website.',
    );
  }
  const house = await enterHouse(outside);
  const { id } = await findCompany(house.owner, company);
  // All of its drafts in one transaction, however many there are.
  const db = await openDb({
    ...house.target,
    role: 'certo_owner',
    max: 1,
    statementTimeout: 0,
    applicationName: 'certo company',
  });
  outside.atEnd(() => db.close());
  await changeCompany(db, id, values, formProblems(values));
  const { name } = await findCompany(house.owner, id);
  if (json === true) tellJson(outside, { id });
  else tell(outside, `${name} is changed, with its open drafts. Issued documents keep what they say.`);
  return exit.ok;
}

/** What is wrong with fields as they were given: too long, of several lines, or with what can't be printed or exported. */
const formProblems = (given: CompanyValues): Problem[] => validate(CompanyFields, given, 'body');

/** All of them, in the order in which they were made, with what keeps each from issuing: what it misses, or what blocks it. */
export async function list(outside: Outside, options: Common): Promise<number> {
  const house = await enterHouse(outside);
  const { rows } = await house.owner.query(
    `select c.id, c.name, c.taxpayer_number, c.region, c.cae, ${readinessColumns()}, ${blockColumns}
     from certo.companies c order by c.created_at, c.id`,
  );
  const companies = rows.map((row) => ({
    id: row.id as string,
    taxpayerNumber: row.taxpayer_number as string,
    name: row.name as string,
    region: row.region as string,
    cae: row.cae as string[],
    notReady: [...readiness(readinessFacts(row), '').map(({ code }) => code), ...blocksOf(row).reasons],
  }));
  if (options.json === true) tellJson(outside, companies);
  else {
    const cells = companies.map((c) => [c.taxpayerNumber, c.name, c.region, c.notReady.join(', ') || 'ready', c.id]);
    tell(outside, table(['NIF', 'Name', 'Region', 'State', 'Id'], cells, 'There is no company yet.'));
  }
  return exit.ok;
}

/** One company, with what keeps it from issuing: what it misses, findings to resolve (INTEGRITY_BROKEN), or the clock (CLOCK_REGRESSION) and until when. */
export async function show(outside: Outside, options: Common, company: string): Promise<number> {
  const { owner, config } = await enterHouse(outside);
  const { id } = await findCompany(owner, company);
  const { rows } = await owner.query(
    `select c.*, ${readinessColumns()}, ${blockColumns},
       (select count(*)::int from certo.series s where s.company_id = c.id and s.status = 'ACTIVE') as series,
       (select count(*)::int from certo.api_keys k where k.company_id = c.id and k.revoked_at is null) as keys,
       (select count(*)::int from certo.documents d where d.company_id = c.id and d.at_status = 'PENDING') as pending
     from certo.companies c where c.id = $1`,
    [id],
  );
  const row = rows[0]!;
  const { reasons, nothingSignedUntil, toResolve } = blocksOf(row);
  const notReady: string[] = readiness(readinessFacts(row), baseUrlOf(config, config.port)).map(({ code }) => code);
  const shown = {
    id,
    name: row.name as string,
    taxpayerNumber: row.taxpayer_number as string,
    cae: row.cae as string[],
    region: row.region as string,
    ...withoutNulls({
      address: row.address,
      postalCode: row.postal_code,
      city: row.city,
      email: row.email,
      phone: row.phone,
      website: row.website,
      atUsername: row.at_username,
      cashVatFrom: row.cash_vat_from,
      cashVatUntil: row.cash_vat_until,
    }),
    notReady: [...notReady, ...reasons],
    ...(toResolve > 0 && { toResolve }),
    ...(nothingSignedUntil !== undefined && { nothingSignedUntil: nothingSignedUntil.toISOString() }),
    activeSeries: row.series as number,
    apiKeys: row.keys as number,
    pendingAtTheAt: row.pending as number,
  };
  if (options.json === true) tellJson(outside, shown);
  else {
    const words = Object.entries(shown).map(([name, value]): [string, string] => [
      labels[name] ?? name,
      Array.isArray(value) ? value.join(', ') || 'ready' : String(value),
    ]);
    tell(outside, pairs(words));
  }
  return exit.ok;
}

const labels: Readonly<Record<string, string>> = {
  id: 'Id',
  name: 'Name',
  taxpayerNumber: 'NIF',
  cae: 'CAE',
  region: 'Region',
  address: 'Address',
  postalCode: 'Postal code',
  city: 'City',
  email: 'E-mail',
  phone: 'Telephone',
  website: 'Website',
  atUsername: 'AT sub-user',
  cashVatFrom: 'Cash VAT from',
  cashVatUntil: 'Cash VAT until',
  notReady: 'State',
  toResolve: 'Findings to resolve',
  nothingSignedUntil: 'Signs nothing until',
  activeSeries: 'Active series',
  apiKeys: 'API keys',
  pendingAtTheAt: 'Not yet at the AT',
};

function withoutNulls(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Record<string, string>;
}

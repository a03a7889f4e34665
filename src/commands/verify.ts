/** `certo verify`: every numbered document of every series, its signature, its seal and what happened to it. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Pool } from 'pg';
import { booksSeal } from '../keys/sealing.ts';
import { listSigningKeys } from '../keys/signing-keys.ts';
import { type Finding, type VerifyWorld, verifyCompany } from '../operations/verify/verify-series.ts';
import { exit } from './exit.ts';
import { enterHouse, findCompany, openGuestDb } from './guest.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { counted, openProgress } from './progress.ts';

export interface VerifyOptions extends Common {
  readonly company?: string;
}

/** As many findings are listed in JSON; all are counted. */
const most_listed = 1_000;
// A document of 1,000 lines has about 0.5 MB as JSON: 100 of them are still little.
const piece = 100;

export async function verify(outside: Outside, options: VerifyOptions): Promise<number> {
  const house = await enterHouse(outside);
  const { owner } = house;
  const only = options.company === undefined ? undefined : (await findCompany(owner, options.company)).id;
  const master = await openMasterKey(masterKeyFile(house.config.masterKeyFile, house.directory), owner);
  const db = await openGuestDb(outside, house);
  const world: VerifyWorld = { db, keys: await publicKeys(owner), seal: booksSeal(master) };
  const counts = { companies: 0, series: 0, documents: 0, findings: 0 };
  const listed: Omit<Finding, 'evidence'>[] = [];
  const progress = openProgress(outside.stderr, 'documents', await countDocuments(owner, only), () =>
    performance.now(),
  );
  const found = (finding: Finding): void => {
    counts.findings += 1;
    const { evidence: _evidence, ...told } = finding;
    if (listed.length < most_listed) listed.push(told);
    if (options.json !== true) {
      progress.end();
      tell(outside, describe(finding));
    }
  };
  const done = (documents: number): void => {
    counts.documents += documents;
    progress.add(documents);
  };
  for await (const companyId of companyIds(owner, only)) {
    counts.companies += 1;
    counts.series += (await verifyCompany(world, companyId, { found, done, piece })).series;
  }
  progress.end();
  if (options.json === true) tellJson(outside, { ok: counts.findings === 0, ...counts, list: listed });
  else {
    const place = `${counted(counts.series, 'series', 'series')} of ${counted(counts.companies, 'company', 'companies')}`;
    const what = `${counted(counts.documents, 'document')} in ${place}`;
    tell(
      outside,
      counts.findings === 0
        ? `Verified: ${what}, nothing wrong.`
        : `${counted(counts.findings, 'finding')} in ${what}.`,
    );
  }
  return counts.findings === 0 ? exit.ok : exit.no;
}

function describe({ companyId, series, documentType, number, problem }: Finding): string {
  const what = number ?? (series === '' ? 'the company' : `series ${series} of ${documentType}`);
  return `${what} ${problem} (company ${companyId})`;
}

async function publicKeys(owner: Pool): Promise<Map<number, KeyObject>> {
  const keys = await listSigningKeys(owner);
  return new Map(keys.map(({ version, publicPem }) => [version, createPublicKey(publicPem)]));
}

async function countDocuments(owner: Pool, only: string | undefined): Promise<number> {
  const { rows } = await owner.query(
    `select coalesce(sum(last_number - start_number + 1), 0)::text as count from certo.series
     where last_number >= start_number and ($1::uuid is null or company_id = $1)`,
    [only ?? null],
  );
  return Number(rows[0]?.count);
}

async function* companyIds(owner: Pool, only: string | undefined): AsyncGenerator<string> {
  if (only !== undefined) return yield only;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await owner.query('select id from certo.companies where id > $1 order by id limit 500', [after]);
    if (rows.length === 0) return;
    for (const { id } of rows) yield id;
    after = rows.at(-1).id;
  }
}

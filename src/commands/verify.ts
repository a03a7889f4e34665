/** `certo verify`: every numbered document of every series, with the public keys alone. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Pool } from 'pg';
import { listSigningKeys } from '../keys/signing-keys.ts';
import { exit } from './exit.ts';
import { enterHouse, findCompany } from './guest.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { counted, openProgress } from './progress.ts';
import { type Finding, type SeriesHead, verifySeries } from './verify-series.ts';

export interface VerifyOptions extends Common {
  readonly company?: string;
}

/** As many findings are listed in JSON; all are counted. */
const most_listed = 1_000;

export async function verify(outside: Outside, options: VerifyOptions): Promise<number> {
  const { owner } = await enterHouse(outside);
  const only = options.company === undefined ? undefined : (await findCompany(owner, options.company)).id;
  const keys = await publicKeys(owner);
  const counts = { companies: 0, series: 0, documents: 0, findings: 0 };
  const listed: Finding[] = [];
  const progress = openProgress(outside.stderr, 'documents', await countDocuments(owner, only), () =>
    performance.now(),
  );
  const found = (finding: Finding): void => {
    counts.findings += 1;
    if (listed.length < most_listed) listed.push(finding);
    if (options.json !== true) {
      progress.end();
      tell(outside, describe(finding));
    }
  };
  for await (const companyId of companyIds(owner, only)) {
    counts.companies += 1;
    for (const head of await seriesOf(owner, companyId)) {
      counts.series += 1;
      await verifySeries(owner, keys, head, found, (documents) => {
        counts.documents += documents;
        progress.add(documents);
      });
    }
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
  return `${number ?? `series ${series} of ${documentType}`} ${problem} (company ${companyId})`;
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

async function seriesOf(owner: Pool, companyId: string): Promise<SeriesHead[]> {
  const { rows } = await owner.query(
    `select id, code, document_type, at_type, validation_code, start_number, last_number, last_hash, last_date, last_system_entry
     from certo.series where company_id = $1 order by document_type, code`,
    [companyId],
  );
  return rows.map((row) => ({
    companyId,
    id: row.id,
    code: row.code,
    documentType: row.document_type,
    atType: row.at_type,
    validationCode: row.validation_code,
    startNumber: Number(row.start_number),
    lastNumber: Number(row.last_number),
    lastHash: row.last_hash,
    lastDate: row.last_date,
    lastSystemEntry: row.last_system_entry,
  }));
}

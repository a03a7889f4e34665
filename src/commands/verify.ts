/** `certo verify`: every numbered document of every series, its signature, its seal and what happened to it. */
import type { Pool } from 'pg';
import { uuidv7 } from 'uuidv7';
import { ownerTransaction } from '../db/owner-transaction.ts';
import type { Db } from '../db/transact.ts';
import { booksSeal } from '../keys/sealing.ts';
import { writeAct } from '../operations/operator.ts';
import { recordBreaks } from '../operations/verify/breaks.ts';
import type { Finding } from '../operations/verify/verify-series.ts';
import { checkBooks, countDocuments } from './check-books.ts';
import { CommandError, exit } from './exit.ts';
import { checkText } from './given-text.ts';
import { enterHouse, findCompany, openGuestDb } from './guest.ts';
import { masterKeyFile, openMasterKey } from './master-key.ts';
import { type Common, type Outside, tell, tellJson } from './outside.ts';
import { counted, openProgress } from './progress.ts';
import { instantWords, restoresOf, tellRestores } from './restores.ts';

export interface VerifyOptions extends Common {
  readonly company?: string;
  /** Why what is found of the company is accepted. */
  readonly resolve?: string;
}

/** As many findings are listed in JSON; all are counted. */
const most_listed = 1_000;

/**
 * Ends with 1 when there are findings, or earlier ones that are not resolved; with `resolve` they are accepted, for one
 * company, and it ends with 0.
 */
export async function verify(outside: Outside, options: VerifyOptions): Promise<number> {
  const note = options.resolve?.trim();
  checkNote(note, options.company);
  const house = await enterHouse(outside);
  const { owner } = house;
  const only = options.company === undefined ? undefined : (await findCompany(owner, options.company)).id;
  const master = await openMasterKey(masterKeyFile(house.config.masterKeyFile, house.directory), owner);
  const db = await openGuestDb(outside, house);
  const restores = await restoresOf(owner);
  const counts = { companies: 0, series: 0, documents: 0, findings: 0 };
  const listed: Told[] = [];
  const toResolve: Finding[] = [];
  const since = await now(owner);
  const earlier = await unresolved(owner, only);
  const progress = openProgress(outside.stderr, 'documents', await countDocuments(owner, only), () =>
    performance.now(),
  );
  const found = (finding: Finding): void => {
    counts.findings += 1;
    earlier.delete(finding.evidence.toString('hex'));
    if (note !== undefined) toResolve.push(finding);
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
  Object.assign(counts, await checkBooks(owner, { db, seal: booksSeal(master) }, only, { found, done }));
  progress.end();
  if (note !== undefined && only !== undefined)
    return resolve(outside, options, { owner, db }, { companyId: only, note, findings: toResolve, since });
  const open = [...earlier.values()];
  const ok = counts.findings === 0 && open.length === 0;
  if (options.json === true) {
    tellJson(outside, { ok, ...counts, list: listed, unresolved: open.slice(0, most_listed), restores });
  } else {
    for (const one of open) tell(outside, `${describe(one)}, found on ${instantWords(one.foundAt)} and not resolved`);
    tellRestores(outside, restores);
    const place = `${counted(counts.series, 'series', 'series')} of ${counted(counts.companies, 'company', 'companies')}`;
    const what = `${counted(counts.documents, 'document')} in ${place}`;
    if (ok) tell(outside, `Verified: ${what}, nothing wrong.`);
    else tell(outside, `${counted(counts.findings, 'finding')} in ${what}.`);
    if (open.length > 0) tell(outside, openWords(open.length));
  }
  return ok ? exit.ok : exit.no;
}

type Told = Omit<Finding, 'evidence'>;

/** What checks found and nobody has resolved, by its evidence in hexadecimal, the oldest first. */
async function unresolved(owner: Pool, only: string | undefined): Promise<Map<string, Told & { foundAt: string }>> {
  const { rows } = await owner.query(
    `select company_id, series, document_type, number, problem, found_at, encode(evidence, 'hex') as evidence
     from certo.integrity_breaks where resolved_at is null and ($1::uuid is null or company_id = $1) order by found_at, id`,
    [only ?? null],
  );
  return new Map(
    rows.map((row) => [
      row.evidence as string,
      {
        companyId: row.company_id as string,
        series: row.series as string,
        documentType: row.document_type as string,
        number: row.number as string | null,
        problem: row.problem as string,
        foundAt: (row.found_at as Date).toISOString(),
      },
    ]),
  );
}

function openWords(count: number): string {
  const what = count === 1 ? '1 finding of an earlier check is' : `${counted(count, 'finding')} of earlier checks are`;
  return `${what} not resolved, and nothing is issued there until it is: look into it, then certo verify --company … --resolve "why it is accepted".`;
}

function checkNote(note: string | undefined, company: string | undefined): void {
  if (note === undefined) return;
  if (company === undefined)
    throw new CommandError(exit.usage, 'Say whose books with --company: each company is resolved by itself.');
  if (note.length < 1 || note.length > 2000) {
    throw new CommandError(
      exit.usage,
      'Say with --resolve why it is accepted, in 1 to 2000 characters: it is kept for ever.',
    );
  }
  checkText('--resolve', note);
}

interface Accepted {
  readonly companyId: string;
  readonly note: string;
  readonly findings: readonly Finding[];
  /** When the command began to look. */
  readonly since: Date;
}

async function now(owner: Pool): Promise<Date> {
  const { rows } = await owner.query<{ now: Date }>('select certo.now() as now');
  return rows[0]!.now;
}

/**
 * Records everything that is found now, and resolves it together with what checks had found before. It is never removed;
 * the same again does not block again, anything else does.
 */
async function resolve(
  outside: Outside,
  options: VerifyOptions,
  { owner, db }: { readonly owner: Pool; readonly db: Db },
  { companyId, note, findings, since }: Accepted,
): Promise<number> {
  await recordBreaks({ db, newId: uuidv7 }, companyId, findings);
  const resolved = await ownerTransaction(owner, async (client) => {
    const { rowCount } = await client.query(
      // Not what a check finds meanwhile, which nobody has seen.
      `update certo.integrity_breaks set resolved_at = certo.now(), resolution = $2
       where company_id = $1 and resolved_at is null and (found_at <= $3 or evidence = any ($4::bytea[]))`,
      [companyId, note, since, findings.map(({ evidence }) => `\\x${evidence.toString('hex')}`)],
    );
    if (rowCount) await writeAct(client, companyId, 'resolveFindings');
    return rowCount ?? 0;
  });
  if (options.json === true) tellJson(outside, { companyId, found: findings.length, resolved, resolution: note });
  else if (resolved === 0) tell(outside, 'There was nothing to resolve, and nothing was changed.');
  else tell(outside, `${counted(resolved, 'finding')} resolved: the company can issue again.`);
  return exit.ok;
}

/** A finding in a line. */
export function describe({ companyId, series, documentType, number, problem }: Told): string {
  const what = number ?? (series === '' ? 'the company' : `series ${series} of ${documentType}`);
  return `${what} ${problem} (company ${companyId})`;
}

/**
 * What a restore does to the books that were loaded, before anybody can use them: it is written down, series whose last
 * number is not known any more are closed, and everything is verified.
 */
import type { ClientBase } from 'pg';
import { uuidv7 } from 'uuidv7';
import type { BackupRead } from '../db/backup/read-backup.ts';
import { readsWithin } from '../db/transact.ts';
import { booksSeal, type MasterKey } from '../keys/sealing.ts';
import { recordBreaksWithin } from '../operations/verify/breaks.ts';
import type { Finding } from '../operations/verify/verify-series.ts';
import { checkBooks, countDocuments } from './check-books.ts';

export interface SettleOptions {
  readonly read: BackupRead;
  readonly master: MasterKey;
  readonly nothingLost: boolean;
  /** Before the check of so many documents, and after each piece of them. */
  readonly began: (documents: number) => void;
  readonly passed: (documents: number) => void;
}

export interface ClosedSeries {
  readonly nif: string;
  readonly documentType: string;
  readonly code: string;
  /** The last one that the backup knows. */
  readonly lastNumber: number;
}

export interface Settled {
  /** Of the restore: 1 for the first one. */
  readonly number: number;
  readonly companies: number;
  readonly series: number;
  readonly documents: number;
  readonly closed: readonly ClosedSeries[];
  /** What the check found and the books did not say themselves; the companies can't issue until it is resolved. */
  readonly findings: readonly Finding[];
  /** API keys that work, by NIF. */
  readonly apiKeys: readonly { readonly nif: string; readonly count: number }[];
  /** Requests that were being done when the backup was taken: their idempotency keys never run again. */
  readonly unknownRequests: number;
}

/** Within the restore's transaction, as the owner: what it throws undoes the restore. */
export async function settleRestore(client: ClientBase, options: SettleOptions): Promise<Settled> {
  const number = await record(client, options);
  const closed = options.nothingLost ? [] : await closeSeries(client, number);
  const checked = await check(client, options);
  return { number, closed, ...checked, ...(await comeBack(client, options.read.manifest.takenAt)) };
}

async function record(client: ClientBase, { read, nothingLost }: SettleOptions): Promise<number> {
  const { rows } = await client.query<{ number: number }>(
    `insert into certo.restores (number, taken_at, written_by, digest, nothing_lost)
     select coalesce(max(number), 0) + 1, $1, $2, $3, $4 from certo.restores returning number`,
    [read.manifest.takenAt, read.manifest.certo, Buffer.from(read.digest, 'hex'), nothingLost],
  );
  return rows[0]!.number;
}

/**
 * Also series in which the backup has no document, or which it does not know as registered: the first ones may have been
 * issued after it.
 */
async function closeSeries(client: ClientBase, number: number): Promise<ClosedSeries[]> {
  const { rows } = await client.query(
    `with closed as (
       update certo.series set status = 'CLOSED', closed_by = $1, is_default = false, updated_at = certo.now()
       where status in ('PENDING', 'ACTIVE', 'ENDING') returning company_id, document_type, code, last_number)
     select c.taxpayer_number as nif, document_type, code, last_number from closed join certo.companies c on c.id = company_id
     order by nif, document_type, code`,
    [number],
  );
  // What the AT last said of series was said of the books that are lost.
  await client.query(
    'update certo.companies set at_synced_at = null, at_sync_next_at = certo.now(), at_sync_tries = 0',
  );
  return rows.map((row) => ({
    nif: row.nif as string,
    documentType: row.document_type as string,
    code: row.code as string,
    lastNumber: Number(row.last_number),
  }));
}

async function check(client: ClientBase, { master, began, passed }: SettleOptions) {
  const db = readsWithin(client);
  const found: Finding[] = [];
  let documents = 0;
  began(await countDocuments(client, undefined));
  const counts = await checkBooks(client, { db, seal: booksSeal(master) }, undefined, {
    found: (finding) => void found.push(finding),
    done: (count) => {
      documents += count;
      passed(count);
    },
  });
  const findings: Finding[] = [];
  for (const companyId of new Set(found.map((finding) => finding.companyId))) {
    const its = found.filter((finding) => finding.companyId === companyId);
    findings.push(...(await recordBreaksWithin({ db, newId: uuidv7 }, companyId, its)));
  }
  return { ...counts, documents, findings };
}

/** What comes back with the backup and may have ended since. */
async function comeBack(client: ClientBase, takenAt: string): Promise<Pick<Settled, 'apiKeys' | 'unknownRequests'>> {
  const { rows: apiKeys } = await client.query<{ nif: string; count: number }>(
    `select c.taxpayer_number as nif, count(*)::int as count from certo.api_keys k join certo.companies c on c.id = k.company_id
     where k.revoked_at is null group by 1 order by 1`,
  );
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from certo.claims where completed_at is null and lease_until > $1',
    [takenAt],
  );
  return { apiKeys, unknownRequests: rows[0]!.count };
}

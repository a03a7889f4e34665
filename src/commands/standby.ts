/** Whether a failover of the database's server can lose documents that were answered. */
import type { Pool } from 'pg';
import { counted } from './progress.ts';

export interface Standbys {
  /** Who receives the server's log now: standbys, for the most part. */
  readonly count: number;
  /** Whether commits wait for any (synchronous_standby_names). */
  readonly areWaitedFor: boolean;
}

/** Needs no rights: how many there are is shown to everybody. */
export async function standbysOf(owner: Pick<Pool, 'query'>): Promise<Standbys> {
  const { rows } = await owner.query<{ count: number; waits: boolean }>(
    `select count(*)::int as count, current_setting('synchronous_standby_names') <> '' as waits from pg_stat_replication`,
  );
  const { count, waits } = rows[0]!;
  return { count, areWaitedFor: waits };
}

/** What the operator has to know of them; undefined where there are none, or where commits wait. */
export function standbyWords({ count, areWaitedFor }: Standbys): string | undefined {
  if (count === 0 || areWaitedFor) return undefined;
  return `The database's server has ${counted(count, 'standby', 'standbys')} and waits for none (synchronous_standby_names is empty): after a failover the last documents can be missing, and their numbers would be given again. See "A standby" in the README.`;
}

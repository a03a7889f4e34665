/**
 * When series are compared with the AT's: at once with new credentials, then daily; while they differ, or the AT gives no
 * answer, again after a rest that grows. The next time stands in the company's row, and who asks puts it off first: any
 * number of processes ask once between them.
 */
import type { Logger } from 'pino';
import { statement } from '../../db/transact.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { compareSeries, type SeriesWorld, type SyncResult } from '../../operations/series/registration.ts';
import { waitSeconds } from './reports.ts';

export interface SyncWorld extends SeriesWorld {
  readonly log: Logger;
  /** A number between 0 and 1, for jitter. */
  readonly random: () => number;
}

// Longer than a call of the default deadline. Who is slower asks beside another, and the later answer counts.
const lease_seconds = 120;
const day_seconds = 86_400;

const takeTurn = statement(
  'sync_lease',
  `update certo.companies set at_sync_next_at = certo.now() + interval '${lease_seconds} seconds', at_sync_tries = at_sync_tries + 1
   where id = certo.current_company() and at_state in ('NEW', 'OK') and at_sync_next_at <= (select certo.now())
   returning at_sync_next_at, at_sync_tries`,
);
// Not when it was asked with credentials that are replaced: the new ones have a turn of their own.
const putOff = statement(
  'sync_put_off',
  `update certo.companies set at_sync_next_at = certo.now() + make_interval(secs => $2), at_sync_tries = case when $3 then at_sync_tries else 0 end
   where id = certo.current_company() and at_sync_next_at = $1`,
);

/** Compares a company's series if it is time, and says when the next time is. Undefined: another process has its turn. */
export async function syncDue(world: SyncWorld, companyId: string): Promise<SyncResult | undefined> {
  const entry = entryOfCompany(companyId, 'clock');
  const [turn] = await world.db.transact(entry, (tx) => tx.query(takeTurn));
  if (turn === undefined) return undefined;
  const { result, differing } = await compareSeries(world, companyId);
  const tries = Number(turn['at_sync_tries']);
  const again = result === 'differ' || result === 'unreachable';
  // Companies that were set up together are not asked together for ever.
  const seconds = again ? waitSeconds(tries, world.random()) : day_seconds * (0.9 + world.random() / 10);
  await world.db.transact(entry, (tx) => tx.query(putOff, [turn['at_sync_next_at'], seconds, again]));
  if (result === 'differ') {
    world.log.warn(
      { companyId, tries, seconds, series: differing },
      "a series differs from the AT's: nothing is issued until they agree (certo series list); they are compared again",
    );
  }
  return result;
}

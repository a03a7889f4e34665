/**
 * Deletes what is kept for a limited time. The answer recorded for an idempotency key stays for 30 days; the claim itself
 * stays for ever as a tombstone without a body, since the key stays used. Counts of requests go after a day. Any number of
 * processes may do this at once: they pass by rows that another has locked.
 */
import type { Db } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { kept_days } from '../../engine/claim.ts';
import { entryOfCompany, entryOfNobody } from '../../identity/principal.ts';
import type { FailureLog } from '../failure-log.ts';
import { type Repeated, repeat } from './repeat.ts';

const most_companies = 20;
/** Rows of one transaction: what is locked together is little, and a short time. */
const most_together = 500;
/** Between two rounds: what has to be told comes first. */
const round_ms = 1_000;
/** What is older than its time waits a little longer: nobody can read it any more. */
const idle_ms = 600_000;

const toForget = statement('clock_to_forget', `select id from certo.companies_to_forget(${most_companies}) as id`);
const forgetResults = statement(
  'forget_results',
  `update certo.claims c set body = null
   from (select scope, operation, key from certo.claims
     where company_id = certo.current_company() and body is not null
       and completed_at <= (select certo.now()) - interval '${kept_days} days'
     order by completed_at limit ${most_together} for no key update skip locked) old
   where c.company_id = certo.current_company() and (c.scope, c.operation, c.key) = (old.scope, old.operation, old.key)
   returning 1 as one`,
);
const forgetCounts = statement(
  'forget_counts',
  `delete from certo.rates r
   using (select subject from certo.rates
     where company_id = certo.current_company() and minute <= (select certo.now()) - interval '1 day'
     limit ${most_together} for update skip locked) old
   where r.company_id = certo.current_company() and r.subject = old.subject
   returning 1 as one`,
);

/** One round over the companies that have something to forget; true when there may be more. */
export async function forgetOld(db: Db): Promise<boolean> {
  const companies = await db.read(entryOfNobody).query(toForget);
  let more = companies.length === most_companies;
  for (const { id } of companies) {
    const rows = await db.read(entryOfCompany(String(id), 'clock'), 'lazily').batch([
      [forgetResults, []],
      [forgetCounts, []],
    ]);
    more ||= rows.some((forgotten) => forgotten.length === most_together);
  }
  return more;
}

/** Goes on until it is stopped. */
export function startForgetting(db: Db, failures: FailureLog): Repeated {
  return repeat(async () => {
    const more = await forgetOld(db).catch((error) => {
      failures.note(error, 'what is past its time could not be forgotten; it is tried again');
      return true;
    });
    return more ? round_ms : idle_ms;
  }, round_ms);
}

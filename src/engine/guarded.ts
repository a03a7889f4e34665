/** Trouble with the database as callers are told of it. */
import { isDiskTrouble, isPassing, isReadOnly, OutcomeUnknown, readOnlyWords } from '../db/errors.ts';
import { Refusal } from '../fiscal/refusal.ts';

/**
 * What passes is asked for again soon. What somebody has to see to, later, and not much: when a full disk has room again, writes
 * are done again within seconds, and callers are not to stay away for longer.
 */
export const retry_seconds = { soon: 1, later: 5 };

/** Trouble with the database is a 503, or an unknown outcome when it broke during the commit; its `cause` is for the log. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw because(error, new Refusal('OUTCOME_UNKNOWN'));
    if (isReadOnly(error)) {
      const cause = new Error(readOnlyWords, { cause: error });
      throw because(cause, new Refusal('UNAVAILABLE', {}, { retryAfterSeconds: retry_seconds.soon }));
    }
    if (!isPassing(error)) throw error;
    const retryAfterSeconds = isDiskTrouble(error) ? retry_seconds.later : retry_seconds.soon;
    throw because(error, new Refusal('UNAVAILABLE', {}, { retryAfterSeconds }));
  }
}

function because(cause: unknown, refusal: Refusal): Refusal {
  refusal.cause = cause;
  return refusal;
}

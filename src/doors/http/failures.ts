/** What the log says of requests that failed. */
import type { Refusal } from '../../fiscal/refusal.ts';
import type { FailureLog } from '../failure-log.ts';

const words = 'request failed';

/**
 * Logs a request that was answered with 500 or more; a smaller status is the caller's doing. What is unavailable for a
 * while (503) is logged by its cause, anything else as a bug. `error`: what was thrown, which may be the refusal itself.
 */
export function logFailure(failures: FailureLog, refusal: Refusal, error: unknown, requestId: string): void {
  const { code, status, cause } = refusal;
  if (status === 503) failures.passing(cause, words, { code }, { requestId });
  else if (status >= 500) failures.fault(error, words, { requestId, code });
}

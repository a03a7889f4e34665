/**
 * What one network may ask of the token endpoint in a minute (contract decisions 1): 60 requests as one client, 600 in all. Nobody
 * is authenticated there yet, so nothing is written for a request and memory is bounded; counted in each process. Its
 * endpoint comes with the applications of others; until then only the tests ask.
 */
import { createHash } from 'node:crypto';
import { networkOf } from './network.ts';
import { fixedMinuteRate, rateLimited } from './rate.ts';

const per_client = 60;
const per_network = 600;

/** What is left of the minute, by client and network. */
export interface TokenBudgets {
  /** Counts one request. Throws RATE_LIMITED with the rest of the minute. */
  take(clientId: string, address: string): void;
}

/** The budgets of one process, whole minutes of the clock. `clock` gives milliseconds. */
export function tokenBudgets(clock: () => number): TokenBudgets {
  const networks = fixedMinuteRate(per_network, clock);
  const clients = fixedMinuteRate(per_client, clock);
  const take = (rate: typeof networks, subject: string): void => {
    const state = rate.take(subject);
    if (state?.exceeded === true) throw rateLimited(state);
  };
  return {
    take(clientId, address) {
      const network = networkOf(address);
      // What a client is refused counts for its network: trying many client ids must not be free.
      take(networks, network);
      take(clients, `${network} ${digestOf(clientId)}`);
    },
  };
}

/** A client id is whatever a stranger sends, of any length: what is remembered of it is not. */
function digestOf(clientId: string): string {
  return createHash('sha256').update(clientId).digest('base64');
}

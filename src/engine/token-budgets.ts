/**
 * What one network may ask of the token endpoint in a minute (decisions 1): 60 requests as one client, 600 in all. Nobody
 * is authenticated there yet, so nothing is written for a request and memory is bounded; counted in each process.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { fixedMinuteRate, rateLimited } from './rate.ts';

const per_client = 60;
const per_network = 600;

export interface TokenBudgets {
  /** Counts one request. Throws RATE_LIMITED with the rest of the minute. */
  take(clientId: string, address: string): void;
}

/** `clock` gives milliseconds. */
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
      take(clients, JSON.stringify([network, clientId]));
    },
  };
}

/**
 * Who an address counts as: of IPv6 the first 64 bits, since a subscriber has all the others (RFC 6177); an IPv4 address
 * also where it is written as IPv6 (RFC 4291, section 2.5.5.2).
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  const bare = address.split('%')[0]!;
  if (!isIPv6(bare)) return address;
  const [head = '', tail] = bare.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const written = before.length + after.length + (bare.includes('.') ? 1 : 0);
  const all = tail === undefined ? before : [...before, ...Array<string>(8 - written).fill('0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Whom an address belongs to: what is limited per address has to be limited per subscriber. */
import { isIPv4, isIPv6 } from 'node:net';

/** RFC 3986, section 3.2.2, has brackets around an IPv6 address, without which its end and the port's beginning are one. */
const withPort = /^(?:(?<v4>\d+\.\d+\.\d+\.\d+):\d+|\[(?<v6>[^\]]*)\](?::\d+)?)$/;

/**
 * Who an address counts as: of IPv6 the first 64 bits, since a subscriber has all the others (RFC 6177); an IPv4 address
 * also where it is written as IPv6 (RFC 4291, section 2.5.5.2). A port behind it is nobody's: proxies may write one.
 */
export function networkOf(address: string): string {
  // Plain IPv4, or no address at all: looking is quicker than two patterns.
  if (!address.includes(':')) return address;
  const { v4, v6 } = withPort.exec(address)?.groups ?? {};
  if (v4 !== undefined && isIPv4(v4)) return v4;
  if (v6 !== undefined && isIPv6(v6)) return networkOf(v6);
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

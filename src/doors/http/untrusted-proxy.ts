/**
 * A proxy that nobody has named: all who come through it are one address, and share its limits. Nothing else would tell the
 * operator.
 */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';

/** Requests with the header from one address, before it is taken for a proxy: a few may be anybody's. */
const enough = 20;
/** Addresses that are counted at once. Beyond them counting begins anew, and whoever sends the most is found all the same. */
const most_addresses = 64;

/** To be shown each request. Warns once; of a request only the address of the connection gets into the log. */
export function watchForProxy(log: Pick<Logger, 'warn'>): (request: IncomingMessage) => void {
  let counts: Map<string, number> | undefined = new Map();
  return ({ headers, socket: { remoteAddress } }) => {
    if (counts === undefined || headers['x-forwarded-for'] === undefined || remoteAddress === undefined) return;
    const address = remoteAddress.replace(/^::ffff:(?=[\d.]+$)/i, '');
    const count = (counts.get(address) ?? 0) + 1;
    if (count < enough) {
      if (counts.size >= most_addresses && !counts.has(address)) counts.clear();
      counts.set(address, count);
      return;
    }
    counts = undefined;
    log.warn(
      { address },
      `requests from ${address} carry X-Forwarded-For, which is not read: all who come through that address share its limits. If it is your proxy, set CERTO_TRUSTED_PROXIES=${address} and start again`,
    );
  };
}

/**
 * Limits per fixed minute that hold exactly over all processes: counted in the database, under the lock of the subject's
 * row, by the database's clock. One round trip of its own for each request, which those that come together share; beyond
 * the limit it writes nothing. For what the contract promises in numbers (300 per minute per grant and company); keys and
 * addresses are counted in memory (rate.ts).
 */
import type { Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { RateState } from './rate.ts';

const take = statement('rate_take', 'select used, exceeded, seconds_left from certo.take_rate($1, $2)');

/**
 * Counts one request of the reader's company, unless the minute is used up. The reader is `Db.read(entry, 'lazily')`: the
 * count stands whatever becomes of the request, and an entry that refuses comes first and counts nothing.
 */
export async function takeExactly(reader: Tx, subject: string, perMinute: number): Promise<RateState> {
  const [row] = await reader.query(take, [subject, perMinute]);
  if (row === undefined) throw new Error('a limit was counted for nobody');
  return {
    limit: perMinute,
    remaining: perMinute - Number(row['used']),
    resetSeconds: Number(row['seconds_left']),
    exceeded: row['exceeded'] === true,
  };
}

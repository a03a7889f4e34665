// The bare service of bare-process.mjs, and who fires at it.
import { randomUUID } from 'node:crypto';
import { start } from './children.mjs';
import { openFiring } from './firing.mjs';
import { openDatabase } from './postgres.mjs';
import { countFor } from './statistics.mjs';

const bounds = { least: 1_500, most: 20_000 };

/** @returns what issues at it, 64 in flight, for about so many seconds: issues a second. */
export async function openBare(seconds) {
  const { pool, connection } = await openDatabase('bare');
  const bare = start('bare-process.mjs', { BARE_DATABASE: JSON.stringify(connection) });
  const { port } = await bare.ask();
  const firing = openFiring({ port, apiKey: 'nobody', draftBody: () => ({}) });
  let rate = 0;
  let issued = 0;
  return {
    async issue() {
      const count = countFor(rate, seconds, bounds);
      const drafts = Array.from({ length: count }, () => ({ id: randomUUID(), updatedAt: new Date(0) }));
      rate = (await firing.issue(drafts, 64)).perSecond;
      issued += count;
      // What was measured has to have happened.
      const { rows } = await pool.query(
        'select (select count(*) from documents)::int as documents, last_number::int as last from series',
      );
      if (rows[0].documents !== issued || rows[0].last !== issued)
        throw new Error(`the bare service says ${issued}, its tables ${JSON.stringify(rows[0])}`);
      return rate;
    },
    stop() {
      firing.stop();
      bare.stop();
    },
  };
}

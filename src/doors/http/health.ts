/** Whether this process lives, and whether it can do its work. */
import type { FastifyInstance } from 'fastify';
import type { Db } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfNobody } from '../../identity/principal.ts';
import { oneAtATime } from './one-at-a-time.ts';

// In a standby every transaction is read-only, whatever was asked for.
const probe = statement('health', `select current_setting('transaction_read_only') = 'on' as read_only`);

// What the pool holds open goes on in a server that lets nobody else in: that is seen by a connection of its own only.
const knock_interval_ms = 3_000;

class ReadOnly extends Error {}

/**
 * GET /health/live asks nothing. GET /health/ready asks the database, once for all who ask meanwhile: 503 when it
 * gives no answer, or takes no writes.
 */
export function addHealth(app: FastifyInstance, db: Db): void {
  let letIn = Number.NEGATIVE_INFINITY;
  const answers = oneAtATime(async () => {
    const [found] = await db.read(entryOfNobody).query(probe);
    if (found?.['read_only'] === true) throw new ReadOnly();
    if (performance.now() - letIn < knock_interval_ms) return;
    await db.knock();
    letIn = performance.now();
  });
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    try {
      await answers();
      return { status: 'ok' };
    } catch (error) {
      const reason = error instanceof ReadOnly ? 'database read-only' : 'database';
      return reply.code(503).header('retry-after', '1').send({ status: 'unavailable', reason });
    }
  });
}

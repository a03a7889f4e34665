/** Whether this process lives, and whether it can do its work. */
import type { FastifyInstance } from 'fastify';
import type { Db, Entry } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { oneAtATime } from './one-at-a-time.ts';

const probe = statement('health', 'select 1 as alive');
const anybody: Entry = {
  call: [statement('enter_nobody', `select set_config('app.company_id', '', true)`), []],
  accept: () => undefined,
};

// What the pool holds open goes on in a server that lets nobody else in: that is seen by a connection of its own only.
const knock_interval_ms = 3_000;

/**
 * GET /health/live asks nothing. GET /health/ready asks the database, once for all who ask meanwhile: 503 when it
 * gives no answer.
 */
export function addHealth(app: FastifyInstance, db: Db): void {
  let letIn = Number.NEGATIVE_INFINITY;
  const answers = oneAtATime(async () => {
    await db.read(anybody).query(probe);
    if (performance.now() - letIn < knock_interval_ms) return;
    await db.knock();
    letIn = performance.now();
  });
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    try {
      await answers();
      return { status: 'ok' };
    } catch {
      return reply.code(503).header('retry-after', '1').send({ status: 'unavailable', reason: 'database' });
    }
  });
}

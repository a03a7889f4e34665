/** Pages for developers: the reference at /docs (viewer served from the package, nothing from outside) and every refusal. */
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { World } from '../../operations/world.ts';

export async function addDocs(app: FastifyInstance, _world: World): Promise<void> {
  await app.register(swaggerUi, { routePrefix: '/docs' });
}

/** The public halves of the signing keys, for anyone who verifies documents from outside. */
import type { FastifyInstance } from 'fastify';
import type { HttpDoor } from './server.ts';

export function addWellKnown(app: FastifyInstance, door: HttpDoor): void {
  app.get('/.well-known/fiscal-keys.json', { schema: { hide: true } }, async (_request, reply) => {
    const keys = await door.publicKeys();
    reply.header('cache-control', 'public, max-age=300');
    return {
      algorithm: 'RSA-SHA1',
      signed: 'date;systemEntryDate;documentNumber;grossTotal;previousHash',
      certificateNumber: door.corridor.world.certificateNumber,
      keys: keys.map(({ version, publicPem }) => ({ version, publicKeyPem: publicPem })),
    };
  });
}

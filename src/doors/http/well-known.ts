/** The public halves of the signing keys, for anyone who verifies documents from outside. */
import type { FastifyInstance } from 'fastify';
import { guarded } from '../../engine/guarded.ts';
import { oneAtATime } from './one-at-a-time.ts';

export interface PublicKeys {
  readonly publicKeys: () => Promise<readonly { readonly version: number; readonly publicPem: string }[]>;
  readonly certificateNumber: number;
}

/** GET /.well-known/fiscal-keys.json: every version, as PEM. Callers may keep it for five minutes. */
export function addWellKnown(app: FastifyInstance, { publicKeys, certificateNumber }: PublicKeys): void {
  const published = oneAtATime(publicKeys);
  app.get('/.well-known/fiscal-keys.json', { schema: { hide: true } }, async (_request, reply) => {
    const keys = await guarded(published);
    reply.header('cache-control', 'public, max-age=300');
    return {
      algorithm: 'RSA-SHA1',
      signed: 'date;systemEntryDate;documentNumber;grossTotal;previousHash',
      certificateNumber,
      keys: keys.map(({ version, publicPem }) => ({ version, publicKeyPem: publicPem })),
    };
  });
}

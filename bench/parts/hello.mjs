// The least a Fastify server does: the yardstick that reads are measured against, on the same machine in the same run.
import { fastify } from 'fastify';

const app = fastify({ logger: false });
app.get('/', () => ({ hello: 'world' }));
await app.listen({ host: '127.0.0.1', port: 0 });
process.send({ port: app.server.address().port });

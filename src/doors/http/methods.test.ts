import { fastify } from 'fastify';
import { expect, test, vi } from 'vitest';
import { refuseOtherMethods, routesOf } from './methods.ts';

test('an address that nobody has is taken apart once, however many routes there are', async () => {
  const app = fastify();
  const routes = routesOf(app);
  for (let i = 0; i < 50; i++) app.get(`/things/${i}/:id`, () => 'here');
  refuseOtherMethods(app, routes, (_request, reply, refusal, [name, value]) => {
    if (name !== undefined) reply.header(name, value);
    return reply.code(refusal.status).send(refusal.code);
  });
  await app.ready();

  const split = vi.spyOn(String.prototype, 'split');
  const answer = await app.inject({ method: 'GET', url: `/things/7${'/'.repeat(8_000)}` });
  const apart = split.mock.contexts.filter(
    (text, i) => (split.mock.calls[i] as readonly unknown[])[0] === '/' && String(text).startsWith('/'),
  );
  split.mockRestore();
  expect([answer.statusCode, answer.body]).toEqual([404, 'ROUTE_NOT_FOUND']);
  expect(apart).toHaveLength(1);

  const other = await app.inject({ method: 'PUT', url: '/things/7/x' });
  expect([other.statusCode, other.headers['allow']]).toEqual([405, 'GET, HEAD']);
  await app.close();
});

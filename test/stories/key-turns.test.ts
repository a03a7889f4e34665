/** A company may have many API keys: however many of them ask for what is slow, other companies have their turn. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
});
afterAll(() => service.stop());

/** Transactions that wait for a row that somebody else holds. */
async function waiting(): Promise<number> {
  const found = await service.owner.query<{ n: number }>(
    `select count(distinct l.pid)::int as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where not l.granted and a.datname = current_database()`,
  );
  return found.rows[0]!.n;
}

test('slow changes of three keys of one company leave connections to another one', async () => {
  const { A, B } = service.companies;
  const { id } = await A.item();
  const keys = [A.key, (await A.anotherKey()).key, (await A.anotherKey()).key];
  // Whose they are is known from the first request on.
  for (const key of keys) expect((await A.call('GET', '/company', { key })).status).toBe(200);
  const holder = await service.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from certo.items where id = $1 for update', [id]);
    const changes = keys.flatMap((key) =>
      Array.from({ length: 8 }, (_, i) =>
        A.call('PATCH', `/items/${id}`, { key, body: { unitPrice: 2 + i }, mayFail: true }),
      ),
    );
    await eventually(async () => expect(await waiting()).toBeGreaterThanOrEqual(3));
    expect((await B.get('/company')).status).toBe(200);
    expect((await B.post('/customers', { name: 'Rossio, Lda', country: 'PT' })).status).toBe(201);
    // Three eighths of the connections, whoever of the company asks.
    expect(await waiting()).toBe(3);
    await holder.query('commit');
    for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
  } finally {
    holder.release(true);
  }
});

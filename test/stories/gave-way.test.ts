/** What the database ended in favour of others did nothing: the caller hears when to come again, and not of a fault. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StatementError } from '../../src/db/errors.ts';
import type { Db } from '../../src/db/transact.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  A = service.companies.A;
});
afterAll(() => service.stop());

test.each(['57014', '55P03', '40P01', '40001'])(
  'SQLSTATE %s: 503 with Retry-After, and nothing is changed',
  async (code) => {
    const customer = await A.customer({ city: 'Braga' });
    let failing = true;
    const door = await service.another((db: Db): Db => {
      const ended = () => Promise.reject(new StatementError('somewhere', { message: 'ended', code }));
      return { ...db, transact: (...args) => (failing ? ended() : db.transact(...args)) };
    });
    const move = () =>
      door.call('PATCH', `/customers/${customer.id}`, { key: A.key, body: { city: 'Faro' }, mayFail: true });
    const answer = await move();
    expect([answer.status, answer.json.code, answer.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    expect((await A.get<{ city: string }>(`/customers/${customer.id}`)).json.city).toBe('Braga');
    failing = false;
    expect((await move()).status).toBe(200);
    await door.stop();
  },
);

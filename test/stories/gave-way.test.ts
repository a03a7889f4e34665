/** What the database ended in favour of others did nothing: the caller hears when to come again, and not of a fault. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionLost, DatabaseUnavailable, StatementError } from '../../src/db/errors.ts';
import type { Db } from '../../src/db/transact.ts';
import { eventually } from '../eventually.ts';
import { wholeWrites } from '../quick-writes.ts';
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

test('who has the draft and waits for the series, as who issues under locks, ends nobody’s issue', async () => {
  const draft = await A.draft();
  const other = await service.owner.connect();
  const waiting =
    'select count(*)::int as n from pg_locks join pg_stat_activity a using (pid) where not granted and a.datname = current_database()';
  await other.query('begin');
  await other.query('select id from certo.documents where id = $1 for no key update', [draft.id]);
  // From memory: it has moved the series, and waits for the draft.
  const issuing = A.issue(draft);
  await eventually(async () => expect((await service.owner.query(waiting)).rows[0].n).toBe(1));
  const ended = await other
    .query(`select id from certo.series where company_id = $1 and document_type = 'INVOICE' for no key update`, [A.id])
    .then(
      () => 'the issue, which is done again',
      (error: { code: string }) => error.code,
    );
  await other.query('rollback');
  other.release();
  expect(['the issue, which is done again', '40P01']).toContain(ended);
  const issued = await issuing;
  expect([issued.status, issued.number]).toEqual(['ISSUED', expect.stringMatching(/\/1$/)]);
  expect((await A.issue(await A.draft())).number).toMatch(/\/2$/);
});

test('nobody is told of a fault of ours while the database cannot be reached, whatever they ask', async () => {
  const invoice = await A.issue(await A.draft());
  const { url } = (await A.get<{ url: string }>(`/invoices/${invoice.id}/pdf`)).json;
  let reachable = true;
  let knowsKeys = false;
  const door = await service.another((db: Db): Db => {
    const lost = () => Promise.reject(new ConnectionLost('no server', { sent: false }));
    const nowhere = { query: lost, batch: lost, commitWith: lost };
    const read: Db['read'] = (entry, how) =>
      reachable || (knowsKeys && how === 'lazily') ? db.read(entry, how) : nowhere;
    return { ...db, read, transact: lost, ...wholeWrites(lost) };
  });
  reachable = false;
  const ask = async (method: string, path: string, body?: unknown, headers = {}): Promise<unknown> => {
    const answer = await door.call(method, path, {
      key: A.key,
      headers,
      ...(body === undefined ? {} : { body }),
      mayFail: true,
    });
    return [answer.status, answer.headers['retry-after']];
  };
  for (const [method, path, body] of [
    ['GET', '/company'],
    ['GET', '/invoices?limit=0'],
    ['POST', '/customers', { name: 1 }],
    ['POST', '/customers', { name: 'Ana', country: 'PT' }],
    [
      'POST',
      '/invoices',
      { type: 'INVOICE', cae: '62010', customerId: invoice.id, items: [{ id: invoice.id, quantity: 1 }] },
    ],
    ['GET', new URL(url).pathname + new URL(url).search],
    ['GET', '/health/ready'],
  ] as const)
    expect([path, await ask(method, path, body)]).toEqual([path, [503, '1']]);

  // What was done under its key is found, and cannot be told again.
  const draft = await A.draft();
  const issue = [`/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt }] as const;
  const headers = { 'idempotency-key': uuidv7() };
  expect((await A.post(...issue, { headers })).status).toBe(200);
  knowsKeys = true;
  expect(await ask('POST', ...issue, headers)).toEqual([503, '1']);
  reachable = true;
  expect(await ask('POST', ...issue, headers)).toEqual([200, undefined]);
  await door.stop();
});

test('ready is who can open a connection, too: one that is open already says nothing of the next', async () => {
  let letIn = false;
  const door = await service.another((db: Db): Db => {
    const refused = () => Promise.reject(new DatabaseUnavailable('The database is shutting down.'));
    return { ...db, knock: () => (letIn ? db.knock() : refused()) };
  });
  const ready = async () => (await door.call('GET', '/health/ready', { mayFail: true })).status;
  expect([await ready(), await ready()]).toEqual([503, 503]);
  letIn = true;
  expect(await ready()).toBe(200);
  await door.stop();
});

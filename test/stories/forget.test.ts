/** What is kept for a time only: results of idempotency keys, forgotten by any number of processes, and tombstones for ever. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgetOld } from '../../src/doors/clock/forget.ts';
import type { Answer } from '../client.ts';
import { eventually } from '../eventually.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
});
afterAll(() => service.stop());

const day = 86_400_000;
const create = (company: TestCompany, key: string, name = 'Maria Silva') =>
  company.post('/customers', { name, country: 'PT' }, { headers: { 'idempotency-key': key } });
const judged = ({ status, json, headers }: Answer) => [status, json.code, headers['retry-after']];

async function keptAndAll(company: TestCompany): Promise<[number, number]> {
  const { rows } = await service.owner.query<{ kept: number; all: number }>(
    'select count(body)::int as kept, count(*)::int as all from certo.claims where company_id = $1',
    [company.id],
  );
  return [rows[0]!.kept, rows[0]!.all];
}

/** Claims as so many requests left them, so many days ago. */
async function old(company: TestCompany, count: number, days: number): Promise<void> {
  await service.owner.query(
    `insert into certo.claims (company_id, scope, operation, key, fingerprint, status, content_type, body, created_at, completed_at)
     select $1, 'key:x', 'POST /x', $2 || n, sha256('x'), 201, 'application/json', 'x',
       certo.now() - make_interval(days => $4), certo.now() - make_interval(days => $4)
     from generate_series(1, $3::int) n`,
    [company.id, uuidv7(), count, days],
  );
}

test('a round takes a bounded group of each company, the oldest first, and says whether there may be more', async () => {
  await old(A, 500, 31);
  await old(A, 150, 40);
  await old(A, 30, 29);
  await old(B, 10, 31);
  expect(await forgetOld(service.db)).toBe(true);
  expect([await keptAndAll(A), await keptAndAll(B)]).toEqual([
    [180, 680],
    [0, 10],
  ]);
  const { rows } = await service.owner.query(
    `select count(*)::int as n from certo.claims where body is not null and completed_at < certo.now() - interval '39 days'`,
  );
  expect(rows).toEqual([{ n: 0 }]);
  expect(await forgetOld(service.db)).toBe(false);
  expect(await keptAndAll(A)).toEqual([30, 680]);
  expect(await forgetOld(service.db)).toBe(false);
});

test('several at once share the work: none waits for what another one has locked', async () => {
  await old(B, 1600, 35);
  const writer = await service.owner.connect();
  try {
    await writer.query('begin');
    await writer.query(
      'select 1 from certo.claims where company_id = $1 and body is not null order by completed_at limit 100 for update',
      [B.id],
    );
    await Promise.all([1, 2, 3, 4].map(() => forgetOld(service.db)));
    expect((await keptAndAll(B))[0]).toBeGreaterThanOrEqual(100);
    await writer.query('rollback');
  } finally {
    writer.release();
  }
  while (await forgetOld(service.db));
  expect((await keptAndAll(B))[0]).toBe(0);
});

test('the clocks of two processes forget what is 30 days old; the keys stay used, and younger ones replay', async () => {
  const [oldKey, youngKey] = [uuidv7(), uuidv7()];
  expect((await create(A, oldKey)).status).toBe(201);
  await service.setClock(new Date(Date.now() + 2 * day));
  const young = await create(A, youngKey);
  await service.setClock(new Date(Date.now() + 31 * day));
  const before = (await keptAndAll(A))[1];
  const other = await service.another();
  const clocks = [service.startReports(), other.app.startClock()];
  await eventually(async () => {
    const { rows } = await service.owner.query('select body from certo.claims where key = $1', [oldKey]);
    expect(rows).toEqual([{ body: null }]);
  });
  for (const clock of clocks) await clock.stop();
  await other.stop();
  expect((await keptAndAll(A))[1]).toBe(before);

  const answer = await create(A, oldKey);
  expect(judged(answer)).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
  expect(answer.json.detail).toContain('no longer kept');
  expect(judged(await create(A, oldKey, 'Outra'))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
  const replayed = await create(A, youngKey);
  expect([replayed.headers['idempotent-replayed'], replayed.text]).toEqual(['true', young.text]);
  await service.setClock(new Date(Date.now() + 4000 * day));
  expect(judged(await create(A, oldKey))).toEqual([409, 'IDEMPOTENCY_CONFLICT', undefined]);
  await service.setClock(null);
});

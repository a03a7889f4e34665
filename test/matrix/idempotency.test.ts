/**
 * Every write × the rules of idempotency keys (contract, "Idempotency rules"), with two processes on one database: one
 * whose transactions can be held at the door, so that a request is in progress for as long as a test wants.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../src/db/transact.ts';
import { operations } from '../../src/operations/all.ts';
import type { Answer } from '../client.ts';
import { quickWrites } from '../quick-writes.ts';
import { type Service, startService, type TestCompany } from '../service.ts';
import { type Sample, samples, withId, withQuery } from './samples.ts';

let service: Service;
let A: TestCompany;
let B: TestCompany;
let other: Awaited<ReturnType<Service['another']>>;
/** Set: whoever begins a transaction at the other process says so and waits. */
let hold: { arrived: () => void; readonly open: Promise<void> } | undefined;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  other = await service.another(held);
});
afterAll(async () => {
  await other.stop();
  await service.stop();
});

function held(db: Db): Db {
  return {
    ...db,
    async transact(entry, fn) {
      hold?.arrived();
      await hold?.open;
      return db.transact(entry, fn);
    },
    ...quickWrites(db, async (write) => {
      hold?.arrived();
      await hold?.open;
      return write();
    }),
  };
}

/** A request that has taken its key at the other process and goes no further until `letGo`. */
async function inProgress(send: () => Promise<Answer>): Promise<{ letGo(): Promise<Answer> }> {
  let open = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    hold = { arrived: resolve, open: new Promise((go) => (open = go)) };
  });
  const answer = send();
  await Promise.race([arrived, answer.then(({ text }) => Promise.reject(new Error(`it was not held: ${text}`)))]);
  return {
    letGo() {
      hold = undefined;
      open();
      return answer;
    },
  };
}

const judged = ({ status, json, headers }: Answer) => [status, json.code, headers['retry-after']];
const replayed = ({ headers }: Answer) => headers['idempotent-replayed'];
const dead = [409, 'IDEMPOTENCY_CONFLICT', undefined];
const wait = [409, 'IDEMPOTENCY_CONFLICT', expect.stringMatching(/^[1-5]$/)];

/** Everything that is written down of companies, but for the keys themselves. */
async function books(): Promise<string> {
  const { rows: tables } = await service.owner.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id'
     where c.relnamespace = 'certo'::regnamespace and c.relkind = 'r' and c.relname not in ('claims', 'rates') order by 1`,
  );
  expect(tables.length).toBeGreaterThan(8);
  const parts = tables.map(
    ({ name }) =>
      `select '${name}' as name, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum from certo.${name} t`,
  );
  const { rows } = await service.owner.query(parts.join(' union all '));
  return JSON.stringify(rows);
}

const move = (key: string, assignment: string) =>
  service.owner.query(`update certo.claims set ${assignment} where key = $1`, [key]);

async function acts(name: string, requestIds: readonly string[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(
    'select count(*)::int as n from certo.audit where operation = $1 and request_id = any ($2)',
    [name, requestIds],
  );
  return rows[0]!.n;
}

const writes = operations.filter(({ kind }) => kind === 'write');

test('there are writes', () => {
  expect(writes.length).toBeGreaterThan(20);
});

describe.each(writes.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const { method } = operation;
  const sampled = (company = A): Promise<Sample> => samples[name]!(company);
  const at = (door: Pick<Service, 'call'>, { path, body }: Sample, key: string, company = A, requestId = uuidv7()) =>
    door.call(method, path, {
      body,
      key: company.key,
      headers: { 'idempotency-key': key, 'x-request-id': requestId },
    });

  test('in progress: 409 with a timer, another request 422; done: the same bytes on the other process', async () => {
    const [sample, key] = [await sampled(), uuidv7()];
    const before = await books();
    const first = await inProgress(() => at(other, sample, key));
    expect(judged(await at(service, sample, key))).toEqual(wait);
    expect((await at(service, { ...sample, path: withQuery(sample.path, 'a=1') }, key)).status).toBe(422);
    expect(await books()).toBe(before);
    const done = await first.letGo();
    expect([done.status, replayed(done)]).toEqual([operation.reply[0], undefined]);
    const again = await at(service, sample, key);
    expect([again.status, again.text, replayed(again)]).toEqual([done.status, done.text, 'true']);
  });

  test('the lease is over: 409 without a timer for ever; who held it too long changes nothing', async () => {
    const [sample, key] = [await sampled(), uuidv7()];
    const before = await books();
    const first = await inProgress(() => at(other, sample, key));
    await move(key, `lease_until = certo.now() - interval '1 millisecond'`);
    expect(judged(await at(service, sample, key))).toEqual(dead);
    expect(judged(await first.letGo())).toEqual(dead);
    expect(await books()).toBe(before);
    for (const door of [service, other]) expect(judged(await at(door, sample, key))).toEqual(dead);
    expect((await at(service, { ...sample, path: withQuery(sample.path, 'a=1') }, key)).status).toBe(422);
    expect(await books()).toBe(before);
    // The effect was not there, so a new key brings it about.
    expect((await at(other, sample, uuidv7())).status).toBe(operation.reply[0]);
  });

  test('six at once on two processes: one acts, all others replay it or wait', async () => {
    const [sample, key] = [await sampled(), uuidv7()];
    const ids = Array.from({ length: 6 }, () => uuidv7());
    const answers = await Promise.all(ids.map((id, i) => at(i % 2 === 0 ? service : other, sample, key, A, id)));
    const ran = answers.filter((answer) => answer.status === operation.reply[0] && replayed(answer) === undefined);
    expect(ran).toHaveLength(1);
    for (const answer of answers.filter((one) => !ran.includes(one))) {
      if (replayed(answer) === 'true') expect(answer.text).toBe(ran[0]!.text);
      else expect(judged(answer)).toEqual(wait);
    }
    expect(await acts(name, ids)).toBe(1);
  });

  test('a result is replayed for 30 days; then the key is used for ever', async () => {
    const [sample, key] = [await sampled(), uuidv7()];
    const done = await at(service, sample, key);
    await move(key, `completed_at = certo.now() - interval '30 days' + interval '5 minutes'`);
    expect((await at(other, sample, key)).text).toBe(done.text);
    await move(key, `completed_at = certo.now() - interval '30 days'`);
    const before = await books();
    expect(judged(await at(other, sample, key))).toEqual(dead);
    await move(key, 'body = null');
    expect(judged(await at(service, sample, key))).toEqual(dead);
    expect((await at(service, { ...sample, path: withQuery(sample.path, 'a=1') }, key)).status).toBe(422);
    expect(await books()).toBe(before);
  });

  test('another company with the same key is served on its own', async () => {
    const [ours, theirs, key] = [await sampled(), await sampled(B), uuidv7()];
    const [first, second] = [await at(service, ours, key), await at(other, theirs, key, B)];
    expect([first.status, second.status, replayed(second)]).toEqual([
      operation.reply[0],
      operation.reply[0],
      undefined,
    ]);
    expect((await at(other, ours, key)).text).toBe(first.text);
    expect((await at(service, theirs, key, B)).text).toBe(second.text);
  });

  test('a refusal leaves the same request retryable on every process, and no other', async () => {
    const [sample, key] = [await sampled(), uuidv7()];
    const refused: Sample = operation.path.includes(':id')
      ? { ...sample, path: withId(operation.path, uuidv7()) }
      : { ...sample, path: withQuery(sample.path, 'a=1') };
    const first = await at(service, refused, key);
    const second = await at(other, refused, key);
    expect(first.status).toBe(operation.path.includes(':id') ? 404 : 400);
    expect([second.status, second.json.code]).toEqual([first.status, first.json.code]);
    expect((await at(other, sample, key)).status).toBe(422);
    expect((await at(service, sample, uuidv7())).status).toBe(operation.reply[0]);
  });
});

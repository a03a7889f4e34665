/** A limit that holds exactly over all processes, walked through the corridor as a door would, on two of them. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb } from '../../src/db/open.ts';
import type { Db } from '../../src/db/transact.ts';
import { takeExactly } from '../../src/engine/exact-rate.ts';
import { type Call, type Corridor, execute, type Trace } from '../../src/engine/execute.ts';
import { Press } from '../../src/engine/press.ts';
import { fixedMinuteRate } from '../../src/engine/rate.ts';
import { openSpool } from '../../src/engine/spool.ts';
import { Refusal } from '../../src/fiscal/refusal.ts';
import { credentialOf, entryOfCompany, entryOfKey } from '../../src/identity/principal.ts';
import { operations } from '../../src/operations/all.ts';
import { eventually } from '../eventually.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

const per_minute = 300;

let service: Service;
let A: TestCompany;
let B: TestCompany;
let folder: string;
let dbs: Db[];
/** Two processes on one database, as far as one process can be two: nothing is shared between them. */
let corridors: Corridor[];

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
  ({ A, B } = service.companies);
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'certo-limits-'));
  dbs = await Promise.all([0, 1].map(() => openDb({ connection: service.connection, max: 8 })));
  corridors = await Promise.all(
    dbs.map(async (db, i) => ({
      db,
      world: service.app.world,
      press: new Press(db, service.app.world, () => undefined),
      keyRate: fixedMinuteRate(1, Date.now),
      spool: await openSpool({ directory: join(folder, String(i)), perCompany: 1, writing: 1, together: 1 }),
    })),
  );
});
afterAll(async () => {
  await Promise.all(dbs.map((db) => db.close()));
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Told {
  readonly status: number;
  readonly remaining: number | undefined;
  readonly resetSeconds: number | undefined;
  readonly retryAfter: number | undefined;
}

async function ask(corridor: Corridor, key: string, name: string, over: Partial<Call> = {}): Promise<Told> {
  const credential = credentialOf({ apiKey: key, authorization: undefined });
  const trace: Trace = {};
  const told = (status: number, retryAfter?: number): Told => {
    const { remaining, resetSeconds } = trace.rate ?? {};
    return { status, remaining, resetSeconds, retryAfter };
  };
  const call: Call = {
    operation: operations.find((operation) => operation.name === name)!,
    params: {},
    query: {},
    body: {},
    malformed: undefined,
    idempotencyKey: undefined,
    requestId: uuidv7(),
    network: '127.0.0.1',
    rateSubject: credential.subject,
    exactRate: per_minute,
    entry: (accept) => entryOfKey(credential, accept),
    gone: new AbortController().signal,
    ...over,
  };
  try {
    return told((await execute(corridor, call, trace)).status);
  } catch (error) {
    if (error instanceof Refusal) return told(error.status, error.retryAfterSeconds);
    throw error;
  }
}

const many = (count: number, key: string): Promise<Told[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(corridors[i % 2]!, key, 'getCompany')));
const admitted = (all: readonly Told[]) => all.filter(({ status }) => status === 200);
const refused = (all: readonly Told[]) => all.filter(({ status }) => status === 429);
const ascending = (a: number | undefined, b: number | undefined) => Number(a) - Number(b);
const each = Array.from({ length: per_minute }, (_, i) => i);
const at = (time: string) => service.setClock(new Date(`2027-03-01T${time}Z`));

test('300 of 500 at once on two processes, each told what is left; request 301 waits for the rest of the minute', async () => {
  const { key } = await A.anotherKey();
  await at('10:00:00.500');
  const all = await many(500, key);
  expect(
    admitted(all)
      .map(({ remaining }) => remaining)
      .toSorted(ascending),
  ).toEqual(each);
  expect(refused(all)).toHaveLength(200);
  for (const { remaining, resetSeconds, retryAfter } of refused(all)) {
    expect(remaining).toBe(0);
    expect(retryAfter).toBe(resetSeconds);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(60);
  }
  await at('10:00:47.000');
  expect([40, 41, 42, 43, 44, 45, 46, 47].map((second) => 60 - second)).toContain(
    (await ask(corridors[0]!, key, 'getCompany')).retryAfter,
  );
});

test('a thousand and more across the change of a minute: 300 in each, not one more', async () => {
  const { key } = await A.anotherKey();
  await at('11:00:01.000');
  const all = await many(500, key);
  expect(admitted(all)).toHaveLength(per_minute);
  await at('11:00:58.800');
  // On both sides of the change, until the next minute is used up as well.
  while (admitted(all).length < 2 * per_minute) all.push(...(await many(250, key)));
  all.push(...(await many(50, key)));
  expect(all.length).toBeGreaterThanOrEqual(1000);
  const left = admitted(all).map(({ remaining }) => remaining);
  expect(left.toSorted(ascending)).toEqual(each.flatMap((remaining) => [remaining, remaining]));
});

test('what waited for its turn longer than the minute lasted counts in the next one, which never goes back', async () => {
  const within = entryOfCompany(A.id, 'test');
  const take = () => takeExactly(dbs[0]!.read(within, 'lazily'), 'waits', 5);
  await at('12:00:59.000');
  for (let i = 0; i < 3; i++) expect(await take()).toMatchObject({ remaining: 4 - i, exceeded: false });
  const writer = await service.owner.connect();
  try {
    await writer.query('begin');
    await writer.query(`select 1 from certo.rates where subject = 'waits' for update`);
    const waiting = [take(), take()];
    await eventually(async () => {
      const { rows } = await service.owner.query(
        `select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`,
      );
      expect(rows).toHaveLength(2);
    });
    await at('12:01:00.100');
    await writer.query('rollback');
    expect((await Promise.all(waiting)).map(({ remaining }) => remaining).toSorted(ascending)).toEqual([3, 4]);
  } finally {
    writer.release(true);
  }
  const { rows } = await service.owner.query(`select minute, taken from certo.rates where subject = 'waits'`);
  expect(rows).toEqual([{ minute: new Date('2027-03-01T12:01:00Z'), taken: 2 }]);
});

test('subjects, and companies with the same subject, are counted apart', async () => {
  await at('13:00:01.000');
  const take = (company: TestCompany, subject: string) =>
    takeExactly(dbs[1]!.read(entryOfCompany(company.id, 'test'), 'lazily'), subject, 1);
  expect(await take(A, 'one')).toMatchObject({ limit: 1, remaining: 0, exceeded: false });
  expect((await take(A, 'one')).exceeded).toBe(true);
  expect((await take(A, 'two')).exceeded).toBe(false);
  expect((await take(B, 'one')).exceeded).toBe(false);
});

test('beyond the limit nothing is written, no key is bound, and the form is not looked at', async () => {
  const { key, id } = await A.anotherKey();
  await at('14:00:01.000');
  await many(per_minute, key);
  const row = async () =>
    (
      await service.owner.query(
        `select r.xmin::text, r.xmax::text, r.ctid::text from certo.rates r join certo.api_keys k
           on r.subject = encode(k.hash, 'base64') where k.id = $1`,
        [id],
      )
    ).rows;
  const before = await row();
  expect(before).toHaveLength(1);
  const body = { name: 'Maria', country: 'PT' };
  const idempotencyKey = uuidv7();
  for (const corridor of corridors) {
    expect((await ask(corridor, key, 'createCustomer', { body, idempotencyKey })).status).toBe(429);
    const malformed = new Refusal('MALFORMED_JSON');
    expect((await ask(corridor, key, 'createCustomer', { malformed })).status).toBe(429);
  }
  expect(await row()).toEqual(before);
  expect((await service.owner.query('select 1 from certo.claims where key = $1', [idempotencyKey])).rowCount).toBe(0);
  await at('14:01:00.000');
  expect(await ask(corridors[0]!, key, 'createCustomer', { body, idempotencyKey })).toMatchObject({
    status: 201,
    remaining: 299,
  });
  expect(await ask(corridors[1]!, key, 'createCustomer', { body, idempotencyKey })).toMatchObject({
    status: 201,
    remaining: 298,
  });
});

test('a request counts once, also where it is refused; a revoked key is 401 on every process and counts nowhere', async () => {
  const { key, revoke } = await A.anotherKey();
  await at('15:00:01.000');
  expect(await ask(corridors[0]!, key, 'createCustomer')).toMatchObject({ status: 400, remaining: 299 });
  const params = { id: uuidv7() };
  expect(await ask(corridors[1]!, key, 'getCustomer', { params })).toMatchObject({ status: 404, remaining: 298 });
  await revoke();
  const rows = 'select sum(taken)::int as n from certo.rates';
  const before = (await service.owner.query(rows)).rows;
  for (const corridor of corridors) {
    expect(await ask(corridor, key, 'getCompany')).toMatchObject({ status: 401, remaining: undefined });
  }
  expect((await service.owner.query(rows)).rows).toEqual(before);
});

test('a count of a day ago is forgotten, one of today is not, and one that is forgotten meanwhile begins anew', async () => {
  const { forgetOld } = await import('../../src/doors/clock/forget.ts');
  const take = (subject: string) => takeExactly(dbs[0]!.read(entryOfCompany(B.id, 'test'), 'lazily'), subject, 9);
  const known = async () =>
    (await service.owner.query('select subject from certo.rates where company_id = $1 order by 1', [B.id])).rows.map(
      ({ subject }) => subject,
    );
  await at('16:00:01.000');
  await take('yesterday');
  await service.setClock(new Date('2027-03-02T16:01:01.000Z'));
  await take('today');
  const [, taken] = await Promise.all([forgetOld(service.db), take('yesterday')]);
  expect(taken).toMatchObject({ remaining: 8, exceeded: false });
  expect(await known()).toEqual(expect.arrayContaining(['today']));
  await service.setClock(new Date('2027-03-03T16:01:30.000Z'));
  await take('today');
  await forgetOld(service.db);
  expect(await known()).toEqual(['today']);
  await service.setClock(null);
});

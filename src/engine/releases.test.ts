/** What is kept while there is no database. With a real one that goes away: test/stories/database-away.test.ts. */
import { uuidv7 } from 'uuidv7';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseUnavailable } from '../db/errors.ts';
import type { Call } from '../db/statement.ts';
import type { Db } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import type { Principal } from '../identity/principal.ts';
import { type Claim, lease_seconds, releaseCall } from './claim.ts';
import { Releases } from './releases.ts';

const who: Principal = { kind: 'key', companyId: uuidv7(), region: 'PT', actor: 'test', scope: 'key:test' };
const claim = (): Claim => ({ operation: 'POST /test', key: uuidv7(), fingerprint: Buffer.alloc(32), fence: uuidv7() });
const gone = new DatabaseUnavailable('gone');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database that does what it is told to: what it has heard are the claims that were let go. */
function opened() {
  const database = { answer: (_: Claim): unknown => undefined, asked: 0, heard: [] as Claim[] };
  const claims = new Map<string, Claim>();
  const query = async (...[, values]: Call) => {
    database.asked += 1;
    const asked = claims.get(JSON.stringify(values))!;
    const error = database.answer(asked);
    if (error !== undefined) throw error;
    database.heard.push(asked);
    return [];
  };
  const releases = new Releases({ read: () => ({ query }) } as unknown as Db);
  const letGo = async (
    name: string | undefined,
    when?: 'later',
    whose: Parameters<Releases['letGo']>[2] = who,
  ): Promise<Claim> => {
    const made = claim();
    claims.set(JSON.stringify(releaseCall(made, who.scope)[1]), made);
    await releases.letGo(name, made, whose, when);
    return made;
  };
  return { database, releases, letGo };
}

test('beyond a bound nothing is kept, and the end does not try each', async () => {
  const { database, releases, letGo } = opened();
  database.answer = () => gone;
  for (let i = 0; i < 10_010; i += 1) await letGo('name', 'later');
  expect(releases.size).toBe(10_000);
  database.asked = 0;
  await releases.close();
  expect([database.asked, vi.getTimerCount()]).toEqual([2, 0]);
});

test('it is said at once where there is a database; known to be gone, only later', async () => {
  const { database, releases, letGo } = opened();
  const now = await letGo('name');
  expect([database.heard, releases.size]).toEqual([[now], 0]);
  const later = await letGo('name', 'later');
  expect([database.asked, releases.size]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([database.heard, releases.size, vi.getTimerCount()]).toEqual([[now, later], 0, 0]);
});

test('while there is no database it is asked for once a second, with one claim and not with each', async () => {
  const { database, releases, letGo } = opened();
  database.answer = () => gone;
  const claims = [await letGo('a'), await letGo('b'), await letGo('c')];
  for (let second = 1; second <= 5; second += 1) {
    database.asked = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    // Once, and once more since a lost connection may have been an old one.
    expect([database.asked, releases.size]).toEqual([2, 3]);
  }
  database.answer = () => undefined;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([database.heard, releases.size, vi.getTimerCount()]).toEqual([claims, 0, 0]);
});

test('what the database refuses of one keeps none of the others waiting', async () => {
  const { database, releases, letGo } = opened();
  const revoked = await letGo('a', 'later');
  const failing = await letGo('b', 'later');
  const fine = await letGo('c', 'later');
  database.answer = (asked) => {
    if (asked === revoked) return new Refusal('UNAUTHENTICATED');
    return asked === failing ? new Error('no room') : undefined;
  };
  await vi.advanceTimersByTimeAsync(1_000);
  // Whose credential is not valid any more is forgotten; what may pass is tried again.
  expect([database.heard, releases.size]).toEqual([[fine], 1]);
  database.answer = () => undefined;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([database.heard, releases.size]).toEqual([[fine, failing], 0]);
  database.answer = () => new Refusal('UNAUTHENTICATED');
  await letGo('d');
  expect(releases.size).toBe(0);
});

test('a request with the same key waits for its own claim, and is told when the database is not there', async () => {
  const { database, releases, letGo } = opened();
  const [own, other] = [await letGo('own', 'later'), await letGo('other', 'later')];
  // Of a key that nobody else can say.
  const unnamed = await letGo(undefined, 'later');
  await releases.settle(undefined);
  await releases.settle('a third');
  expect(database.asked).toBe(0);
  database.answer = () => gone;
  await expect(releases.settle('own')).rejects.toBe(gone);
  expect(releases.size).toBe(3);
  database.answer = () => undefined;
  await releases.settle('own');
  expect([database.heard, releases.size]).toEqual([[own], 2]);
  await releases.settle('own');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(database.heard).toEqual([own, other, unnamed]);
});

test('after the lease there is nothing to let go', async () => {
  const { database, releases, letGo } = opened();
  database.answer = () => gone;
  await letGo('early');
  await vi.advanceTimersByTimeAsync(10_000);
  const late = await letGo('late');
  await vi.advanceTimersByTimeAsync(lease_seconds * 1_000 - 9_000);
  expect(releases.size).toBe(1);
  database.answer = () => undefined;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([database.heard, releases.size]).toEqual([[late], 0]);
});

test('the end waits for what is being said, says the rest once, and begins nothing after it', async () => {
  const { database, releases, letGo } = opened();
  const whose = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return who;
  });
  const slow = await letGo('slow', 'later', whose);
  await vi.advanceTimersByTimeAsync(1_100);
  const rest = await letGo('rest', 'later', whose);
  const heard = releases.close().then(() => [...database.heard]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([await heard, releases.size, whose.mock.calls.length]).toEqual([[slow, rest], 0, 2]);
  await letGo('after', 'later');
  expect([releases.size, vi.getTimerCount()]).toEqual([0, 0]);
  const unheard = opened();
  await unheard.letGo('unheard', 'later', whose);
  const size = unheard.releases.close().then(() => unheard.releases.size);
  await vi.advanceTimersByTimeAsync(300);
  expect(await size).toBe(0);
});

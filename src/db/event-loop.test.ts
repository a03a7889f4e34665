import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { turnWithTime } from './event-loop.ts';

// Time passes only where a piece of work takes it.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
});
afterEach(async () => {
  // What still waits is served, and nobody is remembered any more.
  for (let i = 0; i < 10; i += 1) {
    vi.advanceTimersByTime(1_000);
    await turn();
  }
});
afterAll(() => {
  vi.useRealTimers();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Takes so long, and lets nobody else have a turn. */
const work = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

async function piece(whose: string, milliseconds: number): Promise<void> {
  const wait = turnWithTime(whose);
  if (wait !== undefined) await wait;
  work(milliseconds);
}

/** The turns, counted, in which pieces of work of such a length were done that were asked for in one. */
async function turnsOf(pieces: number, milliseconds: number): Promise<number[]> {
  await turn();
  let now = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; now += 1) await turn();
  })();
  const done = Array.from({ length: pieces }, async () => {
    await piece('c', milliseconds);
    return now;
  });
  const turns = await Promise.all(done);
  isDone = true;
  await counting;
  return turns;
}

test('of long pieces of work one is done a turn, others between them; of short ones many', async () => {
  expect(new Set(await turnsOf(6, 20)).size).toBe(6);
  expect(new Set(await turnsOf(6, 0)).size).toBe(1);
});

test('a turn that has time is not waited for', async () => {
  await turn();
  expect(turnWithTime('c')).toBeUndefined();
});

test('who waits is served although every turn is used up before it comes to that', async () => {
  // As sockets that bring more work than a turn has time for, in each turn.
  let isServed = false;
  let turns = 0;
  const flood = (async () => {
    for (; !isServed && turns < 50; turns += 1) {
      await turn();
      const own = turnWithTime('a');
      work(12);
      void own;
    }
  })();
  await turn();
  work(12);
  await piece('b', 0);
  isServed = true;
  await flood;
  expect(turns).toBeLessThan(10);
});

test('companies take turns, and the work of each is done in the order in which it came', async () => {
  const order: string[] = [];
  const asked = ['a', 'a', 'a', 'a', 'b', 'c', 'b'];
  await turn();
  // Nobody has time in this one.
  turnWithTime('d');
  work(12);
  await Promise.all(
    asked.map(async (whose, i) => {
      await piece(whose, 0);
      order.push(`${whose}${i}`);
    }),
  );
  expect(order).toEqual(['a0', 'b4', 'c5', 'a1', 'b6', 'a2', 'a3']);
});

test('after a long piece what is long rests as long as it took, while somebody else is served', async () => {
  const order: string[] = [];
  const done = async (whose: string, milliseconds: number) => {
    await piece(whose, milliseconds);
    order.push(whose);
  };
  const small = async (pieces: number): Promise<void> => {
    for (let i = 0; i < pieces; i += 1) {
      await done('small', 0);
      await turn();
    }
  };
  await done('small', 0);
  await done('large', 30);
  const next = done('large', 30);
  await small(10);
  expect(order).toEqual(['small', 'large', ...Array(10).fill('small')]);
  vi.advanceTimersByTime(29);
  await turn();
  expect(order.at(-1)).toBe('small');
  vi.advanceTimersByTime(1);
  await next;
});

test('who is alone does not rest', async () => {
  await piece('alone', 30);
  await turn();
  expect(turnWithTime('alone')).toBeUndefined();
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { turnWithTime } from './event-loop.ts';

/** Takes so long, and lets nobody else have a turn. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
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
    const wait = turnWithTime();
    if (wait !== undefined) await wait;
    work(milliseconds);
    return now;
  });
  const turns = await Promise.all(done);
  isDone = true;
  await counting;
  return turns;
}

test('of long pieces of work one is done a turn, others between them; of short ones many', async () => {
  expect(new Set(await turnsOf(6, 20)).size).toBe(6);
  // A turn is also over when another program had the processor for so long: not every time.
  await eventually(async () => expect(new Set(await turnsOf(6, 0)).size).toBe(1));
});

test('a turn that has time is not waited for', async () => {
  await eventually(async () => {
    await turn();
    expect(turnWithTime()).toBeUndefined();
  });
});

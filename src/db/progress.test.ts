/** When a server that lets nobody in is ended, and when it is left to recover. Its processes are real, the time is not. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pid as own } from 'node:process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { familyOf, Progress, type Shut } from './progress.ts';

const children: ChildProcess[] = [];
let progress: Progress;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  progress = new Progress();
});
afterEach(() => {
  vi.useRealTimers();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that does nothing, under this title; a child of this one. */
async function idle(title: string): Promise<number> {
  const child = spawn('bash', ['-c', `exec -a '${title}' sleep 600`], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  vi.useRealTimers();
  await eventually(async () => expect((await familyOf(child.pid!))?.[0]?.title).toMatch(title));
  vi.useFakeTimers({ toFake: ['performance'] });
  return child.pid!;
}

/** Seconds of looking, one look a second, until it is stuck. */
async function stuckAfter(pid: number, state: Shut, most: number): Promise<number> {
  for (let seconds = 0; seconds <= most; seconds += 1) {
    if (await progress.isStuck(pid, state)) return seconds;
    vi.advanceTimersByTime(1_000);
  }
  return Number.POSITIVE_INFINITY;
}

test('without a process that recovers it is stuck once a crashed one has had the time to begin', async () => {
  expect(await stuckAfter(await idle('postgres -D /data'), 'starting', 100)).toBe(8);
});

test('a recovery that uses the processor is left alone, one that does not for 8 s, then 16', async () => {
  await idle('postgres: startup recovering 000000010000000000000001');
  expect(await stuckAfter(own, 'starting', 200)).toBe(9);
  expect(await stuckAfter(own, 'starting', 200)).toBe(17);
  const busy = spawn('bash', ['-c', `exec -a 'postgres: startup recovering 2' yes`], { stdio: 'ignore' });
  children.push(busy);
  await once(busy, 'spawn');
  const spentBy = async () => (await familyOf(busy.pid!))?.[0]?.spent;
  for (let seconds = 0; seconds < 160; seconds += 40) {
    const before = await spentBy();
    vi.useRealTimers();
    await eventually(async () => expect(await spentBy()).not.toBe(before));
    vi.useFakeTimers({ toFake: ['performance'], now: (seconds + 40) * 1_000 });
    expect(await progress.isStuck(own, 'starting')).toBe(false);
  }
});

test('one that answers nobody is stuck when its first process does nothing for a minute; a stop has 7 s', async () => {
  const first = await idle('postgres -D /data');
  expect(await stuckAfter(first, 'hung', 100)).toBe(61);
  progress = new Progress();
  expect(await stuckAfter(first, 'stopping', 100)).toBe(8);
  expect(await stuckAfter(first, 'stopping', 100)).toBe(15);
});

test('another server, another state and a server that let somebody in begin anew', async () => {
  const [one, other] = [await idle('postgres -D /one'), await idle('postgres -D /other')];
  expect(await stuckAfter(one, 'starting', 6)).toBe(Number.POSITIVE_INFINITY);
  expect(await stuckAfter(other, 'starting', 6)).toBe(Number.POSITIVE_INFINITY);
  expect(await stuckAfter(other, 'hung', 6)).toBe(Number.POSITIVE_INFINITY);
  expect(await stuckAfter(other, 'starting', 6)).toBe(Number.POSITIVE_INFINITY);
  progress.forget();
  expect(await stuckAfter(other, 'starting', 6)).toBe(Number.POSITIVE_INFINITY);
  expect(await stuckAfter(other, 'starting', 6)).toBe(1);
});

test('a process that is gone is not judged', async () => {
  expect(await familyOf(2 ** 30)).toBeUndefined();
  expect(await stuckAfter(2 ** 30, 'starting', 10)).toBe(Number.POSITIVE_INFINITY);
});

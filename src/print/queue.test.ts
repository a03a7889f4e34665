import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Refusal } from '../fiscal/refusal.ts';
import { PrintQueue } from './queue.ts';

const limits = { together: 1, mostOfOne: 100, mostOfAll: 150 };

/** A queue whose prints are made when they are told to be. */
function scene(over: Partial<typeof limits> = {}) {
  const queue = new PrintQueue({ ...limits, ...over });
  const made: string[] = [];
  const under: { readonly name: string; readonly end: (error?: Error) => void }[] = [];
  const ask = (name: string, size = 1): Promise<string> =>
    queue
      .run({ whose: name[0]!, name }, size, () => {
        made.push(name);
        return new Promise((resolve, reject) => {
          under.push({ name, end: (error) => (error ? reject(error) : resolve(Buffer.from(name))) });
        });
      })
      .then(
        (bytes) => Buffer.from(bytes).toString(),
        (error) => (error instanceof Refusal ? `${error.code} ${error.retryAfterSeconds}` : error.message),
      );
  const end = async (error?: Error): Promise<void> => {
    under.shift()!.end(error);
    await setImmediate();
  };
  return { ask, made, end, under };
}

test('companies take turns, each its prints in the order they were asked for', async () => {
  const { ask, made, end } = scene();
  const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => ask(name));
  for (let i = 0; i < all.length; i++) await end();
  expect(made).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
});

test('as many at once as there are threads', async () => {
  const { ask, under, end } = scene({ together: 2 });
  for (const name of ['a1', 'a2', 'b1', 'a3']) void ask(name);
  expect(under.map(({ name }) => name)).toEqual(['a1', 'a2']);
  await end();
  expect(under.map(({ name }) => name)).toEqual(['a2', 'b1']);
});

test('the same is made once while it waits or is made, and anew after that', async () => {
  const { ask, made, end } = scene();
  const all = [ask('a1'), ask('a2'), ask('a1'), ask('a2')];
  await end();
  await end();
  await Promise.all(all);
  expect(made).toEqual(['a1', 'a2']);
  void ask('a1');
  expect(made).toEqual(['a1', 'a2', 'a1']);
});

test('one that fails fails for all who asked, and the next goes on', async () => {
  const { ask, made, end } = scene();
  const failing = [ask('a1'), ask('a1')];
  const next = ask('a2');
  await end(new Error('no ink'));
  expect(await Promise.all(failing)).toEqual(['no ink', 'no ink']);
  await end();
  await next;
  expect(made).toEqual(['a1', 'a2']);
});

test('of one company so much may wait, of all together more; one print of each always', async () => {
  const { ask, made, end } = scene();
  void ask('a1', 60);
  expect(await ask('a2', 41)).toBe('DOWNLOADS_BUSY 5');
  void ask('a3', 40);
  void ask('b1', 40);
  expect(await ask('b2', 11)).toBe('DOWNLOADS_BUSY 5');
  void ask('b3', 10);
  void ask('c1', 1000);
  expect(await ask('c2')).toBe('DOWNLOADS_BUSY 5');
  await end();
  expect(await ask('b4')).toBe('DOWNLOADS_BUSY 5');
  for (let i = 0; i < 4; i++) await end();
  const last = [ask('b4', 50), ask('b5', 50), ask('a4', 50)];
  for (let i = 0; i < last.length; i++) await end();
  expect(await Promise.all(last)).toEqual(['b4', 'b5', 'a4']);
  expect(made).toEqual(['a1', 'a3', 'b1', 'c1', 'b3', 'b4', 'b5', 'a4']);
});

test('whoever asks for the same holds as much, and is one too many when the company has enough of them', async () => {
  const { ask, made, end } = scene();
  const all = [ask('a1', 40), ask('a1', 40)];
  expect(await ask('a1', 40)).toBe('DOWNLOADS_BUSY 5');
  expect(await ask('a2', 21)).toBe('DOWNLOADS_BUSY 5');
  void ask('a2', 20);
  await end();
  expect(await Promise.all(all)).toEqual(['a1', 'a1']);
  void ask('a2', 20);
  expect(await ask('a3', 61)).toBe('DOWNLOADS_BUSY 5');
  await end(new Error('no ink'));
  void ask('a3', 100);
  await end();
  expect(made).toEqual(['a1', 'a2', 'a3']);
});

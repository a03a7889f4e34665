import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

test('whoever asks while it is under way shares it; who asks later, or after it failed, begins it anew', async () => {
  let begun = 0;
  const ask = oneAtATime(async () => {
    begun += 1;
    await Promise.resolve();
    if (begun === 1) throw new Error('failed');
    return begun;
  });
  expect(await Promise.allSettled([ask(), ask()])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([2, 2, 2]);
  expect(await ask()).toBe(3);
});

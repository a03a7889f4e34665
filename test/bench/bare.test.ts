/** The bare parts take from the product how rows travel: a change there that they do not follow must not wait for the bench. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../commands/built.ts';
import { part } from './part.ts';

beforeAll(ensureBuilt);

afterAll(async () => {
  const { closeAll } = await part('service');
  await closeAll();
});

test('the bare parts write each issue once, and number them without a gap', async () => {
  const { openBare } = await part('bare');
  const bare = await openBare(0.1);
  // It reads its tables again, and throws where they do not hold as many as were answered.
  expect(await bare.issue()).toBeGreaterThan(0);
  expect(await bare.issue()).toBeGreaterThan(0);
  bare.stop();
});

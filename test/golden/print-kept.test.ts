/** What is kept of one document for the next (texts, kerning, logos) never shows in it: the same bytes, whatever was printed before. */
import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { openPrint } from '../../src/print/print.ts';
import { samples } from './print-samples.ts';

const print = openPrint({ workers: 0 });
afterAll(print.close);

const names = Object.keys(samples) as (keyof typeof samples)[];

async function digestsOf(order: typeof names): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const name of order) {
    all[name] = createHash('sha256')
      .update(await print.render(samples[name]()))
      .digest('hex');
  }
  return all;
}

test('documents printed in any order have the same bytes', async () => {
  const forwards = await digestsOf(names);
  expect(await digestsOf(names.toReversed())).toEqual(forwards);
  // Each twice, so that all of it is there to be used again.
  expect(await digestsOf(names.flatMap((name) => [name, name]))).toEqual(forwards);
  expect(new Set(Object.values(forwards)).size).toBe(names.length);
});

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { line, sample, samples } from '../../test/golden/print-samples.ts';
import type { LineInput } from '../fiscal/document.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { openPrint } from './print.ts';

const fonts = dirname(createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/package.json'));
const folder = mkdtempSync(join(tmpdir(), 'certo-print-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['in this thread', 0],
  ['in a thread of its own', 1],
])('what is missing for a while fails its prints and nothing else: %s', async (_where, workers) => {
  const fontDirectory = join(folder, String(workers));
  const print = openPrint({ workers, fontDirectory });
  try {
    await expect(print.render(samples.invoice())).rejects.toThrow(/ENOENT/);
    await expect(print.render(samples.invoice())).rejects.toThrow();
    cpSync(fonts, fontDirectory, { recursive: true });
    // The thread that begins in place of the one that failed may have looked before.
    await eventually(async () => {
      const pdf = await print.render(samples.invoice());
      expect(Buffer.from(pdf).toString('latin1', 0, 5)).toBe('%PDF-');
    });
  } finally {
    await print.close();
  }
});

/** Asks for prints that all fail later, since there are no fonts; or at once, as too much waits already. */
function asking() {
  const print = openPrint({ workers: 0, fontDirectory: join(folder, 'nowhere') });
  return (whose: string, name: string, lines: readonly LineInput[]) =>
    print.render(sample({ lines }), { whose, name }).then(
      () => 'printed',
      (error: Error) => (error instanceof Refusal ? error.code : 'waited'),
    );
}

test('what waits is measured by its texts too: of documents with a thousand of the longest there is one of a company', async () => {
  const ask = asking();
  const longest = line({ name: '漢'.repeat(200), unitPrice: '1', description: '漢'.repeat(2000) });
  const long = Array.from({ length: 1000 }, () => longest);
  const short = Array.from({ length: 1000 }, () => line({ name: 'Consultoria', unitPrice: '1' }));
  expect(await Promise.all([ask('a', '1', long), ask('a', '2', long), ask('a', '3', short)])).toEqual([
    'waited',
    'DOWNLOADS_BUSY',
    'waited',
  ]);
});

test('a page is as much as ten lines: of a company 909 of one line wait, and of all together four times as much', async () => {
  const ask = asking();
  const one = [line({ name: 'x', unitPrice: '1' })];
  const companies = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const all = await Promise.all(
    companies.map((whose) => Promise.all(Array.from({ length: 910 }, (_, i) => ask(whose, `${whose}${i}`, one)))),
  );
  // 3,636 of eleven lines are 39,996; one of each company may always wait.
  expect(all.map((answers) => answers.filter((answer) => answer === 'waited').length)).toEqual([
    909, 909, 909, 909, 1, 1, 1,
  ]);
});

test('as many are made at once as there are threads, a short one beside a long one; the end fails what is under way', async () => {
  const print = openPrint({ workers: 2 });
  const long = print.render(samples.long(60_000), { whose: 'a', name: 'long' }).then(
    () => 'printed',
    () => 'failed',
  );
  const short = print
    .render(samples.invoice(), { whose: 'b', name: 'short' })
    .then((pdf) => Buffer.from(pdf).toString('latin1', 0, 5));
  expect(await Promise.race([long, short])).toBe('%PDF-');
  await print.close();
  expect(await long).toBe('failed');
});

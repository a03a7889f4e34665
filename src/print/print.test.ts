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

test('what waits is measured by its texts too: of documents with a thousand of the longest there is one of a company', async () => {
  const print = openPrint({ workers: 0, fontDirectory: join(folder, 'nowhere') });
  const longest = line({ name: '漢'.repeat(200), unitPrice: '1', description: '漢'.repeat(2000) });
  const ask = (name: string, lines: readonly LineInput[]) =>
    print.render(sample({ lines }), { whose: 'a', name }).then(
      () => 'printed',
      (error: Error) => (error instanceof Refusal ? error.code : 'waited'),
    );
  const long = Array.from({ length: 1000 }, () => longest);
  const short = Array.from({ length: 1000 }, () => line({ name: 'Consultoria', unitPrice: '1' }));
  expect(await Promise.all([ask('1', long), ask('2', long), ask('3', short)])).toEqual([
    'waited',
    'DOWNLOADS_BUSY',
    'waited',
  ]);
});

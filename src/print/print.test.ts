import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { samples } from '../../test/golden/print-samples.ts';
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

/** Measures of totals: nothing is called flat that takes a second line, and figures fit their columns. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { readFont } from './font.ts';
import { measuresOf } from './measures.ts';
import type { PaperTotals } from './paper-totals.ts';
import { penFor } from './pen.ts';

const file = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf');
const pen = penFor(readFont(readFileSync(file)), 'pt', 18);

const plain: PaperTotals = {
  vat: { heads: [['Taxa de IVA'], ['Incidência'], ['IVA']], rows: [['23 %', '100,00 €', '23,00 €']] },
  exemptions: [],
  sums: [{ label: 'Total sem IVA', value: '100,00 €' }],
  afterGross: [],
  final: { label: 'Total', value: '123,00 €' },
  euros: [],
};
const totals = (more: Partial<PaperTotals>) => measuresOf({ ...plain, ...more }, pen);

test('a rate of ordinary figures stands on one line, one of figures made to break it does not', () => {
  expect(totals({}).vat!.isFlat).toBe(true);
  const rows = [['23 %', '8 610 001 230 000 000,00 €', '8 610 001 230 000 000,00 €']];
  expect(totals({ vat: { ...plain.vat!, rows } }).vat!.isFlat).toBe(false);
});

test('columns are as wide as their widest text', () => {
  const measured = totals({ sums: [...plain.sums, { label: 'IVA', value: '1 234 567,89 €' }] });
  expect(measured.sums).toBeGreaterThanOrEqual(pen.width('1 234 567,89 €') * 9);
  expect(measured.vat!.widths[0]).toBeGreaterThanOrEqual(pen.width('Incidência') * 7.5);
  expect(measured.vat!.widths[1]).toBeGreaterThanOrEqual(pen.width('23,00 €') * 7.5);
});

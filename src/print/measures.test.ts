/** Measures for the typesetter: nothing is called flat that takes a second line, and figures fit their columns. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
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
const totals = (more: Partial<PaperTotals>) => measuresOf([], { ...plain, ...more }, pen);
const facts = (label: string, value: string) =>
  measuresOf([{ label: [label], value, isLiteral: false }], undefined, pen).factsAreFlat;

describe('heights are known', () => {
  test('of ordinary facts and totals', () => {
    expect(facts('Data de emissão', '06-03-2026')).toBe(true);
    expect(totals({})).toMatchObject({ vat: { isFlat: true }, sums: { isFlat: true }, final: { isFlat: true } });
  });

  test('not where a text needs a second line', () => {
    expect(facts('Meio de pagamento', 'Transferência bancária ou débito direto')).toBe(false);
    expect(facts('Data e hora de emissão do documento', '06-03-2026')).toBe(false);
    const wide = 'Retenção na fonte / Withholding tax IRS 23 %';
    expect(totals({ afterGross: [{ label: wide, value: '230,00 €' }] }).sums!.isFlat).toBe(false);
    expect(totals({ euros: [{ label: wide.repeat(2), value: '230,00 €' }] }).euros!.isFlat).toBe(false);
    expect(totals({ final: { label: 'Total a pagar', value: '8 610 001 230 000,00 €' } }).final!.isFlat).toBe(false);
    const rows = [['23 %', '8 610 001 230 000 000,00 €', '8 610 001 230 000 000,00 €']];
    expect(totals({ vat: { ...plain.vat!, rows } }).vat!.isFlat).toBe(false);
  });

  test('not where small print stands under a label', () => {
    const note = { label: 'Retenção na fonte', value: '1,00 €', note: 'Artigo 101.º' };
    expect(totals({ afterGross: [note] }).sums!.isFlat).toBe(false);
    expect(totals({ final: { ...plain.final, english: 'Amount due' } }).final!.isFlat).toBe(false);
  });
});

test('columns are as wide as their widest text', () => {
  const measured = totals({ sums: [...plain.sums, { label: 'IVA', value: '1 234 567,89 €' }] });
  expect(measured.sums!.width).toBeGreaterThanOrEqual(pen.width('1 234 567,89 €') * 9);
  expect(measured.vat!.widths[0]).toBeGreaterThanOrEqual(pen.width('Incidência') * 7.5);
  expect(measured.vat!.widths[1]).toBeGreaterThanOrEqual(pen.width('23,00 €') * 7.5);
});

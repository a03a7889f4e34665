import { expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../test/fiscal-samples.ts';
import { debitNoteOver, foreignRates, taxPointOf } from './debit-note.ts';
import type { LineInput } from './document.ts';
import { reprice } from './reprice.ts';

const on = (taxPoint: string, ...lines: readonly Partial<LineInput>[]) =>
  sampleContent(
    'DEBIT_NOTE',
    lines.map((line, i) => sampleLine({ id: `l${i}`, ...line })),
    { taxPoint },
  );
const invoice = (taxPoint: string, ...lines: readonly Partial<LineInput>[]) => ({
  date: taxPoint,
  groups: on(taxPoint, ...lines).totals.groups,
});

const exempt = (exemptionCode: string) => ({ vatRate: 'EXEMPT', exemptionCode }) as const;
const madeira = { region: 'PT-MA', vatRate: 'REDUCED' } as const;

test('the lines of a debit note have a rate and an exemption code of its invoice', () => {
  const problems = (of: ReturnType<typeof invoice>, ...lines: readonly Partial<LineInput>[]) =>
    foreignRates(on('2026-03-02', ...lines).lines, of).map(({ code, pointer }) => `${pointer} ${code}`);
  const original = invoice('2026-03-02', {}, madeira, exempt('M07'), { unitPrice: '0', vatRate: 'REDUCED' });
  expect(problems(original, exempt('M07'), madeira, {}, { vatRate: 'REDUCED' })).toEqual([]);
  expect(problems(original, {}, exempt('M10'), { vatRate: 'INTERMEDIATE' }, { region: 'PT-AC' })).toEqual([
    '/items/1/vatExemptionReason RATE_NOT_OF_PARENT',
    '/items/2/vatRate RATE_NOT_OF_PARENT',
    '/items/3/vatRate RATE_NOT_OF_PARENT',
  ]);
  const [problem] = foreignRates(on('2026-03-02', { vatRate: 'INTERMEDIATE' }).lines, original);
  expect(problem?.facts).toEqual({ expected: '23 % (PT), 4 % (PT-MA), M07 (PT), 6 % (PT)' });
});

test("its rates are those of the invoice's tax point, which may be another day than its date", () => {
  expect(taxPointOf({ date: '2024-10-02', taxPointDate: '2024-09-30' })).toBe('2024-09-30');
  expect(taxPointOf({ date: '2024-10-02', taxPointDate: null })).toBe('2024-10-02');
  // Priced with the rate of its own day, before this rule.
  const note = on('2026-03-02', madeira);
  expect(note.lines[0]?.rate).toBe('4');
  expect(debitNoteOver(note, invoice('2024-09-30', madeira)).totals).toMatchObject({ net: '100.00', tax: '5.00' });
  const late = { ...invoice('2024-09-30', madeira), date: '2024-10-02', taxPointDate: '2024-09-30' };
  expect(debitNoteOver(note, late).lines[0]?.rate).toBe('5');
  expect(() => debitNoteOver(note, invoice('2024-09-30', {}))).toThrow('INVALID_REQUEST');
});

test('what its invoice had stays, though it has ended since', () => {
  const basket = on('2023-06-01', exempt('M26'));
  const own = { ...basket, taxPointDate: '2023-07-01' };
  expect(debitNoteOver(own, invoice('2023-06-01', exempt('M26')))).toBe(own);
  // On the tax point that is told its codes are in force, whatever the day of the note.
  const told = debitNoteOver(basket, { ...invoice('2023-06-05', exempt('M26')), taxPointDate: '2023-06-01' });
  expect(told).toEqual({ ...basket, taxPointDate: '2023-06-01' });
  const parent = { id: 'p', number: 'FT A/1', date: '2023-06-01', type: 'INVOICE', reason: 'Preço' } as const;
  const named = { ...basket, parent };
  expect(reprice(named, '2026-03-02')).toBe(named);
  expect(() => reprice(basket, '2026-03-02')).toThrow('INVALID_REQUEST');
});

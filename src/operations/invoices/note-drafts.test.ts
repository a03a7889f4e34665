import { expect, test } from 'vitest';
import { sampleContent, sampleLine } from '../../../test/fiscal-samples.ts';
import type { PricedLine } from '../../fiscal/document.ts';
import { hasSameAmounts } from './note-drafts.ts';

test('a cent that moves from one line to another is another amount, though the whole is the same; a name is none', () => {
  const note = sampleContent('CREDIT_NOTE', [sampleLine({ id: 'a' }), sampleLine({ id: 'b' })]);
  const changed = (...changes: readonly Partial<PricedLine>[]) => ({
    ...note,
    lines: note.lines.map((line, i) => ({ ...line, ...changes[i] })),
  });
  expect(hasSameAmounts(note, changed({ name: 'Outro' }))).toBe(true);
  expect(hasSameAmounts(note, changed({ net: '100.01' }, { net: '99.99' }))).toBe(false);
  expect(hasSameAmounts(note, changed({ tax: '23.01' }, { tax: '22.99' }))).toBe(false);
});

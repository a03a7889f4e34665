import { expect, test } from 'vitest';
import { refusalOf, sampleContent, sampleLine } from '../../../test/fiscal-samples.ts';
import { validate } from '../../engine/validate.ts';
import type { Credited } from '../../fiscal/credit-note.ts';
import { sentence } from '../../fiscal/refusal.ts';
import { type AskedRecoveredNote, askedNote, RecoveredNote, recoveredNote } from './recovered-note.ts';

const lines = [sampleLine({ id: 'a', quantity: '2' }), sampleLine({ id: 'b', vatRate: 'REDUCED', unitPrice: '10.00' })];
const issuer = { id: 'issuer', name: 'Casa Nova, Lda', taxpayerNumber: '500000000', country: 'PT' };
const content = sampleContent('INVOICE', lines);
const customerId = content.customer.id;
const lost: Credited = {
  id: 'i',
  type: 'INVOICE',
  status: 'ISSUED',
  number: 'FT R2026/7',
  date: '2026-03-02',
  content: { ...content, recovered: { kind: 'D', original: 'FT A2025/99' } },
  outstanding: '256.60',
  children: [],
  taken: [],
};
const body: RecoveredNote = {
  kind: 'D',
  original: 'NC A2025/5',
  type: 'CREDIT_NOTE',
  parentInvoiceNumber: 'FT A2025/99',
  customerId: '0197a5c2-0000-7000-8000-000000000000',
  reason: 'Devolução',
  date: '2026-03-02T23:30:00Z',
  total: 123,
};
const asked = (over: Partial<AskedRecoveredNote> = {}): AskedRecoveredNote => ({
  ...askedNote(body, 'PT'),
  customerId,
  ...over,
});
const made = (invoice: Credited, over?: Partial<AskedRecoveredNote>) =>
  recoveredNote(invoice, asked(over), issuer, () => 'n');

test('what a file says of a note: days of the region, decimals as text, known to the authority where it is a copy', () => {
  expect(validate(RecoveredNote, body, 'file')).toEqual([]);
  const items = [{ line: 2 }, { line: 1, quantity: 0.5 }];
  expect(askedNote({ ...body, items, notes: ' ' }, 'PT')).toEqual({
    type: 'CREDIT_NOTE',
    parentInvoiceNumber: 'FT A2025/99',
    customerId: body.customerId,
    reason: 'Devolução',
    lines: [{ line: 2 }, { line: 1, quantity: '0.5' }],
    date: '2026-03-02',
    notes: undefined,
    recovered: { kind: 'D', original: 'NC A2025/5', known: true },
    total: '123',
  });
  expect(askedNote({ ...body, reported: false }, 'PT').recovered).toEqual({ kind: 'D', original: 'NC A2025/5' });
  expect(askedNote({ ...body, kind: 'M', original: 'nc/5' }, 'PT').recovered.known).toBeUndefined();
});

test.each<[string, Record<string, unknown>, string]>([
  ['a line of another kind', { items: [{ line: 1.5 }] }, '/items/0/line'],
  ['no line', { items: [{ line: 0 }] }, '/items/0/line'],
  ['no lines', { items: [] }, '/items'],
  ['what its invoice has', { currency: 'EUR' }, '/currency'],
  ['a scheme, which it has of its invoice', { cashVat: true }, '/cashVat'],
])('refused: %s', (_, over, pointer) => {
  expect(validate(RecoveredNote, { ...body, ...over }, 'file').map((problem) => problem.pointer)).toEqual([pointer]);
});

test('it is over the lines that it names by their places, and names its invoice by the number that this had', () => {
  const { content: note, credit } = made(lost, { lines: [{ line: 2 }, { line: 1, quantity: '0.5' }] });
  expect(note.lines.map(({ originLineId, quantity }) => [originLineId, quantity])).toEqual([
    ['b', '1'],
    ['a', '0.5'],
  ]);
  expect(credit.items).toEqual([{ id: 'b' }, { id: 'a', quantity: '0.5' }]);
  expect(note).toMatchObject({ type: 'CREDIT_NOTE', issuer, date: '2026-03-02', totals: { gross: '72.10' } });
  expect(note.parent).toMatchObject({ number: 'FT R2026/7', original: 'FT A2025/99', reason: 'Devolução' });
  expect(note.recovered).toEqual({ kind: 'D', original: 'NC A2025/5', known: true });
  expect(made(lost).content.totals.gross).toBe('256.60');
});

const refused = (invoice: Credited, over?: Partial<AskedRecoveredNote>) => refusalOf(() => made(invoice, over));
const placesOf = (invoice: Credited, over?: Partial<AskedRecoveredNote>) =>
  refused(invoice, over).problems.map(({ pointer, code }) => [pointer, code]);

test('what stands against it is told together, where the file has it', () => {
  const over = { date: '2026-03-01', customerId: 'x', lines: [{ line: 3 }, { line: 1 }] };
  const { problems } = refused(lost, over);
  expect(problems.map(({ pointer, code }) => [pointer, code])).toEqual([
    ['/date', 'DATE_BEFORE_PARENT'],
    ['/customerId', 'PARENT_DIFFERS'],
    ['/items/0/line', 'RECOVERED_LINE'],
  ]);
  expect(problems[0]!.facts).toMatchObject({ number: 'FT A2025/99' });
  expect(sentence('RECOVERED_LINE', 'pt', problems[2]!.facts)).toBe(
    'A fatura FT A2025/99 não tem a linha 3: as suas linhas numeram-se de 1 a 2, pela ordem em que estão impressas.',
  );
  expect(placesOf(lost, { lines: [{ line: 1 }, { line: 1 }] })).toEqual([['/items/1/line', 'DUPLICATE_LINE']]);
  expect(placesOf(lost, { lines: [{ line: 1, quantity: '2.1' }] })).toEqual([
    ['/items/0/quantity', 'QUANTITY_EXCEEDS_OPEN'],
  ]);
});

test('nothing is left to credit, or it may not be credited at all', () => {
  const { totals, books, lines: taken } = made(lost).content;
  const whole = {
    children: [{ type: 'CREDIT_NOTE', number: 'NC A/1', totals, books }] as const,
    taken: taken.map(({ originLineId, quantity, net }) => ({
      originLineId: originLineId!,
      quantity,
      net,
      eurNet: net,
    })),
  };
  expect(placesOf({ ...lost, ...whole })).toEqual([['/parentInvoiceNumber', 'NOTHING_TO_CREDIT']]);
  const canceled = refused({ ...lost, status: 'CANCELED' }, { lines: [{ line: 9 }] });
  expect([canceled.code, canceled.problems]).toEqual(['NOT_CREDITABLE', []]);
  expect(refused({ ...lost, type: 'CREDIT_NOTE' }).code).toBe('NOT_CREDITABLE');
});

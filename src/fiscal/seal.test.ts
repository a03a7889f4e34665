import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf } from '../../test/pieces.ts';
import { canonicalJson } from './canonical.ts';
import { documentSeal, type Frozen, frozenColumns, frozenInOrder, frozenMembers, sealedMembers } from './seal.ts';
import type { Piece } from './utf8.ts';

const itself = (...pieces: readonly Piece[]) => bytesOf(pieces);
const someFrozen = fc.record(
  Object.fromEntries(
    frozenColumns.map((column) => [column, fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }), fc.jsonValue())]),
  ),
) as unknown as fc.Arbitrary<Frozen>;

// Whatever was sealed before has to be sealed by the same text for ever.
test('a document is sealed as the canonical JSON of its kind, its columns without nulls and the seal before it', () => {
  fc.assert(
    fc.property(someFrozen, fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 })), (frozen, previous) => {
      const present = Object.fromEntries(Object.entries(frozen).filter(([, value]) => value !== null));
      const before = previous === null ? null : Buffer.from(previous).toString('hex');
      expect(documentSeal(itself, [sealedMembers(frozenMembers(frozen))], previous).toString()).toBe(
        Buffer.from(canonicalJson(['document', present, before])).toString(),
      );
    }),
    { numRuns: 50 },
  );
});

test('a column that is not there is one that is null', () => {
  const { notes: _, ...without } = Object.fromEntries(frozenColumns.map((column) => [column, column]));
  expect(frozenMembers(without as Frozen)).toEqual(frozenMembers({ ...without, notes: null } as Frozen));
});

test('the columns stand in the order of their UTF-16 units', () => {
  expect(frozenMembers(Object.fromEntries(frozenColumns.map((column) => [column, 1])) as Frozen)).toEqual(
    Object.keys(JSON.parse(canonicalJson(Object.fromEntries(frozenColumns.map((column) => [column, 1]))))).map(
      (column) => `"${column}":1`,
    ),
  );
  expect(new Set(frozenInOrder)).toEqual(new Set(frozenColumns));
});

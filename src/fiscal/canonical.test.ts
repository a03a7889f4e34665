import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, inQuotes } from './canonical.ts';

/** RFC 8785 as it is read: the members sorted by UTF-16 units, without white space, as JSON.stringify writes the rest. */
function plain(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${plain(member)}`).join(',')}}`;
}

test('any value is written as the RFC says', () => {
  const value = fc.anything({
    key: fc.oneof(fc.string({ unit: 'binary' }), fc.nat().map(String)),
    values: [fc.string({ unit: 'binary' }), fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)],
    withNullPrototype: false,
  });
  fc.assert(
    fc.property(value, (any) => {
      expect(canonicalJson(any)).toBe(plain(any));
    }),
  );
});

test('texts of any length, wherever what is escaped stands in them', () => {
  const marks = ['"', '\\', '\u0000', '\u001f', '\ud800', '\udfff', '\u{1f9fe}', 'é', '\u2028', '/', '\x7f'];
  for (const length of [0, 63, 64, 65, 200]) {
    for (const mark of marks) {
      for (const text of ['a'.repeat(length), mark + 'a'.repeat(length), 'a'.repeat(length) + mark]) {
        expect(canonicalJson(text)).toBe(JSON.stringify(text));
        expect(`"${inQuotes(text)}"`).toBe(JSON.stringify(text));
      }
    }
  }
});

test('members without a value are left out, entries without one are null', () => {
  expect(canonicalJson({ b: undefined, a: [undefined, 1], '10': 1, '9': 2 })).toBe('{"10":1,"9":2,"a":[null,1]}');
});

test('many members, whatever their order', () => {
  const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 20, maxLength: 80 });
  fc.assert(
    fc.property(names, (all) => {
      const value = Object.fromEntries(all.map((name, i) => [name, i]));
      expect(canonicalJson(value)).toBe(plain(value));
    }),
  );
});

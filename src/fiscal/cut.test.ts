import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cut, fits, shortened } from './cut.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 30 });

test('the first characters are kept, each whole', () => {
  expect(cut('a😀b😀', 3)).toBe('a😀b');
  expect(cut('😀😀', 2)).toBe('😀😀');
  expect(cut('😀😀', 1)).toBe('😀');
  expect(cut('abc', 5)).toBe('abc');
  expect(cut('abc', 0)).toBe('');
  fc.assert(
    fc.property(anyText, fc.nat(40), (text, longest) => {
      expect(cut(text, longest)).toBe(Array.from(text).slice(0, longest).join(''));
      expect(fits(text, longest)).toBe(Array.from(text).length <= longest);
    }),
  );
});

test('an ellipsis says that something was left out, and only then', () => {
  expect(shortened('😀😀😀', 2)).toBe('😀😀…');
  expect(shortened('😀😀', 2)).toBe('😀😀');
  fc.assert(
    fc.property(anyText, fc.nat(40), (text, longest) => {
      expect(shortened(text, longest).endsWith('…')).toBe(cut(text, longest) !== text || text.endsWith('…'));
    }),
  );
});

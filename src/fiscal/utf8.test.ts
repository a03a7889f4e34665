import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flatUtf8, joinUtf8, splitUtf8, type Utf8, utf8, utf8Of } from './utf8.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'grapheme-ascii' }),
);
const bytesOf = (encoded: Utf8): Buffer => Buffer.from(encoded, 'latin1');
const textOf = (encoded: Utf8): string => bytesOf(encoded).toString();

test('it has the bytes of the text, one a character, and is the text again', () => {
  fc.assert(
    fc.property(text, (one) => {
      const bytes = Buffer.from(one);
      expect(bytesOf(utf8(one)).equals(bytes)).toBe(true);
      expect(utf8(one)).toHaveLength(bytes.length);
      expect(flatUtf8(one)).toBe(utf8(one));
      expect(textOf(utf8(one))).toBe(bytes.toString());
    }),
  );
  // Half of a pair is no character: both ways of encoding say so alike.
  expect([utf8('\ud83d'), flatUtf8('\ud83d')]).toEqual(['\u00ef\u00bf\u00bd', '\u00ef\u00bf\u00bd']);
});

test('pieces are joined, and cut where they were joined', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), (texts) => {
      const without = texts.map((one) => one.replaceAll('\n', ''));
      const pieces = without.map((one) => utf8(one));
      expect(textOf(joinUtf8(pieces, '\n'))).toBe(Buffer.from(without.join('\n')).toString());
      expect(splitUtf8(joinUtf8(pieces, '\n'), '\n')).toEqual(pieces);
    }),
  );
  const [a, b] = [utf8('ação'), utf8('€')];
  expect(textOf(utf8Of`{"a":"${a}","b":"${b}"}`)).toBe('{"a":"ação","b":"€"}');
  expect(utf8Of`{}`).toBe('{}');
});

test('nothing is encoded twice', () => {
  const once = utf8('ação');
  // @ts-expect-error What is encoded is no text to encode: it would be another.
  expect(utf8(once)).not.toBe(once);
});

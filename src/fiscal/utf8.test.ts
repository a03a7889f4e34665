import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf } from '../../test/pieces.ts';
import { flatUtf8, joinUtf8, mostOfAll, type Piece, Span, type Utf8, utf8, utf8Of, writePieces } from './utf8.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'grapheme-ascii' }),
);
const textOf = (encoded: Utf8): string => bytesOf([encoded]).toString();

test('it has the bytes of the text, one a character, and is the text again', () => {
  fc.assert(
    fc.property(text, (one) => {
      const bytes = Buffer.from(one);
      expect(bytesOf([utf8(one)]).equals(bytes)).toBe(true);
      expect(utf8(one)).toHaveLength(bytes.length);
      expect(flatUtf8(one)).toBe(utf8(one));
      expect(textOf(utf8(one))).toBe(bytes.toString());
    }),
  );
  // Half of a pair is no character: both ways of encoding say so alike.
  expect([utf8('\ud83d'), flatUtf8('\ud83d')]).toEqual(['\u00ef\u00bf\u00bd', '\u00ef\u00bf\u00bd']);
});

test('texts are joined', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), (texts) => {
      const pieces = texts.map((one) => utf8(one));
      expect(textOf(joinUtf8(pieces, '\n'))).toBe(Buffer.from(texts.join('\n')).toString());
    }),
  );
  const [a, b] = [utf8('ação'), utf8('€')];
  expect(textOf(utf8Of`{"a":"${a}","b":"${b}"}`)).toBe('{"a":"ação","b":"€"}');
  expect(utf8Of`{}`).toBe('{}');
});

test('pieces of either kind are written one behind the other, and nothing beside them', () => {
  const long = fc.string({ unit: 'grapheme', minLength: 70, maxLength: 90 });
  const pieces = fc.array(fc.tuple(fc.oneof(text, long), fc.boolean(), fc.nat(9)), { maxLength: 8 });
  fc.assert(
    fc.property(pieces, fc.nat(9), (parts, start) => {
      const expected = Buffer.concat(parts.map(([one]) => Buffer.from(one)));
      const all: Piece[] = parts.map(([one, isText, margin]) => {
        if (isText) return utf8(one);
        const around = Buffer.concat([Buffer.alloc(margin, 1), Buffer.from(one), Buffer.alloc(3, 2)]);
        const span = new Span(around, margin, around.length - 3);
        expect(span.view().equals(Buffer.from(one))).toBe(true);
        return span;
      });
      expect(mostOfAll(all)).toBe(expected.length);
      const to = Buffer.alloc(start + expected.length + 5, 9);
      const end = writePieces(to, start, all);
      expect(end).toBe(start + expected.length);
      expect(to).toEqual(Buffer.concat([Buffer.alloc(start, 9), expected, Buffer.alloc(5, 9)]));
    }),
  );
});

test('nothing is encoded twice', () => {
  const once = utf8('ação');
  // @ts-expect-error What is encoded is no text to encode: it would be another.
  expect(utf8(once)).not.toBe(once);
});

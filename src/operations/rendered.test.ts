import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf } from '../../test/pieces.ts';
import { type Piece, Span, utf8, type Written } from '../fiscal/utf8.ts';
import { Rendered, renderedOf } from './rendered.ts';

const textOf = (rendered: Rendered): string => Buffer.from(rendered.body() as string, 'latin1').toString();

test('a reply is put together when it is first asked for, once', () => {
  let made = 0;
  const counted: Written = {
    most: 9,
    writeTo(to, start) {
      made += 1;
      return start + to.write(`{"n":${made}`, start);
    },
  };
  const rendered = new Rendered([counted, utf8('}')]);
  expect(renderedOf(rendered)).toBe(rendered);
  expect(made).toBe(0);
  expect([textOf(rendered), textOf(rendered), made]).toEqual(['{"n":1}', '{"n":1}', 1]);
});

test('what is shown as it is becomes JSON in UTF-8, what has no value left out; one text stays one', () => {
  const rendered = renderedOf({ name: 'Conceição', notes: undefined });
  expect(rendered.body()).toBe(utf8('{"name":"Conceição"}'));
  expect(bytesOf(rendered.folded()).toString()).toBe('{"name":"Conceição"}');
});

test('replies of any length keep their bytes, however many are put together after them', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  const times = fc.oneof(fc.constantFrom(1, 30), fc.integer({ min: 600, max: 1_400 }));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(text, { minLength: 2, maxLength: 4 }), times), { maxLength: 40 }), (all) => {
      const replies = all.map(([texts, count]) => {
        const long = Buffer.from(texts[0]!.repeat(count));
        const pieces: Piece[] = [new Span(long, 0, long.length), ...texts.slice(1).map((one) => utf8(one))];
        return { body: new Rendered(pieces).body(), expected: texts[0]!.repeat(count) + texts.slice(1).join('') };
      });
      for (const { body, expected } of replies) expect(body.toString()).toBe(expected);
    }),
    { numRuns: 60 },
  );
});

test('a piece that takes more than it says is a fault, not an answer', () => {
  const long: Written = { most: 3, writeTo: (to, start) => start + to.write('four', start) };
  expect(() => new Rendered([utf8('x'), long]).body()).toThrow('takes no more than it says');
});

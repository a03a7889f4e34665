import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { readXml } from './read-xml.ts';
import { escapeText, leaf } from './write-xml.ts';

describe('reading', () => {
  it('resolves namespaces, references and CDATA', () => {
    const xml =
      '\ufeff<?xml version="1.0"?><!-- c --><S:E xmlns:S="u:s"><S:B a="1"><R xmlns="u:r"><x>Opera&#231;&#xe3;o &amp; <![CDATA[a&amp;<b>]]></x><y xmlns=""/></R></S:B></S:E>\n';
    expect(readXml(xml)).toEqual({
      name: 'E',
      namespace: 'u:s',
      text: '',
      children: [
        {
          name: 'B',
          namespace: 'u:s',
          text: '',
          children: [
            {
              name: 'R',
              namespace: 'u:r',
              text: '',
              children: [
                { name: 'x', namespace: 'u:r', text: 'Operação & a&amp;<b>', children: [] },
                { name: 'y', namespace: '', text: '', children: [] },
              ],
            },
          ],
        },
      ],
    });
  });

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['two roots', '<a/><b/>'],
    ['text after the root', '<a/>x'],
    ['mismatched', '<a></b>'],
    ['truncated', '<a><b>'],
    ['a document type', '<!DOCTYPE a><a/>'],
    ['a document type in two lines', '<!DOCTYPE\na><a/>'],
    ['a document type behind the root', '<a/><!DOCTYPE\ta>'],
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    ['an entity without document type', '<a>&x;</a>'],
    ['a forbidden reference', '<a>&#0;</a>'],
    ['a reference to no character', '<a>&#xfffe;</a>'],
    ['a reference to half a character', '<a>&#xdfff;</a>'],
    ['a reference beyond all characters', '<a>&#x110000;</a>'],
    ['a control character', '<a>\u0001</a>'],
    ['a bare ampersand', '<a>a & b</a>'],
    ['an undeclared prefix', '<x:a/>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['too deep', `${'<a>'.repeat(40)}${'</a>'.repeat(40)}`],
    ['too deep by one', `${'<a>'.repeat(33)}${'</a>'.repeat(33)}`],
    [
      'too deep, hidden by ends that are none',
      `<a><![CDATA[${'</'.repeat(60)}]]>${'<a>'.repeat(60)}${'</a>'.repeat(61)}`,
    ],
    ['too deep, hidden by attributes', `${'<a b="/>">'.repeat(60)}${'</a>'.repeat(60)}`],
    ['reserved names', '<__proto__>x</__proto__>'],
  ])('refuses %s', (_name, xml) => {
    expect(readXml(xml)).toBeUndefined();
  });

  it('reads what is as deep as may be', () => {
    expect(readXml(`${'<a>'.repeat(32)}${'</a>'.repeat(32)}`)?.name).toBe('a');
  });

  // Figures are generous: the slowest of these takes 0.3 s on a slow machine.
  it.each([
    ['siblings', `<a>${'<b/>'.repeat(250_000)}</a>`],
    ['attributes', `<a ${Array.from({ length: 100_000 }, (_, i) => `a${i}=""`).join(' ')}/>`],
    [
      'prefixes',
      `<a ${Array.from({ length: 30_000 }, (_, i) => `xmlns:a${i}="u"`).join(' ')}>${'<b xmlns="u"/>'.repeat(2000)}</a>`,
    ],
    ['nesting', '<a>'.repeat(300_000)],
    ['open angles', '<'.repeat(1_000_000)],
    ['references', `<a>${'&amp;'.repeat(200_000)}</a>`],
    ['comments', `<a>${'<!-- '.repeat(200_000)}`],
  ])('a megabyte of %s takes no long time', (_name, xml) => {
    // What grows with the square would take many minutes: the runner's own limit tells it apart on any machine.
    readXml(xml);
  });

  it.each([
    ['ends that close nothing', (pieces: number) => `${'<a</'.repeat(pieces)}>`],
    ['siblings', (pieces: number) => `<a>${'<b/>'.repeat(pieces)}</a>`],
    ['ends that belong to others', (pieces: number) => `<a>${'<b </b'.repeat(pieces)}></a>`],
  ])('what is searched grows as the text does: %s', (_name, of) => {
    const searched = (xml: string): number => charactersSearched(() => readXml(xml));
    const [short, long] = [of(1000), of(8000)];
    expect(searched(short)).toBeGreaterThan(short.length / 2);
    expect(searched(long)).toBeLessThan(10 * searched(short));
  });
});

/** Characters that `indexOf` went over: counted, since time would tell of the machine. */
function charactersSearched(work: () => unknown): number {
  const { indexOf } = String.prototype;
  let characters = 0;
  const counting = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, sought, from = 0) {
    const found = indexOf.call(this, sought, from);
    characters += (found < 0 ? this.length : found) - from + 1;
    return found;
  });
  try {
    work();
  } finally {
    counting.mockRestore();
  }
  return characters;
}

describe('writing', () => {
  it('what is written is read back, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const legal = [...text].every((c) => /[\t\n\r\u0020-\ud7ff\ue000-\ufffd]|[^\0-\uffff]/u.test(c));
        if (!legal) expect(() => escapeText(text)).toThrow(/cannot hold/);
        else expect(readXml(leaf('a', text))?.text).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  it('a carriage return is written as a reference: a reader takes one in the text for a line feed', () => {
    expect(leaf('a', 'x\r\ny')).toBe('<a>x&#13;\ny</a>');
  });

  it('refuses half a surrogate pair', () => {
    expect(() => escapeText('a\ud800b')).toThrow(/cannot hold/);
  });
});

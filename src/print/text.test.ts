/** Fonts, drawable text, columns and colours. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { houseColour, readableColour } from './colour.ts';
import { fitColumns } from './columns.ts';
import { readFont } from './font.ts';
import { printable, printableLines } from './glyphs.ts';

const file = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf');
const font = readFont(readFileSync(file));

describe('the font', () => {
  test('covers Latin, Greek, Cyrillic and our spaces', () => {
    for (const character of 'aÃçŁőșΩἈЖґ€º«»—\u00a0\u202f\u200b\ufffd')
      expect(font.covers(character.codePointAt(0)!), character).toBe(true);
  });

  test('covers neither Han nor emoji nor arrows', () => {
    for (const character of '张😀→') expect(font.covers(character.codePointAt(0)!), character).toBe(false);
  });

  test('figures are tabular', () => {
    for (const digit of '0123456789') expect(font.width(digit)).toBe(0.572);
    expect(font.width('12,5 %')).toBeCloseTo(3 * 0.572 + 0.268 + 0.26 + 0.831, 6);
    expect(font.width('\u200b')).toBe(0);
  });
});

describe('drawable text', () => {
  const codePoint = fc.oneof(fc.integer({ max: 0x10ffff, min: 0 }), fc.integer({ max: 0x2fff, min: 0 }));
  const anyText = fc.array(codePoint, { maxLength: 60 }).map((all) => String.fromCodePoint(...all));

  test('leaves ordinary text alone', () => {
    for (const text of ['Fatura n.º 1', '#panic *a* $x$ \\ [[ @ //', 'Ωμέγα Жук'])
      expect(printable(text, font, 99)).toBe(text);
  });

  test('composes letters and marks', () => expect(printable('Ac\u0327a\u0303o', font, 99)).toBe('Ação'));

  test('drops what cannot be seen, turns tabs and line breaks to spaces', () => {
    expect(printable('a\u202eb\u200fc\u00add\u0000e\ue000f\ud800g\ufeff\th\ni\u2028j\u0085k', font, 99)).toBe(
      'abcdefg h i j k',
    );
    expect(printable('Fatu\u00adra', font, 99)).toBe('Fatura');
    expect(printable('a\ufe0fb\ufe00c\u{e0100}d\u034fe\u3164f', font, 99)).toBe('abcdef');
  });

  test('replaces what the font lacks, one for one', () => expect(printable('a张😀b', font, 99)).toBe('a\ufffd\ufffdb'));

  test('words too wide for their place get places to break at, others none', () => {
    expect(printable('curta demasiadolonga', font, 5)).toBe('curta demasia\u200bdolonga');
    expect(printable('W'.repeat(5), font, 5)).not.toContain('\u200b');
    expect(printable('W'.repeat(6), font, 5)).toBe('WWWW\u200bWW');
  });

  test('such a word is rather broken behind a separator', () => {
    expect(printable('contas@empresa.pt', font, 9)).toBe('contas@\u200bempresa.pt');
    expect(printable('a-bcdefghijklm', font, 6)).toBe('a-bcdefghi\u200bjklm');
    const rest = printable(`contas@emp${'m'.repeat(40)}`, font, 9).split('\u200b');
    expect(rest[0]).toBe('contas@');
    expect(rest.filter((piece) => font.width(piece) > 9)).toEqual([]);
  });

  test('no letter is lost, every piece fits, and a letter keeps its marks', () => {
    const letter = fc.constantFrom('a', 'W', 'i', 'ш', 'x\u0331', 'y\u0331\u0331');
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 80 }), fc.integer({ min: 4, max: 30 }), (letters, widest) => {
        const written = printable(letters.join(''), font, widest);
        expect(written.replaceAll('\u200b', '')).toBe(letters.join(''));
        for (const piece of written.split('\u200b')) {
          expect(font.width(piece)).toBeLessThanOrEqual(widest);
          expect(piece).not.toMatch(/^\p{M}/u);
        }
      }),
    );
  });

  test('lines by any line break', () => {
    expect(printableLines('a\r\nb\rc\nd\u2028e\u2029f', font, 99)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('every result is drawable, and changes no more when written again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = printable(text, font, 1000);
        expect([...once].filter((character) => !font.covers(character.codePointAt(0)!))).toEqual([]);
        expect(printable(once, font, 1000)).toBe(once);
      }),
    );
  });
});

describe('columns', () => {
  test('ordinary figures keep their size', () =>
    expect(fitColumns([3, 4, 2, 5])).toMatchObject({ size: 9, widths: [41, 50, 32, 59] }));

  test('wide figures get smaller type and leave room for the description', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1, max: 13, noNaN: true }), { minLength: 1, maxLength: 5 }), (widest) => {
        const { size, widths, description } = fitColumns(widest);
        expect(description * 9).toBeGreaterThan(80);
        expect(description * 9 + widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(482, 6);
        expect(widths.filter((width, index) => width < widest[index]! * size + 14)).toEqual([]);
      }),
    );
  });
});

describe('colours', () => {
  test('a readable colour stays', () => expect(readableColour('#7C3AED')).toBe('#7c3aed'));
  test('a light one is darkened, its hue kept', () =>
    expect(readableColour('#ffff00')).toMatch(/^#([0-9a-f]{2})\1(00)$/));
  test('white ends as a readable grey', () => expect(readableColour('#ffffff')).toBe('#747474'));
  test('nonsense is the house colour', () => {
    for (const asked of [undefined, '', 'red', '#fff', '#12345g', 'url(#x)'])
      expect(readableColour(asked)).toBe(houseColour);
  });
});

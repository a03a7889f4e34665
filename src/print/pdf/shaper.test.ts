/** Fonts as they are drawn: kerning, ligatures, marks, and subsets that keep what they take. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFont } from '../font.ts';
import { compactOf } from './compact.ts';
import { readFace } from './face.ts';
import { repertoireOf } from './repertoire.ts';
import { Shaper } from './shaper.ts';
import { trueTypeOf } from './truetype.ts';

const { resolve } = createRequire(import.meta.url);
const folder = dirname(resolve('@expo-google-fonts/noto-sans/package.json'));
const file = readFileSync(join(folder, '400Regular/NotoSans_400Regular.ttf'));
const hanFile = readFileSync(join(dirname(resolve('@embedpdf/fonts-sc')), '../fonts/NotoSansHans-Regular.otf'));
const face = readFace(file, 'NotoSans-Regular');
const han = readFace(hanFile, 'NotoSansHans-Regular');
const font = readFont(file);
const cut = { face, repertoire: repertoireOf(face), kept: new Map() };
const shaper = () => new Shaper([cut, cut], han);
const glyph = (character: string) => face.glyphOf(character.codePointAt(0)!);

describe('a line of text', () => {
  test('figures are as wide as they were measured', () => {
    for (const text of ['1\u202f234,56\u00a0€', '06-03-2026', 'Contas'])
      expect(shaper().shape(text, 0).width).toBeCloseTo(font.width(text) * 1000, 6);
  });

  test('pairs stand closer, by the font’s own table', () => {
    expect(face.kerning(glyph('V'), glyph('A'))).toBe(-40);
    expect(face.kerning(glyph('T'), glyph('o'))).toBe(-70);
    expect(shaper().shape('VA', 0).width).toBe(font.width('VA') * 1000 - 40);
    expect(shaper().shape('VA', 0).runs).toEqual([
      { font: 0, glyphs: expect.stringMatching(/^<....>40<....>$/), rise: 0 },
    ]);
  });

  test('is in one font as long as the repertoire has all of it, else in one for each', () => {
    const fonts = (text: string) =>
      shaper()
        .shape(text, 0)
        .runs.map((run) => run.font);
    expect(fonts('Ação «1» — 5 €')).toEqual([0]);
    expect(fonts('a Ж张b')).toEqual([0, 2, 4, 0]);
  });

  test('characters beside the repertoire are numbered as they come, once each', () => {
    const one = shaper();
    one.shape('ЖΩЖ', 0);
    one.shape('ΩЯ', 0);
    one.shape('Ж', 1);
    expect(one.beside().map(({ font: number, characters }) => [number, String.fromCharCode(...characters)])).toEqual([
      [2, 'ЖΩЯ'],
      [3, 'Ж'],
    ]);
  });

  test('a mark that composes with no letter stands on it, and takes no place', () => {
    const { runs, width } = shaper().shape('Q\u0301a', 0);
    expect(width).toBe(font.width('Qa') * 1000);
    expect(runs.map(({ rise }) => rise > 0)).toEqual([false, true, false]);
  });
});

describe('what is embedded', () => {
  test('of TrueType: the glyphs in their order, with their advances, parts of composed ones behind', () => {
    const wanted = [...'açÃ1'].map(glyph);
    const subset = Buffer.from(trueTypeOf(file, wanted));
    const place = (tag: string) => subset.readUInt32BE(subset.indexOf(tag) + 8);
    const advances = [0, ...wanted].map((_, index) => subset.readUInt16BE(place('hmtx') + index * 4));
    expect(advances.slice(1)).toEqual(wanted.map(face.advanceOf));
    expect(subset.readUInt16BE(place('maxp') + 4)).toBeGreaterThan(wanted.length + 1);
    expect(subset.length).toBeLessThan(4000);
  });

  test('of the second font: drawn without its subroutines, small', () => {
    const subset = Buffer.from(
      compactOf(
        hanFile,
        [...'张伟贸易✓'].map((one) => han.glyphOf(one.codePointAt(0)!)),
      ),
    );
    expect([...subset.subarray(0, 4)]).toEqual([1, 0, 4, 4]);
    expect(subset.length).toBeLessThan(3000);
  });
});

/** Where lines are broken: nothing is wider than its place, nothing is lost, and what belongs together stays. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growth, no_square } from '../../../test/growth.ts';
import { readFace } from './face.ts';
import { type Measure, type Piece, paragraphOf } from './lines.ts';
import { repertoireOf } from './repertoire.ts';
import { Shaper } from './shaper.ts';

const file = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf');
const face = readFace(readFileSync(file), 'NotoSans-Regular');
const repertoire = repertoireOf(face);
const style = { weight: 0, size: 10, colour: '0 g' } as const;

/** The texts of the lines, read back from their glyphs. */
function broken(text: string, width: number, isLiteral = false): string[] {
  const measure: Measure = { width, leading: 2, isLiteral };
  const cut = { face, repertoire, kept: new Map() };
  const pieces: Piece[] = [{ text, style }];
  const { lines, ...whole } = paragraphOf(new Shaper([cut, cut], undefined), [pieces], measure);
  expect(whole.width).toBeLessThanOrEqual(width + 0.011);
  return lines.map(({ placed }) =>
    placed.map(({ shaped }) => shaped.runs.map(({ glyphs }) => read(glyphs)).join('')).join(''),
  );
}

const read = (glyphs: string) =>
  [...glyphs.matchAll(/<([0-9a-f]+)>/g)]
    .flatMap(([, codes]) => codes!.match(/.{4}/g)!)
    .map((code) => repertoire.members[Number.parseInt(code, 16) - 1]!.text)
    .join('');

describe('a line ends', () => {
  test.each([
    ['behind a word', 'um dois três', 45, ['um dois', 'três']],
    ['not within figures with their unit', '10\u00a0000,00\u00a0€ e mais', 60, ['10\u00a0000,00\u00a0€', 'e mais']],
    ['not before a sign that closes', 'um dois ! tres', 41, ['um', 'dois !', 'tres']],
    ['behind a slash, but not before a figure', 'contas/recibos 2026/12345', 62, ['contas/', 'recibos', '2026/12345']],
    ['at a place that was made for it', 'contas@\u200bempresa.pt', 60, ['contas@', 'empresa.pt']],
    ['anywhere in a word that is wider than its place', 'abcdefghijkl', 30, ['abcde', 'fghijkl']],
  ])('%s', (_where, text, width, lines) => expect(broken(text, width)).toEqual(lines));

  test('behind a hyphen, which Portuguese repeats; not in a number or an address', () => {
    expect(broken('guarda-chuva', 50)).toEqual(['guarda-', '-chuva']);
    expect(broken('guarda-chuva', 50, true)).toEqual(['guarda-', 'chuva']);
    expect(broken('4000-447 Porto', 50)).toEqual(['4000-447', 'Porto']);
  });

  test.each([
    'guarda-chuva',
    '(guarda-chuva),',
    '«guarda-chuva»!',
    '“Guarda-chuva”.',
    'dir-se-ia-que-sim',
    'guarda-copo-d’água',
    'e\u0301-bem-vindo-e\u0301',
  ])('behind a hyphen that is repeated, since %s is a word', (word) =>
    expect(broken(`uma ${word}`, 50).join('')).toMatch(/--/),
  );

  test.each([
    'apoio@livraria-do-rossio.example',
    'www.livraria-do-rossio.example/carta-de-porte',
    'livraria-do-rossio.pt',
    'CF259-XX-2026-PT',
    '(lote A-12-B-77)',
    'PSX-A-BC-DEFGH',
    'GUARDA-CHUVA-AZUL',
    'https://casa-de-cha',
    'branco-velho/tinto-novo',
    'vale-oferta:primavera-verao',
    'fim-de-\u200bsemana-2026',
  ])('behind a hyphen that stays one, since %s is none', (reference) => {
    for (let width = 30; width < 120; width++) {
      const lines = broken(`ver ${reference} hoje`, width);
      expect(lines.join('').replaceAll(' ', '')).toBe(`ver${reference}hoje`.replace(/[ \u200b]/g, ''));
    }
  });
});

test('whatever the text: no line is too wide, no letter is lost', () => {
  const text = fc.array(fc.constantFrom(...'aWi.,/-() çõ1\u00a0\u200b'), { maxLength: 80 }).map((all) => all.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 15, max: 120 }), (given, width) => {
      const letters = (all: string) => all.replace(/[ \u00a0\u200b]/g, '');
      expect(letters(broken(given, width, true).join(''))).toBe(letters(given));
      // Hyphens apart, which are repeated.
      const words = (all: string) => letters(all).replaceAll('-', '');
      expect(words(broken(given, width).join(''))).toBe(words(given));
    }),
    { numRuns: 1000 },
  );
});

test('to cut a text that has no place to break takes as long as its lines are, not their square', async () => {
  const cut = { face, repertoire, kept: new Map() };
  const letter = `ι${'\u0323'.repeat(20)}\u00a0`;
  const brokenInTwo = (size: number) => () => {
    const shaper = new Shaper([cut, cut], undefined);
    const { width } = shaper.shape(letter.repeat(size), 0);
    const measure = { width: (width * style.size) / 1800, leading: 2 };
    const { lines } = paragraphOf(shaper, [[{ text: letter.repeat(size), style }]], measure);
    expect(lines).toHaveLength(2);
  };
  expect(await growth(brokenInTwo, 3)).toBeLessThan(no_square);
});

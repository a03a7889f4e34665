/**
 * The glyphs that nearly all documents get along with, numbered as they stand in every file: so their fonts are made once
 * and are the same bytes in each. A character has its own number also where two share a glyph, so that each can be read back.
 */
import type { Face } from './face.ts';

/** Latin-1 without controls and the soft hyphen, and what our labels, figures and most texts have beside it. */
const more = '\u2002\u202f\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u20ac\ufffd\u0152\u0153';

/** A glyph of the repertoire. */
export interface Member {
  readonly glyph: number;
  /** What it stands for: one character, or the letters of a ligature. */
  readonly text: string;
}

/** What a face draws of the repertoire, by number (from 1), and how. */
export interface Repertoire {
  readonly members: readonly Member[];
  /** Numbers by UTF-16 unit; 0 where it is none of these. */
  readonly numbers: Uint16Array;
  /** In thousandths. */
  readonly advances: Uint16Array;
  /** The number as a PDF has it between < and >. */
  readonly codes: readonly string[];
  /** Of the numbers of two neighbours, in thousandths. */
  readonly kerning: (left: number, right: number) => number;
  /** The ligatures that begin with a number, those of most letters first. */
  readonly ligatures: readonly (readonly { readonly rest: readonly number[]; readonly number: number }[] | undefined)[];
}

const unknown = -0x8000;

/** Pairs are looked up when they first occur: most never do. */
export function repertoireOf(face: Face): Repertoire {
  const members: Member[] = charactersOf(face).map((text) => ({ glyph: face.glyphOf(text.charCodeAt(0)), text }));
  const numbers = new Uint16Array(0x10000);
  for (const [index, { text }] of members.entries()) numbers[text.charCodeAt(0)] = index + 1;
  const ligatures = addLigatures(face, members);
  const size = members.length + 1;
  const pairs = new Int16Array(size * size).fill(unknown);
  return {
    members,
    numbers,
    advances: Uint16Array.from([0, ...members.map(({ glyph }) => face.advanceOf(glyph))]),
    codes: ['', ...members.map((_, index) => codeOf(index + 1))],
    kerning: (left, right) => {
      const at = left * size + right;
      let value = pairs[at]!;
      if (value === unknown) {
        value = face.kerning(members[left - 1]!.glyph, members[right - 1]!.glyph);
        pairs[at] = value;
      }
      return value;
    },
    ligatures,
  };
}

/** Four digits of base 16. */
export function codeOf(number: number): string {
  return number.toString(16).padStart(4, '0');
}

function charactersOf(face: Face): string[] {
  const latin = Array.from({ length: 0x100 - 0x20 }, (_, index) => 0x20 + index);
  const shown = latin.filter((code) => !(code >= 0x7f && code < 0xa0) && code !== 0xad);
  const all = [...shown.map((code) => String.fromCharCode(code)), ...more];
  return all.filter((text) => face.glyphOf(text.charCodeAt(0)) !== 0);
}

/** Those whose letters are all there. */
function addLigatures(face: Face, members: Member[]): Repertoire['ligatures'] {
  const characters = members.length;
  const numberOf = new Map<number, number>();
  for (const [index, { glyph }] of members.entries()) if (!numberOf.has(glyph)) numberOf.set(glyph, index + 1);
  const all: { rest: number[]; number: number }[][] = [];
  for (let number = 1; number <= characters; number++) {
    const { glyph, text } = members[number - 1]!;
    for (const ligature of face.ligatures.get(glyph) ?? []) {
      const rest = ligature.rest.map((one) => numberOf.get(one) ?? 0);
      if (rest.includes(0)) continue;
      members.push({ glyph: ligature.glyph, text: text + rest.map((one) => members[one - 1]!.text).join('') });
      const same = all[number] ?? [];
      same.push({ rest, number: members.length });
      all[number] = same;
    }
  }
  return all;
}

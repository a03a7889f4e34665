/**
 * Texts as glyphs, for one document. What the repertoire has is drawn by two fonts that are the same in every file; what it
 * lacks, by fonts of those glyphs alone, numbered as the document comes to need them.
 */
import type { Face } from './face.ts';
import { codeOf, type Repertoire } from './repertoire.ts';

/** Regular and semibold. */
export type Weight = 0 | 1;

/** A stretch of text in one font. */
export interface Run {
  /** 0 and 1: the repertoire in two weights; 2 and 3: further glyphs of these faces; 4: of the second font. */
  readonly font: number;
  /** What stands between the brackets of TJ. */
  readonly glyphs: string;
}

export interface Shaped {
  readonly runs: readonly Run[];
  /** In thousandths of the size. */
  readonly width: number;
  /** Height of the highest font's capitals, in thousandths. */
  readonly capitals: number;
}

/** A face with its repertoire; texts of it alone are the same in all documents, and are kept. */
export interface Cut {
  readonly face: Face;
  readonly repertoire: Repertoire;
  readonly kept: Map<string, Shaped>;
}

/** Labels, figures and the words of an issuer come again and again; more than these few hundred kB are not kept. */
const mostKept = 4096;
const longestKept = 48;

/** Glyphs of a font beside the repertoire, in the order of their numbers (from 1). */
export interface Beside {
  readonly font: number;
  readonly face: Face;
  readonly characters: readonly number[];
}

const breakHere = 0x200b;

/** Shapes the texts of one document, and knows which fonts they need. */
export class Shaper {
  readonly #cuts: readonly [Cut, Cut];
  readonly #second: Face | undefined;
  /** Numbers by character, of fonts 2, 3 and 4. */
  readonly #beside: readonly Map<number, number>[] = [new Map(), new Map(), new Map()];

  constructor(cuts: readonly [Cut, Cut], second: Face | undefined) {
    this.#cuts = cuts;
    this.#second = second;
  }

  /** One line of drawable text. */
  shape(text: string, weight: Weight): Shaped {
    const cut = this.#cuts[weight];
    const kept = cut.kept.get(text);
    if (kept !== undefined) return kept;
    const shaped = fromRepertoire(text, weight, cut);
    if (shaped === undefined) return this.#mixed(text, weight, cut);
    if (text.length <= longestKept) {
      if (cut.kept.size >= mostKept) cut.kept.clear();
      cut.kept.set(text, shaped);
    }
    return shaped;
  }

  /** The fonts that the document needs beside those of the repertoire. */
  beside(): Beside[] {
    return this.#beside.flatMap((numbers, index) =>
      numbers.size === 0 ? [] : [{ font: index + 2, face: this.#faceOf(index + 2), characters: [...numbers.keys()] }],
    );
  }

  #faceOf(font: number): Face {
    return font === 4 ? this.#second! : this.#cuts[font === 2 ? 0 : 1].face;
  }

  /** Runs of one font each. Neighbours of one face keep their kerning where they are of two fonts. */
  #mixed(text: string, weight: Weight, { face, repertoire }: Cut): Shaped {
    const runs: { font: number; glyphs: string }[] = [];
    let width = 0;
    let capitals = face.capitals;
    let [last, lastFace]: [number, Face | undefined] = [0, undefined];
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === breakHere) continue;
      const known = repertoire.numbers[character]!;
      const inFirst = known !== 0 || face.glyphOf(character) !== 0 || this.#second === undefined;
      const drawing = inFirst ? face : this.#second!;
      const font = known !== 0 ? weight : inFirst ? 2 + weight : 4;
      const glyph = drawing.glyphOf(character);
      const kern = drawing === lastFace ? drawing.kerning(last, glyph) : 0;
      let run = runs.at(-1);
      if (kern !== 0 && run !== undefined) run.glyphs += `${-kern}`;
      if (run?.font !== font) {
        run = { font, glyphs: '' };
        runs.push(run);
      }
      run.glyphs += `<${codeOf(known !== 0 ? known : this.#numberOf(font, character))}>`;
      width += kern + drawing.advanceOf(glyph);
      capitals = Math.max(capitals, drawing.capitals);
      [last, lastFace] = [glyph, drawing];
    }
    return { runs, width, capitals };
  }

  #numberOf(font: number, character: number): number {
    const numbers = this.#beside[font - 2]!;
    let number = numbers.get(character);
    if (number === undefined) {
      number = numbers.size + 1;
      numbers.set(character, number);
    }
    return number;
  }
}

/** Undefined where a character is not in the repertoire. */
function fromRepertoire(text: string, weight: Weight, { face, repertoire }: Cut): Shaped | undefined {
  const { numbers, advances, codes, kerning, ligatures } = repertoire;
  let glyphs = '<';
  let width = 0;
  let last = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === breakHere) continue;
    let number = numbers[character]!;
    if (number === 0) return undefined;
    const ligature = ligatures[number]?.find(({ rest }) =>
      rest.every((one, i) => numbers[text.charCodeAt(at + 1 + i)] === one),
    );
    if (ligature !== undefined) {
      number = ligature.number;
      at += ligature.rest.length;
    }
    if (last !== 0) {
      const kern = kerning(last, number);
      if (kern !== 0) {
        glyphs += `>${-kern}<`;
        width += kern;
      }
    }
    glyphs += codes[number];
    width += advances[number]!;
    last = number;
  }
  const runs = last === 0 ? [] : [{ font: weight, glyphs: `${glyphs}>` }];
  return { runs, width, capitals: face.capitals };
}

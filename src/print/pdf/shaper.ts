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
  /** Above the baseline, in thousandths of the size: of marks. */
  readonly rise: number;
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
    const row = new Row(face.capitals);
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === breakHere) continue;
      const known = repertoire.numbers[character]!;
      const inFirst = known !== 0 || face.glyphOf(character) !== 0 || this.#second === undefined;
      const font = known !== 0 ? weight : inFirst ? 2 + weight : 4;
      const code = codeOf(known !== 0 ? known : this.#numberOf(font, character));
      row.add(inFirst ? face : this.#second!, font, character, code);
    }
    return row;
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

/** A glyph that marks may stand on, and where. */
interface Carrier {
  readonly face: Face;
  readonly glyph: number;
  readonly x: number;
  readonly y: number;
}

/** A text of several fonts while it is put together. */
class Row implements Shaped {
  readonly runs: Run[] = [];
  width = 0;
  capitals: number;
  /** The last letter, and the last mark on it. */
  #letter: Carrier | undefined;
  #mark: Carrier | undefined;

  constructor(capitals: number) {
    this.capitals = capitals;
  }

  add(face: Face, font: number, character: number, code: string): void {
    const glyph = face.glyphOf(character);
    const place = isMark(character) ? this.#placeOf(face, glyph) : undefined;
    if (place !== undefined) {
      const advance = face.advanceOf(glyph);
      const [there, back] = [this.width - place.x, place.x + advance - this.width];
      this.#write(font, `${there === 0 ? '' : there}<${code}>${back === 0 ? '' : back}`, place.y);
      this.#mark = { face, glyph, ...place };
      return;
    }
    const kern = this.#letter?.face === face ? face.kerning(this.#letter.glyph, glyph) : 0;
    this.#write(font, `${kern === 0 ? '' : -kern}<${code}>`, 0);
    this.#letter = { face, glyph, x: this.width + kern, y: 0 };
    this.#mark = undefined;
    this.width += kern + face.advanceOf(glyph);
    this.capitals = Math.max(this.capitals, face.capitals);
  }

  /** On the mark before it, else on the letter. */
  #placeOf(face: Face, glyph: number): { readonly x: number; readonly y: number } | undefined {
    for (const carrier of [this.#mark, this.#letter]) {
      const offset = carrier?.face === face ? face.marks(carrier.glyph, glyph) : undefined;
      if (offset !== undefined) return { x: carrier!.x + offset[0], y: carrier!.y + offset[1] };
    }
    return undefined;
  }

  #write(font: number, glyphs: string, rise: number): void {
    const last = this.runs.at(-1);
    if (last?.font === font && last.rise === rise)
      this.runs[this.runs.length - 1] = { ...last, glyphs: last.glyphs + glyphs };
    else this.runs.push({ font, glyphs, rise });
  }
}

function isMark(character: number): boolean {
  return character >= 0x300 && /\p{M}/u.test(String.fromCharCode(character));
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
  const runs = last === 0 ? [] : [{ font: weight, glyphs: `${glyphs}>`, rise: 0 }];
  return { runs, width, capitals: face.capitals };
}

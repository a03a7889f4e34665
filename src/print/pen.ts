/** Writes drawable text and labels for one paper: the font's limits and the paper's language in one hand. */
import type { Font } from './font.ts';
import { printable, printableLines } from './glyphs.ts';
import { inLanguage, label, labelLines, type PaperLanguage, type Word } from './words.ts';

export interface Pen {
  /** One line of foreign text. */
  readonly write: (text: string) => string;
  /** The same for a narrow place of so many ems (of its own type size). */
  readonly writeWithin: (ems: number, text: string) => string;
  /** Foreign text with line breaks; no lines when it is absent or blank. */
  readonly writeLinesWithin: (ems: number, text: string | undefined) => string[];
  /** Width of drawable text in ems. */
  readonly width: (text: string) => number;
  readonly label: (word: Word) => string;
  readonly labelLines: (word: Word) => string[];
  /** Values that are words of ours: Portuguese, with the English beside it where labels have it. */
  readonly told: (pt: string, en: string) => string;
}

/** `usualEms`: what all places but the narrowest have, at the size of names. */
export function penFor(font: Font, language: PaperLanguage, usualEms: number): Pen {
  const writeWithin = (ems: number, text: string) => printable(text, font, ems);
  const writeLinesWithin = (ems: number, text: string | undefined) =>
    text?.trim() ? printableLines(text.trim(), font, ems) : [];
  return {
    write: (text) => writeWithin(usualEms, text),
    writeWithin,
    writeLinesWithin,
    width: font.width,
    label: (word) => label(word, language),
    labelLines: (word) => labelLines(word, language),
    told: (pt, en) => inLanguage([pt, en], language),
  };
}

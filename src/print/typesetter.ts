/** The typesetter: an issued document to PDF/A-3a, in this thread, by the bundled fonts and nothing else of this machine. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Font, readFont, together } from './font.ts';
import type { PrintInput } from './input.ts';
import { styleOf } from './input.ts';
import { largestLogo_bytes } from './logo-limits.ts';
import { type Paper, paperOf } from './paper.ts';
import { drawA4 } from './pdf/a4.ts';
import { openPress, PdfDocument, type Press } from './pdf/document.ts';
import { type Face, readFace } from './pdf/face.ts';
import type { Picture } from './pdf/picture.ts';
import { pictureOf } from './pdf/pictures.ts';
import { drawRoll } from './pdf/roll.ts';

export interface Typesetter {
  /** The PDF/A-3a of a document. Same input, same bytes. */
  readonly typeset: (input: PrintInput) => Uint8Array;
}

/** Han, kana and signs (30,000 glyphs, 8 MB), one weight. */
interface Second {
  readonly font: Font;
  readonly face: Face;
}

/** Reads the fonts. `fontDirectory` has those of the npm package, `400Regular/NotoSans_400Regular.ttf` for each weight. */
export function openTypesetter(fontDirectory = bundledFonts()): Typesetter {
  const fileOf = (weight: string) => readFileSync(join(fontDirectory, weight, `NotoSans_${weight}.ttf`));
  const [regular, semibold] = [fileOf('400Regular'), fileOf('600SemiBold')];
  const font = readFont(regular);
  const press = openPress([readFace(regular, 'NotoSans-Regular'), readFace(semibold, 'NotoSans-SemiBold')]);
  let second: Second | undefined;
  // Loaded for the first document that needs it: 8 MB, which a service without such documents does not spend.
  const widened = () => {
    second ??= readSecond();
    return second;
  };
  return { typeset: (input) => typeset(press, font, widened, input) };
}

/** The package exports no path but its module's. */
function readSecond(): Second {
  const module = createRequire(import.meta.url).resolve('@embedpdf/fonts-sc');
  const file = readFileSync(join(dirname(module), '../fonts/NotoSansHans-Regular.otf'));
  return { font: readFont(file), face: readFace(file, 'NotoSansHans-Regular') };
}

function bundledFonts(): string {
  return dirname(createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/package.json'));
}

function typeset(press: Press, font: Font, widened: () => Second, input: PrintInput): Uint8Array {
  const [paper, second] = written(font, widened, input);
  try {
    const logo = logoOf(input);
    if (logo !== undefined) return drawn(press, paper, second, logo, input);
  } catch {
    // A broken picture must not keep an issued document from printing.
  }
  return drawn(press, paper, second, undefined, input);
}

function drawn(
  press: Press,
  paper: Paper,
  second: Face | undefined,
  logo: Picture | undefined,
  { createdAt }: PrintInput,
): Uint8Array {
  const document = new PdfDocument(press, second);
  if (paper.roll === undefined) drawA4(document, paper, logo);
  else drawRoll(document, paper, logo);
  return document.finished({ title: paper.fileTitle, author: paper.author, createdAt });
}

/** The words of the paper; for both fonts where the second one draws what the first lacks. */
function written(font: Font, widened: () => Second, input: PrintInput): readonly [Paper, Face | undefined] {
  const missed = new Set<number>();
  const covers = (codePoint: number) => {
    const isCovered = font.covers(codePoint);
    if (!isCovered) missed.add(codePoint);
    return isCovered;
  };
  const paper = paperOf(input, { ...font, covers });
  if (missed.size === 0) return [paper, undefined];
  const second = widened();
  if (![...missed].some(second.font.covers)) return [paper, undefined];
  return [paperOf(input, together(font, second.font)), second.face];
}

function logoOf(input: PrintInput): Picture | undefined {
  const { logo } = styleOf(input);
  if (logo === undefined || logo.length === 0 || logo.length > largestLogo_bytes) return undefined;
  return pictureOf(logo);
}

/**
 * The typesetter: Typst in this thread (native), one document at a time.
 *
 * It sees only the bundled fonts, our own templates, and beside them, in memory only, the data and the logo.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { type Font, readFont, together } from './font.ts';
import { breakHere, replacement } from './glyphs.ts';
import { type PaperFormat, type PrintInput, styleOf } from './input.ts';
import { kindOfLogo } from './logo.ts';
import { largestLogo_bytes } from './logo-limits.ts';
import { paperOf } from './paper.ts';

const weights = ['400Regular', '600SemiBold'] as const;
/** Family of the second font: Han, kana and signs (30,000 glyphs, 8 MB), one weight. */
const han = 'Noto Sans S Chinese';
const templates = fileURLToPath(new URL('./templates/', import.meta.url));
/**
 * A file and not `sys.inputs`: these are part of Typst's library, so that with each document nothing that was laid out for
 * the one before could be used again.
 */
const dataFile = join(templates, 'data.json');
/** Characters of JSON up to which a document's parts are kept for the next one: some 170 lines, 6 MB. Longer ones gain nothing. */
const mostKept = 32_768;

const templateOf: Readonly<Record<PaperFormat, string>> = {
  A4: 'a4.typ',
  RECEIPT: 'roll.typ',
  RECEIPT_58: 'roll.typ',
};

export interface Typesetter {
  /** The PDF/A-3a of a document. Same input, same bytes. */
  readonly typeset: (input: PrintInput) => Uint8Array;
}

/** A compiler with its fonts. */
interface Typeface {
  readonly font: Font;
  readonly compiler: () => NodeCompiler;
  /** Family of the second font. */
  readonly second?: string;
}

/** Loads fonts and templates, about 40 ms. `fontDirectory` holds `<weight>/NotoSans_<weight>.ttf` for each weight. */
export function openTypesetter(fontDirectory = bundledFonts()): Typesetter {
  const files = weights.map((weight) => join(fontDirectory, weight, `NotoSans_${weight}.ttf`));
  const font = readFont(readFileSync(files[0]!));
  const usual = compilerOf(files);
  let wide: Typeface | undefined;
  // Loaded for the first document that needs it: 70 ms and 35 MB, which a service without such documents does not spend.
  const widened = () => {
    wide ??= widerThan(font, files);
    return wide;
  };
  return { typeset: (input) => typeset({ font, compiler: () => usual }, widened, input) };
}

/** Its compiler is made for the first paper that the second font draws better: often its glyphs do not help either. */
function widerThan(font: Font, files: readonly string[]): Typeface {
  const file = hanFile();
  let compiler: NodeCompiler | undefined;
  return {
    font: together(font, readFont(readFileSync(file))),
    compiler: () => {
      compiler ??= compilerOf([...files, file]);
      return compiler;
    },
    second: han,
  };
}

function compilerOf(files: readonly string[]): NodeCompiler {
  const fontBlobs = files.map((file) => readFileSync(file));
  return NodeCompiler.create({ workspace: templates, fontArgs: [{ fontBlobs }] });
}

/** The package exports no path but its module's. */
function hanFile(): string {
  const module = createRequire(import.meta.url).resolve('@embedpdf/fonts-sc');
  return join(dirname(module), '../fonts/NotoSansHans-Regular.otf');
}

function bundledFonts(): string {
  return dirname(createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/package.json'));
}

function typeset(usual: Typeface, widened: () => Typeface, input: PrintInput): Uint8Array {
  const logo = logoOf(input);
  const [face, data] = written(usual, widened, input, logo?.name);
  const compiler = face.compiler();
  try {
    if (logo !== undefined) compiler.mapShadow(join(templates, logo.name), Buffer.from(logo.bytes));
    return compile(compiler, face, data, input);
  } catch (error) {
    if (logo === undefined) throw error;
    // A broken picture must not keep an issued document from printing.
    return compile(compiler, face, JSON.stringify(paperOf(input, face.font, undefined)), input);
  } finally {
    // What the next document has in common with this one is a tenth of its time. Of long ones it would be much memory.
    // Behind the answer, which need not wait for it: of 300 lines it takes 4 ms.
    setImmediate(() => compiler.evictCache(data.length > mostKept ? 0 : 1));
  }
}

/** The paper as JSON, and in which fonts: the second one where it can draw what the first cannot. */
function written(
  usual: Typeface,
  widened: () => Typeface,
  input: PrintInput,
  logo: string | undefined,
): readonly [Typeface, string] {
  const data = JSON.stringify(paperOf(input, usual.font, logo));
  if (!data.includes(replacement)) return [usual, data];
  const wide = widened();
  const more = JSON.stringify(paperOf(input, wide.font, logo));
  return more === data ? [usual, data] : [wide, more];
}

function compile(compiler: NodeCompiler, { second }: Typeface, data: string, input: PrintInput): Uint8Array {
  // Most papers have no places to break at, and need not look for them (parts.typ).
  const breaks = data.includes(breakHere) ? breakHere : undefined;
  compiler.mapShadow(dataFile, Buffer.from(`{"paper":${data},"face":${JSON.stringify({ second, breaks })}}`));
  // In one step: a document from compile() is native memory that the garbage collector does not see, and stays for long
  // (816 MB after 1,000 documents in a row).
  return compiler.pdf(
    { mainFilePath: join(templates, templateOf[input.format]) },
    { pdfStandard: 'a-3a', creationTimestamp: Math.floor(input.createdAt.getTime() / 1000) },
  );
}

/** The logo and its name beside the templates, in memory only. */
function logoOf(input: PrintInput): { readonly name: string; readonly bytes: Uint8Array } | undefined {
  const { logo } = styleOf(input);
  if (logo === undefined || logo.length === 0 || logo.length > largestLogo_bytes) return undefined;
  return { name: `logo.${kindOfLogo(logo)}`, bytes: logo };
}

/**
 * The typesetter: Typst in this thread (native), one document at a time.
 *
 * It sees only the bundled fonts and our own templates. Data goes in as JSON through `sys.inputs`.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { type Font, readFont } from './font.ts';
import { breakHere } from './glyphs.ts';
import { type PaperFormat, type PrintInput, styleOf } from './input.ts';
import { kindOfLogo } from './logo.ts';
import { largestLogo_bytes } from './logo-limits.ts';
import { paperOf } from './paper.ts';

const weights = ['400Regular', '600SemiBold'] as const;
const templates = fileURLToPath(new URL('./templates/', import.meta.url));

const templateOf: Readonly<Record<PaperFormat, string>> = {
  A4: 'a4.typ',
  RECEIPT: 'roll.typ',
  RECEIPT_58: 'roll.typ',
};

export interface Typesetter {
  /** The PDF/A-3a of a document. Same input, same bytes. */
  readonly typeset: (input: PrintInput) => Uint8Array;
}

/** Loads fonts and templates, about 40 ms. `fontDirectory` holds `<weight>/NotoSans_<weight>.ttf` for each weight. */
export function openTypesetter(fontDirectory = bundledFonts()): Typesetter {
  const fontBlobs = weights.map((weight) => readFileSync(join(fontDirectory, weight, `NotoSans_${weight}.ttf`)));
  const compiler = NodeCompiler.create({ workspace: templates, fontArgs: [{ fontBlobs }] });
  const font = readFont(fontBlobs[0]!);
  return { typeset: (input) => typeset(compiler, font, input) };
}

function bundledFonts(): string {
  return dirname(createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/package.json'));
}

function typeset(compiler: NodeCompiler, font: Font, input: PrintInput): Uint8Array {
  const logo = placeLogo(compiler, styleOf(input).logo);
  try {
    return compile(compiler, font, input, logo);
  } catch (error) {
    if (logo === undefined) throw error;
    // A broken picture must not keep an issued document from printing.
    return compile(compiler, font, input, undefined);
  } finally {
    // Documents have nothing in common that is worth keeping: a cache of 10 documents is no faster and takes 50 MB more.
    compiler.evictCache(0);
  }
}

function compile(compiler: NodeCompiler, font: Font, input: PrintInput, logo: string | undefined): Uint8Array {
  const data = JSON.stringify(paperOf(input, font, logo));
  // Most papers have no places to break at, and need not look for them (parts.typ).
  const inputs: Record<string, string> = data.includes(breakHere) ? { data, breaks: breakHere } : { data };
  // In one step: a document from compile() is native memory that the garbage collector does not see, and stays for long
  // (816 MB after 1,000 documents in a row).
  return compiler.pdf(
    { mainFilePath: join(templates, templateOf[input.format]), inputs },
    { pdfStandard: 'a-3a', creationTimestamp: Math.floor(input.createdAt.getTime() / 1000) },
  );
}

/** Puts the logo beside the templates, in memory only; its name there. */
function placeLogo(compiler: NodeCompiler, logo: Uint8Array | undefined): string | undefined {
  if (logo === undefined || logo.length === 0 || logo.length > largestLogo_bytes) return undefined;
  const name = `logo.${kindOfLogo(logo)}`;
  compiler.mapShadow(join(templates, name), Buffer.from(logo));
  return name;
}

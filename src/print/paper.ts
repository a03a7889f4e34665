/**
 * From a frozen document to the words on its paper: everything that is decided before layout, which only places.
 *
 * Mentions: Portaria 302/2016, DL 28/2019 articles 6 and 7, CIVA article 36, Despacho 8632/2014.
 */
import { printedAtcud } from '../fiscal/atcud.ts';
import { cut } from '../fiscal/cut.ts';
import { documentTypes } from '../fiscal/document.ts';
import { type Closing, closingOf } from './closing.ts';
import { readableColour } from './colour.ts';
import type { Font } from './font.ts';
import { breakHere } from './glyphs.ts';
import { type PaperCopy, type PrintInput, styleOf } from './input.ts';
import { heavier, type Measures, measuresOf } from './measures.ts';
import { type Fact, factsOf, mentionsOf, type PaperPlace, placesOf } from './paper-facts.ts';
import { isValued, lineTable, type PaperTable, settledTable } from './paper-lines.ts';
import { customerOf, issuerOf, type PaperParty } from './paper-parties.ts';
import {
  mostWithheldOnRoll,
  type Roll,
  type RollTable,
  rollInside,
  rollLines,
  rolls,
  rollTable,
} from './paper-roll.ts';
import { type PaperTotals, totalsOf } from './paper-totals.ts';
import { type Pen, penFor } from './pen.ts';
import { drawQr, quietModules } from './qr.ts';
import { pageWords } from './words.ts';

/** What is laid out (pdf/a4.ts, pdf/roll.ts). All text is drawable; every absent part is left out. */
export interface Paper {
  readonly accent: string;
  /** Document title of the file. */
  readonly fileTitle: string;
  /** Of the file, and of the logo. */
  readonly author: string;
  readonly title: string;
  readonly titleInEnglish?: string | undefined;
  readonly number: string;
  /** The number in large type, breakable when it is long. */
  readonly numberInTitle: string;
  /** A receipt's lines are named by the numbers of documents. */
  readonly listsNumbers: boolean;
  readonly copy?: PaperCopy | undefined;
  readonly environment?: string | undefined;
  readonly cancelled?: string | undefined;
  readonly mentions: readonly string[];
  /** What further pages say again, on one line. Those of A4 have the stamp and the environment without. */
  readonly saidAgain?: string | undefined;
  readonly issuer: PaperParty;
  readonly customer: PaperParty;
  /** A4 only. */
  readonly facts: readonly Fact[];
  readonly places: readonly PaperPlace[];
  readonly description: readonly string[];
  /** A4 only. */
  readonly table?: PaperTable | undefined;
  /** A4 only. */
  readonly measures?: Measures | undefined;
  /** A4 only. */
  readonly closing?: Closing | undefined;
  /** Till rolls only. */
  readonly roll?: (Roll & RollTable) | undefined;
  /** Absent where the document tells no prices. */
  readonly totals?: PaperTotals | undefined;
  /** Beside the QR code when they are short, before the totals when they may fill pages. */
  readonly notes: readonly string[];
  readonly notesAreLong: boolean;
  readonly footer: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly pageWords: readonly (readonly string[])[];
  readonly atcud: string;
  readonly program?: string | undefined;
  /** `module`: points per module. */
  readonly qr: { readonly path: string; readonly modules: number; readonly module: number; readonly alt: string };
}

const titlesInEnglish: Readonly<Record<string, string>> = {
  INVOICE: 'Invoice',
  SIMPLIFIED_INVOICE: 'Simplified invoice',
  INVOICE_RECEIPT: 'Invoice and receipt',
  DEBIT_NOTE: 'Debit note',
  CREDIT_NOTE: 'Credit note',
  RECEIPT: 'Receipt',
  PROFORMA: 'Pro forma invoice',
  GUIA_DE_REMESSA: 'Delivery note',
  GUIA_DE_TRANSPORTE: 'Transport document',
  GUIA_DE_ATIVOS_PROPRIOS: 'Movement of own fixed assets',
  GUIA_DE_CONSIGNACAO: 'Consignment note',
  GUIA_DE_DEVOLUCAO: 'Return note',
};

/** The foot of the page must not push the QR code off it. */
const longestFooter = 1000;

const environments = {
  production: undefined,
  test: 'Documento de teste — sem validade fiscal',
  simulator: 'Documento de simulação — sem validade fiscal',
} as const;

/** Points between the margins of names on A4: 190 at their size. */
const usualEms = 18;
/** The facts of an A4 page stand two in a row. */
const factEms = 11;

/** The paper of a document. */
export function paperOf(input: PrintInput, font: Font): Paper {
  const { content, issued, language, format } = input;
  const style = styleOf(input);
  const { title } = documentTypes[content.type];
  const roll = format === 'A4' ? undefined : rolls[format];
  // Names are a scale of 1.2 larger than the text.
  const ems = roll === undefined ? usualEms : Math.min(usualEms, rollInside(roll) / (roll.body * 1.2 * heavier));
  const pen = penFor(font, language, ems);
  const small = roll === undefined ? usualEms : rollInside(roll) / roll.small;
  const smallLines = (text: string | undefined) =>
    roll === undefined ? pen.writeLinesWithin(small, text) : rollLines(text, roll, pen);
  const notes = smallLines(content.transport?.comments ?? content.notes);
  const description = smallLines(content.description);
  const facts = factsOf(input, pen, roll === undefined ? factEms : small / heavier);
  const totals = isValued(content) ? totalsOf(content, pen, roll && mostWithheldOnRoll) : undefined;
  const issuer = issuerOf(content, input.producer, pen);
  const environment = environments[input.environment];
  const cancelled = input.status === 'A' ? 'ANULADO' : undefined;
  const mentions = mentionsOf(input, pen);
  const paper: Paper = {
    accent: readableColour(style.colour),
    fileTitle: `${title} ${issued.number}`,
    author: issuer.name.replaceAll(breakHere, ''),
    title,
    titleInEnglish: language === 'en' ? titlesInEnglish[content.type] : undefined,
    number: issued.number,
    numberInTitle: pen.write(issued.number),
    listsNumbers: content.type === 'RECEIPT',
    copy: copyOf(input),
    environment,
    cancelled,
    mentions,
    saidAgain: inOneLine(roll === undefined ? mentions : [cancelled, environment, ...mentions]),
    issuer,
    customer: customerOf(content, pen),
    facts: roll === undefined ? facts : [],
    places: placesOf(content, pen),
    description,
    ...linesOf(input, facts, totals, [...description, ...notes], pen),
    totals,
    notes,
    notesAreLong: notes.length > 8 || notes.join('').length > 560,
    footer: smallLines(cut(style.footer ?? '', longestFooter)).slice(0, 12),
    labels: templateLabels(pen),
    pageWords: pageWords(language),
    atcud: printedAtcud(issued.atcud),
    program: programMention(input),
    qr: qrOf(issued.qr, roll),
  };
  return roll === undefined ? { ...paper, closing: closingOf(paper, pen) } : paper;
}

/** What stands for an original that is on other paper, or lost, is none: it says so among its mentions. */
function copyOf({ content, copy }: PrintInput): PaperCopy | undefined {
  return content.recovered !== undefined && copy === 'Original' ? undefined : copy;
}

function inOneLine(said: readonly (string | undefined)[]): string | undefined {
  return said.filter((one) => one !== undefined).join('\u00a0· ') || undefined;
}

function linesOf(
  { content, format }: PrintInput,
  facts: readonly Fact[],
  totals: PaperTotals | undefined,
  texts: readonly string[],
  pen: Pen,
) {
  if (format === 'A4') {
    const table = content.type === 'RECEIPT' ? settledTable(content, pen) : lineTable(content, pen);
    return { table, measures: totals === undefined ? undefined : measuresOf(totals, pen) };
  }
  const roll = rolls[format];
  return { roll: { ...roll, ...rollTable(content, facts, totals, texts, roll, pen) } };
}

/** Points per module: a symbol of version 9, the least, is 37.4 mm wide; the law asks for 30 mm. */
const usualModule = 2;

/** On a roll a long message gets smaller modules, so that the symbol stays between the margins: at least 48 mm there. */
function qrOf(message: string, roll: Roll | undefined): Paper['qr'] {
  const drawn = drawQr(message);
  const widest = roll === undefined ? Number.POSITIVE_INFINITY : rollInside(roll) / (drawn.modules - 2 * quietModules);
  return { ...drawn, module: Math.min(usualModule, widest), alt: `Código QR: ${message}` };
}

/** Despacho 8632/2014, 2.2: the four characters of the signature, a hyphen, the phrase. Receipts are not signed. */
function programMention({ content, issued }: PrintInput): string | undefined {
  // Certificate 0 stands for a program that is not certified: it may not claim to be.
  if (issued.certificateNumber === 0) return undefined;
  const phrase = `por programa certificado n.º ${issued.certificateNumber}/AT`;
  return documentTypes[content.type].signed ? `${issued.shortHash}-Processado ${phrase}` : `Emitido ${phrase}`;
}

function templateLabels(pen: Pen): Record<string, string> {
  const words = ['notes', 'carriedForward', 'broughtForward', 'counterValue'] as const;
  return Object.fromEntries(words.map((word) => [word, pen.label(word)]));
}

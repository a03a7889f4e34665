/**
 * From a frozen document to the words on its paper: everything that is decided before layout. The template only places.
 *
 * Mentions: Portaria 302/2016, DL 28/2019 articles 6 and 7, CIVA article 36, Despacho 8632/2014.
 */
import { printedAtcud } from '../fiscal/atcud.ts';
import { type DocumentType, documentTypes } from '../fiscal/document.ts';
import { mechanism, paymentMechanisms } from '../fiscal/payment-mechanisms.ts';
import { readableColour } from './colour.ts';
import type { Font } from './font.ts';
import { day, dayAndHour } from './format.ts';
import type { PrintInput } from './input.ts';
import { lineTable, type PaperTable, settledTable } from './paper-lines.ts';
import { customerOf, issuerOf, type PaperParty } from './paper-parties.ts';
import { type PaperTotals, totalsOf } from './paper-totals.ts';
import { type Pen, penFor } from './pen.ts';
import { drawQr } from './qr.ts';
import { pageWords, type Word } from './words.ts';

/** A label, one line per language, with its value. */
export interface Fact {
  readonly label: readonly string[];
  readonly value: string;
}

/** What the templates read (as JSON in `sys.inputs.data`). All text is drawable; every absent part is left out. */
export interface Paper {
  readonly accent: string;
  /** Document title of the file. */
  readonly fileTitle: string;
  readonly title: string;
  readonly titleInEnglish?: string | undefined;
  readonly number: string;
  /** The number in large type, breakable when it is long. */
  readonly numberInTitle: string;
  readonly copy: string;
  readonly environment?: string | undefined;
  readonly cancelled?: string | undefined;
  readonly notInvoice?: string | undefined;
  readonly issuer: PaperParty;
  readonly customer: PaperParty;
  readonly facts: readonly Fact[];
  readonly description: readonly string[];
  readonly table: PaperTable;
  readonly totals: PaperTotals;
  /** Beside the QR code when they are short, before the totals when they may fill pages. */
  readonly notes: readonly string[];
  readonly notesAreLong: boolean;
  readonly footer: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly pageWords: readonly (readonly string[])[];
  readonly atcud: string;
  readonly program?: string | undefined;
  readonly qr: { readonly svg: string; readonly modules: number; readonly alt: string };
  readonly logo?: string | undefined;
}

const titlesInEnglish: Readonly<Record<string, string>> = {
  INVOICE: 'Invoice',
  SIMPLIFIED_INVOICE: 'Simplified invoice',
  INVOICE_RECEIPT: 'Invoice and receipt',
  DEBIT_NOTE: 'Debit note',
  CREDIT_NOTE: 'Credit note',
  RECEIPT: 'Receipt',
  PROFORMA: 'Pro forma invoice',
};

/** The foot of the page must not push the QR code off it. */
const longestFooter = 1000;

const environments = {
  production: undefined,
  test: 'Documento de teste — sem validade fiscal',
  simulator: 'Documento de simulação — sem validade fiscal',
} as const;

/** The paper of a document. `logo` is the name under which the template finds the logo. */
export function paperOf(input: PrintInput, font: Font, logo: string | undefined): Paper {
  const { content, issued, language } = input;
  const facts = documentTypes[content.type];
  const pen = penFor(font, language);
  const isReceipt = facts.family === 'RECEIPT';
  const notes = pen.writeLines(content.notes);
  return {
    accent: readableColour(input.style?.colour),
    fileTitle: `${facts.title} ${issued.number}`,
    title: facts.title,
    titleInEnglish: language === 'en' ? titlesInEnglish[content.type] : undefined,
    number: issued.number,
    numberInTitle: pen.write(issued.number),
    copy: input.copy,
    environment: environments[input.environment],
    cancelled: input.status === 'A' ? 'ANULADO' : undefined,
    notInvoice: facts.family === 'SALES' ? undefined : 'Este documento não serve de fatura',
    issuer: issuerOf(content.issuer, pen),
    customer: customerOf(content.customer, pen),
    facts: factsOf(input, pen),
    description: pen.writeLines(content.description),
    table: isReceipt ? settledTable(input, pen) : lineTable(content, pen),
    totals: totalsOf(content, pen),
    notes,
    notesAreLong: notes.length > 8 || notes.join('').length > 560,
    footer: pen.writeLines(input.style?.footer?.slice(0, longestFooter)).slice(0, 12),
    labels: templateLabels(pen),
    pageWords: pageWords(language),
    atcud: printedAtcud(issued.atcud),
    program: programMention(input),
    qr: { ...drawQr(issued.qr), alt: `Código QR: ${issued.qr}` },
    logo,
  };
}

/** Despacho 8632/2014, 2.4: the four characters of the signature, a hyphen, the phrase. Receipts are not signed. */
function programMention({ content, issued }: PrintInput): string | undefined {
  // Certificate 0 stands for a program that is not certified: it may not claim to be.
  if (issued.certificateNumber === 0) return undefined;
  const phrase = `por programa certificado n.º ${issued.certificateNumber}/AT`;
  return documentTypes[content.type].signed ? `${issued.shortHash}-Processado ${phrase}` : `Emitido ${phrase}`;
}

/** The others are paid when they are issued, or are not to be paid. */
const isOwed: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE', 'PROFORMA']);
/** The facts stand two in a row. */
const factEms = 11;

function factsOf(input: PrintInput, pen: Pen): Fact[] {
  const { content, issued } = input;
  const isSales = documentTypes[content.type].family === 'SALES';
  const facts: [Word, string | undefined][] = [
    // Working and transport documents print the hour too (DL 28/2019, article 7 no. 2).
    isSales || content.type === 'RECEIPT'
      ? ['issueDate', day(issued.date)]
      : ['issueMoment', dayAndHour(issued.systemEntry)],
    ['taxPointDate', differing(content.taxPointDate, issued.date)],
    ['dueDate', content.dueDate !== undefined && isOwed.has(content.type) ? day(content.dueDate) : undefined],
    ['paymentMethod', methodOf(content.payment?.method)],
    ['paymentDate', differing(content.payment?.date, issued.date)],
    ['atDocCode', input.atDocCode],
  ];
  if (content.parent !== undefined && content.type !== 'RECEIPT') {
    const { number, date, type, reason } = content.parent;
    facts.push(['origin', `${documentTypes[type].title} ${number} de\u00a0${day(date)}`], ['reason', reason]);
  }
  return facts
    .filter((fact): fact is [Word, string] => fact[1] !== undefined && fact[1].trim() !== '')
    .map(([word, value]) => ({ label: pen.labelLines(word), value: pen.writeWithin(factEms, value) }));
}

/** CIVA article 36 no. 5 f: the date of the operation is said when it is not the date of issue. */
function differing(date: string | undefined, issueDate: string): string | undefined {
  return date === undefined || date === issueDate ? undefined : day(date);
}

function methodOf(method: string | undefined): string | undefined {
  const code = method === undefined ? undefined : mechanism(method);
  return code === undefined ? method : paymentMechanisms[code].pt;
}

function templateLabels(pen: Pen): Record<string, string> {
  const words = ['notes', 'carriedForward', 'broughtForward', 'counterValue'] as const;
  return Object.fromEntries(words.map((word) => [word, pen.label(word)]));
}

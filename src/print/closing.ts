/**
 * How an A4 paper ends. The tax summary and the total stand on the last page only (Despacho 8632/2014), whole and together
 * with the QR code. With the rates and exemptions of an ordinary document that is one block; where it would not fit a
 * page, as much as has to flows over the pages before it. Heights are known beforehand, as widths are.
 */
import { heavier, leftColumn, type Measures, rightColumn, sizes } from './measures.ts';
import { mostKeptLines, type PaperTable } from './paper-lines.ts';
import type { PaperTotals, Sum } from './paper-totals.ts';
import type { Pen } from './pen.ts';

export interface Closing {
  /** What flows over the pages before the last: nothing; the mentions; also VAT per rate; also the sums before the total. */
  readonly flows: 'nothing' | 'mentions' | 'rates' | 'sums';
  /** White above and below a row of VAT per rate, in points. */
  readonly ratePadding: number;
}

/** What stands on the last page, of a paper. */
export interface Ending {
  readonly totals?: PaperTotals | undefined;
  readonly measures?: Measures | undefined;
  readonly table?: PaperTable | undefined;
  readonly notes: readonly string[];
  readonly notesAreLong: boolean;
  readonly footer: readonly string[];
  readonly qr: { readonly modules: number; readonly module: number };
  /** Of the heads of further pages. */
  readonly issuer: { readonly name: string };
  readonly title: string;
  readonly number: string;
  readonly copy?: string | undefined;
  readonly environment?: string | undefined;
  readonly saidAgain?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** A4 less its margins, in points, and what is white above the totals and above the QR code. */
const pageHeight = 700;
const pageWidth = 482;
const white = 20 + 18;
/** Of text: the capitals of Noto Sans, and a line with its leading. */
const capitals = (size: number) => 0.714 * size;
const pitch = (size: number) => 1.264 * size;
const { small, body, largest } = sizes;
/** All rates of the three regions and all exemptions in force, 41 rows, fit a page with the narrow one. */
const [usualPadding, narrowPadding] = [3.5, 2];
/** Two mentions go along with the rates, which so never stand alone. */
const lastMentions = 20 + 2 * pitch(small);

/** Heights are rather too large: text breaks where its words do, which is not known here. */
export function closingOf(paper: Ending, pen: Pen): Closing {
  const { totals, measures, table } = paper;
  const usual = { flows: 'nothing', ratePadding: usualPadding } as const;
  if (totals === undefined) return usual;
  const room = pageHeight - white - moreOfHead(paper, pen) - footHeight(paper, pen);
  const sums = sumsHeight(totals, measures, pen);
  const rates = (padding: number) => ratesHeight(totals, measures, padding);
  const mentions = totals.exemptions.map(({ code, mention }) => `${code} ${mention}`);
  const left = rates(usualPadding) + textHeight(mentions, leftColumn, pen);
  if (keptHeight(table) + Math.max(left, sums) <= room) return usual;
  if (sums > room) return { flows: 'sums', ratePadding: usualPadding };
  const ratePadding = [usualPadding, narrowPadding].find((padding) => rates(padding) + lastMentions <= room);
  return ratePadding === undefined ? { ...usual, flows: 'rates' } : { flows: 'mentions', ratePadding };
}

/** Of small text in a place so wide. */
function textHeight(texts: readonly string[], width: number, pen: Pen): number {
  return texts.reduce((all, text) => all + linesIn(text, small, width, pen), 0) * pitch(small);
}

function linesIn(text: string, size: number, width: number, pen: Pen): number {
  return Math.max(1, Math.ceil((pen.width(text) * heavier * size) / width));
}

function footHeight({ notes, notesAreLong, footer, qr }: Ending, pen: Pen): number {
  const side = qr.modules * qr.module;
  const texts = [...(notesAreLong ? [] : notes), ...footer];
  // The label of the notes, and white around.
  const beside = textHeight(texts, pageWidth - 16 - side, pen) + pitch(small) + 18;
  return Math.max(side + pitch(small), beside);
}

/** What the head of a further page takes beyond its usual two lines (pdf/sheets.ts). */
function moreOfHead({ issuer, title, number, copy, environment, saidAgain, labels, table }: Ending, pen: Pen): number {
  const carry = `${labels['broughtForward']!} ${table?.rows.at(-1)?.carried ?? ''}`;
  const right = Math.max(pen.width(environment ?? '') * small, pen.width(carry) * body) * heavier;
  const beside = pageWidth - right - 20;
  const named = linesIn(issuer.name, small, beside, pen) - 1;
  const titled = linesIn(`${title} ${number}  ${copy ?? ''}`, body, beside, pen) - 1;
  const again = saidAgain === undefined ? 0 : 5 + linesIn(saidAgain, small, pageWidth, pen) * pitch(small);
  return named * pitch(small) + titled * pitch(body) + again;
}

function ratesHeight({ vat }: PaperTotals, measures: Measures | undefined, padding: number): number {
  if (vat === undefined) return 0;
  // Rows that are not flat have two lines, but for figures made to break it.
  const row = 2 * padding + capitals(small) + (measures?.vat?.isFlat === true ? 0 : pitch(small));
  return 2 * padding + 2 * pitch(small) + vat.rows.length * row;
}

function sumsHeight({ sums, afterGross, final, euros }: PaperTotals, measures: Measures | undefined, pen: Pen): number {
  const above = pairsHeight([...sums, ...afterGross], body, 7.5, pen, measures?.sums);
  const total = 19 + 2 * pitch(largest) + (final.english === undefined ? 0 : pitch(small));
  const inEuros = euros.length === 0 ? 0 : 20 + pitch(small) + pairsHeight(euros, small, 5.5, pen, measures?.euros);
  return above + total + inEuros;
}

function pairsHeight(entries: readonly Sum[], size: number, gutter: number, pen: Pen, figures = 0): number {
  const width = rightColumn - 12 - figures;
  return entries.reduce((all, { label, note }) => {
    const noted = note === undefined ? 0 : textHeight([note], width, pen);
    return all + gutter + linesIn(label, size, width, pen) * pitch(size) + noted;
  }, 0);
}

/** The last lines that go along, under their head; where a name is longer than a line, the most there are (paper-lines.ts). */
function keptHeight(table: PaperTable | undefined): number {
  if (table === undefined || table.kept === 0) return 0;
  const rows = table.rows.slice(-table.kept);
  const flat = rows.reduce((lines, { detail }) => lines + 1 + detail.length, 0);
  const lines = rows.every(({ isFlat }) => isFlat) ? flat : mostKeptLines;
  return 13 * (rows.length + 1) + 2 * pitch(small) + lines * pitch(body);
}

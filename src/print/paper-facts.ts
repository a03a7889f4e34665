/** The facts of a paper beside its lines: dates, payment, what it refers to, the journey; and the mentions of its state. */
import { type Content, type DocumentRef, type DocumentType, documentTypes, type Place } from '../fiscal/document.ts';
import { mechanism, paymentMechanisms } from '../fiscal/payment-mechanisms.ts';
import { originalOf, quotedNumber } from '../fiscal/recovery.ts';
import { typeCode } from '../fiscal/regime.ts';
import { journeyTimes } from '../fiscal/transport.ts';
import { day, dayAndHour } from './format.ts';
import type { PrintInput } from './input.ts';
import { addressLines } from './paper-parties.ts';
import type { Pen } from './pen.ts';
import type { Word } from './words.ts';

/** A label, one line per language, with its value. */
export interface Fact {
  readonly label: readonly string[];
  readonly value: string;
  /** Sign by sign: it gains no hyphen where its line ends. */
  readonly isLiteral: boolean;
}

/** A place of loading or unloading. */
export interface PaperPlace {
  readonly label: string;
  readonly lines: readonly string[];
}

/** The others are paid when they are issued, or are not to be paid. */
const isOwed: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE', 'PROFORMA']);

const literal: ReadonlySet<Word> = new Set(['corrected', 'origin', 'licensePlate', 'atDocCode']);

/** In reading order; `ems` is the width of a value's place. */
export function factsOf(input: PrintInput, pen: Pen, ems: number): Fact[] {
  const { content, issued } = input;
  const { family } = documentTypes[content.type];
  const facts: [Word, string | undefined][] = [
    // Working and transport documents print the hour too (DL 28/2019, article 7 no. 2).
    ...(family === 'SALES' || family === 'RECEIPT'
      ? ([['issueDate', day(issued.date)]] satisfies [Word, string][])
      : ([
          ['issueMoment', dayAndHour(issued.systemEntry)],
          // What is signed as its date is on the paper, also of a pro forma that is dated before its issue.
          ['documentDate', differing(issued.date, issued.systemEntry.slice(0, 10))],
        ] satisfies [Word, string | undefined][])),
    ['taxPointDate', differing(content.taxPointDate, issued.date)],
    ['dueDate', content.dueDate !== undefined && isOwed.has(content.type) ? day(content.dueDate) : undefined],
    ['paymentMethod', methodOf(content.payment?.method, pen)],
    ['paymentDate', differing(content.payment?.date, issued.date)],
    ...journeyOf(input),
    ...referencesOf(content),
  ];
  return facts
    .filter((fact): fact is [Word, string] => fact[1] !== undefined && fact[1].trim() !== '')
    .map(([word, value]) => ({
      label: pen.labelLines(word),
      value: pen.writeWithin(ems, value),
      isLiteral: literal.has(word),
    }));
}

/** DL 147/2003, article 4: start with its hour; the plate when it is known, the AT's code once it has told it. */
function journeyOf({ content: { transport }, issued, region, atDocCode }: PrintInput): [Word, string | undefined][] {
  if (transport === undefined) return [];
  const { start, end } = journeyTimes(transport, region, issued.systemEntry);
  return [
    ['start', dayAndHour(start)],
    ['end', end === undefined ? undefined : dayAndHour(end)],
    ['licensePlate', transport.licensePlate],
    ['atDocCode', atDocCode],
  ];
}

/**
 * A note tells what it corrects and why (CIVA article 36 no. 6), of a recovered document the original's number as SAF-T
 * does (`quotedNumber`); a receipt lists it, so it is not said twice there.
 */
function referencesOf({ type, parent, origin }: Content): [Word, string | undefined][] {
  const named = ({ type, date, ...ref }: DocumentRef) =>
    `${documentTypes[type].title} ${quotedNumber(ref).replaceAll(' ', '\u00a0')} de\u00a0${day(date)}`;
  return [
    ...(parent === undefined || type === 'RECEIPT'
      ? []
      : ([
          ['corrected', named(parent)],
          ['reason', parent.reason],
        ] satisfies [Word, string | undefined][])),
    ['origin', origin === undefined ? undefined : named(origin)],
  ];
}

/** CIVA article 36 no. 5 f: the date of the operation is said when it is not the date of issue. */
function differing(date: string | undefined, issueDate: string): string | undefined {
  return date === undefined || date === issueDate ? undefined : day(date);
}

function methodOf(method: string | undefined, pen: Pen): string | undefined {
  const code = method === undefined ? undefined : mechanism(method);
  return code === undefined ? method : pen.told(paymentMechanisms[code].pt, paymentMechanisms[code].en);
}

/** Where the goods are loaded and unloaded. */
export function placesOf({ transport }: Content, pen: Pen): PaperPlace[] {
  if (transport === undefined) return [];
  const placed = (word: Word, place: Place) => ({ label: pen.label(word), lines: addressLines(place, pen) });
  return [placed('loading', transport.loading), placed('unloading', transport.unloading)];
}

/** What the law has a document say of itself as a whole, letter for letter. */
export function mentionsOf({ content, copy }: Pick<PrintInput, 'content' | 'copy'>, pen: Pen): string[] {
  const { family } = documentTypes[content.type];
  const { training, recovered, cashVat } = content;
  return [
    ...(family === 'SALES' ? [] : ['Este documento não serve de fatura']),
    ...(training === true ? ['Documento emitido para fins de Formação'] : []),
    ...(recovered === undefined
      ? []
      : [`Cópia do documento original -${pen.write(originalOf(typeCode(content), recovered))}`]),
    ...(cashVat === true ? ['IVA - regime de caixa'] : []),
    // DL 147/2003: of what a program prints, any copy beyond the third.
    ...(family === 'TRANSPORT' && copy === 'Cópia'
      ? ['Cópia de documento não válida para os fins previstos no regime de bens em circulação']
      : []),
  ];
}

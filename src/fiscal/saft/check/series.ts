/** Along a series: numbers without gap, dates that never go back, one validation code, a chain of signatures. */
import { cut } from '../../cut.ts';
import type { Book, DocumentKind } from './book.ts';
import { checkSignature } from './signatures.ts';
import { type SaftNode, textIn } from './structure.ts';

/** A stretch of numbers that follow each other, and the line where it begins. */
interface Stretch {
  from: number;
  to: number;
  readonly line: number;
}

export interface SeriesState {
  /** "FT A2026". */
  readonly name: string;
  /** In order of number; one for a file without gaps. */
  readonly stretches: Stretch[];
  /** Number → line of those that came after higher ones, where no stretch was beside them. */
  late: Map<number, number> | undefined;
  last: number;
  lastNumber: string;
  date: string;
  entry: string;
  /** Of the last document; '' before the first one. Undefined: it has none, and that was told. */
  hash: string | undefined;
  validationCode: string | undefined;
}

/** The elements that are called differently in each section. */
export interface DocumentNames {
  readonly number: string;
  readonly date: string;
  readonly type: string;
  readonly status: string;
  readonly source: string;
}

/** A document's place in its series. */
export interface Placed {
  readonly kind: DocumentKind;
  readonly number: string;
  readonly type: string;
  readonly date: string;
  readonly entry: string;
  /** As it stands in the file: that is what was signed. '' where it is missing. */
  readonly grossTotal: string;
  readonly source: string;
  readonly node: SaftNode;
}

/** Every check of a document against those of its series before it. */
export function checkSeries(book: Book, placed: Placed): void {
  const { number, kind, node } = placed;
  const slash = number.lastIndexOf('/');
  const sequence = Number(number.slice(slash + 1));
  // What has not the form of a number was told by the schema.
  if (!/^[^ ]+ [^/^ ]+\/\d{1,15}$/.test(number)) return;
  const name = number.slice(0, slash);
  const key = `${kind} ${name}`;
  const series = book.series.get(key) ?? openSeries(book, key, name);
  checkCode(book, placed);
  checkAtcud(book, series, placed);
  const isNew = addNumber(series, sequence, node.line);
  if (!isNew) book.findings.tell('NUMBER_REPEATED', node.line, { number });
  const follows = series.last === 0 || sequence > series.last;
  if (follows) checkDates(book, series, placed);
  else if (isNew) book.findings.tell('NUMBER_ORDER', node.line, { number, previous: series.lastNumber });
  // Receipts are not signed.
  const hash = kind === 'payment' ? '' : checkSignature(book, series, placed, sequence);
  if (!follows) return;
  series.last = sequence;
  series.lastNumber = number;
  series.date = placed.date;
  series.entry = placed.entry;
  series.hash = hash;
}

/** At the end of the file: what is missing between the numbers that were there. */
export function checkGaps(book: Book): void {
  for (const series of book.series.values()) {
    let to: number | undefined;
    for (const stretch of allStretches(series)) {
      if (to !== undefined && stretch.from > to + 1) {
        const [first, last] = [to + 1, stretch.from - 1];
        const missing = first === last ? String(first) : `${first}–${last}`;
        book.findings.tell('NUMBER_GAP', stretch.line, { series: series.name, missing });
      }
      to = stretch.to;
    }
  }
}

/** In order of number; they may touch each other. */
function allStretches({ stretches, late }: SeriesState): Stretch[] {
  if (late === undefined) return stretches;
  const alone = [...late].map(([number, line]) => ({ from: number, to: number, line }));
  return [...stretches, ...alone].sort((a, b) => a.from - b.from);
}

function openSeries(book: Book, key: string, name: string): SeriesState {
  const blank = { last: 0, lastNumber: '', date: '', entry: '', hash: '', validationCode: undefined };
  const series: SeriesState = { name, stretches: [], late: undefined, ...blank };
  book.series.set(key, series);
  return series;
}

/** False for a number that was there already. Numbers mostly come in order, so the last stretch grows. */
function addNumber(series: SeriesState, sequence: number, line: number): boolean {
  const { stretches, late } = series;
  const at = placeBehind(sequence, stretches.length, (place) => stretches[place]!.from);
  const before = stretches[at - 1];
  const after = stretches[at];
  if ((before !== undefined && sequence <= before.to) || late?.has(sequence) === true) return false;
  if (before?.to === sequence - 1) before.to = sequence;
  else if (after?.from === sequence + 1) after.from = sequence;
  else if (after === undefined) stretches.push({ from: sequence, to: sequence, line });
  else {
    series.late ??= new Map();
    series.late.set(sequence, line);
  }
  return true;
}

/** Of `count` places that begin at ascending numbers, the first one that begins behind `sequence`: found in halves. */
export function placeBehind(sequence: number, count: number, beginOf: (place: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (beginOf(middle) > sequence) high = middle;
    else low = middle + 1;
  }
  return low;
}

function checkCode(book: Book, { number, type, node }: Placed): void {
  if (type === '') return;
  const code = number.slice(0, number.indexOf(' '));
  const first = book.codeTypes.get(code);
  if (first === undefined) book.codeTypes.set(code, type);
  else if (first !== type) book.findings.tell('TYPE_NOT_OF_SERIES', node.line, { number, first, type });
}

function checkAtcud(book: Book, series: SeriesState, { node, number, date }: Placed): void {
  const value = textIn(node, 'ATCUD');
  if (value === '') return;
  // ATCUD (Portaria 195/2020) are mandatory since 2023-01-01; before, the element held 0.
  if (value === '0') {
    if (date >= '2023-01-01') book.findings.tell('ATCUD_ZERO', node.line);
    return;
  }
  const found = /^([^\s:-]{8,})-(\d{1,15})$/.exec(value);
  if (found === null) {
    book.findings.tell('ATCUD_FORM', node.line, { value: cut(value, 60) });
    return;
  }
  const code = found[1]!;
  // The digits as they are printed, with whatever zeros stand before them.
  if (found[2] !== number.slice(number.lastIndexOf('/') + 1))
    book.findings.tell('ATCUD_NUMBER', node.line, { value, number });
  if (series.validationCode !== undefined && series.validationCode !== code) {
    book.findings.tell('ATCUD_CODE', node.line, { value, code: series.validationCode });
  }
  series.validationCode ??= code;
}

function checkDates(book: Book, series: SeriesState, { node, date, entry }: Placed): void {
  if (date !== '' && date < series.date) {
    book.findings.tell('DATE_GOES_BACK', node.line, { date, previous: series.date });
  }
  if (entry !== '' && entry < series.entry) {
    book.findings.tell('ENTRY_GOES_BACK', node.line, { date: entry, previous: series.entry });
  }
}

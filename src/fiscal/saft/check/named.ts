/**
 * Documents against those that they name (References, OrderReferences, SourceDocumentID): none is dated before them, and no
 * note corrects one that is cancelled. What is named may stand further down, or in another file, of which nothing is known.
 */
import type { Book } from './book.ts';
import type { DocumentSums } from './lines.ts';
import { placeBehind } from './series.ts';

/** Days along a series as its numbers grow: one entry for many documents. */
export interface SeriesDates {
  last: number;
  /** From this number on, in order, the day beside it; '' where there are none, or no day of theirs can be read. */
  readonly from: number[];
  readonly day: string[];
}

/** A document that names another one. */
export interface Naming {
  readonly number: string;
  readonly date: string;
  readonly line: number;
  /** It is a note on it. */
  readonly corrects: boolean;
}

/** "PF A2026/1" as its series and its number. */
export function partsOf(number: string): readonly [series: string, sequence: number] | undefined {
  const found = /^([^ ]+ [^/^ ]+)\/(\d{1,15})$/.exec(number);
  return found === null ? undefined : [found[1]!, Number(found[2])];
}

/** Remembers a document's day, and whether it is cancelled, and tells of those before it that named it. */
export function noteDocument(book: Book, number: string, date: string, isCancelled: boolean): void {
  const parts = partsOf(number);
  if (parts === undefined) return;
  const [series, sequence] = parts;
  const key = keyOf(series, sequence);
  if (isCancelled) book.cancelled.add(key);
  const known = book.dates.get(series) ?? { last: sequence - 1, from: [], day: [] };
  book.dates.set(series, known);
  // One out of order was told, and is not looked for.
  if (sequence <= known.last) return;
  if (sequence > known.last + 1) begin(known, known.last + 1, '');
  begin(known, sequence, date);
  known.last = sequence;
  const waiting = book.awaited.get(series);
  for (const naming of waiting?.get(sequence) ?? []) judge(book, naming, number, key, date);
  waiting?.delete(sequence);
}

/** Each document that lines of one `by` name, some of which it corrects: judged, or waited for. */
export function checkNamed(
  book: Book,
  by: Omit<Naming, 'corrects'>,
  { named, corrected }: Pick<DocumentSums, 'named' | 'corrected'>,
): void {
  for (const number of named) {
    const parts = partsOf(number);
    if (parts === undefined) continue;
    const [series, sequence] = parts;
    const naming = { ...by, corrects: corrected.has(number) };
    const date = dateOf(book.dates.get(series), sequence);
    if (date === undefined) waitFor(book, series, sequence, naming);
    else judge(book, naming, number, keyOf(series, sequence), date);
  }
}

function begin({ from, day }: SeriesDates, sequence: number, date: string): void {
  if (day.at(-1) === date) return;
  from.push(sequence);
  day.push(date);
}

function dateOf(known: SeriesDates | undefined, sequence: number): string | undefined {
  if (known === undefined || sequence > known.last) return undefined;
  // A file with gaps has as many entries as documents.
  const behind = placeBehind(sequence, known.from.length, (place) => known.from[place]!);
  return known.day[behind - 1];
}

function waitFor(book: Book, series: string, sequence: number, naming: Naming): void {
  const waiting = book.awaited.get(series) ?? new Map<number, Naming[]>();
  book.awaited.set(series, waiting);
  const others = waiting.get(sequence);
  if (others === undefined) waiting.set(sequence, [naming]);
  else others.push(naming);
}

const keyOf = (series: string, sequence: number): string => `${series}/${sequence}`;

/** Told of the document that names, whichever is being read. `key`: of the one that is named. */
function judge({ findings, cancelled }: Book, naming: Naming, named: string, key: string, namedDate: string): void {
  const { number, date, line, corrects } = naming;
  const { document } = findings;
  findings.document = number;
  if (date !== '' && namedDate !== '' && date < namedDate) {
    findings.tell('DATE_BEFORE_PARENT', line, { date, named, namedDate });
  }
  if (corrects && cancelled.has(key)) findings.tell('NOTE_ON_CANCELLED', line, { named });
  findings.document = document;
}

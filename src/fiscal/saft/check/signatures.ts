/** The signatures along a series: each that has to be there is, and with the public keys at hand it holds. */
import { isHash, verifyHash } from '../../hash-chain.ts';
import type { Book, PublicKey } from './book.ts';
import type { FindingCode, FindingFacts } from './findings.ts';
import { money, shown } from './leaf-types.ts';
import type { Placed, SeriesState } from './series.ts';
import { child, textIn } from './structure.ts';

/** A document whose signature was tried, to be told once it is known which version the key is of. */
interface Place {
  readonly line: number;
  readonly number: string;
}

/** Signatures of one outcome: the first of them, and how many. */
interface Outcome {
  count: number;
  readonly first: Place[];
}

const none = (): Outcome => ({ count: 0, first: [] });

/** What one key of unknown version made of the signatures of a version. */
export interface Tried {
  readonly held: Outcome;
  readonly failed: Outcome;
}

/** Versions told apart: nobody changes keys so often, and a file that says so must not fill the memory. */
const mostVersions = 100;
/** A total as it is signed (Despacho 8632/2014): a point and exactly two decimals. */
const signedTotal = /^(?:0|[1-9]\d*)\.\d\d$/;

/**
 * Every check of a document's Hash. Gives the signature that the next document of the series was signed with, '' where a
 * chain may begin behind it; undefined: what stands here is none, and that was told.
 */
export function checkSignature(book: Book, series: SeriesState, placed: Placed, sequence: number): string | undefined {
  const { node, number } = placed;
  const hash = textIn(node, 'Hash');
  if (hash === '') return undefined;
  if (hash === '0') {
    if (mayBeUnsigned(book, series, placed)) return '';
    book.findings.tell('HASH_ZERO', child(node, 'Hash')!.line, { number });
    return undefined;
  }
  if (!isHash(hash)) {
    book.findings.tell('HASH_FORM', node.line);
    return undefined;
  }
  checkSignedTotal(book, placed);
  verifySignature(book, series, placed, { sequence, hash });
  return hash;
}

/**
 * Hash 0 with HashControl 0: a program without certificate, or a document that came from one (Despacho 8632/2014). A
 * series holds no documents from elsewhere among its own, so behind a signature there has to be another one.
 */
function mayBeUnsigned({ certified }: Book, series: SeriesState, { node, source }: Placed): boolean {
  const behindSignature = series.hash !== undefined && series.hash !== '';
  return (!certified || source === 'I') && textIn(node, 'HashControl') === '0' && !behindSignature;
}

function checkSignedTotal(book: Book, { node, grossTotal: value }: Placed): void {
  // What is no amount at all was told by the schema.
  if (signedTotal.test(value) || money.fault(value) !== undefined) return;
  const place = child(child(node, 'DocumentTotals'), 'GrossTotal') ?? node;
  book.findings.tell('GROSS_TOTAL_FORM', place.line, { value: shown(value) });
}

interface Signed {
  readonly sequence: number;
  readonly hash: string;
}

function verifySignature(book: Book, series: SeriesState, placed: Placed, { sequence, hash }: Signed): void {
  const { node, source, date, entry, number, grossTotal } = placed;
  const version = /^(\d+)(?:-|$)/.exec(textIn(node, 'HashControl'))?.[1];
  // Integrated documents were signed with another program's key.
  const key = version === undefined || source === 'I' ? undefined : keyFor(book, Number(version), node.line);
  if (key === undefined || date === '' || entry === '' || grossTotal === '') {
    book.hashesUnverified += 1;
    return;
  }
  const holds = (previous: string) => verifyHash(key, `${date};${entry};${number};${grossTotal};${previous}`, hash);
  const place = { line: node.line, number };
  if (sequence === 1 || (series.last > 0 && series.last === sequence - 1)) {
    const previous = sequence === 1 ? '' : series.hash;
    if (previous === undefined) book.hashesUnverified += 1;
    else note(book, Number(version), place, holds(previous));
    return;
  }
  // A series may begin above 1; else the signature before stands in an earlier file, or is missing (a gap is told).
  if (series.last === 0 && holds('')) note(book, Number(version), place, true);
  else {
    book.hashesUnverified += 1;
    if (series.last === 0) book.findings.tell('HASH_UNVERIFIED', node.line, { number });
  }
}

function keyFor(book: Book, version: number, line: number): PublicKey | undefined {
  const { keyOf, onlyKey, tried, unknownKeys } = book;
  if (onlyKey !== undefined) {
    if (!tried.has(version) && tried.size < mostVersions) tried.set(version, { held: none(), failed: none() });
    if (tried.has(version)) return onlyKey;
    book.findings.tell('HASH_KEY_UNKNOWN', line, { version });
    return undefined;
  }
  const key = keyOf?.(version);
  if (keyOf !== undefined && key === undefined && !unknownKeys.has(version) && unknownKeys.size < mostVersions) {
    unknownKeys.add(version);
    book.findings.tell('HASH_KEY_UNKNOWN', line, { version });
  }
  return key;
}

/** Counts an outcome; with one key of unknown version a failure is judged at the end of the file. */
function note(book: Book, version: number, place: Place, holds: boolean): void {
  if (holds) book.hashesVerified += 1;
  if (book.onlyKey === undefined) {
    if (!holds) book.findings.tell('HASH_WRONG', place.line, { number: place.number });
    return;
  }
  const { held, failed } = book.tried.get(version)!;
  const outcome = holds ? held : failed;
  outcome.count += 1;
  if (outcome.first.length < book.findings.mostPerCode) outcome.first.push(place);
}

/**
 * At the end of the file, with one key of unknown version: where all signatures are of one version the key stands for it.
 * Else it is of the version whose signatures it made, and those of versions of which it made none lack their key.
 */
export function judgeTried(book: Book): void {
  const { tried, findings } = book;
  const single = tried.size === 1;
  const own = versionOfKey(tried);
  for (const [version, { held, failed }] of tried) {
    if (version !== own) tellAll(book, 'HASH_CONTROL_OTHER', held, { version, other: own ?? '' });
    if (single || version === own) tellAll(book, 'HASH_WRONG', failed);
    else {
      book.hashesUnverified += failed.count;
      const once = { count: Math.min(failed.count, 1), first: failed.first.slice(0, 1) };
      tellAll(book, 'HASH_KEY_UNKNOWN', once, { version });
    }
  }
  findings.document = undefined;
}

/** The version under which most signatures hold; of equal ones the lowest. */
function versionOfKey(tried: ReadonlyMap<number, Tried>): number | undefined {
  const holding = [...tried].filter(([, { held }]) => held.count > 0);
  return holding.sort(([a, { held: x }], [b, { held: y }]) => y.count - x.count || a - b)[0]?.[0];
}

function tellAll({ findings }: Book, code: FindingCode, { count, first }: Outcome, facts: FindingFacts = {}): void {
  for (const { line, number } of first) {
    findings.document = number;
    findings.tell(code, line, { ...facts, number });
  }
  findings.countOnly(code, count - first.length);
}

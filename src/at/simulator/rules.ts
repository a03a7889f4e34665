/** What the rules of all services share: the world they judge in, reading values, and the check of number and ATCUD. */
import { createHash, createHmac } from 'node:crypto';
import { localText } from '../../fiscal/time.ts';
import type { XmlElement } from '../read-xml.ts';
import { childrenOf } from '../read-xml.ts';
import type { Ledger, SeriesEntry } from './ledger.ts';

/** `seed` decides validation codes and codes of documents: the same seed gives the same ones. */
export interface World {
  readonly ledger: Ledger;
  readonly now: () => Date;
  readonly seed: string;
}

export interface Verdict {
  readonly code: number;
  readonly message: string;
}

/** A code of the AT's tables with its sentence. */
export const verdict = (code: number, message: string): Verdict => ({ code, message });

/** A clock of the sender may run ahead of ours by this much before a time counts as future. */
const toleranceMilliseconds = 5 * 60_000;
const hourMilliseconds = 3_600_000;

/** Lisbon's civil time, which the AT judges by. */
export function lisbonText(world: World): string {
  return localText(world.now(), 'PT');
}

/** Lisbon's civil day, YYYY-MM-DD. */
export function lisbonDay(world: World): string {
  return lisbonText(world).slice(0, 10);
}

/**
 * Whether a local time lies in the future, as far as clocks can tell. In autumn's repeated hour a series' times stand
 * still at the latest one signed (time of day never goes back), so what was already reached an hour ago is not future.
 */
export function isFuture(world: World, local: string): boolean {
  const instant = world.now().getTime() + toleranceMilliseconds;
  const hourBefore = localText(new Date(instant - hourMilliseconds), 'PT');
  const reached = new Date(Date.parse(`${hourBefore}Z`) + hourMilliseconds).toISOString();
  const now = localText(new Date(instant), 'PT');
  return local.slice(0, 19) > (reached > now ? reached : now);
}

/** Text at a path of only children; empty when something on the way is absent (the structure was checked before). */
export function value(element: XmlElement, ...path: string[]): string {
  return inside(element, ...path)?.text.trim() ?? '';
}

/** The element at a path of only children; undefined when something on the way is absent. */
export function inside(element: XmlElement, ...path: string[]): XmlElement | undefined {
  let at: XmlElement | undefined = element;
  for (const name of path) at = at === undefined ? undefined : childrenOf(at, name)[0];
  return at;
}

/** Digest of all values below an element, without the given children. */
export function digestOf(element: XmlElement, ...without: string[]): string {
  const plain = (node: XmlElement): unknown => [
    node.name,
    node.children.length === 0 ? node.text.trim() : node.children.map(plain),
  ];
  const kept = element.children.filter((child) => !without.includes(child.name)).map(plain);
  return createHash('sha256').update(JSON.stringify(kept)).digest('base64url').slice(0, 22);
}

const alphabet = 'BCDFGHJKMNPQRSTVWXYZ23456789';

/** A stable code of the simulated AT: the same seed and subject always give the same text. */
export function stableCode(seed: string, subject: string, length: number, letters = alphabet): string {
  const bytes = createHmac('sha512', seed).update(subject).digest();
  return [...bytes.subarray(0, length)].map((byte) => letters[byte % letters.length]).join('');
}

/** "FT A2026/12" → its parts. */
export function partsOf(number: string): { code: string; series: string; sequence: number } | undefined {
  const found = /^([^ ]+) ([^/^ ]+)\/(\d{1,15})$/.exec(number);
  return found === null ? undefined : { code: found[1]!, series: found[2]!, sequence: Number(found[3]) };
}

export type NumberFault =
  | 'format'
  | 'unknown series'
  | 'other type'
  | 'other series'
  | 'other sequence'
  | 'out of range'
  | 'before start';

/** Whether number, type and ATCUD belong to a series that the taxpayer communicated and may still use, from that day on. */
export function numberFault(
  world: World,
  nif: string,
  type: string,
  number: string,
  atcud: string,
  date: string,
): NumberFault | undefined {
  const parts = partsOf(number);
  const found = /^([A-Za-z0-9]{8,})-(\d{1,15})$/.exec(atcud);
  if (parts === undefined || found === null) return 'format';
  const series = world.ledger.seriesOf(nif).find((entry) => entry.validationCode === found[1]);
  if (series === undefined || series.state === 'N') return 'unknown series';
  if (series.documentCode !== type) return 'other type';
  if (series.series !== parts.series) return 'other series';
  if (number.slice(number.lastIndexOf('/') + 1) !== found[2]) return 'other sequence';
  if (!inRange(series, parts.sequence)) return 'out of range';
  return date < firstDayOf(series) ? 'before start' : undefined;
}

/**
 * The first day of a document is the one that was communicated (dataInicioPrevUtiliz; a validation code is in force from that
 * day on, -20006 of the transport service). It is Lisbon's: a series that was registered in the first hour of a day starts
 * the day before on the Azores. What a recovery series holds was issued before there was one.
 */
function firstDayOf({ kind, startDate, registeredOn, registeredOnAzores }: SeriesEntry): string {
  if (kind === 'R') return '';
  return startDate === registeredOn ? (registeredOnAzores ?? startDate) : startDate;
}

function inRange(series: SeriesEntry, sequence: number): boolean {
  return sequence >= series.firstNumber && (series.lastNumber === undefined || sequence <= series.lastNumber);
}

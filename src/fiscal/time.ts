/**
 * Civil time of the three tax regions: instants to days and local texts, and back to the start of a day.
 *
 * Offsets come from the time zone data of the runtime (Intl), asked once per zone and year and then kept as the stretches
 * between clock changes: 0.5 µs an answer instead of the 3 to 20 µs that Intl or Temporal take each time.
 */
import type { Day, Region } from './document.ts';
import { assert } from './refusal.ts';

/** IANA names. */
const zones: Readonly<Record<Region, string>> = {
  PT: 'Europe/Lisbon',
  'PT-MA': 'Atlantic/Madeira',
  'PT-AC': 'Atlantic/Azores',
};

const day_ms = 86_400_000;
const dayText = /^(\d{4})-(\d{2})-(\d{2})$/;
/** RFC 3339 with an upper-case T and a zone; seconds may be left out. */
const instantText =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A day that exists, "YYYY-MM-DD", years 0001 to 9999. */
export function isDay(text: string): boolean {
  const found = dayText.exec(text);
  if (found === null) return false;
  const [year, month, date] = [Number(found[1]), Number(found[2]), Number(found[3])];
  return year >= 1 && month >= 1 && month <= 12 && date >= 1 && date <= lengthOf(year, month);
}

/** An ISO 8601 date-time with zone, on a day that exists. */
export function isInstant(text: string): boolean {
  const found = instantText.exec(text);
  return found !== null && isDay(found[1]!);
}

/** What the API takes for a date: a day, or a date-time with zone. */
export function isDayOrInstant(text: string): boolean {
  return isDay(text) || isInstant(text);
}

/** The civil day that the API's date text means in a region; undefined when it is neither a day nor an instant. */
export function parseDay(text: string, region: Region): Day | undefined {
  if (isDay(text)) return text;
  if (!isInstant(text)) return undefined;
  const day = dayOf(text, region);
  // In the first and last hours of the calendar local time can fall out of it: then the day as written.
  return isDay(day) ? day : text.slice(0, 10);
}

/** The civil day of an instant (a Date, or ISO text with zone). */
export function dayOf(instant: Date | string, region: Region): Day {
  return localText(instant, region).slice(0, 10);
}

/** Local civil time to the second, "YYYY-MM-DDThh:mm:ss": what SystemEntryDate carries (SAF-T: no zone, no fraction). */
export function localText(instant: Date | string, region: Region): string {
  const ms = milliseconds(instant);
  const second = Math.floor((ms + stretchAt(ms, region).offset) / 1000);
  // Most are asked for many times a second. Local times of all regions: the text follows from the second alone.
  if (second !== lastSecond.second) lastSecond = { second, text: new Date(second * 1000).toISOString().slice(0, 19) };
  return lastSecond.text;
}

let lastSecond = { second: Number.NaN, text: '' };

/** An instant in UTC with milliseconds. A document says in several places when it was issued, and when it was drafted. */
export function utcText(instant: Date): string {
  const ms = instant.getTime();
  if (ms === last.ms) return last.text;
  if (ms === beforeLast.ms) return beforeLast.text;
  beforeLast = last;
  last = { ms, text: instant.toISOString() };
  return last.text;
}

let last = { ms: Number.NaN, text: '' };
let beforeLast = last;

/**
 * Local time of what happened to a document after it was signed. In autumn's repeated hour the clock can show less than
 * the signature says; nothing happens to a document before it exists (AT codes -43 and its like refuse that).
 */
export function laterText(instant: Date | string, region: Region, systemEntry: string): string {
  const text = localText(instant, region);
  return text > systemEntry ? text : systemEntry;
}

/** An instant as local time with offset, "2026-11-21T10:00:00.000+00:00". */
export function zonedText(instant: Date | string, region: Region): string {
  const ms = milliseconds(instant);
  const { offset } = stretchAt(ms, region);
  return new Date(ms + offset).toISOString().slice(0, -1) + offsetText(offset);
}

/**
 * The first instant of a day as the API replies it, "2026-11-21T00:00:00.000+00:00". Where the clock skips midnight
 * (Azores, last Sunday of March) the day starts at 01:00; where midnight comes twice, at the first one.
 */
export function startOfDay(day: Day, region: Region): string {
  const { starts } = zoneOf(region);
  let text = starts.get(day);
  if (text === undefined) {
    text = zonedText(startInstant(day, region), region);
    if (starts.size >= most_starts) starts.clear();
    starts.set(day, text);
  }
  return text;
}

/** The first instant of a day in a region. */
export function startInstant(day: Day, region: Region): Date {
  assert(isDay(day), 'not a day');
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const before = stretchAt(midnight - day_ms, region).offset;
  const early = midnight - before;
  const stretch = stretchAt(early, region);
  if (stretch.offset === before) return new Date(early);
  // A clock change lies between: midnight by the new offset, unless that moment came before the change (it was skipped).
  return new Date(Math.max(midnight - stretch.offset, stretch.from));
}

/** A day some days later (or earlier, when negative). */
export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * day_ms).toISOString().slice(0, 10);
}

function lengthOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function milliseconds(instant: Date | string): number {
  const ms = typeof instant === 'string' ? Date.parse(instant) : instant.getTime();
  assert(Number.isFinite(ms), 'not an instant');
  return ms;
}

function offsetText(offset: number): string {
  const minutes = Math.trunc(Math.abs(offset) / 60_000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

/** A stretch of time with one offset to UTC, all in milliseconds; `from` is its first one, `until` the first after it. */
interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
}

interface ZoneState {
  readonly format: Intl.DateTimeFormat;
  /** By UTC year; at most 10,000 entries, since no other years get here. */
  readonly years: Map<number, readonly Stretch[]>;
  last: Stretch;
  /** How days begin that were asked for lately. */
  readonly starts: Map<Day, string>;
}

const most_starts = 400;

const states = new Map<Region, ZoneState>();

function stretchAt(ms: number, region: Region): Stretch {
  const state = zoneOf(region);
  if (state.last.from <= ms && ms < state.last.until) return state.last;
  const year = new Date(ms).getUTCFullYear();
  let stretches = state.years.get(year);
  if (stretches === undefined) {
    stretches = stretchesOf(year, state.format);
    state.years.set(year, stretches);
  }
  const found = stretches.find((stretch) => ms < stretch.until);
  assert(found !== undefined, 'an instant lies in its year');
  state.last = found;
  return found;
}

const zoneOf = (region: Region): ZoneState => states.get(region) ?? openZone(region);

function openZone(region: Region): ZoneState {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zones[region],
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const state = { format, years: new Map(), last: { from: 0, until: 0, offset: 0 }, starts: new Map() };
  states.set(region, state);
  return state;
}

/** The stretches of a UTC year, found by looking once a week and halving where the offset differs. */
function stretchesOf(year: number, format: Intl.DateTimeFormat): readonly Stretch[] {
  const start = new Date(0).setUTCFullYear(year, 0, 1);
  const end = new Date(0).setUTCFullYear(year + 1, 0, 1);
  const stretches: Stretch[] = [];
  let from = start;
  let offset = offsetAt(start, format);
  for (let before = start; before < end; before += 7 * day_ms) {
    const after = Math.min(before + 7 * day_ms, end);
    const next = offsetAt(after, format);
    if (next === offset || after === end) continue;
    const change = changeBetween(before, after, offset, format);
    stretches.push({ from, until: change, offset });
    from = change;
    offset = next;
  }
  stretches.push({ from, until: end, offset });
  return stretches;
}

/** The first second in (low, high] that no longer has the offset. */
function changeBetween(low: number, high: number, offset: number, format: Intl.DateTimeFormat): number {
  let [same, other] = [low, high];
  while (other - same > 1000) {
    const middle = Math.floor((same + other) / 2000) * 1000;
    if (offsetAt(middle, format) === offset) same = middle;
    else other = middle;
  }
  return other;
}

function offsetAt(ms: number, format: Intl.DateTimeFormat): number {
  const parts = Object.fromEntries(format.formatToParts(ms).map((part) => [part.type, part.value]));
  const year = parts['era'] === 'AD' ? Number(parts['year']) : 1 - Number(parts['year']);
  const civil = new Date(0);
  civil.setUTCFullYear(year, Number(parts['month']) - 1, Number(parts['day']));
  civil.setUTCHours(Number(parts['hour']), Number(parts['minute']), Number(parts['second']));
  return civil.getTime() - ms;
}

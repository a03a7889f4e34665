/**
 * What this process has read or written lately, kept to decide on without asking again: who a credential is, the moment of
 * a company (moment.ts), where its series stand, masters, and drafts that may be issued next. All of it may be out of date:
 * another process writes to the same books. So nothing is ever answered from here; what is decided on it is written on
 * condition that it still stands (moment.ts, unchanged.ts, the head of the series), by a credential that enters again.
 */
import { LRUCache } from 'lru-cache';
import type { Row } from '../db/transact.ts';
import type { Region } from '../fiscal/document.ts';
import type { QrDrafted } from '../fiscal/qr-payload.ts';
import { mostOfAll, type Piece, Span, writePieces } from '../fiscal/utf8.ts';
import type { Principal } from '../identity/principal.ts';
import { a_moment_ms } from './moment.ts';
import { type RunningHead, runningFrom } from './running-head.ts';

const most_companies = 1_000;
const most_credentials = 1_000;
const most_keys = 2_000;
const most_masters = 2_000;
const most_used = 4_000;
/** Of all drafts together: some 9,500 of three lines. */
const most_drafts_bytes = 64 * 2 ** 20;
/** Bytes of one draft's texts: larger drafts are not kept. */
export const most_draft_bytes = 16_384;
/** So long a reading of the database's clock is used: later the clocks of the two machines may have drifted too far apart. */
const reading_lasts_ms = 60_000;
/** A credential that was found valid counts as valid for so long to the limit of its address. */
const lately_ms = 15 * 60_000;
/** So long after a failure series are read before they are numbered in. */
const wary_ms = 30_000;

/** A token that entries of the shared stores carry: `CompanyMemory.forgetRead` takes a new one, which voids older entries. */
type Era = object;

/** A draft, by whoever knows what is in it (invoices/kept-draft.ts). */
interface Parts<T> {
  readonly columns: Row;
  readonly qr: QrDrafted;
  /** What is long of it. */
  readonly texts: readonly T[];
  /** Bytes of what is kept shorter than it is shown. */
  readonly unfolded: number;
}

/** As it is found again: its texts lie where they are kept. */
export type KeptParts = Parts<Span>;

/** As it lies here: its texts as bytes, which the collector of garbage neither walks through nor copies. */
interface Laid extends Omit<Parts<Span>, 'texts'> {
  readonly era: Era;
  readonly bytes: Buffer;
  /** Where each text ends. */
  readonly ends: readonly number[];
  readonly weight: number;
}

interface Stores {
  readonly masters: LRUCache<string, { readonly era: Era; readonly row: Row }>;
  /** Masters that are marked as used. */
  readonly used: LRUCache<string, Era>;
  readonly drafts: LRUCache<string, Laid>;
  readonly clock: Clock;
}

/** The database's clock, as it was read last, moved on by this process's own. */
class Clock {
  readonly ticks: () => number;
  #read: { readonly now: Date; readonly at: number } | undefined;

  constructor(ticks: () => number) {
    this.ticks = ticks;
  }

  /** A reading that comes late is a little behind: then the one before is kept. */
  read(now: Date): void {
    const ahead_ms = (this.now()?.getTime() ?? 0) - now.getTime();
    if (ahead_ms < 0 || ahead_ms > a_moment_ms) this.#read = { now, at: this.ticks() };
  }

  /** Never ahead of the database's by more than the two have drifted. Undefined: the last reading is too old. */
  now(): Date | undefined {
    if (this.#read === undefined) return undefined;
    const since = this.ticks() - this.#read.at;
    return since > reading_lasts_ms ? undefined : new Date(this.#read.now.getTime() + since);
  }
}

type Kind = 'customer' | 'item';

const nothing = new Span(Buffer.alloc(0), 0, 0);

/** What is kept of one company. What it does not know is undefined. */
export class CompanyMemory {
  readonly #companyId: string;
  readonly #stores: Stores;
  readonly #waryUntil: number;
  readonly #heads = new Map<string, RunningHead>();
  readonly #places = new Map<string, readonly Row[]>();
  #moment: Row | undefined;
  #era: Era = {};

  constructor(companyId: string, stores: Stores, waryUntil = 0) {
    this.#companyId = companyId;
    this.#stores = stores;
    this.#waryUntil = waryUntil;
  }

  /** The head to go on from: the one kept, unless the row of the series has come further. */
  head(series: Row): RunningHead {
    const id = String(series['id']);
    const kept = this.#heads.get(id);
    if (kept !== undefined && kept.head.lastSequence >= Number(series['last_number'])) return kept;
    const running = runningFrom(this.#companyId, series);
    this.#heads.set(id, running);
    return running;
  }

  /** The latest reading of the clock that a document was decided with, in whatever series. */
  latest(): Date | undefined {
    let latest: Date | undefined;
    for (const { now } of this.#heads.values()) if (latest === undefined || (now ?? latest) > latest) latest = now;
    return latest;
  }

  keepMoment(moment: Row): void {
    // Places were read with it.
    if (this.#moment?.['digest'] !== moment['digest']) this.#places.clear();
    this.#moment = moment;
    this.#stores.clock.read(moment['now'] as Date);
  }

  /** As `readMoment` found it, but for the time; of a company in this region, where its days begin. */
  moment(region: Region): Row | undefined {
    const now = this.#stores.clock.now();
    if (now === undefined || this.#moment?.['region'] !== region) return undefined;
    return { ...this.#moment, now };
  }

  /** Series for drafts of a type that name this one, or none (`seriesOfPlaces`); read with the moment that is kept. */
  keepPlaces(type: string, seriesId: string | null, places: readonly Row[]): void {
    this.#places.set(placeKey(type, seriesId), places);
  }

  /** Undefined too for a while after something was not as it was remembered: another process may be numbering as well. */
  places(type: string, seriesId: string | null): readonly Row[] | undefined {
    return this.#stores.clock.ticks() < this.#waryUntil ? undefined : this.#places.get(placeKey(type, seriesId));
  }

  forgetPlaces(): void {
    this.#places.clear();
  }

  keepMasters(kind: Kind, rows: readonly Row[]): void {
    for (const row of rows) this.#stores.masters.set(masterKey(kind, String(row['id'])), { era: this.#era, row });
  }

  master(kind: Kind, id: string): Row | undefined {
    const kept = this.#stores.masters.get(masterKey(kind, id));
    return kept?.era === this.#era ? kept.row : undefined;
  }

  /** A document names them: they are marked as used, and stay so. */
  keepUsed(ids: readonly string[]): void {
    for (const id of ids) if (this.#stores.used.get(id) !== this.#era) this.#stores.used.set(id, this.#era);
  }

  areUsed(ids: readonly string[]): boolean {
    return ids.every((id) => this.#stores.used.get(id) === this.#era);
  }

  /** `besides`: bytes that it takes beside its texts. */
  keepDraft(id: string, parts: Parts<Piece> & { readonly besides: number }): void {
    const { columns, qr, texts, unfolded, besides } = parts;
    const most = mostOfAll(texts);
    if (most > most_draft_bytes) return;
    const bytes = Buffer.allocUnsafeSlow(most);
    let end = 0;
    const ends = texts.map((text) => {
      end = writePieces(bytes, end, [text]);
      return end;
    });
    this.#stores.drafts.set(id, { era: this.#era, columns, qr, unfolded, bytes, ends, weight: besides + most });
  }

  /** Asked for by who issues it, and then forgets it: to move it behind the others would be for nothing. */
  draft(id: string): KeptParts | undefined {
    const kept = this.#stores.drafts.peek(id);
    if (kept?.era !== this.#era) return undefined;
    const { columns, qr, unfolded, bytes, ends } = kept;
    let from = 0;
    const texts = ends.map((end) => {
      const text = end === from ? nothing : new Span(bytes, from, end);
      from = end;
      return text;
    });
    return { columns, qr, texts, unfolded };
  }

  forgetDraft(id: string): void {
    if (this.#stores.drafts.peek(id)?.era === this.#era) this.#stores.drafts.delete(id);
  }

  /** Everything but the heads: what is decided on those may be on its way to its row. */
  forgetRead(): void {
    this.#era = {};
    this.#moment = undefined;
    this.#places.clear();
  }
}

const masterKey = (kind: Kind, id: string): string => `${kind} ${id}`;
const placeKey = (type: string, seriesId: string | null): string => `${type} ${seriesId ?? ''}`;

/** A credential that the database has found valid, and by `ticks` when it last did. */
interface Met {
  readonly principal: Principal;
  readonly at: number;
}

/** What this process remembers of all companies. */
export class Memory {
  readonly #companies = new LRUCache<string, CompanyMemory>({ max: most_companies });
  readonly #credentials = new LRUCache<string, Met>({ max: most_credentials });
  readonly #keys = new LRUCache<string, true>({ max: most_keys });
  readonly #stores: Stores;

  /** `ticks`: milliseconds from whenever, which nobody sets. */
  constructor(ticks: () => number) {
    this.#stores = {
      masters: new LRUCache({ max: most_masters }),
      used: new LRUCache({ max: most_used }),
      drafts: new LRUCache({ maxSize: most_drafts_bytes, sizeCalculation: ({ weight }) => weight }),
      clock: new Clock(ticks),
    };
  }

  of(companyId: string): CompanyMemory {
    let company = this.#companies.get(companyId);
    if (company === undefined) {
      company = new CompanyMemory(companyId, this.#stores);
      this.#companies.set(companyId, company);
    }
    return company;
  }

  /** Something that was decided for this company was not written, or nobody knows. What others hold of it dies with it. */
  forget(companyId: string): void {
    this.#companies.set(companyId, new CompanyMemory(companyId, this.#stores, this.#stores.clock.ticks() + wary_ms));
  }

  /** Who a credential is, by `Entry.subject`: the database has just said so. Invalid ones are never kept, and push out nobody. */
  keepPrincipal(subject: string, principal: Principal): void {
    this.#credentials.set(subject, { principal, at: this.#stores.clock.ticks() });
  }

  principal(subject: string): Principal | undefined {
    return this.#credentials.get(subject)?.principal;
  }

  /** Whether the database found this credential valid in the last 15 minutes, and has not refused it since. */
  wasLatelyValid(subject: string): boolean {
    const met = this.#credentials.get(subject);
    return met !== undefined && this.#stores.clock.ticks() - met.at <= lately_ms;
  }

  forgetPrincipal(subject: string): void {
    this.#credentials.delete(subject);
  }

  /** An idempotency key that was met, by a name of its own. */
  keepKey(name: string): void {
    this.#keys.set(name, true);
  }

  hasKey(name: string): boolean {
    return this.#keys.get(name) === true;
  }
}

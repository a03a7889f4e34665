/**
 * What the simulated AT has registered: series and documents, appended as JSON lines to one file and reloaded at start.
 * Memory holds series whole and of each document only where its last line stands in the file (about 100 bytes), so
 * 100,000 documents stay small inside a service. No fsync: losing the simulator's last lines loses nothing fiscal.
 */
import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Ranges } from './ranges.ts';
import { emptyRanges, gapsOf, include } from './ranges.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** As told by whoever registered it. Times as ISO text, days as YYYY-MM-DD. */
export interface SeriesEntry {
  readonly nif: string;
  readonly series: string;
  readonly kind: string;
  readonly documentClass: string;
  readonly documentCode: string;
  readonly firstNumber: number;
  readonly startDate: string;
  /** The day it was on the Azores when it was registered; absent in older ledgers. */
  readonly registeredOnAzores?: string | undefined;
  readonly processing: string;
  readonly certificateNumber: string;
  readonly validationCode: string;
  readonly registeredOn: string;
  /** A active, N annulled, F finalised. */
  readonly state: 'A' | 'N' | 'F';
  readonly stateAt: string;
  readonly lastNumber?: number | undefined;
  readonly reason?: string | undefined;
  readonly justification?: string | undefined;
}

export interface StatusEntry {
  readonly status: string;
  /** As told by the sender, local time. */
  readonly date: string;
  /** When it arrived here. */
  readonly at: string;
}

/** As told by its issuer; amounts as the text that came. */
export interface DocumentEntry {
  readonly nif: string;
  readonly number: string;
  readonly service: 'invoice' | 'work' | 'payment' | 'transport';
  readonly documentCode: string;
  readonly atcud: string;
  readonly date: string;
  readonly customer: string;
  readonly country?: string | undefined;
  readonly gross?: string | undefined;
  readonly net?: string | undefined;
  readonly tax?: string | undefined;
  /** Digest of all values but the status: tells a resend from a different document. */
  readonly digest: string;
  readonly atDocCode?: string | undefined;
  readonly start?: string | undefined;
  readonly history: readonly StatusEntry[];
}

export interface SeriesStatistics {
  readonly documents: number;
  readonly highest: number;
  /** Numbers missing below the highest, as [from, to], at most 100. */
  readonly gaps: readonly (readonly [number, number])[];
}

export interface Ledger {
  /** All series of a taxpayer, in order of registration. */
  seriesOf(nif: string): readonly SeriesEntry[];
  allSeries(): readonly SeriesEntry[];
  putSeries(entry: SeriesEntry): void;
  document(nif: string, number: string): DocumentEntry | undefined;
  putDocument(entry: DocumentEntry): void;
  statistics(series: SeriesEntry): SeriesStatistics;
  /** Every document, or those of a NIF or with a number, in order of first arrival. */
  documents(filter: { nif?: string | undefined; number?: string | undefined }): Generator<DocumentEntry>;
  count(): number;
  close(): void;
}

/** Opens `directory`/ledger.jsonl; a half-written last line (a crash) is cut off. Throws ELOOP where that is a link. */
export function openLedger(directory: string): Ledger {
  // Never where a link leads: root may keep the ledger in another user's folder.
  const file = openSync(join(directory, 'ledger.jsonl'), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  // One position per document: offset × 65536 + length of its line; both fit a double up to 128 GB.
  const positions = new Map<string, number>();
  // Validation code → series, per taxpayer.
  const series = new Map<string, Map<string, SeriesEntry>>();
  const numbers = new Map<string, Ranges>();
  let closed = false;
  let size = load(file, (line, position) => remember(JSON.parse(line) as Line, position));

  function remember(line: Line, position: number): void {
    if ('series' in line) {
      const own = series.get(line.series.nif) ?? new Map<string, SeriesEntry>();
      series.set(line.series.nif, own.set(line.series.validationCode, line.series));
    } else {
      positions.set(`${line.document.nif}|${line.document.number}`, position);
      note(line.document);
    }
  }

  function note(document: DocumentEntry): void {
    const [code = '', sequence = ''] = document.atcud.split('-');
    const key = `${document.nif}|${code}`;
    numbers.set(key, include(numbers.get(key) ?? emptyRanges, Number(sequence)));
  }

  function append(line: Line): void {
    // The number of a closed file may belong to another one by now.
    if (closed) throw new Error('the simulator ledger is closed');
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    if (bytes.length > 65535) throw new Error('a line of the simulator ledger has at most 64 KB');
    // What goes only half onto a full disk is cut off again: the next line would be joined to it.
    if (writeSync(file, bytes) !== bytes.length) {
      ftruncateSync(file, size);
      throw new Error('there is no room for the simulator ledger');
    }
    remember(line, size * 65536 + bytes.length);
    size += bytes.length;
  }

  function readAt(position: number): DocumentEntry {
    const bytes = Buffer.alloc(position % 65536);
    readSync(file, bytes, 0, bytes.length, Math.floor(position / 65536));
    return (JSON.parse(bytes.toString()) as { document: DocumentEntry }).document;
  }

  function document(nif: string, number: string): DocumentEntry | undefined {
    const position = positions.get(`${nif}|${number}`);
    return position === undefined ? undefined : readAt(position);
  }

  return {
    seriesOf: (nif) => [...(series.get(nif)?.values() ?? [])],
    allSeries: () => [...series.values()].flatMap((own) => [...own.values()]),
    putSeries: (entry) => append({ series: entry }),
    document,
    putDocument: (entry) => append({ document: entry }),
    statistics: (entry) => {
      const seen = numbers.get(`${entry.nif}|${entry.validationCode}`) ?? emptyRanges;
      return {
        documents: seen.count,
        highest: seen.ranges.at(-1)?.[1] ?? 0,
        gaps: gapsOf(seen, entry.firstNumber).slice(0, 100),
      };
    },
    *documents({ nif, number }) {
      for (const [key, position] of positions) {
        const bar = key.indexOf('|');
        if (nif !== undefined && key.slice(0, bar) !== nif) continue;
        if (number !== undefined && key.slice(bar + 1) !== number) continue;
        yield readAt(position);
      }
    },
    count: () => positions.size,
    close: () => {
      if (!closed) closeSync(file);
      closed = true;
    },
  };
}

type Line = { readonly series: SeriesEntry } | { readonly document: DocumentEntry };

/** Hands over each whole line with its position; returns the size of the file, cut after the last whole line. */
function load(file: number, each: (line: string, position: number) => void): number {
  const chunk = Buffer.alloc(1 << 20);
  let rest = Buffer.alloc(0);
  let start = 0;
  for (let at = 0, read = -1; read !== 0; at += read) {
    read = readSync(file, chunk, 0, chunk.length, at);
    let data = Buffer.concat([rest, chunk.subarray(0, read)]);
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10)) {
      each(data.toString('utf8', 0, end), start * 65536 + end + 1);
      start += end + 1;
      data = data.subarray(end + 1);
    }
    rest = Buffer.from(data);
  }
  if (rest.length > 0) ftruncateSync(file, start);
  return start;
}

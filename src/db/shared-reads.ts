/**
 * Reads that share a round trip. Many requests with one credential arrive together; each would pay for a transaction,
 * an entry and a wake-up of the server. Here they wait for nothing but the end of the present turn of the event loop (no
 * timer: a lone read goes at once), and travel as one batch behind one entry: one implicit transaction that changes
 * nothing, in which each statement has a snapshot of its own (read committed). While batches are on their way, what
 * arrives gathers for the next one.
 *
 * The entry runs after each of its members arrived, so that a revoked credential fails on the next request as ever.
 */
import { BatchFailure } from './batch.ts';
import type { Call, Row } from './statement.ts';
import type { Entry } from './transact.ts';

/** Beyond this the last of a batch waits longer than what sharing saves. */
const most_members = 32;
/** One is answered while the next is worked on by the server; more only make the batches smaller. */
const most_on_their_way = 2;

interface Member {
  readonly entry: Entry;
  readonly calls: readonly Call[];
  readonly resolve: (rows: Row[][]) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly waiting: Member[];
  onTheirWay: number;
  scheduled: boolean;
}

/** How a batch is run and how a member is run alone, after the failure of a neighbour: both are the reader's. */
export interface Runner {
  /** The rows of the entry, then those of each call. Throws BatchFailure. */
  run(calls: readonly Call[]): Promise<Row[][]>;
  alone(entry: Entry, calls: readonly Call[]): Promise<Row[][]>;
}

export class SharedReads {
  readonly #runner: Runner;
  readonly #lanes = new Map<string, Lane>();

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** As `Db.read(entry).batch(calls)`, shared with others whose entry has the same `subject`. */
  read(subject: string, entry: Entry, calls: readonly Call[]): Promise<Row[][]> {
    let lane = this.#lanes.get(subject);
    if (lane === undefined) {
      lane = { waiting: [], onTheirWay: 0, scheduled: false };
      this.#lanes.set(subject, lane);
    }
    const { waiting } = lane;
    return new Promise((resolve, reject) => {
      waiting.push({ entry, calls, resolve, reject });
      this.#schedule(subject, lane);
    });
  }

  #schedule(subject: string, lane: Lane): void {
    if (lane.scheduled || lane.onTheirWay >= most_on_their_way || lane.waiting.length === 0) return;
    lane.scheduled = true;
    // The check phase comes after all sockets that were readable in this turn were read.
    setImmediate(() => {
      lane.scheduled = false;
      if (lane.onTheirWay < most_on_their_way) this.#send(subject, lane);
    });
  }

  #send(subject: string, lane: Lane): void {
    const members = lane.waiting.splice(0, most_members);
    const [first] = members;
    if (first === undefined) {
      if (lane.onTheirWay === 0 && !lane.scheduled) this.#lanes.delete(subject);
      return;
    }
    lane.onTheirWay += 1;
    // The server gets the next batch before the answers of this one are written.
    const landed = (): void => {
      lane.onTheirWay -= 1;
      this.#send(subject, lane);
    };
    const calls = [first.entry.call, ...members.flatMap((member) => member.calls)];
    this.#runner.run(calls).then(
      (rows) => {
        landed();
        this.#settle(members, rows, undefined);
      },
      (error: unknown) => {
        landed();
        const failure = error instanceof BatchFailure ? error : undefined;
        this.#settle(members, failure?.rows ?? [], failure?.reason ?? error);
      },
    );
    this.#schedule(subject, lane);
  }

  /** `rows` of as many statements as were answered; `error` of the one after them, if any. */
  #settle(members: readonly Member[], rows: readonly Row[][], error: unknown): void {
    let at = 1;
    let failed = false;
    for (const member of members) {
      const end = at + member.calls.length;
      try {
        // What the entry says comes before any error behind it.
        if (rows[0] !== undefined) member.entry.accept(rows[0]);
        if (end <= rows.length) member.resolve(rows.slice(at, end));
        else if (!failed) member.reject(error);
        // Behind the one that failed the server skipped everything.
        else this.#runner.alone(member.entry, member.calls).then(member.resolve, member.reject);
      } catch (refusal) {
        member.reject(refusal);
      }
      failed ||= end > rows.length;
      at = end;
    }
  }
}

/**
 * Statements of many requests with one credential in one round trip. Each alone would pay for a transaction, an entry
 * and a wake-up of the server. Here they travel as one batch behind one entry: one implicit transaction in which each
 * statement has a snapshot of its own (read committed).
 *
 * The entry runs after each of its members arrived, so that a revoked credential fails on the next request as ever.
 */
import { BatchFailure } from './batch.ts';
import { joinCalls } from './joined.ts';
import { Lanes } from './lanes.ts';
import type { Call, Row } from './statement.ts';
import type { Entry } from './transact.ts';

/** Beyond this the last of a batch waits longer than what sharing saves. */
const most_together = 32;
/** One is answered while the next is worked on by the server; more only make the batches smaller. */
const most_on_their_way = 2;

interface Member {
  readonly entry: Entry;
  readonly calls: readonly Call[];
  readonly resolve: (rows: Row[][]) => void;
  readonly reject: (error: unknown) => void;
}

export interface Sharing {
  /** The rows of the entry, then those of each call. Throws BatchFailure. */
  readonly run: (entry: Entry, calls: readonly Call[]) => Promise<Row[][]>;
  /** A member by itself, after the failure of a neighbour. */
  readonly alone: (entry: Entry, calls: readonly Call[]) => Promise<Row[][]>;
  /**
   * Members write: a failure undoes them all, and each runs again alone. Else those before it have their rows, but where
   * several were joined in one statement, or one was sent behind what others asked after it.
   */
  readonly writes: boolean;
}

/** Keeps what arrived for one subject apart from every other: a batch enters once, with one credential. */
export class SharedBatches {
  readonly #sharing: Sharing;
  readonly #lanes: Lanes<Member>;

  constructor(sharing: Sharing) {
    this.#sharing = sharing;
    this.#lanes = new Lanes({
      together: most_together,
      onTheirWay: most_on_their_way,
      run: (members) => this.#send(members),
    });
  }

  /** As `Db.read(entry).batch(calls)`, shared with others whose entry has the same `subject`. */
  read(subject: string, entry: Entry, calls: readonly Call[]): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      this.#lanes.add(subject, { entry, calls, resolve, reject });
    });
  }

  async #send(members: Member[]): Promise<[]> {
    // What is written is locked, and two batches must not wait for each other: one order for all.
    if (this.#sharing.writes) sortByValues(members);
    const joined = joinCalls(members.map(({ calls }) => calls));
    // Answers are handed out in a turn of their own, once the server has got the next batch.
    try {
      const [entered, ...results] = await this.#sharing.run(members[0]!.entry, joined.calls);
      const rows = [entered!, ...joined.spread(results)];
      setImmediate(() => this.#settle(members, rows, undefined, false));
    } catch (error) {
      const failure = error instanceof BatchFailure ? error : undefined;
      // Of what is undone, or was not sent as it was asked, nothing counts but what the entry said.
      const together = this.#sharing.writes || !isAsAsked(joined.calls, members);
      const rows = together ? failure?.rows.slice(0, 1) : failure?.rows;
      setImmediate(() => this.#settle(members, rows ?? [], failure?.reason ?? error, together && members.length > 1));
    }
    return [];
  }

  /** `rows` of as many statements as were answered; `error` of the one after them, if any; `undone`: it concerns all. */
  #settle(members: readonly Member[], rows: readonly Row[][], error: unknown, undone: boolean): void {
    let at = 1;
    let failed = false;
    for (const member of members) {
      const end = at + member.calls.length;
      try {
        // What the entry says comes before any error behind it.
        if (rows[0] !== undefined) member.entry.accept(rows[0]);
        if (end <= rows.length && !undone) member.resolve(rows.slice(at, end));
        else if (!failed && !undone) member.reject(error);
        // Behind the one that failed the server skipped everything.
        else this.#sharing.alone(member.entry, member.calls).then(member.resolve, member.reject);
      } catch (refusal) {
        member.reject(refusal);
      }
      failed ||= end > rows.length;
      at = end;
    }
  }
}

/** Each call for itself, and in their order: what was answered is told apart by its place. Not so what is joined, or is `last`. */
function isAsAsked(sent: readonly Call[], members: readonly Member[]): boolean {
  const asked = members.flatMap(({ calls }) => calls);
  return sent.length === asked.length && sent.every((call, i) => call === asked[i]);
}

function sortByValues(members: Member[]): void {
  const keys = new Map(members.map((member) => [member, JSON.stringify(member.calls[0]?.[1] ?? [])]));
  members.sort((a, b) => (keys.get(a)! < keys.get(b)! ? -1 : Number(keys.get(a)! > keys.get(b)!)));
}

/**
 * One transaction for several members, each of which goes through its own steps as if it were alone. What they ask in
 * the same turn of the event loop travels as one batch, so a group of any size needs as many round trips as its longest
 * member has steps.
 *
 * Kinds of statements (statement.ts) keep members from harming each other:
 * - `once`: equal calls run once and share their rows: the series that all of them lock, the masters they mark;
 * - `last`: the same, after everything else that travels with it: what is read under the locks of all;
 * - `alone`: locks what one member is going to change, by its id. A second member that asks for the same id, by
 *   whatever statement, is turned away with Crowded: it would decide by what stood there before the first one's change,
 *   and has to come again;
 * - a lock that says nothing of this ends the group: its members run one by one;
 * - all others run for each member; those for lists as one statement with the elements of all (joined.ts).
 *
 * An error of a statement ends the transaction for all of them, and so does what can't be joined.
 */
import { joinCalls } from './joined.ts';
import type { Call, Composed, Row, Statement } from './statement.ts';
import { composed, elementsOf, idOf, keyOf } from './statement.ts';
import type { Tx } from './transact.ts';

/** Another member of the group holds what this one wants to change: it runs after that one. */
export class Crowded extends Error {
  override readonly name = 'Crowded';
}

interface Question {
  readonly calls: readonly Call[];
  readonly resolve: (rows: Row[][]) => void;
  readonly reject: (error: unknown) => void;
  /** Locks are taken in one order by everyone, or two groups would wait for each other. */
  readonly place: string;
}

/** A group in `tx`, which has begun and which its leader commits. */
export class SharedTransaction {
  readonly #tx: Tx;
  readonly #once = new Map<string, Promise<Row[]>>();
  readonly #alone = new Map<string, number>();
  #waiting: Question[] = [];
  #members = 0;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  /** The transaction as one member sees it. It can't commit: that is for whoever leads the group. */
  member(): Tx {
    const number = this.#members++;
    const batch = (calls: readonly Call[]): Promise<Row[][]> => this.#ask(number, calls);
    return {
      query: async <R extends Row>(query: Statement | Composed, values: readonly unknown[] = []) =>
        (await batch(['sql' in query ? composed(query) : [query, values]]))[0] as R[],
      batch,
      commitWith: () => Promise.reject(new Error('a member does not commit')),
    };
  }

  async #ask(member: number, calls: readonly Call[]): Promise<Row[][]> {
    for (const call of calls) this.#takeAlone(member, call);
    const shared = calls.map((call) => (isShared(call) ? this.#askOnce(call) : undefined));
    const own = calls.filter((call) => !isShared(call));
    const lock = own.find(([{ group }]) => group === 'alone');
    const [rows, ...others] = await Promise.all([
      own.length === 0 ? [] : this.#send(own, lock === undefined ? '' : subjectsOf(lock)[0]!),
      ...shared,
    ]);
    let next = 0;
    return others.map((theirs) => theirs ?? rows[next++]!);
  }

  #askOnce(call: Call): Promise<Row[]> {
    const key = keyOf(call);
    let found = this.#once.get(key);
    if (found === undefined) {
      found = this.#send([call], key).then(([rows]) => rows!);
      this.#once.set(key, found);
    }
    return found;
  }

  #takeAlone(member: number, call: Call): void {
    if (call[0].group === 'unshared') throw new Error(`${call[0].name} locks rows and does not say how it is shared`);
    if (call[0].group !== 'alone') return;
    for (const key of subjectsOf(call)) {
      const holder = this.#alone.get(key) ?? member;
      if (holder !== member) throw new Crowded();
      this.#alone.set(key, member);
    }
  }

  #send(calls: readonly Call[], place: string): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ calls, resolve, reject, place });
      // After every member that was just answered has asked its next question.
      if (this.#waiting.length === 1) setImmediate(() => void this.#flush());
    });
  }

  /** Never rejects: whatever goes wrong on the way is an error of everyone who asked. */
  async #flush(): Promise<void> {
    const questions = this.#waiting.sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
    this.#waiting = [];
    try {
      const joined = joinCalls(questions.map(({ calls }) => calls));
      const rows = joined.spread(await this.#tx.batch(joined.calls));
      let at = 0;
      for (const { calls, resolve } of questions) {
        resolve(rows.slice(at, at + calls.length));
        at += calls.length;
      }
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }
}

const isShared = ([{ group }]: Call): boolean => group === 'once' || group === 'last';

/** Ids are unique over all tables, so whoever asks for one asks for the same row. */
function subjectsOf(call: Call): string[] {
  const [{ list }, values] = call;
  return list === undefined
    ? [JSON.stringify(values)]
    : elementsOf(call).map((element) => JSON.stringify([idOf(element)]));
}

/**
 * Transactions of the service; the only others are the operator's as owner (owner-transaction.ts) and those of migrations,
 * backups and restores. Each begins with its entry, the statement that sets which company it may see (row-level security
 * is keyed on app.company_id). What can share a round trip does: a read is one, a transaction is "begin + entry + first
 * statement", its statements, "last statements + commit".
 */
import type { ClientBase, PoolClient } from 'pg';
import { BatchFailure, type BatchResult, runBatch } from './batch.ts';
import { ConnectionLost, isDeadlock, isSpoilt, OutcomeUnknown, StatementError } from './errors.ts';
import { Line, runOnce, type Source } from './line.ts';
import { SharedBatches } from './shared-batches.ts';
import { type Call, type Composed, composed, type Row, type Statement, statement } from './statement.ts';
import { type Turns, turnsFor, turnsToShare, turnsToWrite, waitingFor } from './turns.ts';

export { ByColumn } from './by-column.ts';
export {
  allOr,
  anyId,
  anyOf,
  bytesJson,
  type Call,
  type Composed,
  callFor,
  clock,
  type Element,
  Elements,
  eachOnce,
  inOrderOfIds,
  listStatement,
  oneOr,
  type Row,
  type Statement,
  statement,
  WrittenElement,
} from './statement.ts';
export { Line, type Source };

/**
 * How a transaction gets its reach. `call` runs first; `accept` sees its rows before anything else is believed, and what
 * it throws (a Refusal) rolls back and reaches the caller, in place of any error of the statements behind it.
 */
export interface Entry {
  readonly call: Call;
  /** The same, and the commit does not wait for the disk. Absent: that takes a statement of its own. */
  readonly lazily?: Call;
  /** Whose entry it is: two with the same subject are the same call. Absent: this one shares nothing. */
  readonly subject?: string;
  /**
   * Whose turns it takes beside those of its subject: the company's, which may have many credentials; of one that is not known
   * yet the network's. Absent: nobody's but its own.
   */
  group?: string | undefined;
  accept(rows: Row[]): void;
}

export interface Tx {
  /** Runs one statement. Rejects with StatementError, ConnectionLost, or what the entry threw. */
  query<R extends Row = Row>(query: Statement | Composed, values?: readonly unknown[]): Promise<R[]>;
  /** Runs several in one round trip; their rows in the same order. */
  batch(calls: readonly Call[]): Promise<Row[][]>;
  /** The last statements and COMMIT, in one round trip. Nothing can follow. Can also reject with OutcomeUnknown. */
  commitWith(calls: readonly Call[]): Promise<Row[][]>;
}

export interface Db {
  /**
   * Each query or batch is one round trip with its entry before it, and one implicit transaction of its own. It is
   * committed before `accept` runs: use it for what changes nothing, or for what may stand when the entry is refused.
   * `shared`: for quick statements that change nothing; they may travel with those of others (shared-batches.ts).
   * `lazily`: the same for quick statements that write; their commit does not wait for the disk.
   */
  read(entry: Entry, how?: 'alone' | 'shared' | 'lazily'): Tx;
  /**
   * Runs `fn` in a transaction (read committed), which begins with its first statement and ends with commitWith, with
   * the return of `fn` (commit) or its throw (rollback). An error of a statement can't be swallowed: it comes out again.
   */
  transact<T>(entry: Entry, fn: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * A whole transaction in one round trip, durable when it resolves. Its statements have to stand for themselves: one
   * that finds what it must not find has to fail, and without the entry's reach none may change anything. Rejects with
   * what the entry threw of a failure, StatementError, ConnectionLost (nothing is kept) or OutcomeUnknown. Those of one
   * line are done one after the other, whether or not the one before was kept.
   */
  write(entry: Entry, calls: readonly Call[], line: Line): Promise<void>;
  /** A `write` whose first statements, which only read and lock, are known before the rest. Callers must `write` or `leave`. */
  open(entry: Entry, calls: readonly Call[], line: Line): OpenWrite;
  /** Opens a connection beside the pool and closes it: whether the server lets anybody in. Rejects with DatabaseUnavailable. */
  knock(): Promise<void>;
  /** Waits for connections in use, then closes all. */
  close(): Promise<void>;
}

// Not "read write": a server that was told to take no writes (its disk is nearly full, say) is asked for none, whether they
// come in a transaction like this or in one that has no "begin".
const begin: Call = [statement('begin', 'begin isolation level read committed'), []];
// Not SET LOCAL: where there is no "begin" that only warns.
const lazilyCommit: Call = [statement('commit_lazily', `select set_config('synchronous_commit', 'off', true)`), []];
const commit: Call = [statement('commit', 'commit'), []];
const rollback: Call = [statement('rollback', 'rollback'), []];

/** A transaction whose first statements are sent while the rest is not known yet. */
export interface OpenWrite {
  /** Resolves when the first statements are sent, or can't be. */
  readonly begun: Promise<void>;
  /** Sends the rest and ends it; durable when it resolves. Rejects as `Db.write` does. */
  write(calls: readonly Call[]): Promise<void>;
  /** Ends it without a rest: nothing is changed. */
  leave(): void;
}

/** As long as the pool lets anybody wait for a connection. */
const tenSeconds = waitingFor(10_000);

/** The database over a pool and its lines of batches. Connects when it is first asked. */
export function makeDb(source: Source): Db {
  const turns = turnsFor(source.pool.options.max);
  const turnsOfWrites = turnsToWrite(source.pool.options.max);
  const turnsOfShared = turnsToShare(source.pool.options.max);
  const ways = (run: RoundTrip, writes: boolean) => {
    const alone = (entry: Entry, calls: readonly Call[]): Promise<Row[][]> => {
      const work = () => runAlone(source, entry, calls, run);
      return writes ? work() : inTurn(turns, entry, work);
    };
    const shared = new SharedBatches({
      run: (entry, calls) => {
        const whose = entry.group ?? entry.subject;
        const work = () => run(source, entry, calls);
        return whose === undefined ? work() : turnsOfShared.during(whose, work, tenSeconds);
      },
      alone,
      writes,
    });
    return { alone, shared };
  };
  const reads = ways(runEntered, false);
  const writes = ways(runLazily, true);
  return {
    read(entry, how = 'alone') {
      const { subject } = entry;
      const { alone, shared } = how === 'lazily' ? writes : reads;
      if (how === 'alone' || subject === undefined) return reader((calls) => alone(entry, calls));
      return reader((calls) => shared.read(subject, entry, calls));
    },
    transact(entry, fn) {
      const work = () => transact(source, entry, fn);
      return inTurn(turnsOfWrites, entry, work);
    },
    write: (entry, calls, line) => written(entry, calls.length, line.run(source, [entry.call, ...calls])),
    open(entry, first, line) {
      const run = line.open(source, [entry.call, ...first]);
      return {
        begun: run.begun,
        write: (calls) => written(entry, first.length + calls.length, run.finish(calls)),
        leave: () => void run.finish([]).catch(() => undefined),
      };
    },
    knock: () => source.knock(),
    close: () => source.pool.end(),
  };
}

function inTurn<T>(turns: Turns, { subject, group }: Entry, work: () => Promise<T>): Promise<T> {
  return subject === undefined ? work() : turns.during(subject, work, tenSeconds, group);
}

/** Gives the rows of the entry, then those of each call. Throws BatchFailure. */
type RoundTrip = (source: Source, entry: Entry, calls: readonly Call[]) => Promise<Row[][]>;

const runEntered: RoundTrip = (source, { call }, calls) => runOnce(source, [call, ...calls]);

/** The same, with a commit that does not wait for the disk. */
async function runLazily(source: Source, { call, lazily }: Entry, calls: readonly Call[]): Promise<Row[][]> {
  if (lazily !== undefined) return runOnce(source, [lazily, ...calls]);
  const [entered, , ...rows] = await runOnce(source, [call, lazilyCommit, ...calls]);
  return [entered!, ...rows];
}

async function runAlone(source: Source, entry: Entry, calls: readonly Call[], run: RoundTrip): Promise<Row[][]> {
  try {
    const rows = await run(source, entry, calls);
    entry.accept(rows[0] ?? []);
    return rows.slice(1);
  } catch (error) {
    if (!(error instanceof BatchFailure)) throw error;
    if (error.rows[0] !== undefined) entry.accept(error.rows[0]);
    throw error.reason;
  }
}

/** So many calls behind the entry, committed by the end of the batch: without "begin" all of it is one transaction. */
async function written(entry: Entry, calls: number, run: Promise<Row[][]>): Promise<void> {
  try {
    await run;
  } catch (error) {
    if (!(error instanceof BatchFailure)) throw error;
    const { reason, rows, tags } = error;
    // Kept, but what it returned can't be read: for the caller no better than a lost reply.
    const kept = tags.length > calls && !(reason instanceof StatementError);
    if (kept || (reason instanceof ConnectionLost && reason.sent)) throw new OutcomeUnknown(reason);
    if (rows[0] !== undefined) entry.accept(rows[0]);
    throw reason;
  }
}

/** Reads inside the transaction that a connection is in: they see what it has not committed yet. One at a time. */
export function readsWithin(client: ClientBase): Pick<Db, 'read'> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    read: (entry) =>
      reader((calls) =>
        inTurn(async () => {
          const { rows } = await runBatch(client, [entry.call, ...calls]).catch((error: BatchFailure) => {
            throw error.reason;
          });
          entry.accept(rows[0] ?? []);
          return rows.slice(1);
        }),
      ),
  };
}

function reader(batch: (calls: readonly Call[]) => Promise<Row[][]>): Tx {
  return {
    query: async <R extends Row>(query: Statement | Composed, values?: readonly unknown[]) =>
      (await batch([asCall(query, values)]))[0] as R[],
    batch,
    commitWith: () => Promise.reject(new Error('a read has nothing to commit')),
  };
}

async function transact<T>(source: Source, entry: Entry, fn: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = new Transaction(source, entry);
  let result: T;
  try {
    result = await fn(transaction);
  } catch (error) {
    await transaction.end('rollback');
    throw error;
  }
  await transaction.end('commit');
  return result;
}

class Transaction implements Tx {
  readonly #source: Source;
  readonly #entry: Entry;
  #client: PoolClient | undefined;
  /** Statements of one transaction run one after the other, also when the caller did not wait. */
  #tail: Promise<unknown> = Promise.resolve();
  #begun = false;
  #over = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: Source, entry: Entry) {
    this.#source = source;
    this.#entry = entry;
  }

  async query<R extends Row>(query: Statement | Composed, values?: readonly unknown[]): Promise<R[]> {
    return (await this.#inTurn([asCall(query, values)], false))[0] as R[];
  }

  batch(calls: readonly Call[]): Promise<Row[][]> {
    return this.#inTurn(calls, false);
  }

  commitWith(calls: readonly Call[]): Promise<Row[][]> {
    return this.#inTurn(calls, true);
  }

  /** Ends what is not ended yet, and gives the connection back. */
  async end(how: 'commit' | 'rollback'): Promise<void> {
    await this.#tail.catch(() => undefined);
    if (this.#over) return;
    if (how === 'commit' && this.#failure === undefined && this.#begun) {
      await this.#inTurn([], true).catch(() => undefined);
      if (this.#over) return;
    }
    this.#over = true;
    await this.#rollBack();
    if (how === 'commit' && this.#failure !== undefined) throw this.#failure.error;
  }

  #inTurn(calls: readonly Call[], last: boolean): Promise<Row[][]> {
    const turn = this.#tail.then(
      () => this.#run(calls, last),
      () => this.#run(calls, last),
    );
    this.#tail = turn;
    // Whoever asked sees the error; the tail is only for waiting.
    turn.catch(() => undefined);
    return turn;
  }

  async #run(calls: readonly Call[], last: boolean): Promise<Row[][]> {
    if (this.#over) throw new Error('the transaction is over');
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      return await this.#send(calls, last);
    } catch (failure) {
      const error = failure instanceof BatchFailure ? failure.reason : failure;
      this.#failure = { error };
      throw error;
    }
  }

  async #send(calls: readonly Call[], last: boolean): Promise<Row[][]> {
    this.#client ??= await this.#source.connect();
    if (!this.#begun) {
      this.#begun = true;
      const rows = await this.#open(calls);
      // The entry may refuse, so COMMIT can't travel with it.
      if (last) await this.#commit([]);
      return rows;
    }
    return last ? this.#commit(calls) : (await this.#batch(calls)).rows;
  }

  async #open(calls: readonly Call[]): Promise<Row[][]> {
    try {
      const { rows } = await this.#batch([begin, this.#entry.call, ...calls]);
      this.#entry.accept(rows[1] ?? []);
      return rows.slice(2);
    } catch (error) {
      const entered = error instanceof BatchFailure ? error.rows[1] : undefined;
      if (entered !== undefined) this.#entry.accept(entered);
      throw error;
    }
  }

  async #commit(calls: readonly Call[]): Promise<Row[][]> {
    try {
      const { rows, tags } = await this.#batch([...calls, commit]);
      // COMMIT of an aborted transaction answers ROLLBACK, without an error.
      if (tags.at(-1) !== 'COMMIT') throw new Error('the server rolled the transaction back');
      this.#over = true;
      this.#release(false);
      return rows.slice(0, -1);
    } catch (error) {
      if (!(error instanceof BatchFailure)) throw error;
      const { reason } = error;
      // Kept, but what it returned can't be read: for the caller no better than a lost reply.
      const kept = error.tags.length > calls.length;
      if (kept || (reason instanceof ConnectionLost && reason.sent)) throw new OutcomeUnknown(reason);
      throw error;
    }
  }

  #batch(calls: readonly Call[]): Promise<BatchResult> {
    if (this.#client === undefined) throw new Error('the transaction has no connection');
    return runBatch(this.#client, calls, this.#source.deadline);
  }

  async #rollBack(): Promise<void> {
    if (this.#client === undefined) return;
    const error = this.#failure?.error;
    if (!this.#begun || isSpoilt(error)) {
      this.#release(isSpoilt(error));
      return;
    }
    try {
      await this.#batch([rollback]);
      this.#release(false);
    } catch {
      // The server rolls back what a closed connection left open.
      this.#release(true);
    }
  }

  #release(destroy: boolean): void {
    this.#client?.release(destroy);
    this.#client = undefined;
  }
}

/**
 * Two transactions that wait for each other: the server ends one, which is tried again from its first statement. Everyone
 * locks documents, series, masters, in this order; only a draft that comes between two locks of a change, a note before its
 * invoice, or a draft that is issued under locks while it is written without them (stampDraft) can upset it.
 */
export async function untangled<T>(work: () => Promise<T>, tries = 3): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || attempt === tries) throw error;
    }
  }
}

function asCall(query: Statement | Composed, values: readonly unknown[] = []): Call {
  return 'sql' in query ? composed(query) : [query, values];
}

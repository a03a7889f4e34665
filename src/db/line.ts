/** Whole transactions in one round trip each: on a connection of their own, or in line on one. */
import type { Pool, PoolClient } from 'pg';
import { BatchFailure, type BatchResult, openBatch, runBatch } from './batch.ts';
import { isSpoilt } from './errors.ts';
import type { Call, Row } from './statement.ts';

export interface Source {
  /** A connection of the pool. Rejects with DatabaseUnavailable. */
  connect(): Promise<PoolClient>;
  /** Opens a connection beside the pool and closes it. Rejects with DatabaseUnavailable. */
  knock(): Promise<void>;
  readonly pool: Pool;
  /** Milliseconds after which an unanswered round trip counts as a broken connection. */
  readonly deadline: number;
}

/** One implicit transaction on a connection of its own. Throws BatchFailure. */
export function runOnce(source: Source, calls: readonly Call[]): Promise<Row[][]> {
  return new Line().run(source, calls);
}

/** A transaction whose first calls are sent. */
export interface OpenRun {
  /** Resolves when the first calls are sent, or can't be. */
  readonly begun: Promise<void>;
  /** The rest, and its end: the rows of all calls. To be called once. Throws BatchFailure. */
  finish(calls: readonly Call[]): Promise<Row[][]>;
}

/** A connection while something is under way on it. */
interface Held {
  readonly connecting: Promise<PoolClient>;
  underWay: number;
  /** The connection must not be used again. */
  spoilt: boolean;
}

/**
 * Transactions that are sent one behind the other on one connection, without waiting for each other's answers: the server
 * begins with the next as it ends one. Each fails or is kept for itself. The connection is given back when nothing is under
 * way on it.
 */
export class Line {
  #held: Held | undefined;

  /** One implicit transaction. Throws BatchFailure. */
  run(source: Source, calls: readonly Call[]): Promise<Row[][]> {
    return this.#during(source, async (client) => runBatch(await client, calls, source.deadline));
  }

  /** The same, when only the first calls are known yet: they are sent. What comes on this line meanwhile waits for its end. */
  open(source: Source, calls: readonly Call[]): OpenRun {
    let finish: (rest: readonly Call[]) => void = () => undefined;
    const rest = new Promise<readonly Call[]>((resolve) => {
      finish = resolve;
    });
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const rows = this.#during(source, async (client) => {
      const batch = openBatch(await client, calls, source.deadline);
      begin();
      // Failed already, it is not waited for: whoever still makes the rest would hold a connection that is of no use.
      await Promise.race([rest.then((more) => batch.finish(more)), batch.result]);
      return batch.result;
    });
    rows.catch(begin);
    return {
      begun,
      finish(calls) {
        finish(calls);
        return rows;
      },
    };
  }

  async #during(source: Source, work: (client: Promise<PoolClient>) => Promise<BatchResult>): Promise<Row[][]> {
    this.#held ??= { connecting: source.connect(), underWay: 0, spoilt: false };
    const held = this.#held;
    held.underWay += 1;
    try {
      const { rows } = await work(held.connecting);
      return rows;
    } catch (error) {
      if (!(error instanceof BatchFailure) || isSpoilt(error.reason)) this.#spoil(held);
      throw error;
    } finally {
      held.underWay -= 1;
      if (held.underWay === 0) this.#giveBack(held);
    }
  }

  /** Whoever comes now has another connection. */
  #spoil(held: Held): void {
    held.spoilt = true;
    if (this.#held === held) this.#held = undefined;
  }

  #giveBack(held: Held): void {
    if (this.#held === held) this.#held = undefined;
    held.connecting.then(
      (client) => client.release(held.spoilt),
      () => undefined,
    );
  }
}

/**
 * Fair queues: how much work of one subject, and of all together, is done at once; the rest waits, and subjects take turns.
 * So one that is slow, or asks for much, never holds all places. Used for the connections of the pool, by credential, and for
 * downloads, by company.
 */
import { DatabaseUnavailable } from './errors.ts';

/** How much is done at once. */
export interface TurnsOptions {
  readonly perSubject: number;
  /** Of all subjects. */
  readonly together: number;
}

/** Limits a wait: calls `tooLate` when it is to be given up. Returns a function that ends the watching. */
export type Patience = (tooLate: (why: Error) => void) => () => void;

/** Work of one subject begins in the order in which it came; subjects take turns. */
export class Turns {
  readonly #options: TurnsOptions;
  /** What begins each, by subject, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #ofOne = new Map<string, number>();
  #ofAll = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Does the work when its turn comes. Throws why that was given up, or what the work throws. */
  async during<T>(subject: string, work: () => Promise<T>, patience: Patience): Promise<T> {
    if (this.#waiting.has(subject) || !this.#isFree(subject)) await this.#turnOf(subject, patience);
    else this.#count(subject, 1);
    try {
      return await work();
    } finally {
      this.#count(subject, -1);
      this.#next();
    }
  }

  #isFree(subject: string): boolean {
    return this.#ofAll < this.#options.together && (this.#ofOne.get(subject) ?? 0) < this.#options.perSubject;
  }

  #count(subject: string, more: number): void {
    this.#ofAll += more;
    const ofOne = (this.#ofOne.get(subject) ?? 0) + more;
    if (ofOne === 0) this.#ofOne.delete(subject);
    else this.#ofOne.set(subject, ofOne);
  }

  #turnOf(subject: string, patience: Patience): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        stop();
        resolve();
      };
      const own = this.#waiting.get(subject);
      if (own === undefined) this.#waiting.set(subject, [begin]);
      else own.push(begin);
      const stop = patience((why) => {
        this.#leave(subject, begin);
        reject(why);
      });
    });
  }

  #leave(subject: string, begin: () => void): void {
    const others = this.#waiting.get(subject)?.filter((other) => other !== begin) ?? [];
    if (others.length === 0) this.#waiting.delete(subject);
    else this.#waiting.set(subject, others);
  }

  /** Begins whatever may begin now. */
  #next(): void {
    for (const [subject, own] of [...this.#waiting]) {
      if (!this.#isFree(subject)) continue;
      const begin = own.shift()!;
      this.#waiting.delete(subject);
      // Behind all others: it is their turn now.
      if (own.length > 0) this.#waiting.set(subject, own);
      this.#count(subject, 1);
      begin();
    }
  }
}

/** Of a pool of so many connections, for reads: half for one subject, three quarters for all of them. */
export function turnsFor(connections: number): Turns {
  return new Turns({
    perSubject: Math.max(1, Math.floor(connections / 2)),
    together: Math.max(1, connections - Math.floor(connections / 4)),
  });
}

/**
 * The same for transactions: three eighths for one subject, which with its reads leaves an eighth to others, and no bound for
 * all of them. They wait for none but their own: one that has begun may need a read to end.
 */
export function turnsToWrite(connections: number): Turns {
  return new Turns({ perSubject: Math.max(1, Math.floor((3 * connections) / 8)), together: Number.POSITIVE_INFINITY });
}

/** For so many milliseconds; then with DatabaseUnavailable. */
export const waitingFor =
  (longest_ms: number): Patience =>
  (tooLate) => {
    const timer = setTimeout(
      () =>
        tooLate(
          new DatabaseUnavailable(`What one credential asks had no connection within ${longest_ms / 1000} seconds.`),
        ),
      longest_ms,
    ).unref();
    return () => clearTimeout(timer);
  };

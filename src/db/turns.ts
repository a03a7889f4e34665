/**
 * Reads that wait for a connection in turn. However slow those of one credential are, and however many come at once, they
 * never hold all connections of the pool: others are written for and read for meanwhile.
 */
import { DatabaseUnavailable } from './errors.ts';

/** How many are done at once. */
export interface TurnsOptions {
  readonly perSubject: number;
  /** Of all subjects. */
  readonly together: number;
  /** Whoever waited so long is refused; milliseconds. */
  readonly longestWait: number;
}

interface Waiting {
  readonly begin: () => void;
  /** Refused meanwhile. */
  over: boolean;
}

interface Lane {
  readonly waiting: Waiting[];
  underWay: number;
}

/** Those of one subject are begun in the order in which they came; those of several in turn. */
export class Turns {
  readonly #options: TurnsOptions;
  /** By subject; who was begun last stands last. One without anything waiting or under way goes. */
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Does the work when its turn comes. Throws DatabaseUnavailable when it does not come in time, or what the work throws. */
  async during<T>(subject: string, work: () => Promise<T>): Promise<T> {
    let lane = this.#lanes.get(subject);
    if (lane === undefined) {
      lane = { waiting: [], underWay: 0 };
      this.#lanes.set(subject, lane);
    }
    if (lane.waiting.length === 0 && this.#isFree(lane)) this.#begin(subject, lane);
    else await this.#turnOf(lane);
    try {
      return await work();
    } finally {
      lane.underWay -= 1;
      this.#underWay -= 1;
      this.#next();
    }
  }

  #isFree(lane: Lane): boolean {
    return this.#underWay < this.#options.together && lane.underWay < this.#options.perSubject;
  }

  #turnOf({ waiting }: Lane): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn: Waiting = {
        over: false,
        begin() {
          clearTimeout(timer);
          resolve();
        },
      };
      const { longestWait } = this.#options;
      const timer = setTimeout(() => {
        turn.over = true;
        reject(
          new DatabaseUnavailable(`Reads of one credential had no connection within ${longestWait / 1000} seconds.`),
        );
      }, longestWait);
      timer.unref();
      waiting.push(turn);
    });
  }

  #begin(subject: string, lane: Lane): void {
    lane.underWay += 1;
    this.#underWay += 1;
    // Behind all others.
    this.#lanes.delete(subject);
    this.#lanes.set(subject, lane);
  }

  /** Begins whatever may begin now. */
  #next(): void {
    for (const [subject, lane] of [...this.#lanes]) {
      while (lane.waiting[0]?.over === true) lane.waiting.shift();
      if (lane.waiting.length === 0) {
        if (lane.underWay === 0) this.#lanes.delete(subject);
      } else if (this.#isFree(lane)) {
        this.#begin(subject, lane);
        lane.waiting.shift()!.begin();
      }
    }
  }
}

/** As long as the pool lets anybody wait for a connection. */
const longest_wait_ms = 10_000;

/** Of a pool of so many connections: half for one subject, three quarters for all of them. */
export function turnsFor(connections: number): Turns {
  return new Turns({
    perSubject: Math.max(1, Math.floor(connections / 2)),
    together: Math.max(1, connections - Math.floor(connections / 4)),
    longestWait: longest_wait_ms,
  });
}

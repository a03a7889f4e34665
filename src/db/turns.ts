/**
 * Fair queues: how much work of one subject, of a group of subjects, and of all together, is done at once; the rest waits, and
 * subjects take turns. So one that is slow, or asks for much, never holds all places, nor do several that are somebody's. Used
 * for the connections of the pool, by credential and company, and for downloads, by company.
 */
import { DatabaseUnavailable } from './errors.ts';

/** How much is done at once. */
export interface TurnsOptions {
  readonly perSubject: number;
  /** Of all subjects of one group; absent: no bound but the others. */
  readonly perGroup?: number;
  /** Of all subjects. */
  readonly together: number;
}

/** Limits a wait: calls `tooLate` when it is to be given up. Returns a function that ends the watching. */
export type Patience = (tooLate: (why: Error) => void) => () => void;

/** Whose work it is. */
interface Whose {
  readonly subject: string;
  /** Undefined: not known, or of none. */
  readonly group: string | undefined;
}

/** Work that waits for its turn. */
interface Waiting extends Whose {
  readonly begin: () => void;
}

/** Work of one subject begins in the order in which it came; subjects take turns. */
export class Turns {
  readonly #options: TurnsOptions;
  /** By subject, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #ofOne = new Map<string, number>();
  readonly #ofGroup = new Map<string, number>();
  #ofAll = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Does the work when its turn comes. Throws why that was given up, or what the work throws. */
  async during<T>(subject: string, work: () => Promise<T>, patience: Patience, group?: string): Promise<T> {
    const whose = { subject, group };
    if (this.#waiting.has(subject) || !this.#isFree(whose)) await this.#turnOf(whose, patience);
    else this.#count(whose, 1);
    try {
      return await work();
    } finally {
      this.#count(whose, -1);
      this.#next();
    }
  }

  #isFree({ subject, group }: Whose): boolean {
    const { perSubject, perGroup = Number.POSITIVE_INFINITY, together } = this.#options;
    if (this.#ofAll >= together || (this.#ofOne.get(subject) ?? 0) >= perSubject) return false;
    return group === undefined || (this.#ofGroup.get(group) ?? 0) < perGroup;
  }

  #count({ subject, group }: Whose, more: number): void {
    this.#ofAll += more;
    add(this.#ofOne, subject, more);
    if (group !== undefined) add(this.#ofGroup, group, more);
  }

  #turnOf(whose: Whose, patience: Patience): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        stop();
        resolve();
      };
      const { subject } = whose;
      const waiting = { ...whose, begin };
      const own = this.#waiting.get(subject);
      if (own === undefined) this.#waiting.set(subject, [waiting]);
      else own.push(waiting);
      const stop = patience((why) => {
        this.#leave(waiting);
        reject(why);
      });
    });
  }

  #leave(gone: Waiting): void {
    const others = this.#waiting.get(gone.subject)?.filter((other) => other !== gone) ?? [];
    if (others.length === 0) this.#waiting.delete(gone.subject);
    else this.#waiting.set(gone.subject, others);
  }

  /** Begins whatever may begin now. */
  #next(): void {
    for (const [subject, own] of [...this.#waiting]) {
      const [first] = own;
      if (first === undefined || !this.#isFree(first)) continue;
      own.shift();
      this.#waiting.delete(subject);
      // Behind all others: it is their turn now.
      if (own.length > 0) this.#waiting.set(subject, own);
      this.#count(first, 1);
      first.begin();
    }
  }
}

/** What is none is not kept. */
function add(counts: Map<string, number>, name: string, more: number): void {
  const count = (counts.get(name) ?? 0) + more;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

/** Of a pool of so many connections, for reads: half for one company, three quarters for all of them. */
export function turnsFor(connections: number): Turns {
  return new Turns({
    ...ofCompany(Math.floor(connections / 2)),
    together: Math.max(1, connections - Math.floor(connections / 4)),
  });
}

/**
 * The same for transactions: three eighths for one company, which with its reads leaves an eighth to others, and no bound for
 * all of them. They wait for none but their own: one that has begun may need a read to end.
 */
export function turnsToWrite(connections: number): Turns {
  return new Turns({ ...ofCompany(Math.floor((3 * connections) / 8)), together: Number.POSITIVE_INFINITY });
}

/**
 * For batches of quick statements that many requests share: a quarter for each company, or for each network of credentials that
 * are not known yet. They are as quick as their wait for a connection is short, so that wait must not grow with the number of
 * somebody's credentials.
 */
export function turnsToShare(connections: number): Turns {
  return new Turns({ perSubject: Math.max(1, Math.floor(connections / 4)), together: Number.POSITIVE_INFINITY });
}

/** One credential leaves a place to the others of its company, where there are more than two. */
function ofCompany(most: number): Pick<TurnsOptions, 'perSubject' | 'perGroup'> {
  const perGroup = Math.max(1, most);
  return { perSubject: perGroup > 2 ? perGroup - 1 : perGroup, perGroup };
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

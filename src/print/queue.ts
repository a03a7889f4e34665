/**
 * Prints that wait for the typesetter. Companies take turns, so that one that prints much keeps another waiting for a
 * print or two; what is asked for again while it waits or is made is made once; and what waits is bounded.
 */
import { Refusal } from '../fiscal/refusal.ts';

/** Which print it is. */
export interface Ticket {
  /** Whose it is; they take turns. */
  readonly whose: string;
  /** Two with the same name are the same print. */
  readonly name: string;
}

export interface QueueLimits {
  /** Prints that are made at once. */
  readonly together: number;
  /** Sizes of the prints that callers of one may wait for, added up; one of each may always wait. */
  readonly mostOfOne: number;
  /** The same of all together. */
  readonly mostOfAll: number;
}

interface Job {
  readonly ticket: Ticket;
  readonly start: () => Promise<void>;
}

const busy_seconds = 5;

/** One queue before all typesetters of a process. */
export class PrintQueue {
  readonly #limits: QueueLimits;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #sizes = new Map<string, number>();
  readonly #known = new Map<string, Promise<Uint8Array>>();
  #ofAll = 0;
  #working = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** What `make` resolves with, when its turn has come. Rejects with DOWNLOADS_BUSY, or what `make` rejects with. */
  run(ticket: Ticket, size: number, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const { name, whose } = ticket;
    const { mostOfOne, mostOfAll } = this.#limits;
    const ofOne = this.#sizes.get(whose) ?? 0;
    if (ofOne > 0 && (ofOne + size > mostOfOne || this.#ofAll + size > mostOfAll)) {
      return Promise.reject(new Refusal('DOWNLOADS_BUSY', {}, { retryAfterSeconds: busy_seconds }));
    }
    // Whoever waits has read the document, also for a print that is made already.
    this.#count(whose, size);
    const print = this.#known.get(name) ?? this.#begin(ticket, make);
    return print.finally(() => this.#count(whose, -size));
  }

  #begin(ticket: Ticket, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const print = new Promise<Uint8Array>((resolve, reject) => {
      this.#add({ ticket, start: () => make().then(resolve, reject) });
    });
    this.#known.set(ticket.name, print);
    this.#next();
    return print;
  }

  #add(job: Job): void {
    const { whose } = job.ticket;
    const own = this.#waiting.get(whose);
    if (own === undefined) this.#waiting.set(whose, [job]);
    else own.push(job);
  }

  #next(): void {
    for (const [whose, jobs] of this.#waiting) {
      if (this.#working >= this.#limits.together) return;
      const job = jobs.shift()!;
      this.#waiting.delete(whose);
      // Behind all others: it is their turn now.
      if (jobs.length > 0) this.#waiting.set(whose, jobs);
      void this.#work(job);
    }
  }

  async #work({ ticket, start }: Job): Promise<void> {
    this.#working += 1;
    await start();
    this.#working -= 1;
    this.#known.delete(ticket.name);
    this.#next();
  }

  #count(whose: string, size: number): void {
    this.#ofAll += size;
    const ofOne = (this.#sizes.get(whose) ?? 0) + size;
    if (ofOne === 0) this.#sizes.delete(whose);
    else this.#sizes.set(whose, ofOne);
  }
}

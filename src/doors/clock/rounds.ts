/**
 * Work that companies have at the AT, each for itself: one that is slow holds up none of the others. So many are at work at
 * once; the rest waits in the order in which it was found, and who is not done comes behind it.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface RoundsOptions {
  /** Companies at work at once. */
  readonly atOnce: number;
  /** Companies that have work now. */
  readonly due: () => Promise<readonly string[]>;
  /** Does some of it; true when there may be more at once. */
  readonly work: (companyId: string) => Promise<boolean>;
  /** Hears what went wrong, of a company or of asking who has work. It is tried again with the next look. */
  readonly failed: (error: unknown, companyId?: string) => void;
  /** Milliseconds between two looks at least, however many ask for one. */
  readonly pause: () => number;
}

/** `atOnce` companies at work at a time, each once. */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #waiting = new Set<string>();
  readonly #atWork = new Map<string, Promise<void>>();
  /** At work, and found to have work meanwhile. */
  readonly #again = new Set<string>();
  readonly #stopping = new AbortController();
  #looking: Promise<void> | undefined;
  #wanted = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Somebody may have work. */
  look(): void {
    this.#wanted = true;
    if (this.#stopping.signal.aborted) return;
    this.#looking ??= this.#look();
  }

  /** Ends after what is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    await Promise.all(this.#atWork.values());
  }

  async #look(): Promise<void> {
    const { due, failed, pause } = this.#options;
    const { signal } = this.#stopping;
    while (this.#wanted && !signal.aborted) {
      this.#wanted = false;
      try {
        for (const companyId of await due()) (this.#atWork.has(companyId) ? this.#again : this.#waiting).add(companyId);
      } catch (error) {
        failed(error);
      }
      this.#begin();
      await sleep(pause(), undefined, { signal }).catch(() => undefined);
    }
    this.#looking = undefined;
  }

  #begin(): void {
    for (const companyId of this.#waiting) {
      if (this.#stopping.signal.aborted || this.#atWork.size >= this.#options.atOnce) return;
      this.#waiting.delete(companyId);
      this.#atWork.set(companyId, this.#work(companyId));
    }
  }

  /** Never rejects. */
  async #work(companyId: string): Promise<void> {
    // Whoever works is among those at work first.
    await undefined;
    let more = false;
    try {
      more = await this.#options.work(companyId);
      more ||= this.#again.has(companyId);
    } catch (error) {
      this.#options.failed(error, companyId);
    }
    this.#again.delete(companyId);
    this.#atWork.delete(companyId);
    if (more) this.#waiting.add(companyId);
    this.#begin();
  }
}

/**
 * Services of the AT that could not be reached for a company, and since when. A call that never left this machine is no
 * attempt in the document's row, where an attempt says that the AT may have it already: so how long to wait is kept here. In
 * memory alone: nothing depends on it, and whoever starts anew finds out again.
 */

/** Longer ago than two of the longest waits it says nothing of now: another process may have reached it meanwhile. */
const stale_ms = 600_000;

/** Keys are the caller's: a company and a service. */
export class Unreached {
  readonly #milliseconds: () => number;
  readonly #of = new Map<string, { readonly since: number; readonly last: number }>();

  constructor(milliseconds = () => performance.now()) {
    this.#milliseconds = milliseconds;
  }

  /** Not reached, perhaps again: for how many seconds by now. */
  failed(key: string): number {
    const now = this.#milliseconds();
    const known = this.#of.get(key);
    const since = known === undefined || now - known.last > stale_ms ? now : known.since;
    this.#of.set(key, { since, last: now });
    return (now - since) / 1000;
  }

  reached(key: string): void {
    this.#of.delete(key);
  }
}

/**
 * The limit of an address (contract decisions 1): requests that end without a valid credential. It is used up by whoever is
 * at that address, a broken program next door or all who come through one proxy; who is known to be valid is let through,
 * and who may be is tried (docs/decisions/0094-valid-callers-pass.md).
 */
import { fixedMinuteRate, type Rate, rateLimited } from './rate.ts';

/** One trial for so many requests of the limit, and one at least. */
const failures_per_trial = 100;

/** The limits of all addresses, by network, in one process. */
export class AddressLimit {
  readonly #failures: Rate;
  /** Credentials that were tried beyond the limit: of an address, and each by itself. */
  readonly #trials: Rate;
  readonly #tried: Rate;

  /** `perMinute` 0 switches off. `clock` gives milliseconds. */
  constructor(perMinute: number, clock: () => number) {
    this.#failures = fixedMinuteRate(perMinute, clock);
    this.#trials = fixedMinuteRate(Math.ceil(perMinute / failures_per_trial), clock);
    this.#tried = fixedMinuteRate(1, clock);
  }

  /** Then only known callers and trials get on. */
  isUsedUp(network: string): boolean {
    return this.#failures.isUsedUp(network);
  }

  /**
   * Throws RATE_LIMITED unless this credential was not tried yet in this minute and the address has a trial left. `subject`
   * undefined: there is nothing to be tried.
   */
  takeTrial(network: string, subject: string | undefined): void {
    if (subject === undefined) {
      this.#failures.check(network);
      return;
    }
    const trial = `${network} ${subject}`;
    this.#tried.check(trial);
    const left = this.#trials.take(network);
    if (left?.exceeded === true) throw rateLimited(left);
    this.#tried.count(trial);
  }

  /** Counts a request that has ended without a valid credential. */
  count(network: string): void {
    this.#failures.count(network);
  }
}

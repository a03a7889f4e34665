/**
 * What the log says of the clock's work that failed and is done again. A fault of ours comes with its stack, each one. What
 * the database can't do for a while is foreseen, and met again with each sweep: a line that names the cause, and equal ones
 * once a minute with how many there were.
 */
import type { Logger } from 'pino';
import { isPassing, isReadOnly, StatementError } from '../../db/errors.ts';

const window_ms = 60_000;

interface Told {
  readonly at: number;
  /** Since then. */
  leftOut: number;
}

/** One for all of the clock's work, so that the same cause is told once. */
export class Failing {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #told = new Map<string, Told>();

  /** `now` in milliseconds, of a clock that never goes back. */
  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** `words` say what failed and when it is done again. */
  note(error: unknown, words: string, facts: Readonly<Record<string, unknown>> = {}): void {
    if (!isPassing(error) && !isReadOnly(error)) {
      this.#log.error({ err: error, ...facts }, words);
      return;
    }
    const { name, message } = error as Error;
    const sqlstate = error instanceof StatementError ? error.code : undefined;
    // Not by the words of the cause: there are as many as there are rows and files.
    const key = `${words} ${sqlstate ?? name}`;
    const told = this.#told.get(key);
    if (told !== undefined && this.#now() - told.at < window_ms) {
      told.leftOut += 1;
      return;
    }
    const more = told?.leftOut || undefined;
    this.#told.set(key, { at: this.#now(), leftOut: 0 });
    this.#log.warn({ ...facts, cause: message, sqlstate, more }, words);
  }
}

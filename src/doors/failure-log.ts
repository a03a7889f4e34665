/**
 * What the log says of work that failed. A bug of ours is logged every time, with its stack. What the database can't do for
 * a while (no connection, no room on its disk), or the tax authority does not answer, is expected, and every attempt meets it
 * again: that is one line with the cause and no stack, then at most one line per window that counts what was left out.
 */
import type { Logger } from 'pino';
import { isPassing, isReadOnly, OutcomeUnknown } from '../db/errors.ts';

/** PostgreSQL manual, appendix A: classes begin with a digit, or are one of these. CE: our own. */
const sqlstates = /^(?:\d[0-9A-Z]|CE|F0|HV|P0|XX)[0-9A-Z]{3}$/;
/** Causes of causes that are told: more is a circle. */
const deepest = 5;

type Facts = Readonly<Record<string, unknown>>;

/** From the first line until a window passes in which nothing was left out. */
interface Repeated {
  readonly level: 'info' | 'warn';
  readonly facts: Facts;
  readonly words: string;
  readonly timer: NodeJS.Timeout;
  /** Since the last line. */
  leftOut: number;
}

/** Share one among all work that should log the same cause only once. */
export class FailureLog {
  readonly #log: Logger;
  readonly #window_ms: number;
  readonly #repeated = new Map<string, Repeated>();

  constructor(log: Logger, window_ms: number) {
    this.#log = log;
    this.#window_ms = window_ms;
  }

  /** Logs work that is tried again. `words` say what failed and when that is; `occurrence`: see `passing`. */
  note(error: unknown, words: string, occurrence: Facts = {}): void {
    // Whether a commit whose answer was lost took effect need not be known: the work is looked for again.
    const isExpected = isPassing(error) || isReadOnly(error) || error instanceof OutcomeUnknown;
    if (isExpected) this.passing(error, words, {}, occurrence);
    else this.fault(error, words, occurrence);
  }

  /** Logs a bug, with its stack. */
  fault(error: unknown, words: string, facts: Facts): void {
    this.#log.error({ err: error, ...facts }, words);
  }

  /**
   * Logs what passes. Failures with the same `words`, `facts` and cause are counted together; `occurrence` tells of this one
   * alone, and stands in the first line only.
   */
  passing(error: unknown, words: string, facts: Facts, occurrence: Facts): void {
    const all = { ...facts, ...causeOf(error) };
    // By SQLSTATE rather than by message: messages name rows and files, and there are as many of them.
    const key = JSON.stringify([words, facts, all.sqlstate ?? all.cause]);
    this.#tell(key, { level: 'warn', facts: all, words }, occurrence);
  }

  /** Logs that the tax authority gave no answer: `problem` says which way. Counted by `words` and `problem`. */
  unanswered(problem: string, words: string, occurrence: Facts): void {
    this.#tell(JSON.stringify([words, problem]), { level: 'info', facts: { problem }, words }, occurrence);
  }

  #tell(key: string, line: Pick<Repeated, 'level' | 'facts' | 'words'>, occurrence: Facts): void {
    const repeated = this.#repeated.get(key);
    if (repeated !== undefined) {
      repeated.leftOut += 1;
      return;
    }
    this.#log[line.level]({ ...occurrence, ...line.facts }, line.words);
    const timer = setInterval(() => this.#windowEnds(key), this.#window_ms).unref();
    this.#repeated.set(key, { ...line, timer, leftOut: 0 });
  }

  /** Logs what was left out so far. */
  close(): void {
    for (const [key, repeated] of this.#repeated) {
      this.#tellLeftOut(repeated);
      this.#forget(key, repeated);
    }
  }

  #windowEnds(key: string): void {
    const repeated = this.#repeated.get(key)!;
    if (repeated.leftOut === 0) this.#forget(key, repeated);
    this.#tellLeftOut(repeated);
    repeated.leftOut = 0;
  }

  #tellLeftOut({ level, facts, words, leftOut }: Repeated): void {
    if (leftOut > 0) this.#log[level]({ ...facts, more: leftOut }, words);
  }

  #forget(key: string, { timer }: Repeated): void {
    clearInterval(timer);
    this.#repeated.delete(key);
  }
}

/** Its message and those of its causes, without the server's DETAIL, which can hold values of a row. */
function causeOf(error: unknown): { cause?: string; sqlstate?: string } {
  const messages: string[] = [];
  let sqlstate: string | undefined;
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < deepest; depth += 1) {
    messages.push(cause.message);
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && sqlstates.test(code)) sqlstate ??= code;
    cause = cause.cause;
  }
  return { ...(messages.length > 0 && { cause: messages.join(': ') }), ...(sqlstate !== undefined && { sqlstate }) };
}

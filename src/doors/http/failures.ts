/**
 * What the log says of requests that failed. A fault of ours comes with its stack, each one. What is out of order for a while
 * (503) is foreseen: a line that names the cause, and equal ones once a second with how many there were.
 */
import type { Logger } from 'pino';
import type { Refusal } from '../../fiscal/refusal.ts';

const window_ms = 1_000;
/** PostgreSQL manual, appendix A: classes begin with a digit, or are one of these. CE: our own. */
const sqlstates = /^(?:\d[0-9A-Z]|CE|F0|HV|P0|XX)[0-9A-Z]{3}$/;
/** Causes of causes that are told: more is a circle. */
const deepest = 5;

export interface Failures {
  /** `error`: what was thrown, the refusal itself or what it stands for. */
  note(refusal: Refusal, error: unknown, requestId: string): void;
  /** Says what is not said yet. */
  close(): void;
}

interface Window {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly timer: NodeJS.Timeout;
  /** Since the last line. */
  leftOut: number;
}

/** Tells nothing of refusals below 500: those are the caller's. */
export function openFailures(log: Logger): Failures {
  const windows = new Map<string, Window>();

  /** Whether there was something to say. */
  function say({ facts, leftOut }: Window): boolean {
    if (leftOut > 0) log.warn({ ...facts, more: leftOut }, 'request failed');
    return leftOut > 0;
  }

  function secondEnds(name: string): void {
    const window = windows.get(name)!;
    if (!say(window)) forget(name, window);
    window.leftOut = 0;
  }

  function forget(name: string, { timer }: Window): void {
    clearInterval(timer);
    windows.delete(name);
  }

  return {
    note(refusal, error, requestId) {
      const { code, status } = refusal;
      if (status < 500) return;
      if (status !== 503) {
        log.error({ err: error, requestId, code }, 'request failed');
        return;
      }
      const facts = { code, ...causeOf(refusal) };
      // Not by the words of the cause: there are as many as there are rows and files.
      const name = `${code} ${facts.sqlstate ?? facts.cause ?? ''}`;
      const window = windows.get(name);
      if (window !== undefined) {
        window.leftOut += 1;
        return;
      }
      log.warn({ requestId, ...facts }, 'request failed');
      windows.set(name, { facts, leftOut: 0, timer: setInterval(() => secondEnds(name), window_ms).unref() });
    },
    close() {
      for (const [name, window] of windows) {
        say(window);
        forget(name, window);
      }
    },
  };
}

/** The words of what it stands for, without those of the server's DETAIL, which can hold values of a row. */
function causeOf(refusal: Refusal): { cause?: string; sqlstate?: string } {
  const words: string[] = [];
  let sqlstate: string | undefined;
  let cause = refusal.cause;
  for (let depth = 0; cause instanceof Error && depth < deepest; depth += 1) {
    words.push(cause.message);
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && sqlstates.test(code)) sqlstate ??= code;
    cause = cause.cause;
  }
  return { ...(words.length > 0 && { cause: words.join(': ') }), ...(sqlstate !== undefined && { sqlstate }) };
}

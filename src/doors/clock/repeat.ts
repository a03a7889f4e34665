/** Work that is done again and again, with a rest after each time, until the service stops. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Repeated {
  /** Ends it: resolves when the work that is under way has ended. */
  stop(): Promise<void>;
}

/**
 * Begins after `first_ms` milliseconds. `work` resolves with how many to rest, and handles its own errors; its signal is
 * aborted once it has to stop.
 */
export function repeat(work: (signal: AbortSignal) => Promise<number>, first_ms = 0): Repeated {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const running = (async () => {
    if (first_ms > 0) await rest(first_ms);
    while (!signal.aborted) await rest(await work(signal));
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Limits per fixed minute, counted in this process: API keys and addresses that fail to authenticate. Several processes
 * together may admit a little more (contract decisions 1); no request costs a write.
 */
import { Refusal } from '../fiscal/refusal.ts';

/** For the headers of the answer; requests, and seconds until the minute ends. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Beyond the limit: refuse with `rateLimited`. */
  readonly exceeded: boolean;
}

export interface Rate {
  /** Counts one, unless the limit is used up. Undefined when the limit is switched off. */
  take(subject: string): RateState | undefined;
  /** Whether the next `take` of this minute would be refused. */
  isUsedUp(subject: string): boolean;
  /** Refuses when the limit is already used up, without counting. */
  check(subject: string): void;
  /** Counts one without refusing: for what is known only afterwards. */
  count(subject: string): void;
}

/** The refusal of who is beyond the limit; its answer shows the state as well, so taking does not throw. */
export function rateLimited(state: Pick<RateState, 'resetSeconds'>): Refusal {
  return new Refusal('RATE_LIMITED', {}, { retryAfterSeconds: Math.max(1, state.resetSeconds) });
}

/** `perMinute` 0 switches off. `clock` gives milliseconds; at most `capacity` subjects are remembered a minute. */
export function fixedMinuteRate(perMinute: number, clock: () => number, capacity = 100_000): Rate {
  let minute = -1;
  let counts = new Map<string, number>();
  const now = (): number => {
    const milliseconds = clock();
    const current = Math.floor(milliseconds / 60_000);
    if (current !== minute) {
      minute = current;
      counts = new Map();
    }
    return 60 - Math.floor((milliseconds % 60_000) / 1000);
  };
  const add = (subject: string, count: number): void => {
    if (counts.size < capacity || counts.has(subject)) counts.set(subject, count);
  };
  return {
    take(subject) {
      if (perMinute === 0) return undefined;
      const resetSeconds = now();
      const count = (counts.get(subject) ?? 0) + 1;
      const exceeded = count > perMinute;
      if (!exceeded) add(subject, count);
      return { limit: perMinute, remaining: Math.max(0, perMinute - count), resetSeconds, exceeded };
    },
    isUsedUp(subject) {
      if (perMinute === 0) return false;
      now();
      return (counts.get(subject) ?? 0) >= perMinute;
    },
    check(subject) {
      if (perMinute === 0) return;
      const resetSeconds = now();
      if ((counts.get(subject) ?? 0) >= perMinute) throw rateLimited({ resetSeconds });
    },
    count(subject) {
      if (perMinute === 0) return;
      now();
      add(subject, (counts.get(subject) ?? 0) + 1);
    },
  };
}

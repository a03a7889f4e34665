/**
 * Session keys seen lately. A request older than five minutes is refused by its time, so a key need not be remembered
 * for ever: two sets, the older dropped every ten minutes, or earlier when one holds 200,000 keys (about 20 MB).
 */
export interface RecentKeys {
  /** False when the key was here before. */
  add(key: Uint8Array, milliseconds: number): boolean;
}

const ageMilliseconds = 10 * 60_000;

/** `maxPerSet` keys in each of the two sets, at most. */
export function recentKeys(maxPerSet = 200_000): RecentKeys {
  let current = new Set<string>();
  let previous = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;
  return {
    add(key, milliseconds) {
      const text = Buffer.from(key).toString('latin1');
      if (current.has(text) || previous.has(text)) return false;
      if (
        milliseconds - since > ageMilliseconds ||
        milliseconds < since - ageMilliseconds ||
        current.size >= maxPerSet
      ) {
        previous = current;
        current = new Set();
        since = milliseconds;
      }
      current.add(text);
      return true;
    },
  };
}

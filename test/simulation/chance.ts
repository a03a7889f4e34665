/** Chance that can be repeated: the same seed, the same numbers (mulberry32). */
export interface Chance {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
  one<T>(of: readonly T[]): T;
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  // Neighbouring seeds begin alike; a few steps part them.
  for (let i = 0; i < 4; i += 1) next();
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return { next, whole, one: (of) => of[whole(0, of.length - 1)]! };
}

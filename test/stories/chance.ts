/** Chance made of a list of numbers, so that fast-check can hand it over, repeat it and make it smaller. */
export class Chance {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  #take(): number {
    const { length } = this.#numbers;
    const value = this.#numbers[this.#next % length]! + 7919 * Math.floor(this.#next / length);
    this.#next += 1;
    return value;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + (this.#take() % (most - least + 1));
  }

  /** A number of at most so many decimals, from the least step to `most`. */
  exact(most: number, decimals: number): number {
    const steps = this.whole(1, most * 10 ** decimals);
    return Number((steps / 10 ** decimals).toFixed(decimals));
  }

  /** True once in so many times. */
  once(inSo: number): boolean {
    return this.whole(1, inSo) === 1;
  }

  one<T>(of: readonly T[]): T {
    return of[this.whole(0, of.length - 1)]!;
  }

  /** One of them, or undefined when there are none. */
  any<T>(of: readonly T[]): T | undefined {
    return of.length === 0 ? undefined : this.one(of);
  }

  times<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: this.whole(least, most) }, make);
  }
}

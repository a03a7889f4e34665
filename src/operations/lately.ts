/**
 * A map that keeps the values used last: up to a number of them or, where they are weighed, up to a weight of all. While it
 * is less than half full, those that came last.
 */
export class Lately<V> {
  readonly #most: number;
  readonly #weigh: (value: V) => number;
  readonly #values = new Map<string, V>();
  #weight = 0;

  /** `weigh` says the same of a value each time. What weighs more than `most` by itself is not kept. */
  constructor(most: number, weigh: (value: V) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key);
    // To move a key takes longer than to find it, and until it is full nothing has to give way.
    if (value === undefined || this.#weight * 2 < this.#most) return value;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /** Without counting as its use. */
  peek(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    while (this.#weight > this.#most) this.delete(this.#values.keys().next().value!);
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#weight -= this.#weigh(value);
  }
}

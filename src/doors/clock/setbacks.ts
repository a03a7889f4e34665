/**
 * Companies of which something could not be done lately: how much of theirs is tried at once, and when again. In memory
 * alone: nothing depends on it, and whoever starts anew finds out again.
 */

interface Setback {
  atOnce: number;
  /** In a row. */
  failures: number;
  /** What was tried by itself and failed, and how often in a row that was its own fault. */
  piece: string | undefined;
  tries: number;
  restsUntil: number;
}

const rest_ms = { first: 1_000, longest: 300_000 };

/** Half as much after each failure, down to one piece; twice as much after each success, up to all. */
export class Setbacks {
  readonly #most: number;
  readonly #milliseconds: () => number;
  readonly #of = new Map<string, Setback>();

  /** `most`: pieces of work that are done at once where nothing fails. */
  constructor(most: number, milliseconds: () => number) {
    this.#most = most;
    this.#milliseconds = milliseconds;
  }

  /** How much of a company's work is to be tried at once. */
  atOnce(companyId: string): number {
    return this.#of.get(companyId)?.atOnce ?? this.#most;
  }

  /** How often in a row this piece has failed by itself, and by its own fault. */
  tries(companyId: string, piece: string): number {
    const setback = this.#of.get(companyId);
    return setback?.piece === piece ? setback.tries : 0;
  }

  isResting(companyId: string): boolean {
    return (this.#of.get(companyId)?.restsUntil ?? Number.NEGATIVE_INFINITY) > this.#milliseconds();
  }

  /** Companies that rest now. */
  get resting(): number {
    return [...this.#of.keys()].filter((companyId) => this.isResting(companyId)).length;
  }

  /** It rests from here on, longer each time. `piece`: what was tried by itself. */
  failed(companyId: string, piece?: string, isItsOwn = false): void {
    const failures = (this.#of.get(companyId)?.failures ?? 0) + 1;
    this.#of.set(companyId, {
      atOnce: Math.max(1, Math.floor(this.atOnce(companyId) / 2)),
      failures,
      piece,
      tries: piece !== undefined && isItsOwn ? this.tries(companyId, piece) + 1 : 0,
      restsUntil: this.#milliseconds() + Math.min(rest_ms.longest, rest_ms.first * 2 ** (failures - 1)),
    });
  }

  passed(companyId: string): void {
    if (!this.#of.has(companyId)) return;
    const atOnce = this.atOnce(companyId) * 2;
    const calm = { atOnce, failures: 0, piece: undefined, tries: 0, restsUntil: Number.NEGATIVE_INFINITY };
    if (atOnce >= this.#most) this.#of.delete(companyId);
    else this.#of.set(companyId, calm);
  }
}

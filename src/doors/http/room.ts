/** Room in bytes that callers share: what one of them takes of it is bounded, and what all of them take together. */

/** In bytes. */
export interface RoomLimits {
  readonly ofOne: number;
  readonly together: number;
}

/** Counts for one server. */
export class Room {
  readonly #limits: RoomLimits;
  readonly #ofOne = new Map<string, number>();
  #together = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  /** Whether there is room for so many more. */
  has(whose: string, bytes: number): boolean {
    const { ofOne, together } = this.#limits;
    return this.#together + bytes <= together && (this.#ofOne.get(whose) ?? 0) + bytes <= ofOne;
  }

  /** Takes so many, or gives them back. */
  count(whose: string, bytes: number): void {
    this.#together += bytes;
    const held = (this.#ofOne.get(whose) ?? 0) + bytes;
    if (held === 0) this.#ofOne.delete(whose);
    else this.#ofOne.set(whose, held);
  }
}

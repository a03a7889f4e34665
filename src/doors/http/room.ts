/** Room that callers share, in bytes or what else is counted: what one of them takes of it is bounded, and what all of them take together. */

export interface RoomLimits {
  readonly ofOne: number;
  readonly together: number;
  /** Who holds no more has room beyond `together`, as much again as `ofOne`: a few who hold much keep nobody else out. */
  readonly little: number;
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
    const { ofOne, together, little } = this.#limits;
    const own = this.held(whose) + bytes;
    return own <= ofOne && this.#together + bytes <= (own <= little ? together + ofOne : together);
  }

  held(whose: string): number {
    return this.#ofOne.get(whose) ?? 0;
  }

  /** Takes so many, or gives them back. */
  count(whose: string, bytes: number): void {
    this.#together += bytes;
    const held = this.held(whose) + bytes;
    if (held === 0) this.#ofOne.delete(whose);
    else this.#ofOne.set(whose, held);
  }
}

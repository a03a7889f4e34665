/**
 * A part of the simulation: one kind of harm, done again and again. A file in parts/ exports `part`; the runner finds it.
 */

export interface Part {
  /** As `--part` names it. */
  readonly name: string;
  /** What it does, in a line. */
  readonly title: string;
  /** What a round is: "kills", "cuts". */
  readonly unit: string;
  /** Rounds that have to be done; every one without a violation. */
  readonly target: number;
  run(options: RunOptions): Promise<Outcome>;
}

export interface RunOptions {
  readonly rounds: number;
  /** Round i takes all its chances from `seed + i`: a round can be played again alone. */
  readonly seed: number;
  /** How far it is; for people who wait. */
  readonly say: (words: string) => void;
  /** A small share of each round, chosen by the seed: for `npm test`. */
  readonly short?: boolean;
}

export interface Outcome {
  /** Rounds done. */
  readonly rounds: number;
  /** What else was counted; added up over runs. */
  readonly counts: Readonly<Record<string, number>>;
  /** The longest of what was measured, by name; over runs the longest of all is kept. */
  readonly longest?: Readonly<Record<string, number>>;
  /** Why nothing was played: this machine has not what the part needs. Then it is not passed either. */
  readonly skipped?: string;
  /** What must never be, in a sentence, with the seed that leads there. Empty: all is well. */
  readonly violations: readonly string[];
  /** Measurements of this run, to be printed; line by line. */
  readonly table?: readonly string[];
}

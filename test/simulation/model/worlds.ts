/**
 * What may be true. A request whose answer was lost may have been done, may still be done, or never: each is a world,
 * and so is each order in which requests that were sent together may have come. An answer rules out the worlds that can't
 * explain it; an answer that no world explains is a fault of the program.
 */
import { type Command, judge, type Refused } from './judge.ts';
import type { Day, Shown, World } from './world.ts';

/** A request as it was sent; the same act may be sent again with its key. */
export interface Sending {
  /** The act whose key it carries. */
  readonly act: number;
  readonly command: Command;
  /** Another request than the act's, with its key. */
  readonly isOther?: boolean | undefined;
  /** A service was killed while this act was under way: its key may never run again. */
  readonly mayBeDead?: boolean | undefined;
}

interface AnsweredNo {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly string[];
  /** It does not say when to try again. */
  readonly isFinal: boolean;
}

export type Answered = { readonly status: number; readonly shown: Shown; readonly isReplayed: boolean } | AnsweredNo;

type Landed =
  | { readonly status: number; readonly shown: Shown; readonly isReplayed: boolean }
  | { readonly refused: readonly Refused[] };

/** One that may be true. */
interface Possible {
  readonly world: World;
  /** Acts that are done, with what they were answered and when. */
  readonly done: Readonly<Record<number, { readonly status: number; readonly shown: Shown; readonly day: Day }>>;
  /** Sendings that have not been served, if they ever are. */
  readonly flying: readonly number[];
  /** Sendings that were served and whose answer is not known yet. */
  readonly landed: Readonly<Record<number, Landed>>;
}

/** Results are kept for 30 days (contract, rule 2). */
const kept_days = 30;
const daysBetween = (from: Day, to: Day): number => (Date.parse(to) - Date.parse(from)) / 86_400_000;

export class Worlds {
  #possible: readonly Possible[];
  readonly #names = new Names();
  readonly #sendings: Sending[] = [];
  readonly #waiting = new Set<number>();
  readonly #lost = new Set<number>();
  /** Sendings that met another one of their act on the way: one of the two may be told to wait. */
  readonly #contested = new Set<number>();

  constructor(world: World) {
    this.#possible = [{ world, done: {}, flying: [], landed: {} }];
  }

  /** One of those that may be true: for choosing what to ask next. */
  get likely(): World {
    return this.#possible[0]!.world;
  }

  get count(): number {
    return this.#possible.length;
  }

  /** A request is on its way. */
  send(sending: Sending): number {
    this.#sendings.push(sending);
    const number = this.#sendings.length - 1;
    const rivals = [...this.#waiting, ...this.#lost].filter((other) => this.#sendings[other]!.act === sending.act);
    if (rivals.length > 0) for (const one of [number, ...rivals]) this.#contested.add(one);
    this.#waiting.add(number);
    this.#possible = this.#possible.map((one) => ({ ...one, flying: [...one.flying, number] }));
    return number;
  }

  /** Its answer will never be known. */
  lose(sending: number): void {
    this.#waiting.delete(sending);
    this.#lost.add(sending);
    this.#possible = this.#distinct(this.#closed().map((one) => ({ ...one, landed: without(one.landed, sending) })));
  }

  /** Keeps the worlds that explain the answer; false, and all are kept, when there is none. */
  observe(sending: number, answered: Answered): boolean {
    this.#waiting.delete(sending);
    const served = this.#closed()
      .filter((one) => explains(one.landed[sending], answered))
      .map((one) => ({ ...one, landed: without(one.landed, sending) }));
    const isConflict = 'code' in answered && answered.code === 'IDEMPOTENCY_CONFLICT';
    const rest = isConflict ? [...served, ...this.#unserved(sending, answered.isFinal)] : served;
    if (rest.length > 0) this.#possible = this.#distinct(rest);
    return rest.length > 0;
  }

  /** Why none of the worlds explains the answer, each reason once. */
  reasons(sending: number, answered: Answered): string[] {
    const landed = this.#closed().flatMap((one) => one.landed[sending] ?? []);
    return [...new Set(landed.map((one) => reason(one, answered)))];
  }

  /** What is wrong in the world that explains most. */
  faults(of: (world: World) => string[]): string[] {
    const all = this.#possible.map(({ world }) => of(world));
    return all.toSorted((a, b) => a.length - b.length)[0]!;
  }

  /** Time passes: nothing is in the air any more. */
  pass(today: Day): void {
    this.#possible = this.#distinct(
      this.#closed().map((one) => ({ ...one, world: { ...one.world, today }, flying: [], landed: {} })),
    );
  }

  /** Another sending of this act holds the key, or held it when its process died: this one does nothing. */
  #unserved(sending: number, isFinal: boolean): Possible[] {
    const { act, mayBeDead } = this.#sendings[sending]!;
    if (!this.#contested.has(sending) || (isFinal && mayBeDead !== true)) return [];
    const waiting = this.#possible
      .filter(({ landed }) => landed[sending] === undefined)
      .map((one) => ({ ...one, flying: one.flying.filter((other) => other !== sending) }));
    if (!isFinal) return waiting;
    // Its lease is over: what is not done by now never is.
    return waiting
      .filter(({ done }) => done[act] === undefined)
      .map((one) => ({ ...one, flying: one.flying.filter((other) => this.#sendings[other]!.act !== act) }));
  }

  /** All that can have happened by now. */
  #closed(): Possible[] {
    const found = new Map<string, Possible>();
    const open = [...this.#possible];
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const name = this.#nameOf(one);
      if (found.has(name)) continue;
      found.set(name, one);
      for (const sending of one.flying) open.push(this.#land(one, sending));
    }
    return [...found.values()];
  }

  #distinct(possible: readonly Possible[]): Possible[] {
    return possible.length === 1
      ? [...possible]
      : [...new Map(possible.map((one) => [this.#nameOf(one), one])).values()];
  }

  /** The same for what is the same. */
  #nameOf({ world, done, flying, landed }: Possible): string {
    const named = (values: Readonly<Record<number, object>>): string =>
      Object.entries(values)
        .map(([key, value]) => `${key}:${this.#names.of(value)}`)
        .join();
    return [JSON.stringify(world.heads), named(world.docs), named(done), flying.join(), named(landed)].join(' ');
  }

  #land(one: Possible, sending: number): Possible {
    const flying = one.flying.filter((other) => other !== sending);
    const [landed, after] = serve(one, this.#sendings[sending]!);
    return {
      ...one,
      ...after,
      flying,
      landed: this.#lost.has(sending) ? one.landed : { ...one.landed, [sending]: landed },
    };
  }
}

const isForgotten = (done: Day | undefined, today: Day): boolean =>
  done !== undefined && daysBetween(done, today) >= kept_days;

/** The idempotency of the contract, around the act itself. */
function serve({ world, done }: Possible, { act, command, isOther }: Sending): [Landed, Partial<Possible>] {
  if (isOther === true) return [{ refused: [{ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' }] }, {}];
  const before = done[act];
  if (isForgotten(before?.day, world.today)) return [{ refused: [{ status: 409, code: 'IDEMPOTENCY_CONFLICT' }] }, {}];
  if (before !== undefined) return [{ status: before.status, shown: before.shown, isReplayed: true }, {}];
  const verdict = judge(world, command, act);
  if ('refused' in verdict) return [verdict, {}];
  const { status, shown } = verdict;
  // A read has no key.
  const result = command.kind === 'read' ? done : { ...done, [act]: { status, shown, day: world.today } };
  return [
    { status, shown, isReplayed: false },
    { world: verdict.world, done: result },
  ];
}

function explains(landed: Landed | undefined, answered: Answered): boolean {
  if (landed === undefined) return false;
  if ('refused' in landed) return 'code' in answered && landed.refused.some((refused) => isSame(refused, answered));
  if ('code' in answered || landed.status !== answered.status || landed.isReplayed !== answered.isReplayed)
    return false;
  return differences(landed.shown, answered.shown).length === 0;
}

/** Where a reply is not what the model says. */
export function differences(expected: Shown, told: Shown): string[] {
  return Object.entries(expected)
    .filter(([name, value]) => {
      // A revision is known by its updatedAt, once an answer told it.
      if (name === 'revision' && (value === undefined || told[name] === undefined)) return false;
      return told[name] !== value;
    })
    .map(([name, value]) => `${name} is ${told[name]} instead of ${value}`);
}

function reason(landed: Landed, answered: Answered): string {
  if ('refused' in landed) {
    const codes = landed.refused.map(({ status, code, problems = [] }) => [status, code, ...problems].join(' '));
    return `the model refuses it with ${codes.join(' or ')}`;
  }
  const how = landed.isReplayed ? 'is a replay' : 'is done';
  if ('code' in answered) return `in the model it ${how}: ${JSON.stringify(landed.shown)}`;
  if (landed.isReplayed !== answered.isReplayed) return `in the model it ${how}`;
  return [`in the model it ${how} with ${landed.status}`, ...differences(landed.shown, answered.shown)].join(', ');
}

function isSame({ status, code, problems }: Refused, answered: AnsweredNo): boolean {
  if (status !== answered.status || code !== answered.code) return false;
  // A key that never runs again must not ask to be tried later.
  if (code === 'IDEMPOTENCY_CONFLICT') return answered.isFinal;
  return problems === undefined || problems.toSorted().join() === answered.problems.toSorted().join();
}

function without<T>(of: Readonly<Record<number, T>>, key: number): Record<number, T> {
  const { [key]: _gone, ...rest } = of;
  return rest;
}

/** A number for each value, by what it holds: most are compared again and again, and never change. */
class Names {
  readonly #numbers = new WeakMap<object, number>();
  readonly #known = new Map<string, number>();

  of(value: object): number {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      const text = JSON.stringify(value);
      number = this.#known.get(text) ?? this.#known.size;
      this.#known.set(text, number);
      this.#numbers.set(value, number);
    }
    return number;
  }
}

/**
 * The quick way of the press, for operations that declare one (`Ahead` in operations/operation.ts). Their facts came with
 * the claim, or are remembered; they are decided, signed and sealed here as they arrive, on heads kept in memory, and what
 * is ready is written in one round trip: while the database writes one group the next is made, and a full one is sent
 * behind it on the same connection. Where nothing is under way, the transaction begins with the decision, and the database
 * makes sure of what it rests on meanwhile.
 *
 * Nothing is locked for that, so every statement fails that does not find what was read. Then nothing of its group is
 * kept, whatever was decided behind it counts for nothing, and all of them, as all that comes in the next second, walk the
 * stages under their locks. A refusal is judged again there too: it may rest on what was not written in the end.
 */
import { ConnectionLost, OutcomeUnknown, StatementError } from '../db/errors.ts';
import { joinCalls } from '../db/joined.ts';
import { type Call, type Db, Line, type OpenWrite } from '../db/transact.ts';
import { assert, Refusal } from '../fiscal/refusal.ts';
import type { World } from '../operations/world.ts';
import type { Act, Acted } from './press.ts';

/** Of one write. With more, those who wait for it and those who are decided meanwhile become one crowd that moves in step. */
const most_together = 20;
/** Groups on their way: the server begins with the next as it ends one. */
const most_under_way = 3;
/** After somebody else was quicker: for so long every act takes its locks. */
const caution_ms = 1_000;

/** Decided, and what is left to do about it. */
interface Ready {
  readonly act: Act;
  readonly acted: Acted;
  /** What it was decided on, stated again; and what writes it. */
  readonly hold: readonly Call[];
  readonly calls: readonly Call[];
  /** As it was decided. */
  readonly change: unknown;
  readonly resolve: (acted: Acted) => void;
  readonly reject: (error: unknown) => void;
}

/** What the press does for every act, however it came about. */
interface Steps {
  readonly shown: (act: Act, change: unknown) => Acted;
  /** What travels with COMMIT. */
  readonly lastCalls: (act: Act, acted: Acted, subject: string) => readonly Call[];
  /** The way under locks. */
  readonly locked: (act: Act) => Promise<Acted>;
  /** Hears of faults that no caller hears of, since the way under locks answers. */
  readonly faulted: (error: unknown) => void;
}

/** What this act rests on is being looked at already. */
interface Begun {
  readonly act: Act;
  readonly transaction: OpenWrite;
}

/** Of one company: heads are one company's, whoever asks. */
interface Lane {
  /** In the order in which they were decided. */
  readonly ready: Ready[];
  readonly line: Line;
  /** A transaction that has begun for an act that is being decided. */
  begun: Begun | undefined;
  /** Groups that are not answered yet. */
  underWay: number;
  /** What is ready is sent at the end of this turn. */
  gathering: boolean;
  /** Acts between their arrival and their place among the ready. */
  deciding: number;
  /** Goes up when something that was decided was not written. */
  era: number;
  cautiousUntil: number;
}

/** Writes what is decided ahead, in groups of one company; what can't be it hands to the way under locks. */
export class AheadPress {
  readonly #db: Db;
  readonly #world: World;
  readonly #steps: Steps;
  readonly #lanes = new Map<string, Lane>();

  constructor(db: Db, world: World, steps: Steps) {
    this.#db = db;
    this.#world = world;
    this.#steps = steps;
  }

  async act(act: Act, facts: () => unknown): Promise<Acted> {
    const { companyId } = act.asked.principal;
    const lane = this.#lane(companyId);
    if (performance.now() < lane.cautiousUntil) return this.#steps.locked(act);
    lane.deciding += 1;
    const ready = await this.#decide(act, facts, lane, companyId);
    lane.deciding -= 1;
    if (ready === undefined) {
      if (lane.begun?.act === act) this.#leave(lane);
      this.#send(lane, companyId);
      this.#forgetIdle(lane, companyId);
      return this.#steps.locked(act);
    }
    return new Promise((resolve, reject) => {
      lane.ready.push({ act, ...ready, resolve, reject });
      if (lane.underWay > 0) return this.#send(lane, companyId);
      if (lane.gathering) return;
      lane.gathering = true;
      // Behind those that are decided in this turn.
      setImmediate(() => {
        lane.gathering = false;
        this.#send(lane, companyId);
      });
    });
  }

  /** Undefined: it has to be judged under locks. */
  async #decide(
    act: Act,
    facts: () => unknown,
    lane: Lane,
    companyId: string,
  ): Promise<Pick<Ready, 'acted' | 'change' | 'hold' | 'calls'> | undefined> {
    const { operation, asked } = act;
    const { save, hold } = operation.ahead!;
    const { era } = lane;
    try {
      const known = facts();
      if (known === undefined) return undefined;
      const early = this.#isAlone(act, lane) ? hold(known, asked, this.#world) : undefined;
      if (early !== undefined) await this.#begin(act, early, lane);
      const change = await operation.decide(known, asked, this.#world);
      if (lane.era !== era) return undefined;
      const acted = this.#steps.shown(act, change);
      const held = early ?? hold(known, asked, this.#world);
      assert(held !== undefined, 'what a decision rests on can be stated');
      const { subject, calls } = save(change, asked, this.#world);
      return {
        acted,
        change,
        hold: held,
        calls: [...calls, ...this.#steps.lastCalls(act, acted, subject)],
      };
    } catch (error) {
      // Heads may have moved for what will never be written.
      if (!(error instanceof Refusal)) {
        this.#steps.faulted(error);
        this.#failed(lane, companyId);
      }
      return undefined;
    }
  }

  /** Nothing else waits for the database, as far as anybody knows. */
  #isAlone({ entry }: Act, lane: Lane): boolean {
    return entry.subject !== undefined && lane.deciding === 1 && lane.underWay === 0 && lane.ready.length === 0;
  }

  /** Ends when the database has something to do: what is decided in one go would keep it waiting. */
  #begin(act: Act, hold: readonly Call[], lane: Lane): Promise<void> {
    const transaction = this.#db.open(act.entry, hold, lane.line);
    lane.begun = { act, transaction };
    return transaction.begun;
  }

  #leave(lane: Lane): void {
    lane.begun?.transaction.leave();
    lane.begun = undefined;
  }

  /**
   * Whatever is ready goes when nothing is under way. Behind something only a full group does; and where one is in sight,
   * because so many are being decided, it is waited for: half of what a small group costs is for itself.
   */
  #send(lane: Lane, companyId: string): void {
    const isInSight = lane.ready.length + lane.deciding >= most_together;
    const enough = lane.underWay > 0 || isInSight ? most_together : 1;
    if (lane.underWay < most_under_way && lane.ready.length >= enough) void this.#write(lane, companyId);
  }

  /** Never rejects. */
  async #write(lane: Lane, companyId: string): Promise<void> {
    const group = takeGroup(lane.ready);
    lane.underWay += 1;
    let isLost = false;
    // While the database is at work. Nobody knows of a draft that is not written yet.
    setImmediate(() => {
      if (!isLost) this.#remember('keep', group, lane, companyId);
    });
    try {
      await this.#commit(group, lane);
      this.#remember('settle', group, lane, companyId);
      // Once the next group is on its way; one after the other, so that the first answer does not wait until all of them are
      // put together (docs/decisions/0077-one-after-the-other.md).
      for (const { acted, resolve } of group) setImmediate(resolve, acted);
    } catch (error) {
      isLost = true;
      if (error instanceof OutcomeUnknown) for (const { reject } of group) reject(error);
      else {
        if (!isSaid(error)) this.#steps.faulted(error);
        this.#again(group);
      }
      this.#failed(lane, companyId);
    }
    lane.underWay -= 1;
    this.#send(lane, companyId);
    this.#forgetIdle(lane, companyId);
  }

  /** In the transaction that has begun, if it is of the same credential: taken only once there is something to end it with. */
  #commit(group: readonly Ready[], lane: Lane): Promise<void> {
    const { entry } = group[0]!.act;
    const begun = lane.begun?.act.entry.subject === entry.subject ? lane.begun : undefined;
    const members = group.map(({ act, hold, calls }) => (act === begun?.act ? calls : [...hold, ...calls]));
    const { calls } = joinCalls(members);
    if (begun === undefined) {
      this.#leave(lane);
      return this.#db.write(entry, calls, lane.line);
    }
    lane.begun = undefined;
    return begun.transaction.write(calls);
  }

  /**
   * What is written is done: where it can't be remembered, nothing is, and nobody does it again. The answer to a lone one is
   * put together meanwhile.
   */
  #remember(how: 'keep' | 'settle', group: readonly Ready[], lane: Lane, companyId: string): void {
    try {
      for (const { act, change } of group) act.operation.ahead![how]?.(change, act.asked, this.#world);
      // Of many they would be in the collector's way until they are answered.
      if (how === 'keep' && group.length === 1) group[0]!.acted.answer.body();
    } catch (error) {
      this.#steps.faulted(error);
      this.#failed(lane, companyId);
    }
  }

  #forgetIdle(lane: Lane, companyId: string): void {
    const idle = lane.underWay === 0 && lane.deciding === 0 && lane.ready.length === 0;
    if (idle && lane.cautiousUntil < performance.now()) this.#lanes.delete(companyId);
  }

  #failed(lane: Lane, companyId: string): void {
    lane.era += 1;
    lane.cautiousUntil = performance.now() + caution_ms;
    this.#world.memory.forget(companyId);
    this.#leave(lane);
    this.#again(lane.ready.splice(0));
  }

  #again(members: readonly Ready[]): void {
    for (const { act, resolve, reject } of members) this.#steps.locked(act).then(resolve, reject);
  }

  #lane(companyId: string): Lane {
    let lane = this.#lanes.get(companyId);
    if (lane === undefined) {
      lane = {
        ready: [],
        line: new Line(),
        begun: undefined,
        underWay: 0,
        gathering: false,
        deciding: 0,
        era: 0,
        cautiousUntil: 0,
      };
      this.#lanes.set(companyId, lane);
    }
    return lane;
  }
}

/** By the database, or of who asks: so it comes about that what was decided does not hold. Anything else is a fault of ours. */
const isSaid = (error: unknown): boolean =>
  error instanceof StatementError || error instanceof ConnectionLost || error instanceof Refusal;

/** The first ones, as far as one entry lets them in. */
function takeGroup(ready: Ready[]): Ready[] {
  const { subject } = ready[0]!.act.entry;
  const other = ready.findIndex(({ act }) => act.entry.subject !== subject);
  return ready.splice(0, Math.min(most_together, other === -1 ? ready.length : other));
}

/**
 * The optimistic way of the press, for operations that declare one (`Ahead` in operations/operation.ts). What they are
 * decided on was read without locks, together with the claim, or is in memory. Acts are decided, signed and sealed here as
 * they arrive, on series heads kept in memory, and those that are ready are written as a group, in one round trip. While the
 * database writes one group the next is made, and sent behind it on the same connection once it is full. When nothing else
 * is under way, the transaction is opened before the decision, so that the database checks what was read meanwhile.
 *
 * Every statement fails if it does not find what was read. Then the whole group is rolled back and everything that was
 * decided after it is void: those acts, and all that arrive within the next second, take the locked way instead
 * (Press in press.ts). So does an act that is refused here, since the refusal may rest on something that is rolled back.
 */
import { ConnectionLost, OutcomeUnknown, StatementError } from '../db/errors.ts';
import { turnWithTime } from '../db/event-loop.ts';
import { joinCalls } from '../db/joined.ts';
import { type Call, type Db, Line, type OpenWrite } from '../db/transact.ts';
import { assert, Refusal } from '../fiscal/refusal.ts';
import type { World } from '../operations/world.ts';
import type { Act, Acted } from './press.ts';

/** Acts in one group. With more, all callers would wait for the same write and then all be decided at once. */
const most_together = 20;
/**
 * Bytes of the answers of a group, but for the one that reaches beyond: what is written together is encoded in one turn. Of twenty
 * drafts of a thousand lines that was half a second of the processor.
 */
const most_bytes = 512 * 1024;
/** Groups of one company that are sent and not answered yet: the server begins with the next as it ends one. */
const most_under_way = 3;
/** For so long after a group failed, every act of the company takes the locked way. */
const caution_ms = 1_000;

/** An act that is decided and waits to be written. */
interface Ready {
  readonly act: Act;
  readonly acted: Acted;
  /** Statements that fail if what it was decided on has changed. */
  readonly hold: readonly Call[];
  /** Statements that write it. */
  readonly calls: readonly Call[];
  /** What `decide` returned. */
  readonly change: unknown;
  readonly resolve: (acted: Acted) => void;
  readonly reject: (error: unknown) => void;
}

/** What the press does for every act, whichever way it takes. */
interface Steps {
  readonly shown: (act: Act, change: unknown) => Acted;
  /** What travels with COMMIT. */
  readonly lastCalls: (act: Act, acted: Acted, subject: string) => readonly Call[];
  /** Does the act by the locked way. */
  readonly locked: (act: Act) => Promise<Acted>;
  /** Logs bugs that no caller hears of, since the locked way then answers. */
  readonly faulted: (error: unknown) => void;
}

/** A transaction whose `hold` statements are sent already, and the act that they are for. */
interface Begun {
  readonly act: Act;
  readonly transaction: OpenWrite;
}

/** The state of one company: series heads belong to a company, whichever credential asks. */
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
  /** Raised when something decided was not written: what was decided under an earlier one is void. */
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

  /** Undefined: it has to take the locked way. */
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
      // What was read for several of them comes together.
      const turn = turnWithTime(companyId);
      if (turn !== undefined) await turn;
      if (lane.era !== era) return undefined;
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

  /** Opens the transaction; resolves once its first statements are sent, which deciding would delay: it blocks the event loop. */
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
   * Sends what is ready at once if nothing is under way; behind another group only if it is a full one. If enough acts are
   * being decided to fill a group soon, it waits for those: half the cost of a small group does not depend on its size.
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

  /** Uses the transaction that is open, if it is of the same credential; else a new one. */
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
   * Updates the memory of this process. A failure here undoes nothing that is written: everything remembered of the company is
   * forgotten instead. The answer to a group of one is put together meanwhile.
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

/** Errors by which the database, or the entry, says that what was decided does not hold. Anything else is a bug of ours. */
const isSaid = (error: unknown): boolean =>
  error instanceof StatementError || error instanceof ConnectionLost || error instanceof Refusal;

/** Takes the first ones off, as far as they are of one credential and not too long together. */
function takeGroup(ready: Ready[]): Ready[] {
  const { subject } = ready[0]!.act.entry;
  let bytes = 0;
  const end = ready.findIndex(({ act, acted }, i) => {
    if (i === most_together || act.entry.subject !== subject || bytes > most_bytes) return true;
    bytes += acted.answer.most;
    return false;
  });
  return ready.splice(0, end === -1 ? ready.length : end);
}

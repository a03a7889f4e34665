/**
 * The press: writes of one credential that arrive together share a transaction. The hash chain makes a series strictly
 * serial, so its speed is that of one transaction after the other; here a group of documents is locked, decided, signed,
 * written and committed in as many round trips as a single one. Nothing waits for a timer; a lone request goes at once,
 * and while groups are on their way the next one gathers.
 *
 * Every member walks its own stages, load → locate → decide → save → show, and sees what it would see alone: who wants
 * to change what a neighbour changes comes again in the next group (db/shared-transaction.ts). A refusal before anything
 * was written concerns its member only; its claim is let go with the group's commit. Any other failure undoes the group,
 * and its members run one by one.
 */

import { ConnectionLost, OutcomeUnknown } from '../db/errors.ts';
import { turnWithTime } from '../db/event-loop.ts';
import { joinCalls } from '../db/joined.ts';
import { Lanes } from '../db/lanes.ts';
import { Crowded, SharedTransaction } from '../db/shared-transaction.ts';
import type { Call, Db, Entry, Tx } from '../db/transact.ts';
import { statement, untangled } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import type { AnyAsked, Operation } from '../operations/operation.ts';
import { type Rendered, renderedOf } from '../operations/rendered.ts';
import type { World } from '../operations/world.ts';
import { AheadPress } from './ahead.ts';
import type { Claim } from './claim.ts';
import {
  auditCall,
  claimLost,
  completeCall,
  isClaimLost,
  KeysUnderWay,
  nameOfKey,
  recordCall,
  releaseCall,
} from './claim.ts';
import { Releases } from './releases.ts';

/** Members of one group at most: beyond it the first waits longer for the last than sharing saves. */
const most_together = 32;
/**
 * A group goes with those that were decided in so many milliseconds: what is decided in one turn is sealed, shown and sent in
 * one turn, too, which takes several times as long. Of 24 credit notes of a thousand lines that was a second of the processor.
 */
const longest_deciding_ms = 20;
/** Groups of one credential at once: one commits while the next is loaded. */
const most_on_their_way = 2;

/** A write that has passed the corridor up to its act. */
export interface Act {
  readonly operation: Operation;
  readonly asked: AnyAsked;
  readonly entry: Entry;
  readonly claim: Claim | undefined;
  /** What it is decided on, without locks (`Ahead`); undefined: it needs them. */
  readonly ahead?: (() => unknown) | undefined;
  /** The claim was not taken yet: this takes it, or finds what was done before. */
  readonly take?: (() => Promise<Acted | undefined>) | undefined;
}

export interface Acted {
  readonly status: number;
  readonly answer: Rendered;
  /** It was done before, and is answered as it was then. */
  readonly replayed?: true;
}

interface Member {
  readonly act: Act;
  readonly resolve: (acted: Acted) => void;
  readonly reject: (error: unknown) => void;
}

/** An act on its way through the stages. */
interface Run {
  readonly act: Act;
  readonly tx: Tx;
  facts: unknown;
  change: unknown;
  subject: string;
  acted: Acted | undefined;
  /** Why it has left the group: a Refusal, or Crowded (it comes again with the next group). */
  out: unknown;
}

/** For round trips of which only the entry matters. */
export const nothing = statement('nothing', 'select 1');

/** Gathers writes by credential and does them in groups. */
export class Press {
  readonly keys = new KeysUnderWay();
  readonly releases: Releases;
  readonly #db: Db;
  readonly #world: World;
  readonly #lanes: Lanes<Member>;
  readonly #ahead: AheadPress;
  #underWay = 0;

  /** `faulted` logs bugs of the optimistic way (ahead.ts) that no caller hears of. */
  constructor(db: Db, world: World, faulted: (error: unknown) => void) {
    this.#db = db;
    this.releases = new Releases(db);
    this.#world = world;
    this.#lanes = new Lanes({
      together: most_together,
      onTheirWay: most_on_their_way,
      run: (members) => this.#group(members),
    });
    this.#ahead = new AheadPress(db, world, {
      shown: (act, change) => this.#shown(act, change),
      lastCalls: (act, acted, subject) => this.#lastCalls(act, acted, subject),
      locked: (act) => this.#locked(act),
      faulted,
    });
  }

  /**
   * Does it, with others where there are others; its claim is completed with the effect, or let go when there is none.
   * Throws a Refusal, or what the database said: nothing was changed then, but for OutcomeUnknown, where nobody knows.
   */
  async act(act: Act): Promise<Acted> {
    this.#underWay += 1;
    try {
      return await (act.ahead === undefined ? this.#locked(act) : this.#ahead.act(act, act.ahead));
    } finally {
      this.#underWay -= 1;
    }
  }

  async #locked({ take, ...act }: Act): Promise<Acted> {
    const before = await take?.();
    if (before !== undefined) return before;
    const acted = await this.#underLocks(act);
    this.#forgetChanged(act);
    return acted;
  }

  /** Forgets what this process remembers and the act may have changed. A POST without an id makes a new record: nothing. */
  #forgetChanged({ operation, asked }: Act): void {
    const memory = this.#world.memory.of(asked.principal.companyId);
    if (operation.method !== 'POST') memory.forgetRead();
    // It numbered under locks: where its series stands is read next time.
    if (operation.fiscal) memory.forgetPlaces();
    if (asked.params['id'] !== undefined) memory.forgetDraft(String(asked.params['id']));
  }

  #underLocks(act: Act): Promise<Acted> {
    const { subject } = act.entry;
    if (!act.operation.grouped || subject === undefined) return this.#alone(act);
    return new Promise<Acted>((resolve, reject) => this.#lanes.add(subject, { act, resolve, reject }));
  }

  /** More acts are under way than one group's half: what nobody waits for can rest meanwhile. */
  get busy(): boolean {
    return this.#underWay > most_together / 2;
  }

  /** Never rejects; resolves with the members that have to come again. */
  async #group(members: Member[]): Promise<readonly Member[]> {
    // A single one is no group: its refusal needs no commit.
    if (members.length === 1) return this.#oneByOne(members);
    let runs: readonly Run[];
    try {
      runs = await this.#press(members.map(({ act }) => act));
    } catch (error) {
      // Rolled back: whoever is at fault hears it alone.
      return this.#oneByOne(members, error);
    }
    return members.filter(({ resolve, reject }, i) => {
      const { acted, out } = runs[i]!;
      if (acted !== undefined) resolve(acted);
      else if (!(out instanceof Crowded)) reject(out);
      return out instanceof Crowded;
    });
  }

  /** Once no connection is to be had, whoever is left hears so at once: each would wait for one as long as the first. */
  async #oneByOne(members: readonly Member[], failed?: unknown): Promise<[]> {
    let last = failed;
    for (const { act, resolve, reject } of members) {
      if (last instanceof ConnectionLost && !last.sent) {
        await this.#letGo(act, 'later');
        reject(last);
        continue;
      }
      await this.#alone(act).then(resolve, (error) => {
        last = error;
        reject(error);
      });
    }
    return [];
  }

  async #alone(act: Act): Promise<Acted> {
    try {
      const [run] = await untangled(() => this.#press([act]));
      if (run!.acted === undefined) throw run!.out;
      return run!.acted;
    } catch (error) {
      if (isClaimLost(error)) throw claimLost();
      // Known to be rolled back: the same request may run again. An unknown outcome keeps its claim.
      if (!(error instanceof OutcomeUnknown)) await this.#letGo(act, 'now');
      throw error;
    }
  }

  async #letGo({ entry, claim, asked }: Act, when: 'now' | 'later'): Promise<void> {
    if (claim !== undefined) await this.releases.letGo(nameOfKey(entry, claim), claim, asked.principal, when);
  }

  /** One transaction for all. Throws when nothing of it is kept, or of none of them is known whether; of a single one also its refusal. */
  async #press(acts: readonly Act[]): Promise<readonly Run[]> {
    const gate = new Gate(acts);
    let runs: readonly Run[] = [];
    try {
      await this.#db.transact(gate.entry, async (tx) => {
        const shared = acts.length === 1 ? undefined : new SharedTransaction(tx);
        runs = acts.map((act) => started(act, shared?.member() ?? tx));
        await this.#walk(tx, gate, runs);
        if (shared === undefined && !isIn(runs[0]!)) throw runs[0]!.out;
        await tx.commitWith(joinCalls(runs.map((run) => this.#ending(run))).calls);
      });
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      await this.#lost(runs, error);
    }
    return runs;
  }

  /**
   * Nobody knows whether the group was kept. Who was in it is told so; who was refused had nothing in it but the claim that is
   * let go, and who was turned away comes again.
   */
  async #lost(runs: readonly Run[], unknown: OutcomeUnknown): Promise<void> {
    for (const run of runs) {
      if (!isIn(run)) continue;
      run.out = unknown;
      run.acted = undefined;
    }
    await Promise.all(runs.map(async ({ act, out }) => out instanceof Refusal && this.#letGo(act, 'now')));
  }

  /** The stages. What members ask at the same stage travels together. */
  async #walk(tx: Tx, gate: Gate, runs: readonly Run[]): Promise<void> {
    const world = this.#world;
    await each(runs, async (run, { operation, asked }) => {
      run.facts = await operation.load(run.tx, asked, world);
    });
    // Nobody decides or writes before the database has said who is asking.
    if (!gate.passed) await tx.query(nothing);
    // What that says comes first, as it does to who is alone.
    for (const run of runs) run.out = gate.refused.get(run.act) ?? run.out;
    await each(runs, async (run, { operation, asked }) => {
      if (operation.locate !== undefined) run.facts = await operation.locate(run.tx, run.facts, asked, world);
    });
    // What was read for others, too, comes in the same turn. All are of one credential, and so of one company.
    const turn = turnWithTime(runs[0]!.act.asked.principal.companyId);
    if (turn !== undefined) await turn;
    // In the order in which they came, up to the first thing that is waited for: numbers follow it.
    let began_ms: number | undefined;
    await each(runs, async (run, { operation, asked }) => {
      const now_ms = performance.now();
      // The first one always goes.
      began_ms ??= now_ms;
      if (now_ms - began_ms > longest_deciding_ms) throw new Crowded();
      run.change = await operation.decide(run.facts, asked, world);
    });
    // From here on something may be written, so a refusal undoes it all.
    let send = (): void => undefined;
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    const writing = runs.filter(isIn).map((run) => this.#write(run, sent));
    // Behind what they have asked for just now, which leaves at the end of this turn.
    setImmediate(send);
    await Promise.all(writing);
  }

  /** `sent`: what members save in this turn is on its way to the server. */
  async #write(run: Run, sent: Promise<void>): Promise<void> {
    const { operation, asked } = run.act;
    const saving = operation.save(run.tx, run.change, asked, this.#world);
    // It is awaited below; meanwhile nobody else hears that it failed.
    saving.catch(() => undefined);
    if (operation.foretold === true) {
      await sent;
      run.acted = this.#shown(run.act, run.change);
    }
    run.subject = await saving;
    run.acted ??= this.#shown(run.act, run.change);
  }

  #shown({ operation, asked }: Act, change: unknown): Acted {
    return { status: operation.reply[0], answer: renderedOf(operation.show(change, asked, this.#world)) };
  }

  /** What travels with COMMIT, or of who was refused: the claim let go. */
  #ending({ act, acted, subject, out }: Run): Call[] {
    if (out instanceof Crowded) return [];
    if (acted !== undefined) return this.#lastCalls(act, acted, subject);
    return act.claim === undefined ? [] : [releaseCall(act.claim, act.asked.principal.scope)];
  }

  /** The claim completed, or recorded where it was not taken before, and the audit entry. */
  #lastCalls({ operation, asked, claim, take }: Act, acted: Acted, subject: string): Call[] {
    const { principal, requestId } = asked;
    const audit = {
      id: this.#world.newId(),
      actor: principal.actor,
      operation: operation.name,
      subject_id: subject,
      request_id: requestId,
    };
    if (claim === undefined) return [auditCall(audit)];
    const { status, answer } = acted;
    const { baseUrl } = this.#world;
    const told = operation.retell === undefined ? { folded: answer.folded() } : { baseUrl };
    const result = { status, contentType: 'application/json; charset=utf-8', told };
    return [(take === undefined ? completeCall : recordCall)(claim, principal.scope, result, audit)];
  }
}

/** The one entry of a group: each member judges by itself what the database says of the credential. */
class Gate {
  readonly entry: Entry;
  readonly refused = new Map<Act, unknown>();
  /** The database has said who is asking. */
  passed = false;

  constructor(acts: readonly Act[]) {
    const [{ entry }] = acts as [Act];
    this.entry = {
      // Whose turn it waits for (db/turns.ts).
      ...(entry.subject === undefined ? {} : { subject: entry.subject, group: entry.group }),
      call: entry.call,
      accept: (rows) => {
        for (const act of acts) {
          try {
            act.entry.accept(rows);
          } catch (refusal) {
            this.refused.set(act, refusal);
          }
        }
        if (this.refused.size === acts.length) throw this.refused.get(acts[0]!);
        this.passed = true;
      },
    };
  }
}

const isIn = (run: Run): boolean => run.out === undefined;

function started(act: Act, tx: Tx): Run {
  return { act, tx, facts: undefined, change: undefined, subject: '', acted: undefined, out: undefined };
}

/** A stage for all who are still in. Who refuses is out; anything else that is thrown ends the group, once all are done. */
async function each(runs: readonly Run[], step: (run: Run, act: Act) => Promise<void>): Promise<void> {
  const faults: unknown[] = [];
  const walking = runs.filter(isIn).map(async (run) => {
    try {
      await step(run, run.act);
    } catch (error) {
      if (error instanceof Refusal || error instanceof Crowded) run.out = error;
      else faults.push(error);
    }
  });
  await Promise.all(walking);
  if (faults.length > 0) throw faults[0];
}

/**
 * Claims that are to be let go. Where the database has gone it can't be said to it, yet the caller is told that nothing was
 * changed and asked to try again: so it is kept here, said again each second until it is heard or the lease is over, and
 * before a request with that key is judged here. The fence and the lease make it safe however late it comes: what another
 * attempt has taken since has another fence, and after the lease nothing is released.
 */
import { ConnectionLost } from '../db/errors.ts';
import type { Db } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { entryOfCompany, type Principal } from '../identity/principal.ts';
import { type Claim, lease_seconds, onceMoreIfLost, releaseCall } from './claim.ts';

/** More than is under way when a database goes. Beyond it a key waits for its lease, and never runs again. */
const most_kept = 10_000;
const pause_ms = 1_000;

/** Whose claim it is; or asks that. */
export type Claimant = Principal | (() => Promise<Principal>);

interface Kept {
  /** Of the key, as its caller says it. */
  readonly name: string | undefined;
  readonly claim: Claim;
  readonly who: Claimant;
  /** The lease began before it was kept, so it is over by then. */
  readonly until: number;
}

/** Of one process. */
export class Releases {
  readonly #db: Db;
  /** By their fences, in the order in which they came. */
  readonly #kept = new Map<string, Kept>();
  #timer: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();
  #closed = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Claims that are not let go yet. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * Only of what is known to be rolled back: the same request may run again. What is handed in may be kept, so it should hold
   * on to nothing else of the request. `later`: there is no database to be had just now. Never rejects: what led here is the
   * answer.
   */
  async letGo(name: string | undefined, claim: Claim, who: Claimant, when: 'now' | 'later' = 'now'): Promise<void> {
    const kept: Kept = { name, claim, who, until: performance.now() + lease_seconds * 1000 };
    if (when === 'later') return this.#keep(kept);
    try {
      await this.#release(kept);
    } catch (error) {
      if (!(error instanceof Refusal)) this.#keep(kept);
    }
  }

  #keep(kept: Kept): void {
    if (this.#closed || this.#kept.size >= most_kept) return;
    this.#kept.set(kept.claim.fence, kept);
    this.#wait();
  }

  /** Before a request with this key is judged. Rejects with what the database said. */
  async settle(name: string | undefined): Promise<void> {
    const same = [...this.#kept.values()].filter((kept) => name !== undefined && kept.name === name);
    for (const kept of same) await this.#release(kept);
  }

  /** Says it a last time, for the process that comes next. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#look();
  }

  #wait(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#looking = this.#look();
    }, pause_ms).unref();
  }

  /** Never rejects. One after the other: nobody waits for it, and callers need the connections. */
  async #look(): Promise<void> {
    for (const kept of this.#kept.values()) {
      if (kept.until < performance.now()) this.#kept.delete(kept.claim.fence);
      else if (!(await this.#isThere(kept))) break;
    }
    this.#timer = undefined;
    if (this.#kept.size > 0) this.#wait();
  }

  /** Tries it; false: there is no database, for the others neither. */
  async #isThere(kept: Kept): Promise<boolean> {
    try {
      await this.#release(kept);
    } catch (error) {
      // Whose credential is not valid any more, or never was, has no claim that we could name.
      if (error instanceof Refusal) this.#kept.delete(kept.claim.fence);
      return !(error instanceof ConnectionLost);
    }
    return true;
  }

  async #release({ claim, who }: Kept): Promise<void> {
    const { companyId, scope, actor } = typeof who === 'function' ? await who() : who;
    const [release, values] = releaseCall(claim, scope);
    await onceMoreIfLost(() => this.#db.read(entryOfCompany(companyId, actor)).query(release, values));
    this.#kept.delete(claim.fence);
  }
}

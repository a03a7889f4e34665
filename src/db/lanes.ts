/**
 * What arrives together travels together: members of one subject wait for nothing but the end of the present turn of the
 * event loop (no timer: a lone one goes at once), and while some groups are on their way, what arrives gathers for the
 * next one.
 */
export interface LanesOptions<M extends LaneMember> {
  /** Members of one group at most. */
  readonly together: number;
  /** Groups of one subject that are on their way at once. */
  readonly onTheirWay: number;
  /**
   * Sees a group to its end, the members' answers included; resolves with those that have to come again, for which it did
   * something in vain: the next group has at most twice as many as were done. What it rejects with is the answer to all of
   * the group.
   */
  readonly run: (members: M[]) => Promise<readonly M[]>;
}

/** Whoever waits for an answer. */
export interface LaneMember {
  /** Of no effect once it was answered. */
  readonly reject: (error: unknown) => void;
}

interface Lane<M> {
  readonly waiting: M[];
  /** Members of its next group at most. */
  most: number;
  onTheirWay: number;
  scheduled: boolean;
}

/** A lane per subject, which goes when nothing waits in it and nothing is under way. */
export class Lanes<M extends LaneMember> {
  readonly #options: LanesOptions<M>;
  readonly #lanes = new Map<string, Lane<M>>();

  constructor(options: LanesOptions<M>) {
    this.#options = options;
  }

  add(subject: string, member: M): void {
    let lane = this.#lanes.get(subject);
    if (lane === undefined) {
      lane = { waiting: [], most: this.#options.together, onTheirWay: 0, scheduled: false };
      this.#lanes.set(subject, lane);
    }
    lane.waiting.push(member);
    this.#schedule(subject, lane);
  }

  #schedule(subject: string, lane: Lane<M>): void {
    if (lane.scheduled || lane.onTheirWay >= this.#options.onTheirWay || lane.waiting.length === 0) return;
    lane.scheduled = true;
    // The check phase comes after all sockets that were readable in this turn were read.
    setImmediate(() => {
      lane.scheduled = false;
      if (lane.onTheirWay < this.#options.onTheirWay) this.#send(subject, lane);
    });
  }

  #send(subject: string, lane: Lane<M>): void {
    const members = lane.waiting.splice(0, lane.most);
    if (members.length === 0) {
      if (lane.onTheirWay === 0 && !lane.scheduled) this.#lanes.delete(subject);
      return;
    }
    lane.onTheirWay += 1;
    void this.#run(members).then((again) => {
      lane.onTheirWay -= 1;
      const isFull = members.length >= lane.most;
      if (again.length > 0 || isFull)
        lane.most = Math.min(this.#options.together, Math.max(1, 2 * (members.length - again.length)));
      lane.waiting.unshift(...again);
      this.#send(subject, lane);
    });
    this.#schedule(subject, lane);
  }

  async #run(members: M[]): Promise<readonly M[]> {
    try {
      return await this.#options.run(members);
    } catch (error) {
      for (const { reject } of members) reject(error);
      return [];
    }
  }
}

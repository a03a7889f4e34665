/**
 * Plays a history against the program, and holds each answer against what the model says. The caller here knows only
 * what it was told; what was lost on the way it asks again with the same key.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Answer, Refused as Problem, Sent } from '../../client.ts';
import type { ModelCompany } from './companies.ts';
import type { Fleet, Place } from './fleet.ts';
import { type DocumentJson, shownIn } from './hear.ts';
import type { Hourglass } from './hourglass.ts';
import { type Command, nobody } from './judge.ts';
import { commandOf, type Heard } from './resolve.ts';
import { type Names, otherOf, type Request, requestOf } from './speak.ts';
import type { Harm, History, Step } from './wishes.ts';
import { wordsOf } from './words.ts';
import type { World } from './world.ts';
import { type Answered, Worlds } from './worlds.ts';

/** Where a history is played. */
export interface Stage {
  readonly fleet: Fleet;
  readonly hourglass: Hourglass;
  readonly company: ModelCompany;
}

export class Violation extends Error {}

/** A request of its own key; sent again, it is the same act. */
interface Act {
  readonly number: number;
  readonly command: Command;
  readonly request: Request;
  /** Body of the first answer that said it is done. */
  told: Buffer | undefined;
  /** Nobody knows what became of it. */
  isOpen: boolean;
  /** How many services had been killed when it was sent first: one killed since may have left its claim behind. */
  kills: number | undefined;
  /** Where it may still come to be served, after it was refused. */
  late: Place | undefined;
  /** It was answered: its key belongs to this request. */
  isBound: boolean;
}

interface Manner {
  readonly at: Place;
  readonly harm: Harm;
  readonly after: number;
}

const plainly = (at: Place): Manner => ({ at, harm: 'none', after: 0 });
/** A request whose connection was cut is served in milliseconds all the same, on a machine that has nothing else to do. */
const patience_ms = 60_000;

export class Player implements Heard, Names {
  readonly worlds: Worlds;
  readonly acts: Act[] = [];
  /** What was asked and answered, line by line. */
  readonly story: string[] = [];
  readonly stage: Stage;
  lost = 0;
  replayed = 0;
  readonly #ids = new Map<number, string>();
  readonly #docs = new Map<string, number>();
  /** What was told of each revision of a document. */
  readonly #revisions = new Map<
    number,
    Map<number, { readonly updatedAt: string; readonly lineIds: readonly string[] }>
  >();

  constructor(stage: Stage, region: World['region']) {
    this.stage = stage;
    const { hourglass, company } = stage;
    this.worlds = new Worlds({ region, today: hourglass.today, seriesStart: company.seriesStart, docs: {}, heads: {} });
  }

  // What the caller has heard.

  get docs(): number[] {
    return [...this.#ids.keys()];
  }
  get customers(): readonly string[] {
    return this.stage.company.customers;
  }
  get items(): readonly string[] {
    return this.stage.company.items;
  }
  revisionsOf(doc: number): number[] {
    return [...(this.#revisions.get(doc)?.keys() ?? [])];
  }
  idOf(doc: number): string {
    return this.#ids.get(doc)!;
  }
  docOf(id: string): number | undefined {
    return this.#docs.get(id);
  }
  lineIdsOf(doc: number, revision: number): readonly string[] {
    return this.#revisions.get(doc)?.get(revision)?.lineIds ?? [];
  }
  updatedAtOf(doc: number, revision: number): string {
    return this.#revisions.get(doc)!.get(revision)!.updatedAt;
  }
  revisionOf(doc: number | undefined, updatedAt: string): number | undefined {
    const known = [...(this.#revisions.get(doc ?? nobody) ?? [])];
    return known.find(([, told]) => told.updatedAt === updatedAt)?.[0];
  }

  /** The whole history, until nothing is open any more. */
  async play({ openings, steps }: History): Promise<void> {
    for (const [i, { draft, isIssued }] of openings.entries()) {
      const at = (i % 2) as Place;
      const command = commandOf({ kind: 'create', draft }, this.worlds.likely, this)!;
      const act = this.#act(command);
      await this.#ask(act, plainly(at));
      const [revision] = this.revisionsOf(act.number);
      if (isIssued && revision !== undefined)
        await this.#ask(this.#act({ kind: 'issue', doc: act.number, revision }), plainly(at));
    }
    for (const group of together(steps)) {
      const begun = group.flatMap((step) => this.#begin(step));
      await Promise.all(begun.map((ask) => ask()));
      if (group[0]!.wish.kind === 'day') await this.#nextDay();
      else if (this.acts.filter(({ isOpen }) => isOpen).length > 1 || this.worlds.count > 40) await this.#settle();
    }
    await this.#settleForGood();
    if (this.acts.some(({ isOpen }) => isOpen)) {
      this.#pass(await this.stage.hourglass.leaseOver());
      await this.#settle();
    }
    for (const act of this.acts.filter(({ told }) => told !== undefined).slice(-3)) await this.#ask(act, plainly(0));
    this.#pass(this.stage.hourglass.today);
  }

  /** What a step asks, resolved before any of its group is sent. */
  #begin({ wish, at, harm, after }: Step): (() => Promise<void>)[] {
    if (wish.kind === 'day') return [];
    if (wish.kind === 'again') {
      const writes = this.acts.filter(({ command }) => command.kind !== 'read');
      const act = writes.at(-1 - (wish.act % Math.max(1, writes.length)));
      if (act === undefined) return [];
      const isOther = wish.isOther && act.isBound;
      return [async () => void (await this.#ask(act, { at, harm, after }, isOther))];
    }
    const command = commandOf(wish, this.worlds.likely, this);
    if (command === undefined) return [];
    const act = this.#act(command);
    const manner = { at, harm: command.kind === 'read' ? 'none' : harm, after };
    return [async () => void (await this.#ask(act, manner))];
  }

  #act(command: Command): Act {
    const number = this.acts.length;
    const request = requestOf(command, this);
    const act: Act = {
      number,
      command,
      request,
      told: undefined,
      isOpen: false,
      kills: undefined,
      late: undefined,
      isBound: false,
    };
    this.acts.push(act);
    return act;
  }

  /** Sends the act, and looks at the answer if there is one. */
  async #ask(
    act: Act,
    { at, harm, after }: Manner,
    isOther = false,
  ): Promise<Answer<DocumentJson | Problem> | undefined> {
    const { number, command } = act;
    const { fleet } = this.stage;
    const again = act.kills === undefined ? '' : isOther ? ' with another body' : ' again';
    const line = this.story.push(`${number}${again} ${wordsOf(command)}`) - 1;
    const note = (words: string): void => {
      this.story[line] += ` → ${words}`;
    };
    act.kills ??= fleet.kills;
    const sending = this.worlds.send({ act: number, command, isOther, mayBeDead: this.#isDead(act) });
    const sent = this.#sent(act, isOther);
    let answer: Answer<DocumentJson | Problem> | undefined;
    if (harm === 'hang up') await fleet.sendAndHangUp(at, sent, after);
    else {
      const under = fleet.send<DocumentJson | Problem>(at, sent);
      if (harm === 'kill') void sleep(after).then(() => fleet.kill(at));
      answer = await under;
    }
    if (answer === undefined) {
      this.lost += 1;
      this.worlds.lose(sending);
      // Only the request that belongs to the key can have done something.
      if (!isOther && command.kind !== 'read' && act.told === undefined) {
        act.isOpen = true;
        act.late = at;
      }
      note(harm === 'hang up' ? `hung up after ${after} ms` : 'the service was killed');
      return undefined;
    }
    note(brief(answer));
    const answered = this.#answered(act, answer, isOther);
    if (!this.worlds.observe(sending, answered))
      throw new Violation(`act ${number}: ${this.worlds.reasons(sending, answered).join('; or ')}`);
    if (!isOther) this.#settled(act, answer);
    return answer;
  }

  #sent({ number, request, command }: Act, isOther: boolean): Sent {
    const { method, path, body } = isOther ? otherOf(request) : request;
    const headers = {
      'x-api-key': this.stage.company.apiKey,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(command.kind === 'read' ? {} : { 'idempotency-key': `model-${number}` }),
    };
    return { method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  }

  /** The answer in the model's words; ids and revisions that it tells are known from here on. */
  #answered(act: Act, { status, headers, json, bytes }: Answer<DocumentJson | Problem>, isOther: boolean): Answered {
    if (status >= 300 || isOther) {
      const { code = '', errors = [] } = json as Problem;
      const problems = errors.map(({ pointer, code }) => `${pointer} ${code}`);
      return { status, code, problems, isFinal: headers['retry-after'] === undefined };
    }
    const reply = json as DocumentJson;
    if (act.told === undefined) this.#learn(act, reply);
    else if (act.command.kind !== 'read' && !isDeepStrictEqual(act.told, bytes))
      throw new Violation('it was answered before with other bytes');
    const isReplayed = headers['idempotent-replayed'] === 'true';
    if (isReplayed) this.replayed += 1;
    return { status, shown: shownIn(reply, this), isReplayed };
  }

  #learn({ number, command: { kind } }: Act, reply: DocumentJson): void {
    if (kind === 'create' || kind === 'credit') this.#name(number, reply.id);
    if (kind === 'pay') this.#name(number, reply.receipt!.id);
    const isRevision = kind === 'create' || kind === 'credit' || kind === 'patch' || kind === 'patch note';
    const doc = this.#docs.get(reply.id);
    if (!isRevision || doc === undefined) return;
    const revisions = this.#revisions.get(doc) ?? new Map();
    this.#revisions.set(doc, revisions);
    revisions.set(number, { updatedAt: reply.updatedAt, lineIds: (reply.items ?? []).map(({ id }) => id) });
  }

  #name(doc: number, id: string): void {
    if (this.#docs.has(id)) throw new Violation(`the document ${id} was made before, by act ${this.#docs.get(id)}`);
    this.#docs.set(id, doc);
    this.#ids.set(doc, id);
  }

  /** What is known of the act after an answer. */
  #settled(act: Act, { status, bytes, headers }: Answer<unknown>): void {
    if (status < 300 && act.command.kind !== 'read') act.told ??= bytes;
    if (status === 409 && headers['retry-after'] !== undefined) return;
    act.isOpen = false;
    act.isBound = true;
  }

  /** Asks again for everything that is open; what was left by a killed service has to wait for the end of its lease. */
  async #settle(): Promise<void> {
    for (const act of this.acts.filter(({ isOpen }) => isOpen)) {
      let until: number | undefined;
      for (let attempt = 0; act.isOpen; attempt += 1) {
        const answer = await this.#ask(act, plainly(0));
        if (!act.isOpen || (answer?.status === 409 && this.#isDead(act))) break;
        // From the first answer on: a killed service may take its time to come up.
        until ??= performance.now() + patience_ms;
        if (performance.now() > until) throw new Violation(`act ${act.number} is still in progress`);
        await sleep(Math.min(200, 5 * 2 ** attempt));
      }
    }
  }

  /**
   * The same, and for good: what was cut off on its way may come after its repetition, that was refused, and be done. So
   * it is asked once more when the service has taken up all that reached it.
   */
  async #settleForGood(): Promise<void> {
    await this.#settle();
    const late = this.acts.filter((act) => act.late !== undefined && act.told === undefined && !act.isOpen);
    const headers = { 'x-api-key': this.stage.company.apiKey };
    for (const place of new Set(late.map((act) => act.late!))) await this.stage.fleet.drain(place, headers);
    for (const act of late) {
      act.isOpen = true;
      act.late = undefined;
    }
    await this.#settle();
  }

  #isDead({ kills }: Act): boolean {
    return kills !== undefined && this.stage.fleet.kills > kills;
  }

  async #nextDay(): Promise<void> {
    await this.#settleForGood();
    this.#pass(await this.stage.hourglass.nextDay());
  }

  #pass(today: string): void {
    if (today !== this.worlds.likely.today) this.story.push(`— it is ${today}`);
    this.worlds.pass(today);
  }
}

/** Steps that are sent at the same time; at most three. */
function together(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  let isOpen = false;
  for (const step of steps) {
    const isAlone = step.wish.kind === 'day';
    const last = groups.at(-1);
    if (isOpen && !isAlone && last!.length < 3) last!.push(step);
    else groups.push([step]);
    isOpen = step.isTogether && !isAlone;
  }
  return groups;
}

function brief({ status, json, headers }: Answer<DocumentJson | Problem>): string {
  const replayed = headers['idempotent-replayed'] === undefined ? '' : ' (replayed)';
  if (status >= 300) {
    const { code, errors = [] } = json as Problem;
    return [status, code, ...errors.map(({ pointer, code }) => `${pointer} ${code}`)].join(' ') + replayed;
  }
  const { documentType, number, status: state, summary, receipt } = json as DocumentJson;
  if (documentType === undefined) return `${status}${replayed}`;
  const paid = receipt === undefined ? '' : `, receipt ${receipt.number}`;
  return `${status} ${number ?? documentType} ${state}, ${summary['totalToPay']} to pay${paid}${replayed}`;
}

/**
 * What clients asked and what they were told. Every act carries a key; what was not answered is asked again with the
 * same key, until it is known what happened.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Answer, Refused, Wire } from '../client.ts';

/** What is known of an act. `open`: the answer was lost, or says so. `never`: its key never runs again. */
export type State = 'open' | 'done' | 'refused' | 'never';

export interface Act {
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
  state: State;
  /** The body of the first answer that said it is done. */
  told: Buffer | undefined;
  /** Code of the refusal. */
  code: string | undefined;
}

export interface Told {
  readonly id: string;
  readonly updatedAt: string;
  readonly number?: string;
}

export class Journal {
  readonly acts: Act[] = [];
  readonly violations: string[] = [];
  /** Answers that were given again for a key that was done. */
  replayed = 0;
  readonly #apiKey: string;
  readonly #prefix: string;

  /** `prefix` makes keys of this journal unlike all others. */
  constructor(apiKey: string, prefix: string) {
    this.#apiKey = apiKey;
    this.#prefix = prefix;
  }

  /** A new act; nothing is sent yet. */
  act(path: string, body: unknown): Act {
    const key = `${this.#prefix}-${this.acts.length}`;
    const act: Act = { path, body, key, state: 'open', told: undefined, code: undefined };
    this.acts.push(act);
    return act;
  }

  /** Sends it, again or for the first time. The answer when it is done, else undefined. */
  async send<T = Told>(wire: Wire, act: Act): Promise<T | undefined> {
    let answer: Answer;
    try {
      answer = await wire.send({
        method: 'POST',
        path: act.path,
        body: JSON.stringify(act.body),
        headers: { 'x-api-key': this.#apiKey, 'content-type': 'application/json', 'idempotency-key': act.key },
      });
    } catch {
      return undefined;
    }
    this.#note(act, answer);
    return act.state === 'done' ? (JSON.parse(act.told!.toString()) as T) : undefined;
  }

  #note(act: Act, { status, bytes, json, headers }: Answer): void {
    if (act.told !== undefined) {
      this.replayed += 1;
      if (status >= 300 || !isDeepStrictEqual(act.told, bytes))
        this.violations.push(`${act.path} (key ${act.key}) was acknowledged, and answers ${status} afterwards`);
      return;
    }
    if (status < 300) {
      if (act.state === 'never' || act.state === 'refused')
        this.violations.push(`${act.path} (key ${act.key}) was ${act.state}, and is done afterwards`);
      act.state = 'done';
      act.told = bytes;
      return;
    }
    const { code } = json as Refused;
    act.code = code;
    if (status >= 500) return;
    if (code !== 'IDEMPOTENCY_CONFLICT') act.state = 'refused';
    else if (headers['retry-after'] === undefined) act.state = 'never';
  }

  /** Asks again for everything that is open. */
  async retry(wire: Wire): Promise<void> {
    await Promise.all(this.open().map((act) => this.send(wire, act)));
  }

  /** A key that was answered answers the same again: some of the last ones are asked. */
  async again(wire: Wire, most = 3): Promise<void> {
    const last = this.done().slice(-most);
    await Promise.all(last.map((act) => this.send(wire, act)));
  }

  open(): Act[] {
    return this.acts.filter(({ state }) => state === 'open');
  }

  done(): Act[] {
    return this.acts.filter(({ state }) => state === 'done');
  }
}

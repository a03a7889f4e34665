/** A caller that knows the description and nothing else: batch after batch, each answer judged, each success learned from. */
import { builtIn } from '../../../src/operations/templates/template.ts';
import type { Answer, Wire } from '../../client.ts';
import { type Chance, chanceOf } from '../chance.ts';
import type { Founder } from './companies.ts';
import type { Described } from './description.ts';
import { Memory } from './memory.ts';
import { type Made, makeRequest, type Sources } from './requests.ts';
import { judge } from './verdict.ts';

/** More would tell nothing new. */
const most_told = 40;

export class Play {
  readonly operations: readonly Described[];
  readonly violations: string[] = [];
  /** Answers by operation and status. */
  readonly answers = new Map<string, Map<number, number>>();
  readonly classes = new Map<string, number>();
  readonly done = new Set<string>();
  sent = 0;
  readonly #wire: Wire;
  readonly #founder: Founder;
  readonly #foreign = new Memory();
  readonly #told = new Set<string>();
  /** Files are made few at once for all: they wait for each other here. */
  #file: Promise<unknown> = Promise.resolve();

  constructor(wire: Wire, operations: readonly Described[], founder: Founder) {
    this.#wire = wire;
    this.operations = operations;
    this.#founder = founder;
  }

  /** The other company, with some of everything. */
  async settleForeign(): Promise<void> {
    await this.#play(this.#foreign, new Memory(), chanceOf(1), 'foreign', 120, 1);
    // The template that is always there is everybody's.
    this.#foreign.forget('templates', builtIn.id);
  }

  async batch(seed: number, requests: number): Promise<void> {
    await this.#play(new Memory(), this.#foreign, chanceOf(seed), `seed ${seed}`, requests, 0.62);
  }

  async #play(
    memory: Memory,
    foreign: Memory,
    chance: Chance,
    where: string,
    requests: number,
    valid: number,
  ): Promise<void> {
    const apiKey = await this.#founder.found();
    const sources: Sources = {
      operations: this.operations,
      chance,
      memory,
      foreign,
      apiKey,
      prefix: where.replace(' ', '-'),
    };
    const recent: { made: Made; answer: Answer }[] = [];
    const first = this.operations.filter(isFirst);
    const makers = this.operations.filter(isMaker);
    const prelude = [...this.operations.filter(isPlainRead), ...first, ...first, ...makers, ...makers];
    let focus: string | undefined;
    for (let i = 0; i < requests; i += 1) {
      const again = i >= prelude.length && recent.length > 0 && chance.next() < 0.04 ? chance.one(recent) : undefined;
      if (again !== undefined) {
        await this.#repeat(again, sources, `${where}, request ${i + 1}`);
        continue;
      }
      const operation = prelude[i] ?? this.#choose(chance, memory, focus);
      const kind =
        prelude[i] !== undefined || chance.next() < valid ? 'valid' : chance.next() < 0.6 ? 'broken' : 'hostile';
      const made = makeRequest(operation, sources, kind);
      const answer = await this.#send(made, `${where}, request ${i + 1}`);
      if (answer === undefined) continue;
      if (answer.status < 300 && made.method === operation.method) {
        memory.learn(operation, answer.json);
        focus = chance.next() < 0.75 ? operation.collection : undefined;
        if (operation.takesKey && made.headers['idempotency-key'] !== undefined) recent.push({ made, answer });
      }
      if (answer.status === 404 && made.kind === 'valid' && made.subject !== undefined && made.foreign === undefined)
        memory.forget(operation.path.split('/')[1]!, made.subject);
    }
  }

  /** The same key again: with the same request the same bytes, with another one a refusal. */
  async #repeat({ made, answer }: { made: Made; answer: Answer }, sources: Sources, where: string): Promise<void> {
    const same = sources.chance.next() < 0.6;
    const other = { ...makeRequest(made.operation, sources, 'valid'), foreign: undefined };
    const sent = same
      ? made
      : { ...other, headers: { ...other.headers, 'idempotency-key': made.headers['idempotency-key']! } };
    const isSame = same || (other.path === made.path && other.body === made.body);
    const told = await this.#send(sent, where);
    if (told === undefined) return;
    const replayed =
      told.status === answer.status &&
      told.bytes.equals(answer.bytes) &&
      told.headers['idempotent-replayed'] === 'true';
    if (isSame && !replayed)
      this.#violation(sent, told, `a key that was done answers ${told.status} and other bytes`, where);
    if (!isSame && told.status !== 422)
      this.#violation(sent, told, `a key of another request answers ${told.status}`, where);
  }

  async #send(made: Made, where: string): Promise<Answer | undefined> {
    const { method, path, headers, body } = made;
    const ask = (): Promise<Answer> => this.#wire.send({ method, path, headers, body });
    let answer: Answer;
    try {
      if (made.operation.file) {
        const turn = this.#file.then(ask, ask);
        this.#file = turn;
        answer = await turn;
      } else answer = await ask();
    } catch (error) {
      this.#violation(made, undefined, `was not answered: ${(error as Error).message}`, where);
      return undefined;
    } finally {
      this.sent += 1;
    }
    for (const fault of judge(made, answer)) this.#violation(made, answer, fault, where);
    this.#count(made, answer.status);
    return answer;
  }

  #count({ operation, method }: Made, status: number): void {
    const group = `${Math.floor(status / 100)}xx`;
    this.classes.set(group, (this.classes.get(group) ?? 0) + 1);
    if (method !== operation.method) return;
    const own = this.answers.get(operation.name) ?? new Map<number, number>();
    this.answers.set(operation.name, own.set(status, (own.get(status) ?? 0) + 1));
    if (status < 300) this.done.add(operation.name);
  }

  /** Each kind of fault once per operation: the first of a thousand tells all. */
  #violation(
    { operation, method, path, headers, body, kind, what }: Made,
    answer: Answer | undefined,
    fault: string,
    where: string,
  ): void {
    const key = `${operation.name} ${fault.replace(/\d{2,}|"[^"]*"/g, '')}`;
    if (this.#told.has(key) || this.violations.length >= most_told) return;
    this.#told.add(key);
    const { 'x-api-key': _, ...others } = headers;
    const request = `${method} ${path.slice(0, 300)} ${JSON.stringify(others).slice(0, 300)} ${body?.slice(0, 600) ?? ''}`;
    this.violations.push(
      `${operation.name} (${kind}${what === '' ? '' : `: ${what}`}) ${fault} (${where}): ${request} → ${answer?.text.slice(0, 400)}`,
    );
  }

  /** Any operation; rather one of the kind of record that was touched last, seldom one that costs much or takes away. */
  #choose(chance: Chance, memory: Memory, focus: string | undefined): Described {
    for (;;) {
      const operation = chance.one(this.operations);
      if (focus !== undefined && operation.path.split('/')[1] !== focus && chance.next() < 0.7) continue;
      if (chance.next() >= weightOf(operation)) continue;
      // Without a record there is little to do: rather one is made.
      const missing =
        operation.path.includes('{id}') && memory.pick(operation.path.split('/')[1]!, chance) === undefined;
      if (missing && chance.next() < 0.8) continue;
      return operation;
    }
  }

  table(): string {
    return this.operations
      .map(({ name }) => {
        const counts = [...(this.answers.get(name) ?? [])].sort(([a], [b]) => a - b);
        return `${name.padEnd(20)} ${counts.map(([status, count]) => `${status}: ${count}`).join('  ')}`;
      })
      .join('\n');
  }
}

function weightOf({ method, path, file }: Described): number {
  if (file) return 0.1;
  if (path.endsWith('/pdf')) return 0.15;
  if (method === 'DELETE') return 0.25;
  return method === 'GET' ? 0.5 : 1;
}

const isPlainRead = ({ method, path, query, file }: Described): boolean =>
  method === 'GET' && !path.includes('{') && !file && Object.keys(query.properties ?? {}).length === 0;

const isMaker = ({ method, path, body }: Described): boolean =>
  method === 'POST' && !path.includes('{') && (body?.required ?? []).length > 0;

/** What can be made without a record of another kind. */
function isFirst(operation: Described): boolean {
  const required = operation.body?.required ?? [];
  return isMaker(operation) && !required.some((name) => /Id$|^items$/.test(name));
}

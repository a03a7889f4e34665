/** Requests by chance: as the description asks, wrong in one place, or wrong in any way. */
import type { Chance } from '../chance.ts';
import type { Described } from './description.ts';
import type { Memory } from './memory.ts';
import { anyId, type Maker, rightObject } from './values.ts';
import { brokenOnce, hostile } from './wrong-requests.ts';

export interface Made {
  readonly operation: Described;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
  /** valid: every word of the description is kept. broken: one is not. hostile: nobody knows. */
  readonly kind: 'valid' | 'broken' | 'hostile';
  /** What is wrong with it. */
  readonly what: string;
  /** Where an id of another company stands. */
  readonly foreign: 'path' | 'query' | 'body' | undefined;
  /** Record in the path. */
  readonly subject: string | undefined;
}

export interface Sources {
  readonly operations: readonly Described[];
  readonly chance: Chance;
  readonly memory: Memory;
  /** What the other company has. */
  readonly foreign: Memory;
  readonly apiKey: string;
  /** Unlike that of all others. */
  readonly prefix: string;
}

export function makeRequest(operation: Described, sources: Sources, wanted: Made['kind']): Made {
  const { chance, memory, foreign, apiKey } = sources;
  const abroad = wanted === 'valid' && chance.next() < 0.04;
  const maker: Maker = {
    chance,
    memory: abroad && chance.next() < 0.5 ? foreign : memory,
    subject: undefined,
    guessed: false,
  };
  const collection = operation.path.split('/')[1]!;
  const inPath = operation.path.includes('{id}');
  const strangePath = abroad && maker.memory === memory;
  if (inPath) maker.subject = (strangePath ? foreign : memory).pick(collection, chance);
  const id = maker.subject?.id ?? anyId(chance);
  const query = rightObject(operation.query, maker);
  const body = operation.body === undefined ? undefined : rightObject(operation.body, maker);
  const headers: Record<string, string | string[]> = { 'x-api-key': apiKey };
  if (operation.takesKey && chance.next() < 0.4)
    headers['idempotency-key'] = `${sources.prefix}-${chance.whole(0, 2 ** 40)}`;
  const language = chance.one([undefined, undefined, 'pt-PT', 'en', 'de, pt;q=0.5']);
  if (language !== undefined) headers['accept-language'] = language;
  const made: Draft = { operation, method: operation.method, id, query, body, headers };
  const where = strangePath && inPath ? 'path' : maker.memory === foreign ? strangerIn(made, foreign) : undefined;
  const wrong = wanted === 'valid' ? undefined : wanted === 'broken' ? brokenOnce(made, chance) : hostile(made, chance);
  if (wrong !== undefined) return finished(wrong.made, wanted, wrong.what, undefined);
  return maker.guessed ? finished(made, 'hostile', 'a guess', where) : finished(made, 'valid', '', where);
}

/** A request that is not written out yet. */
export interface Draft {
  readonly operation: Described;
  readonly method: string;
  readonly id: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined: there is none. Text: as it is. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Behind the query. */
  readonly more?: string;
}

function strangerIn({ query, body }: Draft, foreign: Memory): Made['foreign'] {
  const isForeign = (value: unknown): boolean =>
    typeof value === 'string'
      ? foreign.find(value) !== undefined
      : value !== null && typeof value === 'object' && Object.values(value).some(isForeign);
  return isForeign(body) ? 'body' : isForeign(query) ? 'query' : undefined;
}

function finished(made: Draft, kind: Made['kind'], what: string, foreign: Made['foreign']): Made {
  const { operation, method, id, query, body, headers, more = '' } = made;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${encode(name)}=${encode(String(one))}`),
  );
  const search = [pairs.join('&'), more].filter((text) => text !== '').join('&');
  const path = `${operation.path.replace('{id}', encode(id))}${search === '' ? '' : `?${search}`}`;
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type: Draft['headers'] =
    text === undefined || 'content-type' in headers ? {} : { 'content-type': 'application/json' };
  const subject = operation.path.includes('{id}') ? id : undefined;
  return { operation, method, path, headers: { ...type, ...headers }, body: text, kind, what, foreign, subject };
}

/** encodeURIComponent throws on what is no Unicode. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\u0001'));
}

/** From an HTTP request to a call of the corridor: headers, body and what is wrong with their form. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Entry } from '../../db/transact.ts';
import type { Call } from '../../engine/execute.ts';
import { parseStrictJson } from '../../engine/strict-json.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { type Credential, credentialOf, entryOfKey, type Principal } from '../../identity/principal.ts';
import type { Operation } from '../../operations/operation.ts';
import type { Exchange } from './exchange.ts';

/** Members and elements of a body: twice as many as a document of 1,000 lines with all of their fields has. */
const most_values = 40_000;
const keyForm = /^[\x21-\x7e]{1,128}$/;

/** What the router has found in its address; nothing of it is believed yet. */
export interface Address {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
}

/** Throws UNAUTHENTICATED or AMBIGUOUS_CREDENTIALS; what is wrong with the form is left to the corridor. */
export function callOf(operation: Operation, exchange: Exchange, address: Address, gone: AbortSignal): Call {
  return new HttpCall(operation, exchange, address, credentialOfCaller(exchange.request), gone);
}

/** On a connection: what its last request was sent with. Node keeps the headers of that one there as long. */
const latest = Symbol('the credential of its last request');
interface Caller extends Socket {
  [latest]?: { readonly apiKey: string; readonly credential: Credential };
}

/** Most connections have one caller: to take a key for the one before is 6 µs less than to check and hash it again. */
function credentialOfCaller({ headers, socket }: IncomingMessage): Credential {
  const caller: Caller = socket;
  const { [latest]: before } = caller;
  const { 'x-api-key': apiKey, authorization } = headers;
  if (before !== undefined && before.apiKey === apiKey && authorization === undefined) return before.credential;
  const credential = credentialOf({ apiKey: apiKey === undefined ? undefined : String(apiKey), authorization });
  caller[latest] = { apiKey: String(apiKey), credential };
  return credential;
}

/** `Entry.subject` of a request, before anything else is made of it; undefined: it has no credential that could be valid. */
export function subjectOfCaller(request: IncomingMessage): string | undefined {
  try {
    return credentialOfCaller(request).subject;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

type Form = Pick<Call, 'body' | 'malformed'>;

/** A class, since getters of an object literal are defined anew for each: 1.5 kB and 2 µs. */
class HttpCall implements Call {
  readonly operation: Operation;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly bodyLength: number;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string;
  readonly network: string;
  readonly rateSubject: string;
  readonly gone: AbortSignal;
  readonly #exchange: Exchange;
  readonly #credential: Credential;
  #form: Form | undefined;

  constructor(
    operation: Operation,
    exchange: Exchange,
    { params, query }: Address,
    credential: Credential,
    gone: AbortSignal,
  ) {
    const key = exchange.request.headers['idempotency-key'];
    this.operation = operation;
    this.params = params;
    this.query = query;
    this.bodyLength = exchange.body.length;
    this.idempotencyKey = operation.kind === 'write' && key !== undefined ? String(key) : undefined;
    this.requestId = exchange.id;
    this.network = exchange.network;
    this.rateSubject = credential.subject;
    this.gone = gone;
    this.#exchange = exchange;
    this.#credential = credential;
  }

  get body(): unknown {
    return this.#read().body;
  }

  get malformed(): Refusal | undefined {
    return this.#read().malformed;
  }

  entry(accept: (principal: Principal) => void): Entry {
    return entryOfKey(this.#credential, accept);
  }

  #read(): Form {
    this.#form ??= formOf(this.operation, this.#exchange);
    return this.#form;
  }
}

/** Step 7: content type, JSON syntax, idempotency key, in this order. */
function formOf(operation: Operation, { request: { headers }, body: bytes }: Exchange): Form {
  if (operation.kind === 'read') return { body: {}, malformed: undefined };
  let body: unknown = {};
  let malformed: Refusal | undefined;
  try {
    if (bytes.length > 0 && !isJson(headers['content-type'])) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    if (headers['content-encoding'] !== undefined) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    body = parseStrictJson(bytes, most_values);
    const key = headers['idempotency-key'];
    if (key !== undefined && !keyForm.test(String(key))) throw new Refusal('IDEMPOTENCY_KEY_INVALID');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    malformed = error;
  }
  return { body, malformed };
}

/** Many programs write UTF-8 without its hyphen, and mean it. */
function isJson(contentType: string | undefined): boolean {
  return (
    contentType === 'application/json' ||
    (contentType !== undefined &&
      /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i.test(contentType.trim()))
  );
}

/**
 * One declaration per operation. From it come the REST route, the OpenAPI operation, the checks of the corridor, the
 * audit entry, the rows of the matrix tests and (where `tool` stands) the assistant's tool. Nothing else lists
 * operations; `all.ts` is their table of contents.
 *
 * The stages have the same names everywhere: asked → facts → change → reply. `load` reads once, `decide` is where the
 * law speaks, `save` writes once, `show` makes the reply.
 */
import { type Static, type TSchema, Type } from 'typebox';
import type { Call, Row, Tx } from '../db/transact.ts';
import type { Problem, RefusalCode } from '../fiscal/refusal.ts';
import type { Principal } from '../identity/principal.ts';
import type { World } from './world.ts';

/** Scopes of OAuth, by the contract's names. */
export type Scope = 'company.read' | 'invoicing.read' | 'invoicing.write' | 'invoicing.issue' | 'invoicing.read_all';

export interface Access {
  /** API keys may call it. */
  readonly key: true;
  /** Any one of these scopes opens it to OAuth; absent: OAuth is refused. */
  readonly oauth?: readonly Scope[];
}

/** What the caller asked, validated, and who asked. */
export interface Asked<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Known once the transaction's first statement has run; reading it earlier is a fault of ours. */
  readonly principal: Principal;
  readonly requestId: string;
}

type NoBody = Record<string, never>;
type Of<S extends TSchema | undefined> = S extends TSchema ? Static<S> : Record<string, never>;

interface Declared<P extends TSchema | undefined, Q extends TSchema | undefined> {
  readonly name: string;
  /** "METHOD /path/:param" */
  readonly route: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** Status and schema of the reply. */
  readonly reply: readonly [number, TSchema];
  readonly access: Access;
  /** Codes that this operation's own rules may answer, beyond those of the corridor. */
  readonly refuses: readonly RefusalCode[];
  /** Name of the assistant's tool, for operations that are offered there. */
  readonly tool?: string;
}

export interface ReadDeclaration<P extends TSchema | undefined, Q extends TSchema | undefined, F>
  extends Declared<P, Q> {
  /** It reads a row or few by their key, so it may share a round trip with other reads of the same credential. */
  readonly quick?: true;
  readonly load: (tx: Tx, asked: Asked<Of<P>, Of<Q>, NoBody>, world: World) => Promise<F>;
  readonly show: (facts: F, asked: Asked<Of<P>, Of<Q>, NoBody>, world: World) => unknown;
}

/**
 * An optimistic way, quick where nobody else changes the same records. What the act is decided on is in memory, or is read
 * before the transaction, without locks and in the round trip of the claim. The transaction is then one round trip, and fails
 * unless all of that still stands; when it fails the stages are walked again, under their locks (engine/ahead.ts).
 */
export interface Ahead<A, G, C> {
  /** What `decide` gets, from `world.memory`. Undefined: it is not all known. */
  readonly recall: (asked: A, world: World) => G | undefined;
  /** What `load` and `locate` would find, as statements that lock nothing. The principal is not known yet. */
  readonly read: (asked: A, world: World) => readonly Call[];
  /** What `decide` gets, from what was read; it is kept in `world.memory`. Undefined: this one needs its locks. */
  readonly facts: (rows: readonly Row[][], asked: A, world: World) => G | undefined;
  /**
   * Statements that write nothing and fail if what the facts rest on has changed. If the database has nothing else to do
   * they are sent before the decision. `save` has whatever else must be checked. Undefined: only after the decision.
   */
  readonly hold: (facts: G, asked: A, world: World) => readonly Call[] | undefined;
  /** Statements that write the change, each failing where it does not find what the change was decided on. */
  readonly save: (change: C, asked: A, world: World) => { readonly subject: string; readonly calls: readonly Call[] };
  /**
   * Updates `world.memory` while the change is being written. If the write fails, all that is remembered of the company is
   * forgotten, and whatever was decided on it meanwhile is void.
   */
  readonly keep: (change: C, asked: A, world: World) => void;
  /** Updates `world.memory` once the change is committed: for facts that later acts rely on without checking them again. */
  readonly settle?: (change: C, asked: A, world: World) => void;
}

export interface WriteDeclaration<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  F,
  C,
  G,
> extends Declared<P, Q> {
  readonly body?: B;
  /**
   * Rules on the body alone that a schema can't say; runs beside the schema so that everything wrong is named at once.
   * Members may be missing or of a wrong type: it says nothing about those.
   */
  readonly check?: (body: Record<string, unknown>) => Problem[];
  /** A fiscal act: can't be undone, and an assistant needs a person's approval. */
  readonly fiscal?: boolean;
  /** It may share a transaction with other writes of the same credential (engine/press.ts). */
  readonly grouped?: true;
  readonly load: (tx: Tx, asked: Asked<Of<P>, Of<Q>, Of<B>>, world: World) => Promise<F>;
  /**
   * Locks the series that is to number, and reads what must be read after that. A stage of its own, because everything
   * that any member of a group locks in `load` comes before the series: everyone takes locks in one order.
   */
  readonly locate?: (tx: Tx, facts: F, asked: Asked<Of<P>, Of<Q>, Of<B>>, world: World) => Promise<G>;
  readonly decide: (facts: G, asked: Asked<Of<P>, Of<Q>, Of<B>>, world: World) => C | Promise<C>;
  /** `show` needs nothing that `save` learns: the reply is made while the server writes. */
  readonly foretold?: true;
  /** Of operations that are `grouped` and `foretold`. */
  readonly ahead?: Ahead<Asked<Of<P>, Of<Q>, Of<B>>, G, C>;
  /** Writes the change; returns the id of the record it concerns, for the audit. */
  readonly save: (tx: Tx, change: C, asked: Asked<Of<P>, Of<Q>, Of<B>>, world: World) => Promise<string>;
  readonly show: (change: C, asked: Asked<Of<P>, Of<Q>, Of<B>>, world: World) => unknown;
  /**
   * Tells the same answer once more, byte by byte, of what never changes when the act is done: then its key does not keep it
   * (docs/decisions/0078-told-again.md). `world` has the address that the service had then, for links.
   */
  readonly retell?: (tx: Tx, asked: Asked<Of<P>, Of<Q>, Of<B>>, world: World) => Promise<unknown>;
  /** After the commit, in memory only: a nudge. The reply never waits for it. */
  readonly after?: (world: World) => void;
}

/** A reply that is a file. `write` is run once, to its end, before the first byte of the answer leaves. */
export class Download {
  /** As it is offered to be kept: letters, digits, dots and hyphens. */
  readonly name: string;
  /** Hands the bytes to `sink` and awaits it; what it throws is answered like any other refusal. */
  readonly write: (sink: (bytes: Uint8Array) => Promise<void>) => Promise<unknown>;

  constructor(name: string, write: Download['write']) {
    this.name = name;
    this.write = write;
  }
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Any operation, as the corridor and the doors see it: its types checked where it was declared. */
export interface Operation {
  readonly kind: 'read' | 'write';
  readonly name: string;
  /** "METHOD /path/:param" */
  readonly route: string;
  readonly method: Method;
  /** Path template with ":id". */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly reply: readonly [number, TSchema];
  /** Media type of a reply that is a file; absent: JSON. */
  readonly media?: string;
  readonly access: Access;
  readonly refuses: readonly RefusalCode[];
  readonly check?: (body: Record<string, unknown>) => Problem[];
  readonly tool?: string;
  readonly fiscal: boolean;
  readonly grouped: boolean;
  readonly locate?: (tx: Tx, facts: unknown, asked: AnyAsked, world: World) => Promise<unknown>;
  readonly quick?: true;
  readonly load: (tx: Tx, asked: AnyAsked, world: World) => Promise<unknown>;
  readonly decide: (facts: unknown, asked: AnyAsked, world: World) => unknown;
  readonly foretold?: true;
  readonly ahead?: Ahead<AnyAsked, unknown, unknown>;
  readonly save: (tx: Tx, change: unknown, asked: AnyAsked, world: World) => Promise<string>;
  readonly show: (facts: unknown, asked: AnyAsked, world: World) => unknown;
  readonly retell?: (tx: Tx, asked: AnyAsked, world: World) => Promise<unknown>;
  readonly after?: (world: World) => void;
}

export type AnyAsked = Asked<Record<string, unknown>, Record<string, unknown>, Record<string, unknown>>;

/** An operation that changes nothing: it has no body, no `decide` and no `save`, and takes no idempotency key. */
export function defineRead<F, P extends TSchema | undefined = undefined, Q extends TSchema | undefined = undefined>(
  declaration: ReadDeclaration<P, Q, F>,
): Operation {
  const unreachable = (): never => {
    throw new Error(`${declaration.name} is a read`);
  };
  return {
    ...split(declaration.route),
    ...(declaration as unknown as Operation),
    kind: 'read',
    fiscal: false,
    grouped: false,
    decide: unreachable,
    save: unreachable,
  };
}

export interface DownloadDeclaration<P extends TSchema | undefined, Q extends TSchema | undefined, F>
  extends Omit<ReadDeclaration<P, Q, F>, 'reply' | 'show'> {
  /** Media type of the file. */
  readonly media: string;
  readonly show: (facts: F, asked: Asked<Of<P>, Of<Q>, NoBody>, world: World) => Download;
}

/** A read whose reply is a file: made whole first, then sent, so that an error is an answer and not a torn file. */
export function defineDownload<F, P extends TSchema | undefined = undefined, Q extends TSchema | undefined = undefined>(
  declaration: DownloadDeclaration<P, Q, F>,
): Operation {
  const { media, ...rest } = declaration;
  const read = { ...rest, reply: [200, Type.String({ format: 'binary', description: 'The file.' })] as const };
  const refuses = [...declaration.refuses, 'TOO_MANY_DOWNLOADS', 'DOWNLOADS_BUSY'] as const;
  return { ...defineRead<F, P, Q>({ ...read, refuses }), media };
}

/** An operation with an effect: audited, and once per idempotency key. Not fiscal and not grouped unless it says so. */
export function defineWrite<
  F,
  C,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  G = F,
>(declaration: WriteDeclaration<P, Q, B, F, C, G>): Operation {
  return {
    ...split(declaration.route),
    ...(declaration as unknown as Operation),
    kind: 'write',
    fiscal: declaration.fiscal ?? false,
    grouped: declaration.grouped ?? false,
  };
}

function split(route: string): { method: Method; path: string } {
  const [method, path] = route.split(' ');
  if (path === undefined) throw new Error(`not a route: ${route}`);
  return { method: method as Method, path };
}

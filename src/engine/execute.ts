/**
 * The corridor: every operation, through whichever door, walks it in this order (contract decisions 1). Steps 1–3 belong to the
 * door; here follow 4 authentication, 5 the credential's limit, 6 permission, 7 what the door found wrong with the
 * form, 8 the idempotency claim, 9 the schema, 10–11 record, state and rules, 12 the act itself.
 *
 * Authentication is the first statement of the transaction that does the work: a read is one round trip, and a revoked
 * credential fails on the next request.
 */
import { randomUUID } from 'node:crypto';
import { ConnectionLost } from '../db/errors.ts';
import { turnWithTime } from '../db/event-loop.ts';
import type { Db, Call as DbCall, Entry, Row } from '../db/transact.ts';
import type { Problem } from '../fiscal/refusal.ts';
import { assert, Refusal, refuseAll } from '../fiscal/refusal.ts';
import type { Principal } from '../identity/principal.ts';
import { type AnyAsked, Download, type Operation } from '../operations/operation.ts';
import { type Body, Rendered, renderedOf } from '../operations/rendered.ts';
import type { World } from '../operations/world.ts';
import { authorize } from './authorize.ts';
import { bounded } from './bounded.ts';
import type { Claim, Recorded, Taken } from './claim.ts';
import { nameOfKey, onceMoreIfLost, readBeside, takeClaim } from './claim.ts';
import { takeExactly } from './exact-rate.ts';
import { fingerprint } from './fingerprint.ts';
import { guarded } from './guarded.ts';
import { type Act, type Acted, nothing, type Press } from './press.ts';
import { type Rate, type RateState, rateLimited } from './rate.ts';
import type { Spool, SpooledFile } from './spool.ts';
import { validate } from './validate.ts';

/** A request as the door hands it in, nothing of it believed yet. */
export interface Call {
  readonly operation: Operation;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  /** What is wrong with the form of the request (step 7): told only to those who may know. */
  readonly malformed: Refusal | undefined;
  /** Bytes that `body` and `malformed` are read from. */
  readonly bodyLength?: number;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string;
  /** Whose turns the caller takes until its company is known: its network's. */
  readonly network: string;
  /** What the credential's limit counts; known before the database is asked. */
  readonly rateSubject: string;
  /** So many a minute, counted over all processes (exact-rate.ts); absent: the key's limit, counted in this one. */
  readonly exactRate?: number;
  /** How the caller gets in: made by the door from the credential. */
  readonly entry: (accept: (principal: Principal) => void) => Entry;
  /** Aborted when the caller has gone: whoever makes a file for nobody stops. */
  readonly gone: AbortSignal;
}

/**
 * The body is the JSON that goes on the wire, or a file on the disk. `replayed`: of an earlier request with the
 * same key.
 */
export interface Answer {
  readonly status: number;
  readonly body: Body | SpooledFile;
  readonly replayed: boolean;
}

export interface Corridor {
  readonly db: Db;
  readonly world: World;
  readonly keyRate: Rate;
  readonly spool: Spool;
  readonly press: Press;
}

/** Where the corridor leaves what the door puts into headers even when the call is refused. */
export interface Trace {
  rate?: RateState | undefined;
  principal?: Principal | undefined;
}

/**
 * What is asked, as far as it is known. A class: of a literal with getters V8 makes a new shape for each request, which keeps
 * everything that hangs on it until the old generation is collected (five sixths of what a request left behind).
 */
class AskedNow implements AnyAsked {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly requestId: string;
  readonly #call: Call;
  readonly #trace: Trace;

  constructor(call: Call, trace: Trace) {
    this.params = call.params;
    this.query = call.query;
    this.requestId = call.requestId;
    this.#call = call;
    this.#trace = trace;
  }

  get body(): Record<string, unknown> {
    return this.#call.body as Record<string, unknown>;
  }

  get principal(): Principal {
    const { principal } = this.#trace;
    if (principal === undefined) throw new Error('the principal is not known yet');
    return principal;
  }
}

/**
 * Bytes of a body that are read before the database has said who sends it, which spares a round trip: of a credential
 * that this process has met, and of any other. 40 KiB of wrong lines from nobody were 5 ms of the processor, and are 0.8.
 */
const longest_ahead = { known: 64 * 1024, unknown: 4 * 1024 };

const isAskedFirst = ({ bodyLength = 0 }: Call, isKnown: boolean): boolean =>
  bodyLength > (isKnown ? longest_ahead.known : longest_ahead.unknown);

/** Walks the corridor. Throws a Refusal for every "no"; nothing was changed then. */
export async function execute(corridor: Corridor, call: Call, trace: Trace): Promise<Answer> {
  const { operation } = call;
  if (call.exactRate !== undefined) await countExactly(corridor, call, call.exactRate, trace);
  const { memory } = corridor.world;
  const admit = (principal: Principal): void => {
    // A transaction may be entered more than once for one request; it counts once.
    if (trace.principal === undefined) trace.rate = corridor.keyRate.take(call.rateSubject);
    trace.principal = principal;
    if (trace.rate?.exceeded === true) throw rateLimited(trace.rate);
    authorize(operation, principal);
  };
  let isEntered = false;
  const entry = call.entry((principal) => {
    isEntered = true;
    if (entry.subject !== undefined) memory.keepPrincipal(entry.subject, principal);
    admit(principal);
  });
  // A company may have many keys, and a stranger may invent any number. Whose one is that was not met here yet the database
  // has still to say: until then it is one of its network's.
  const known = entry.subject === undefined ? undefined : memory.principal(entry.subject);
  const group = known?.companyId ?? call.network;
  entry.group = group;
  const asked = new AskedNow(call, trace);
  const entered = (): boolean => isEntered;
  try {
    if (isAskedFirst(call, known !== undefined)) await authenticate(corridor, entry);
    // To read a megabyte and to say what is wrong with it takes 40 ms, and many small ones take as long.
    const turn = turnWithTime(trace.principal?.companyId ?? group);
    if (turn !== undefined) await turn;
    // Whoever is over the limit gets no claim: the entry alone says 401, or 429 (steps 1 to 7 never bind a key).
    const usedUp = call.exactRate === undefined && corridor.keyRate.isUsedUp(call.rateSubject);
    if (call.malformed !== undefined || usedUp) {
      await authenticate(corridor, entry);
      if (call.malformed !== undefined) throw call.malformed;
    }
    if (operation.kind === 'read') return await read(corridor, call, asked, entry);
    return await write({ corridor, call, asked, entry, entered, admit });
  } catch (error) {
    if (isUnauthenticated(error)) {
      // Not any more who it was.
      if (entry.subject !== undefined) memory.forgetPrincipal(entry.subject);
      isEntered = false;
    } else if (error instanceof Refusal && error.status < 500 && !isEntered) {
      // A rule that needs no record may speak before the first statement has said who asks.
      await authenticate(corridor, entry);
    }
    // Whom only this process remembers is told nothing about the credential.
    if (!isEntered) trace.rate = undefined;
    throw error;
  }
}

const isUnauthenticated = (error: unknown): boolean => error instanceof Refusal && error.code === 'UNAUTHENTICATED';

/** Step 4 alone: nothing is read, but the entry accepts who is asking or throws a Refusal. */
async function authenticate({ db }: Corridor, entry: Entry): Promise<void> {
  await guarded(() => db.read(entry).query(nothing));
}

/** Step 5 where it holds over all processes: before all else, by an entry that only says who asks. */
async function countExactly(corridor: Corridor, call: Call, perMinute: number, trace: Trace): Promise<void> {
  const entry = call.entry((principal) => {
    trace.principal = principal;
  });
  try {
    trace.rate = await guarded(() => takeExactly(corridor.db.read(entry, 'lazily'), call.rateSubject, perMinute));
  } catch (error) {
    if (isUnauthenticated(error) && entry.subject !== undefined) corridor.world.memory.forgetPrincipal(entry.subject);
    throw error;
  }
  if (trace.rate.exceeded) throw rateLimited(trace.rate);
}

async function read(corridor: Corridor, call: Call, asked: AnyAsked, entry: Entry): Promise<Answer> {
  const { operation } = call;
  const problems = schemaProblems(call);
  if (problems.length > 0) {
    await authenticate(corridor, entry);
    refuseAll(problems);
  }
  const facts = await guarded(() =>
    operation.load(corridor.db.read(entry, operation.quick === true ? 'shared' : 'alone'), asked, corridor.world),
  );
  const turn = turnWithTime(asked.principal.companyId);
  if (turn !== undefined) await turn;
  const shown = operation.show(facts, asked, corridor.world);
  if (shown instanceof Download) {
    const file = await guarded(() => corridor.spool.fill(asked.principal.companyId, shown, call.gone));
    return { status: operation.reply[0], body: file, replayed: false };
  }
  return { status: operation.reply[0], body: renderedOf(shown).body(), replayed: false };
}

/** A write on its way to the press. */
interface Writing {
  readonly corridor: Corridor;
  readonly call: Call;
  readonly asked: AnyAsked;
  readonly entry: Entry;
  /** The database has said who asks. */
  readonly entered: () => boolean;
  /** What follows from who asks: may throw a Refusal. */
  readonly admit: (principal: Principal) => void;
}

async function write(writing: Writing): Promise<Answer> {
  const { corridor, call, asked, entry } = writing;
  const { world, press } = corridor;
  const { operation } = call;
  const claim = claimOf(call);
  const name = operation.ahead === undefined ? undefined : nameOfKey(entry, claim);
  const beside = name === undefined ? undefined : press.keys.get(name);
  if (beside !== undefined) return writtenBeside(writing, claim!, beside);
  const problems = schemaProblems(call);
  const recalled = problems.length === 0 ? recall(writing, name) : undefined;
  if (recalled !== undefined) {
    const take =
      claim &&
      (async () => {
        const { recorded } = await claimOrLetGo(writing, claim);
        return recorded && toldBefore(writing, recorded);
      });
    const work = () => acted(corridor, { operation, asked, entry, claim, take, ahead: () => recalled });
    return name === undefined ? work() : press.keys.during(name, claim!, work);
  }
  // What is not well formed can't be read for.
  const calls = problems.length === 0 ? operation.ahead?.read(asked, world) : undefined;
  const known = (rows: readonly Row[][]) => () => operation.ahead!.facts(rows, asked, world);
  let ahead: Act['ahead'];
  if (claim !== undefined) {
    const { recorded, rows } = await guarded(() => claimOrLetGo(writing, claim, calls));
    if (name !== undefined) world.memory.keepKey(name);
    if (recorded !== undefined) return answerOf(await guarded(() => toldBefore(writing, recorded)));
    if (calls !== undefined) ahead = known(rows);
  } else if (calls !== undefined) {
    ahead = known(await guarded(() => corridor.db.read(entry, 'shared').batch(calls)));
  }
  if (problems.length > 0) {
    if (claim === undefined) await authenticate(corridor, entry);
    else await letGo(writing, claim);
    refuseAll(problems);
  }
  return acted(corridor, { operation, asked, entry, claim, ahead });
}

const answerOf = ({ status, answer, replayed }: Acted): Answer => ({
  status,
  body: answer.body(),
  replayed: replayed === true,
});

/** What was done before, as it was answered then. */
async function toldBefore({ corridor, call, asked, entry }: Writing, { status, told }: Recorded): Promise<Acted> {
  if ('body' in told) return { status, answer: new Rendered([told.body]), replayed: true };
  const { retell, name } = call.operation;
  assert(retell !== undefined, `${name} tells its answers again`);
  const shown = await retell(corridor.db.read(entry, 'shared'), asked, { ...corridor.world, ...told });
  return { status, answer: renderedOf(shown), replayed: true };
}

/** Beside a request with the same key that has no claim in the database, which is asked about the credential none the less. */
async function writtenBeside(writing: Writing, claim: Claim, fingerprint: Buffer): Promise<Answer> {
  const { corridor, entry } = writing;
  return guarded(async () => {
    const recorded = await readBeside(corridor.db.read(entry, 'shared'), claim, fingerprint);
    return answerOf(await toldBefore(writing, recorded));
  });
}

/**
 * What the operation is decided on, where this process remembers all of it and whose the credential was: the write enters
 * with the credential again, and takes the key. A key that was met here before is looked up first.
 */
function recall({ corridor: { world }, call: { operation }, asked, entry, admit }: Writing, name?: string): unknown {
  if (operation.ahead === undefined || entry.subject === undefined) return undefined;
  const { memory } = world;
  const principal = memory.principal(entry.subject);
  if (principal === undefined || (name !== undefined && memory.hasKey(name))) return undefined;
  if (name !== undefined) memory.keepKey(name);
  try {
    admit(principal);
    return operation.ahead.recall(asked, world);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // It is said when the database has said who asks, and the key is bound.
    return undefined;
  }
}

async function acted(corridor: Corridor, act: Act): Promise<Answer> {
  const done = await guarded(() => corridor.press.act(act));
  act.operation.after?.(corridor.world);
  const turn = turnWithTime(act.asked.principal.companyId);
  if (turn !== undefined) await turn;
  return answerOf(done);
}

/**
 * The claim is written before the entry can refuse; a refused caller's claim is let go again, and one that may have been
 * written although nobody heard so. `calls`: read together.
 */
async function claimOrLetGo(writing: Writing, claim: Claim, calls: readonly DbCall[] = []): Promise<Taken> {
  const { corridor, entry, entered } = writing;
  const { releases } = corridor.press;
  if (releases.size > 0) await releases.settle(nameOfKey(entry, claim));
  let mayStand = false;
  try {
    return await onceMoreIfLost(() =>
      takeClaim(corridor.db.read(entry, 'lazily'), claim, calls).catch((error) => {
        mayStand ||= error instanceof ConnectionLost && error.sent;
        throw error;
      }),
    );
  } catch (error) {
    const byEntry = error instanceof Refusal && (error.status === 403 || error.status === 429);
    if (mayStand || (byEntry && entered())) await letGo(writing, claim);
    throw error;
  }
}

function letGo({ corridor, call, asked, entry, entered }: Writing, claim: Claim): Promise<void> {
  const { db, press } = corridor;
  const name = nameOfKey(entry, claim);
  if (entered()) return press.releases.letGo(name, claim, asked.principal);
  let heard: Principal | undefined;
  // An entry of its own: it counts nothing.
  const asking = call.entry((who) => {
    heard = who;
  });
  return press.releases.letGo(name, claim, async () => {
    await db.read(asking).query(nothing);
    return heard!;
  });
}

function schemaProblems(call: Call): Problem[] {
  const { operation } = call;
  const body = bounded(operation.body, call.body);
  return [
    ...validate(operation.params, call.params, 'path'),
    ...validate(operation.query, call.query, 'query'),
    ...validate(operation.body, body, 'body'),
    ...(isObject(body) ? (operation.check?.(body) ?? []) : []),
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function claimOf(call: Call): Claim | undefined {
  if (call.idempotencyKey === undefined) return undefined;
  const { route, method, path } = call.operation;
  return {
    // Kept as it is: put together for each request, it would be copied wherever it is compared or written.
    operation: route,
    key: call.idempotencyKey,
    fingerprint: fingerprint({ method, path, params: call.params, query: call.query, body: call.body }),
    fence: randomUUID(),
  };
}

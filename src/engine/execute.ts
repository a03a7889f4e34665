/**
 * The corridor: every operation, through whichever door, walks it in this order (decisions 1). Steps 1–3 belong to the
 * door; here follow 4 authentication, 5 the credential's limit, 6 permission, 7 what the door found wrong with the
 * form, 8 the idempotency claim, 9 the schema, 10–11 record, state and rules, 12 the act itself.
 *
 * Authentication is the first statement of the transaction that does the work: a read is one round trip, and a revoked
 * credential fails on the next request.
 */
import { randomUUID } from 'node:crypto';
import { ConnectionLost, OutcomeUnknown, StatementError } from '../db/errors.ts';
import type { Db, Entry } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { Problem } from '../fiscal/refusal.ts';
import { Refusal, refuseAll } from '../fiscal/refusal.ts';
import { entryOfCompany, type Principal } from '../identity/principal.ts';
import { type AnyAsked, Download, type Operation, Rendered } from '../operations/operation.ts';
import type { World } from '../operations/world.ts';
import { authorize } from './authorize.ts';
import { fingerprint } from './canonical.ts';
import type { Claim, Recorded } from './claim.ts';
import { completeClaimIn, releaseCall, takeClaim } from './claim.ts';
import { type Rate, type RateState, rateLimited } from './rate.ts';
import type { Spool, SpooledFile } from './spool.ts';
import { validate } from './validate.ts';

export interface Call {
  readonly operation: Operation;
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  /** What is wrong with the form of the request (step 7): told only to those who may know. */
  readonly malformed: Refusal | undefined;
  readonly idempotencyKey: string | undefined;
  readonly requestId: string;
  /** What the credential's limit counts; known before the database is asked. */
  readonly rateSubject: string;
  /** How the caller gets in: made by the door from the credential. */
  readonly entry: (accept: (principal: Principal) => void) => Entry;
  /** Aborted when the caller has gone: whoever makes a file for nobody stops. */
  readonly gone: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer | string | SpooledFile;
  readonly replayed: boolean;
}

export interface Corridor {
  readonly db: Db;
  readonly world: World;
  readonly keyRate: Rate;
  readonly spool: Spool;
}

/** Where the corridor leaves what the door puts into headers even when the call is refused. */
export interface Trace {
  rate?: RateState | undefined;
  principal?: Principal | undefined;
}

const nothing = statement('nothing', 'select 1');
const insertAudit = statement(
  'audit_insert',
  `insert into certo.audit (company_id, id, actor, operation, subject_id, request_id)
   values (certo.current_company(), $1, $2, $3, $4, $5)`,
);

/** Walks the corridor. Throws a Refusal for every "no"; nothing was changed then. */
export async function execute(corridor: Corridor, call: Call, trace: Trace): Promise<Answer> {
  const { operation } = call;
  const entry = call.entry((principal) => {
    // A transaction may be entered more than once for one request; it counts once.
    if (trace.principal === undefined) {
      trace.principal = principal;
      trace.rate = corridor.keyRate.take(call.rateSubject);
      if (trace.rate?.exceeded === true) throw rateLimited(trace.rate);
    }
    authorize(operation, principal);
  });
  const asked: AnyAsked = {
    params: call.params,
    query: call.query,
    body: call.body as Record<string, unknown>,
    requestId: call.requestId,
    get principal(): Principal {
      if (trace.principal === undefined) throw new Error('the principal is not known yet');
      return trace.principal;
    },
  };
  // Whoever is over the limit gets no claim: the entry alone says 401, or 429 (steps 1 to 7 never bind a key).
  if (call.malformed !== undefined || corridor.keyRate.isUsedUp(call.rateSubject)) {
    await guarded(() => corridor.db.read(entry).query(nothing));
    if (call.malformed !== undefined) throw call.malformed;
  }
  return operation.kind === 'read'
    ? read(corridor, call, asked, entry)
    : write(corridor, call, asked, entry, () => trace.principal !== undefined);
}

async function read(corridor: Corridor, call: Call, asked: AnyAsked, entry: Entry): Promise<Answer> {
  const { operation } = call;
  const problems = schemaProblems(call);
  if (problems.length > 0) {
    await corridor.db.read(entry).query(nothing);
    refuseAll(problems);
  }
  const facts = await guarded(() =>
    operation.load(corridor.db.read(entry, operation.quick === true ? 'shared' : 'alone'), asked, corridor.world),
  );
  const shown = operation.show(facts, asked, corridor.world);
  if (shown instanceof Download) {
    const file = await guarded(() => corridor.spool.fill(asked.principal.companyId, shown, call.gone));
    return { status: operation.reply[0], body: file, replayed: false };
  }
  const body = shown instanceof Rendered ? shown.json : JSON.stringify(shown);
  return { status: operation.reply[0], body, replayed: false };
}

async function write(
  corridor: Corridor,
  call: Call,
  asked: AnyAsked,
  entry: Entry,
  entered: () => boolean,
): Promise<Answer> {
  const claim = claimOf(call);
  if (claim !== undefined) {
    const recorded = await guarded(() => claimOrLetGo(corridor, entry, claim, asked, entered));
    if (recorded !== undefined) return { status: recorded.status, body: recorded.body, replayed: true };
  }
  try {
    const problems = schemaProblems(call);
    if (problems.length > 0) {
      if (claim === undefined) await corridor.db.read(entry).query(nothing);
      refuseAll(problems);
    }
    return await guarded(() => untangled(() => act(corridor, call, asked, entry, claim, entered)));
  } catch (error) {
    // Known to be rolled back, or refused: the same request may run again. An unknown outcome keeps its claim.
    if (claim !== undefined && !(error instanceof Refusal && error.code === 'OUTCOME_UNKNOWN')) {
      await release(corridor, claim, asked);
    }
    throw error;
  }
}

/** The claim is written before the entry can refuse; a refused caller's claim is let go again. */
async function claimOrLetGo(
  corridor: Corridor,
  entry: Entry,
  claim: Claim,
  asked: AnyAsked,
  entered: () => boolean,
): Promise<Recorded | undefined> {
  try {
    return await takeClaim(corridor.db.read(entry), claim);
  } catch (error) {
    const byEntry = error instanceof Refusal && (error.status === 403 || error.status === 429);
    if (byEntry && entered()) await release(corridor, claim, asked);
    throw error;
  }
}

async function act(
  corridor: Corridor,
  call: Call,
  asked: AnyAsked,
  entry: Entry,
  claim: Claim | undefined,
  entered: () => boolean,
): Promise<Answer> {
  const { operation } = call;
  const { db, world } = corridor;
  const answer = await db.transact(entry, async (tx) => {
    const facts = await operation.load(tx, asked, world);
    // Nobody decides or writes before the database has said who is asking.
    if (!entered()) await tx.query(nothing);
    const change = await operation.decide(facts, asked, world);
    const subject = await operation.save(tx, change, asked, world);
    const body = Buffer.from(JSON.stringify(operation.show(change, asked, world)));
    const status = operation.reply[0];
    if (claim !== undefined) {
      const result: Recorded = { status, contentType: 'application/json; charset=utf-8', body };
      await completeClaimIn(tx, claim, asked.principal.scope, result);
    }
    await tx.commitWith([
      [insertAudit, [world.newId(), asked.principal.actor, operation.name, subject, asked.requestId]],
    ]);
    return { status, body, replayed: false };
  });
  operation.after?.(world);
  return answer;
}

function schemaProblems(call: Call): Problem[] {
  const { operation } = call;
  return [
    ...validate(operation.params, call.params, 'path'),
    ...validate(operation.query, call.query, 'query'),
    ...validate(operation.body, call.body, 'body'),
    ...(isObject(call.body) ? (operation.check?.(call.body) ?? []) : []),
  ].slice(0, 50);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function claimOf(call: Call): Claim | undefined {
  if (call.idempotencyKey === undefined) return undefined;
  const { method, path } = call.operation;
  return {
    operation: `${method} ${path}`,
    key: call.idempotencyKey,
    fingerprint: fingerprint({ method, path, params: call.params, query: call.query, body: call.body }),
    fence: randomUUID(),
  };
}

async function release(corridor: Corridor, claim: Claim, asked: AnyAsked): Promise<void> {
  const { companyId, scope, actor } = asked.principal;
  const [release, values] = releaseCall(claim, scope);
  try {
    await corridor.db.read(entryOfCompany(companyId, actor)).query(release, values);
  } catch {
    // The lease runs out by itself; the refusal that led here is the answer.
  }
}

/**
 * Two transactions that wait for each other: the server ends one, which is tried again from its first statement. Everyone
 * locks documents, series, masters, in this order; only a draft that comes between two locks of a change can upset it.
 */
async function untangled<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const entangled = error instanceof StatementError && (error.code === '40P01' || error.code === '40001');
      if (!entangled || attempt === 3) throw error;
    }
  }
}

/** Trouble with the database is a 503, or an unknown outcome when it broke during the commit. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw new Refusal('OUTCOME_UNKNOWN');
    if (error instanceof ConnectionLost) throw new Refusal('UNAVAILABLE', {}, { retryAfterSeconds: 1 });
    throw error;
  }
}

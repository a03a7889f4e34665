/**
 * Idempotency claims (contract, "Idempotency rules"; contract decisions 2). A claim is one insert committed before execution,
 * with a lease of 90 s by the database's clock and a random fence; the effect's own transaction completes it, so the
 * result is recorded exactly when the effect is, and the audit entry with it. The commit of the claim may be asynchronous:
 * its WAL precedes the effect's, so a durable effect implies a durable claim.
 *
 * What is one round trip in all needs no claim before it: the key is recorded with the effect, by an insert that fails
 * where the key has been used (docs/decisions/0044-remembered.md).
 */

import { ConnectionLost, StatementError } from '../db/errors.ts';
import type { Call, Element, Entry, Row, Tx } from '../db/transact.ts';
import { allOr, anyOf, ByColumn, callFor, clock, Elements, listStatement } from '../db/transact.ts';
import { assert, Refusal, type Words } from '../fiscal/refusal.ts';
import { type Piece, type Utf8, utf8 } from '../fiscal/utf8.ts';
import { unfold } from '../print/folded.ts';

/** By the database's clock. */
export const lease_seconds = 90;
/**
 * For how long a recorded answer is replayed (contract, "Idempotency rules" 2). Reading judges by age too, so that no process
 * replays what the clock of another has forgotten (doors/clock/forget.ts). The function certo.companies_to_forget says the same.
 */
export const kept_days = 30;

/** Told in Retry-After: a lease is as long as the slowest work may take, and most is done at once. */
const longest_wait_seconds = 5;

// A retryable claim (no fence, not completed) with the same fingerprint is taken again; anything else stays as it is.
const insertClaim = listStatement(
  'claim_insert',
  `insert into certo.claims as c (company_id, scope, operation, key, fingerprint, fence, lease_until)
   select certo.current_company(), current_setting('app.scope'), v.operation, v.key, v.fingerprint, v.fence,
     (select certo.now()) + interval '${lease_seconds} seconds'
   from jsonb_populate_recordset(null::certo.claims, $1::jsonb) v
   on conflict (company_id, scope, operation, key) do update
     set fence = excluded.fence, lease_until = excluded.lease_until
     where c.fence is null and c.completed_at is null and c.fingerprint = excluded.fingerprint
   returning c.fence as id`,
  { joins: eachKeyOnce },
);
const isKept = `c.completed_at > certo.now() - interval '${kept_days} days'`;
const readClaim = listStatement(
  'claim_read',
  `select v.id, c.fingerprint = v.fingerprint as same_request, c.fence = v.fence as mine, c.completed_at is not null as completed,
     c.fence is null as released, c.status, case when ${isKept} then c.retold end as retold,
     case when ${isKept} then convert_from(c.body, 'UTF8') end as body,
     ceil(extract(epoch from c.lease_until - certo.now()))::int as lease_seconds
   from jsonb_to_recordset($1::jsonb) v (id uuid, operation text, key text, fingerprint bytea, fence uuid)
   join certo.claims c on c.key = ${anyOf('key', 'text')} and c.operation = ${anyOf('operation', 'text')} and c.company_id = certo.current_company() and c.scope = current_setting('app.scope')
     and c.operation = v.operation and c.key = v.key`,
);
/** The claim of each element of a list, while its holder holds it. `any`: what a column of any element is. */
const held = (any: (column: string) => string) =>
  `c.company_id = certo.current_company() and c.scope = v.scope and c.operation = v.operation and c.key = v.key and c.fence = v.fence
       and c.scope = ${any('scope')} and c.operation = ${any('operation')} and c.key = ${any('key')}`;
const recorded = new ByColumn(
  {
    fence: 'uuid',
    key: 'text',
    fingerprint: 'bytea',
    audit_id: 'uuid',
    subject_id: 'uuid',
    request_id: 'text',
    body: 'bytea',
    retold: 'text',
    scope: 'text',
    operation: 'text',
    status: 'smallint',
    content_type: 'text',
    actor: 'text',
    act: 'text',
  },
  ['scope', 'operation', 'status', 'content_type', 'actor', 'act'],
);
// With the audit entry, since a statement costs the server more than a row.
const results = `with moment as materialized ${clock},
   results as materialized (select * from ${recorded.rows} v),
   audited as (
     insert into certo.audit (company_id, id, at, actor, operation, subject_id, request_id)
     select certo.current_company(), v.audit_id, moment.now, v.actor, v.act, v.subject_id, v.request_id from results v, moment)`;
// It travels with COMMIT, so what it finds missing has to stop that: an error does.
const completeClaim = listStatement(
  'claim_complete',
  `${results},
   completed as (
     update certo.claims c set fence = null, lease_until = null, completed_at = moment.now, status = v.status, content_type = v.content_type,
       body = v.body, retold = v.retold
     from results v, moment
     where ${held((column) => recorded.any(column))} and c.lease_until > moment.now
     returning c.key)
   ${allOr('completed', 'certo.claim_lost()', recorded.count)}`,
  { byColumn: recorded },
);
// Where the key is taken, by whatever request and process, it fails: by the primary key, behind who is writing it just now.
const recordResult = listStatement(
  'claim_record',
  `${results}
   insert into certo.claims (company_id, scope, operation, key, fingerprint, created_at, completed_at, status, content_type, body,
     retold)
   select certo.current_company(), v.scope, v.operation, v.key, v.fingerprint, moment.now, moment.now, v.status, v.content_type, v.body,
     v.retold
   from results v, moment`,
  { joins: inOrderOfKeys, byColumn: recorded },
);
const insertAudit = listStatement(
  'audit_insert',
  `insert into certo.audit (company_id, id, at, actor, operation, subject_id, request_id)
   select certo.current_company(), v.id, (select certo.now()), v.actor, v.operation, v.subject_id, v.request_id
   from jsonb_populate_recordset(null::certo.audit, $1::jsonb) v`,
);
// Not after the lease: callers were told by then that the key never runs again.
const releaseClaim = listStatement(
  'claim_release',
  `update certo.claims c set fence = null, lease_until = null
   from jsonb_to_recordset($1::jsonb) v (scope text, operation text, key text, fence uuid)
   where ${held((column) => anyOf(column, 'text'))} and c.completed_at is null and c.lease_until > (select certo.now())`,
);

export interface Claim {
  /** Method and route template. */
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /** Random UUID: only the holder of the fence can complete or release. */
  readonly fence: string;
}

/** The answer of what was done before. */
export interface Recorded {
  readonly status: number;
  /** As it went out, byte by byte; or for who tells it again (`retell`) the service's address then. */
  readonly told: { readonly body: Utf8 } | { readonly baseUrl: string };
}

/** An answer to be recorded. */
export interface Result {
  readonly status: number;
  readonly contentType: string;
  /** The body as `fold` and `foldNames` make it; or for who tells it again (`retell`) the service's address. */
  readonly told: { readonly folded: readonly Piece[] } | { readonly baseUrl: string };
}

/** A row of `certo.audit`. */
export interface AuditEntry {
  readonly id: string;
  readonly actor: string;
  /** Of the operation, as it is declared. */
  readonly operation: string;
  /** What it was done to. */
  readonly subject_id: string;
  readonly request_id: string;
}

/** One statement can't meet a key twice: its second request goes with the second list, and so on. */
function eachKeyOnce(elements: readonly Element[]): Element[][] {
  const lists: Element[][] = [];
  const seen = new Map<string, number>();
  for (const element of elements) {
    const { operation, key } = element as unknown as Claim;
    const name = `${operation} ${key}`;
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    lists[times] ??= [];
    lists[times].push(element);
  }
  return lists;
}

/** Two transactions that write the same keys wait for each other in one order. */
function inOrderOfKeys(elements: readonly Element[]): Element[][] {
  return [(elements as readonly (Key & { readonly id: string })[]).toSorted(byOperationAndKey)];
}

type Key = Pick<Claim, 'operation' | 'key'>;

function byOperationAndKey(a: Key, b: Key): number {
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1;
  return a.key < b.key ? -1 : Number(a.key > b.key);
}

/** The claim is ours, with the rows of what was read in its round trip; or the request was done before. */
export interface Taken {
  readonly rows: readonly Row[][];
  readonly recorded?: Recorded | undefined;
}

/**
 * Takes the claim, in one round trip of its own (`Db.read(entry, 'lazily')`) together with what `calls` read, or two where
 * there is one already. May be repeated with the same fence when nobody knows whether it was written.
 */
export async function takeClaim(reader: Tx, claim: Claim, calls: readonly Call[]): Promise<Taken> {
  const values = [elementOf(claim)];
  const [taken, ...rows] = await reader.batch([[insertClaim, values], ...calls]);
  if (taken!.length > 0) return { rows };
  const [found] = await reader.query(readClaim, values);
  if (found === undefined) throw new Error('a claim that was just written is not there');
  return { rows, recorded: judge(found) };
}

// Batches of claims are sorted by this text: by the key, so that they wait for each other in one order.
const elementOf = ({ operation, key, ...rest }: Claim): Elements =>
  new Elements([{ operation, key, id: rest.fence, ...rest }]);

/** The key as its caller says it: one name for all requests with it. Undefined: nobody else can say it. */
export const nameOfKey = ({ subject }: Entry, claim: Claim | undefined): string | undefined =>
  claim === undefined || subject === undefined ? undefined : `${subject} ${claim.operation} ${claim.key}`;

/**
 * Keys of acts that are under way in this process without a claim in the database: the same request beside one of them
 * would be done too, only for one of the two to be undone.
 */
export class KeysUnderWay {
  readonly #fingerprints = new Map<string, Buffer>();

  /** Of the request that has the key; names are the caller's own. */
  get(name: string): Buffer | undefined {
    return this.#fingerprints.get(name);
  }

  async during<T>(name: string, { fingerprint }: Claim, work: () => Promise<T>): Promise<T> {
    assert(!this.#fingerprints.has(name), 'one act at a time has a key');
    this.#fingerprints.set(name, fingerprint);
    try {
      return await work();
    } finally {
      this.#fingerprints.delete(name);
    }
  }
}

/** What a request beside such an act is answered: its result if it is recorded by now, else IDEMPOTENCY_CONFLICT or _KEY_REUSED. */
export async function readBeside(reader: Tx, claim: Claim, fingerprint: Buffer): Promise<Recorded> {
  const [found] = await reader.query(readClaim, [elementOf(claim)]);
  const recorded = found && judge(found);
  if (recorded !== undefined) return recorded;
  throw fingerprint.equals(claim.fingerprint) ? conflict('inProgress', 1) : new Refusal('IDEMPOTENCY_KEY_REUSED');
}

/**
 * Records the result and who did what, in the effect's transaction, in one batch with COMMIT. Fails (see `isClaimLost`) when
 * the lease is over or another holds the key; then nothing is kept.
 */
export function completeCall(claim: Claim, scope: string, result: Result, audit: AuditEntry): Call {
  return callFor(completeClaim, [recordedElement(claim, scope, result, audit)]);
}

/** The same for a claim that was not taken before: it fails, and nothing is kept, when the key has been used. */
export function recordCall(claim: Claim, scope: string, result: Result, audit: AuditEntry): Call {
  return callFor(recordResult, [recordedElement(claim, scope, result, audit)]);
}

/** A claim with its result, and who did what. */
function recordedElement(claim: Claim, scope: string, { status, contentType, told }: Result, audit: AuditEntry) {
  const { operation, key, fence, fingerprint } = claim;
  return {
    id: fence,
    fence,
    key,
    fingerprint,
    audit_id: audit.id,
    subject_id: audit.subject_id,
    request_id: audit.request_id,
    body: 'folded' in told ? told.folded : null,
    retold: 'baseUrl' in told ? told.baseUrl : null,
    scope,
    operation,
    status,
    content_type: contentType,
    actor: audit.actor,
    act: audit.operation,
  };
}

/** The same without a claim: who did what. */
export const auditCall = (audit: AuditEntry): Call => [insertAudit, [new Elements([{ ...audit }])]];

/** Whether COMMIT was stopped because the claim was not ours any more. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof StatementError && error.code === 'CE002';
}

/** The refusal of who lost the claim: the key never runs again. */
export function claimLost(): Refusal {
  return conflict('unknown');
}

/** After a refusal or a rolled-back failure: the unchanged request may be tried again. */
export function releaseCall(claim: Claim, scope: string): Call {
  const { operation, key, fence } = claim;
  return [releaseClaim, [new Elements([{ id: fence, scope, operation, key, fence }])]];
}

/**
 * Of a claim with its fence, twice is as once: nobody knows what a lost connection has left behind, and what broke one has
 * often broken another that waited beside it.
 */
export const onceMoreIfLost = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error) => (error instanceof ConnectionLost ? work() : Promise.reject(error)));

/** done → replay, for 30 days; mine → go on; lease live → wait; lease over, or forgotten → never again. */
function judge(row: Row): Recorded | undefined {
  if (row['same_request'] !== true) throw new Refusal('IDEMPOTENCY_KEY_REUSED');
  if (row['completed'] === true) {
    const status = Number(row['status']);
    if (row['retold'] !== null) return { status, told: { baseUrl: String(row['retold']) } };
    if (row['body'] === null) throw conflict('forgotten');
    return { status, told: { body: utf8(unfold(String(row['body']))) } };
  }
  if (row['mine'] === true) return undefined;
  // Released between our insert and our read: another attempt may take it at once.
  if (row['released'] === true) throw conflict('inProgress', 1);
  const seconds = row['lease_seconds'] as number | null;
  if (seconds === null || seconds <= 0) throw conflict('unknown');
  throw conflict('inProgress', Math.min(seconds, longest_wait_seconds));
}

/** Where the act of a key stands that neither runs nor replays. */
type Standing = 'inProgress' | 'unknown' | 'forgotten';

const conflicts: Readonly<Record<Standing, Words>> = {
  inProgress: {
    en: 'A request with this idempotency key is in progress. Send the same request with the same key again after the time in Retry-After.',
    pt: 'Está em curso um pedido com esta chave de idempotência. Envie o mesmo pedido com a mesma chave após o tempo indicado em Retry-After.',
  },
  unknown: {
    en: 'The outcome of the request with this idempotency key is unknown and the key can never run again. Stop retrying, read the document to see what happened, then use a new key.',
    pt: 'O resultado do pedido com esta chave de idempotência é desconhecido e a chave não volta a ser executada. Pare de repetir, leia o documento para ver o que aconteceu e use depois uma chave nova.',
  },
  // It was done, and what it answered is not kept any more (contract, rule 4).
  forgotten: {
    en: 'The request with this idempotency key was done more than 30 days ago; its result is no longer kept and the key can never run again. Read the document to see what happened, and use a new key for a new request.',
    pt: 'O pedido com esta chave de idempotência foi executado há mais de 30 dias; o resultado já não está guardado e a chave não volta a ser executada. Leia o documento para ver o que aconteceu e use uma chave nova para um pedido novo.',
  },
};

/**
 * The one place where IDEMPOTENCY_CONFLICT is made: all have the same members and code; only the sentence and
 * Retry-After differ (contract, rule 6).
 */
function conflict(standing: Standing, retryAfterSeconds?: number): Refusal {
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Refusal('IDEMPOTENCY_CONFLICT', { sentence: conflicts[standing] }, more);
}

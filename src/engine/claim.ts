/**
 * Idempotency claims (contract, "Idempotency rules"; decisions 2). A claim is one insert committed before execution,
 * with a lease of 90 s by the database's clock and a random fence; the effect's own transaction completes it, so the
 * result is recorded exactly when the effect is. Its commit may be asynchronous: its WAL precedes the effect's, so a
 * durable effect implies a durable claim.
 */

import { StatementError } from '../db/errors.ts';
import type { Call, Db, Row, Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { entryOfCompany, type Principal } from '../identity/principal.ts';

const lease_seconds = 90;
/** Contract, "Idempotency rules" 2. Read by it, so that no process replays what another has forgotten (doors/clock). */
const kept_days = 30;

// A retryable claim (no fence, not completed) with the same fingerprint is taken again; anything else stays as it is.
const insertClaim = statement(
  'claim_insert',
  `insert into certo.claims as c (company_id, scope, operation, key, fingerprint, fence, lease_until)
   values (certo.current_company(), current_setting('app.scope'), $1, $2, $3, $4, certo.now() + interval '${lease_seconds} seconds')
   on conflict (company_id, scope, operation, key) do update
     set fence = excluded.fence, lease_until = excluded.lease_until
     where c.fence is null and c.completed_at is null and c.fingerprint = excluded.fingerprint`,
);
const readClaim = statement(
  'claim_read',
  `select fingerprint = $3 as same_request, fence = $4 as mine, completed_at is not null as completed,
     fence is null as released, status, content_type,
     case when completed_at > certo.now() - interval '${kept_days} days' then body end as body, ceil(extract(epoch from lease_until - certo.now()))::int as lease_seconds
   from certo.claims
   where company_id = certo.current_company() and scope = current_setting('app.scope') and operation = $1 and key = $2`,
);
// It travels with COMMIT, so what it finds missing has to stop that: an error does.
const completeClaim = statement(
  'claim_complete',
  `with completed as (
     update certo.claims set fence = null, lease_until = null, completed_at = certo.now(), status = $4, content_type = $5, body = $6
     where company_id = certo.current_company() and scope = $7 and operation = $1 and key = $2 and fence = $3 and lease_until > certo.now()
     returning key)
   select case when exists (select from completed) then true else certo.claim_lost() end as completed`,
);
// Not after the lease: callers were told by then that the key never runs again.
const releaseClaim = statement(
  'claim_release',
  `update certo.claims set fence = null, lease_until = null
   where company_id = certo.current_company() and scope = $4 and operation = $1 and key = $2 and fence = $3
     and completed_at is null and lease_until > certo.now()`,
);

export interface Claim {
  /** Method and route template. */
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /** Random UUID: only the holder of the fence can complete or release. */
  readonly fence: string;
}

export interface Recorded {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * Takes the claim, in one round trip of its own (`Db.read(entry, 'lazily')`). Returns the recorded result when the
 * request was done before. May be repeated with the same fence when nobody knows whether it was written.
 */
export async function takeClaim(reader: Tx, claim: Claim): Promise<Recorded | undefined> {
  const values = [claim.operation, claim.key, claim.fingerprint, claim.fence];
  const calls: Call[] = [
    [insertClaim, values],
    [readClaim, values],
  ];
  const found = (await reader.batch(calls))[1]?.[0];
  if (found === undefined) throw new Error('a claim that was just written is not there');
  return judge(found);
}

/**
 * Records the result, in the effect's transaction, in one batch with COMMIT. Fails (see `isClaimLost`) when the lease is
 * over or another holds the key; then nothing is kept.
 */
export function completeCall(claim: Claim, scope: string, result: Recorded): Call {
  const { operation, key, fence } = claim;
  return [completeClaim, [operation, key, fence, result.status, result.contentType, result.body, scope]];
}

/** Whether COMMIT was stopped because the claim was not ours any more. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof StatementError && error.code === 'CE002';
}

/** The refusal of who lost the claim: the key never runs again. */
export function claimLost(): Refusal {
  return conflict(undefined);
}

/** After a refusal or a rolled-back failure: the unchanged request may be tried again. */
export function releaseCall(claim: Claim, scope: string): Call {
  return [releaseClaim, [claim.operation, claim.key, claim.fence, scope]];
}

/** Releases a claim in a round trip of its own. */
export async function letGo(db: Db, claim: Claim, { companyId, scope, actor }: Principal): Promise<void> {
  const [release, values] = releaseCall(claim, scope);
  try {
    await db.read(entryOfCompany(companyId, actor)).query(release, values);
  } catch {
    // The lease runs out by itself; the refusal that led here is the answer.
  }
}

/** done → replay, for 30 days; mine → go on; lease live → wait; lease over, or forgotten → never again. */
function judge(row: Row): Recorded | undefined {
  if (row['same_request'] !== true) throw new Refusal('IDEMPOTENCY_KEY_REUSED');
  if (row['completed'] === true) {
    if (row['body'] === null) throw new Refusal('IDEMPOTENCY_CONFLICT', forgotten);
    return { status: Number(row['status']), contentType: String(row['content_type']), body: row['body'] as Buffer };
  }
  if (row['mine'] === true) return undefined;
  // Released between our insert and our read: another attempt may take it at once.
  if (row['released'] === true) throw conflict(1);
  const seconds = row['lease_seconds'] as number | null;
  throw conflict(seconds !== null && seconds > 0 ? seconds : undefined);
}

/** It was done, and what it answered is not kept any more: it can neither replay nor run (contract, rule 4). */
const forgotten = {
  sentence:
    'The request with this idempotency key was done more than 30 days ago; its result is no longer kept and the key can never run again. Read the document to see what happened, and use a new key for a new request.',
  sentence_pt:
    'O pedido com esta chave de idempotência foi executado há mais de 30 dias; o resultado já não está guardado e a chave não volta a ser executada. Leia o documento para ver o que aconteceu e use uma chave nova para um pedido novo.',
};

/** All conflicts have the same members and code; only the sentence and Retry-After differ (contract, rule 6). */
function conflict(seconds: number | undefined): Refusal {
  return seconds === undefined
    ? new Refusal('IDEMPOTENCY_CONFLICT', {
        sentence:
          'The outcome of the request with this idempotency key is unknown and the key can never run again. Stop retrying, read the document to see what happened, then use a new key.',
        sentence_pt:
          'O resultado do pedido com esta chave de idempotência é desconhecido e a chave não volta a ser executada. Pare de repetir, leia o documento para ver o que aconteceu e use depois uma chave nova.',
      })
    : new Refusal(
        'IDEMPOTENCY_CONFLICT',
        {
          sentence:
            'A request with this idempotency key is in progress. Send the same request with the same key again after the time in Retry-After.',
          sentence_pt:
            'Está em curso um pedido com esta chave de idempotência. Envie o mesmo pedido com a mesma chave após o tempo indicado em Retry-After.',
        },
        { retryAfterSeconds: seconds },
      );
}

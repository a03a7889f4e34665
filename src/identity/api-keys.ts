/** API keys: made once, shown once, kept as a hash, revocable at once. */
import type { Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import { assert } from '../fiscal/refusal.ts';
import { mintToken, tokenHash, tokenHint } from './tokens.ts';

// The end of the lineage is the user code on documents (principal.ts): whoever had it, nobody else gets it (Portaria
// 302/2016, SourceID).
const insertKey = statement(
  'insert_api_key',
  `insert into certo.api_keys (company_id, id, lineage, name, prefix, hash)
   select certo.current_company(), $1, $2, $3, $4, $5
   where not exists (select from certo.api_keys k where k.company_id = certo.current_company() and k.lineage <> $2
     and right(k.lineage::text, 12) = right($2::uuid::text, 12))
   returning id`,
);
const revoke = statement(
  'revoke_api_key',
  'update certo.api_keys set revoked_at = certo.now() where company_id = certo.current_company() and id = $1 and revoked_at is null returning id',
);
const list = statement(
  'list_api_keys',
  `select id, name, prefix, lineage, created_at, revoked_at from certo.api_keys
   where company_id = certo.current_company() order by created_at, id`,
);

/** `prefix` is what may be shown of it; keys that replaced one another have one `lineage`. */
export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly lineage: string;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

/** Creates a key and returns its text: the only time it exists in clear. */
export async function createApiKey(
  tx: Tx,
  key: { id: string; name: string; lineage?: string; random: Uint8Array },
): Promise<string> {
  const token = mintToken('svc_sk_', key.random);
  const made = await tx.query(insertKey, [key.id, key.lineage ?? key.id, key.name, tokenHint(token), tokenHash(token)]);
  assert(made.length === 1, 'chance gave a user code that somebody had before: try again');
  return token;
}

/** Revokes a key; false when there is no such key alive. Effective on the next request of every process. */
export async function revokeApiKey(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query(revoke, [id])).length === 1;
}

/** All keys of the company, without their secrets. */
export async function listApiKeys(tx: Tx): Promise<ApiKeyRow[]> {
  return (await tx.query(list)) as unknown as ApiKeyRow[];
}

/**
 * Who is asking. A principal is read from the database by the first statement of each request: a revoked key fails on
 * the next request, on every process. A cache may only map a token to its hash, never answer whether it is alive.
 */

import type { Call, Entry, Row } from '../db/transact.ts';
import { statement } from '../db/transact.ts';
import type { Region } from '../fiscal/document.ts';
import { Refusal } from '../fiscal/refusal.ts';
import { looksLikeToken, tokenHash } from './tokens.ts';

export interface Principal {
  readonly kind: 'key' | 'operator';
  readonly companyId: string;
  /** The company's tax region, which is also its time zone. */
  readonly region: Region;
  /** Stable user code, at most 30 characters: SAF-T SourceID, never reused. */
  readonly actor: string;
  /** Idempotency scope: for a key its lineage, which rotation keeps. */
  readonly scope: string;
}

const enterKey = statement('enter_key', 'select * from certo.enter_key($1)');
const enterKeyLazily = statement(
  'enter_key_lazily',
  `select k.*, set_config('synchronous_commit', 'off', true) from certo.enter_key($1) k`,
);
const enterCompany = statement(
  'enter_company',
  'select certo.enter_company($1) as company_id, (select region from certo.companies where id = $1) as region',
);

/** The credential of a request, still to be checked by the database. */
export interface Credential {
  readonly keyHash: Buffer;
  /** The hash as text: what is counted and grouped by. */
  readonly subject: string;
  readonly call: Call;
  readonly lazily: Call;
}

/** Reads the credential of a request from its headers. UNAUTHENTICATED when it is absent or can't be one. */
export function credentialOf(headers: {
  readonly apiKey: string | undefined;
  readonly authorization: string | undefined;
}): Credential {
  const { apiKey } = headers;
  if (apiKey !== undefined && headers.authorization !== undefined) throw new Refusal('AMBIGUOUS_CREDENTIALS');
  if (apiKey === undefined || !looksLikeToken('svc_sk_', apiKey)) throw new Refusal('UNAUTHENTICATED');
  const keyHash = tokenHash(apiKey);
  const subject = keyHash.toString('base64');
  return { keyHash, subject, call: [enterKey, [keyHash]], lazily: [enterKeyLazily, [keyHash]] };
}

/** The entry of a transaction made by an API key; `accept` gets the principal and may refuse. */
export function entryOfKey({ call, lazily, subject }: Credential, accept: (principal: Principal) => void): Entry {
  return {
    call,
    lazily,
    subject,
    // Its place, so that the object keeps one shape.
    group: undefined,
    accept(rows: Row[]) {
      const row = rows[0];
      if (row === undefined) throw new Refusal('UNAUTHENTICATED');
      const lineage = String(row['lineage']);
      accept({
        kind: 'key',
        companyId: String(row['company_id']),
        region: row['region'] as Region,
        actor: `key-${lineage.slice(-12)}`,
        scope: `key:${lineage}`,
      });
    },
  };
}

/**
 * The entry into no company: row-level security shows it no row of any. For questions about the server and the installation,
 * and for the functions that say which companies have work.
 */
export const entryOfNobody: Entry = {
  call: [statement('enter_nobody', `select set_config('app.company_id', '', true)`), []],
  accept: () => undefined,
};

/**
 * The entry of whoever has a link to a file of this company. There is no credential by which their turns could be told apart
 * (db/turns.ts), so they share a subject: else any number of them would have all connections.
 */
export function entryOfLink(companyId: string): Entry {
  return { ...entryOfCompany(companyId, 'link'), subject: `link ${companyId}`, group: companyId };
}

/** The entry of the operator (command line) or of the clock into one company. */
export function entryOfCompany(companyId: string, actor: string, accept?: (principal: Principal) => void): Entry {
  return {
    call: [enterCompany, [companyId]],
    accept(rows: Row[]) {
      const region = rows[0]?.['region'];
      accept?.({
        kind: 'operator',
        companyId,
        region: (region ?? 'PT') as Region,
        actor,
        scope: `operator:${actor}`,
      });
    },
  };
}

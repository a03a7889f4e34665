/** The signing keys of this installation: kept in the database, the private half sealed under the master key. */
import type { Pool } from 'pg';
import type { MasterKey } from './sealing.ts';
import { generateSigningKey, proveSigner, publicPemOf } from './signer.ts';

export interface SigningKey {
  readonly version: number;
  readonly origin: 'generated' | 'imported';
  readonly publicPem: string;
  readonly createdAt: Date;
}

export interface OpenSigningKey extends SigningKey {
  readonly privatePem: string;
}

/** A key that is a version already; `message` says which. */
export class SigningKeyKnown extends Error {
  override readonly name = 'SigningKeyKnown';
}

/** Every key version, oldest first, without private halves. */
export async function listSigningKeys(owner: Pick<Pool, 'query'>): Promise<SigningKey[]> {
  const { rows } = await owner.query(
    'select version, origin, public_pem, created_at from certo.signing_keys order by version',
  );
  return rows.map((row) => ({
    version: Number(row.version),
    origin: row.origin,
    publicPem: row.public_pem,
    createdAt: row.created_at,
  }));
}

/** The newest key, opened. Undefined when there is none yet. Throws when the master key is not the one that sealed it. */
export async function currentSigningKey(owner: Pool, master: MasterKey): Promise<OpenSigningKey | undefined> {
  const { rows } = await owner.query('select * from certo.signing_keys order by version desc limit 1');
  const row = rows[0];
  if (row === undefined) return undefined;
  const privatePem = master.open('signing-key', row.private_sealed).toString('utf8');
  proveSigner(privatePem, row.public_pem);
  return {
    version: Number(row.version),
    origin: row.origin,
    publicPem: row.public_pem,
    createdAt: row.created_at,
    privatePem,
  };
}

/**
 * Adds a key as the next version and returns it. A new version continues every chain: the previous hash stays the old
 * signature (Despacho 8632/2014; hash chain, section 3). Without `privatePem` a development key is generated.
 * Throws SigningKeyKnown: two versions of one key could not be told apart.
 */
export async function addSigningKey(owner: Pool, master: MasterKey, privatePem?: string): Promise<SigningKey> {
  const pair = privatePem === undefined ? generateSigningKey() : { privatePem, publicPem: publicPemOf(privatePem) };
  proveSigner(pair.privatePem, pair.publicPem);
  const { rows } = await owner.query(
    `insert into certo.signing_keys (version, origin, public_pem, private_sealed)
     select coalesce(max(version), 0) + 1, $1, $2, $3 from certo.signing_keys having not bool_or(public_pem = $2) is true
     returning version, origin, public_pem, created_at`,
    [
      privatePem === undefined ? 'generated' : 'imported',
      pair.publicPem,
      master.seal('signing-key', Buffer.from(pair.privatePem)),
    ],
  );
  const row = rows[0];
  if (row === undefined) {
    const known = (await listSigningKeys(owner)).find(({ publicPem }) => publicPem === pair.publicPem);
    throw new SigningKeyKnown(`the signing key of version ${known?.version}, which is kept`);
  }
  return { version: Number(row.version), origin: row.origin, publicPem: row.public_pem, createdAt: row.created_at };
}

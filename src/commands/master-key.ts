/**
 * The master key file: 32 random bytes in hexadecimal. Made once; never made anew for a database that already holds
 * secrets, since what another key sealed could then never be opened again.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { link, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Pool } from 'pg';
import { makeFolders, writeAside } from '../db/data-directory.ts';
import { keyFingerprint, type MasterKey, masterKey, type Purpose } from '../keys/sealing.ts';
import { CommandError, exit } from './exit.ts';
import { readGiven, secret as secretFile } from './given-file.ts';

/** Where it is: as configured, else `master.key` in the data folder. */
export function masterKeyFile(configured: string | undefined, directory: string): string {
  return configured ?? join(directory, 'master.key');
}

/**
 * Reads the key, or makes the file when neither it nor anything that needs it exists yet; from then on the database is
 * bound to it. Throws CommandError, also when it is not the key of this database.
 */
export async function openMasterKey(file: string, owner: Pool): Promise<MasterKey> {
  const [secret, bond] = await Promise.all([anySecret(owner), readBond(owner)]);
  // Read after them: a key is there before anything is sealed with it or bound to it.
  const found = await readKey(file);
  if (found === undefined && (secret !== undefined || bond?.fingerprint != null)) {
    const why = secret === undefined ? 'is bound to it' : 'holds secrets that were sealed with it';
    throw new CommandError(
      exit.usage,
      `The master key file ${file} is missing, and the database ${why}: put it back, or say where it is with CERTO_MASTER_KEY_FILE.`,
    );
  }
  if (found === undefined) await writeKey(file);
  const key = found ?? (await readKey(file))!;
  if (secret !== undefined) prove(key, secret, file);
  if (bond !== undefined) await bind(owner, bond, key, file);
  return key;
}

/** Reads the key of books that come from elsewhere. Throws CommandError when there is none. */
export async function needMasterKey(file: string): Promise<MasterKey> {
  const found = await readKey(file);
  if (found !== undefined) return found;
  throw new CommandError(
    exit.usage,
    `The master key file ${file} is missing, and no backup holds it: put the one of the same installation there, or say where it is with CERTO_MASTER_KEY_FILE.`,
  );
}

async function readKey(file: string): Promise<MasterKey | undefined> {
  let mode: number;
  let text: string;
  try {
    mode = (await stat(file)).mode;
    text = (await readGiven(file, secretFile)).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if ((mode & 0o077) !== 0) {
    throw new CommandError(exit.usage, `Other users can read the master key file ${file}: run chmod 600 ${file}.`);
  }
  if (!/^[0-9a-f]{64}\s*$/i.test(text)) {
    throw new CommandError(
      exit.usage,
      `The master key file ${file} must hold 32 bytes in hexadecimal (64 characters): put the right file back.`,
    );
  }
  return masterKey(Buffer.from(text.trim(), 'hex'));
}

interface Secret {
  readonly purpose: Purpose;
  readonly sealed: Buffer;
}

async function anySecret(owner: Pool): Promise<Secret | undefined> {
  const { rows } = await owner.query<Secret>(
    `(select 'signing-key' as purpose, private_sealed as sealed from certo.signing_keys order by version desc limit 1)
     union all
     (select 'at-password', at_password_sealed from certo.companies where at_password_sealed is not null limit 1)`,
  );
  return rows[0];
}

function prove(key: MasterKey, { purpose, sealed }: Secret, file: string): void {
  try {
    key.open(purpose, sealed);
  } catch {
    throw another(file);
  }
}

function another(file: string): CommandError {
  return new CommandError(
    exit.usage,
    `The master key in ${file} is not the one of this database: put the right file back, or say where it is with CERTO_MASTER_KEY_FILE.`,
  );
}

interface Bond {
  /** Null before the first start with a key. */
  readonly fingerprint: Buffer | null;
}

/** Undefined before the first start, and in the tables of an earlier version, which did not keep it. */
async function readBond(owner: Pool): Promise<Bond | undefined> {
  const { rows } = await owner.query<{ fingerprint: string | null }>(
    `select to_jsonb(i) ->> 'key_fingerprint' as fingerprint from certo.installation i where to_jsonb(i) ? 'key_fingerprint'`,
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  return { fingerprint: row.fingerprint === null ? null : Buffer.from(row.fingerprint.replace('\\x', ''), 'hex') };
}

/** Binds the database to the key, unless it is bound: of two that begin at once with a key each, one is refused. */
async function bind(owner: Pool, bond: Bond, key: MasterKey, file: string): Promise<void> {
  const ours = keyFingerprint(key);
  if (bond.fingerprint === null)
    await owner.query('update certo.installation set key_fingerprint = $1 where key_fingerprint is null', [ours]);
  const kept = bond.fingerprint ?? (await readBond(owner))?.fingerprint;
  if (kept == null || !timingSafeEqual(kept, ours)) throw another(file);
}

/**
 * Complete or not there, and on disk before anything is sealed with it: a crash never leaves half a key. Who comes second
 * takes the first one's.
 */
async function writeKey(file: string): Promise<void> {
  const path = resolve(file);
  await makeFolders(dirname(path), 0o700);
  // Unlike a rename, a link takes nobody's place.
  const give = (aside: string) =>
    link(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  await writeAside(path, `${randomBytes(32).toString('hex')}\n`, give);
}

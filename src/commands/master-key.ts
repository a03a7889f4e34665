/**
 * The master key file: 32 random bytes in hexadecimal. Made once; never made anew for a database that already holds
 * secrets, since what another key sealed could then never be opened again.
 */
import { randomBytes } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Pool } from 'pg';
import { makeFolders } from '../db/data-directory.ts';
import { type MasterKey, masterKey, type Purpose } from '../keys/sealing.ts';
import { CommandError, exit } from './exit.ts';

/** Where it is: as configured, else `master.key` in the data folder. */
export function masterKeyFile(configured: string | undefined, directory: string): string {
  return configured ?? join(directory, 'master.key');
}

/**
 * Reads the key, or makes the file when neither it nor anything sealed exists yet. Throws CommandError, also when it is
 * not the key that sealed what the database holds.
 */
export async function openMasterKey(file: string, owner: Pool): Promise<MasterKey> {
  const [found, secret] = await Promise.all([readKey(file), anySecret(owner)]);
  if (found !== undefined) {
    if (secret !== undefined) prove(found, secret, file);
    return found;
  }
  if (secret !== undefined) {
    throw new CommandError(
      exit.usage,
      `The master key file ${file} is missing, and the database holds secrets that were sealed with it: put it back, or say where it is with CERTO_MASTER_KEY_FILE.`,
    );
  }
  await writeKey(file);
  return (await readKey(file))!;
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
    text = await readFile(file, 'utf8');
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
    throw new CommandError(
      exit.usage,
      `The master key in ${file} is not the one this database was sealed with: put the right file back, or say where it is with CERTO_MASTER_KEY_FILE.`,
    );
  }
}

/** Complete or not there, and on disk before anything is sealed with it; who comes second takes the first one's. */
async function writeKey(file: string): Promise<void> {
  await makeFolders(dirname(resolve(file)), 0o700);
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (handle === undefined) return;
  await handle.writeFile(`${randomBytes(32).toString('hex')}\n`);
  await handle.sync().finally(() => handle.close());
}

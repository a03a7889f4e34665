/** What this installation is: its AT mode, its signing key. Decided at the first start and kept to from then on. */
import type { Pool } from 'pg';
import type { AtMode } from '../at/gateway.ts';
import type { MasterKey } from '../keys/sealing.ts';
import { addSigningKey, currentSigningKey, type OpenSigningKey } from '../keys/signing-keys.ts';
import { CommandError, exit } from './exit.ts';

/** The mode the database was made for; undefined before its first start. */
export async function boundMode(owner: Pool): Promise<AtMode | undefined> {
  const { rows } = await owner.query<{ at_mode: AtMode }>('select at_mode from certo.installation');
  return rows[0]?.at_mode;
}

/** Binds the database to the mode, or refuses: what was issued to one authority never turns up at another. */
export async function bindMode(owner: Pool, mode: AtMode): Promise<void> {
  await owner.query('insert into certo.installation (at_mode) values ($1) on conflict do nothing', [mode]);
  const bound = await boundMode(owner);
  if (bound === mode) return;
  throw new CommandError(
    exit.usage,
    `This database belongs to CERTO_AT_MODE=${bound} and cannot be used with ${mode}: set CERTO_AT_MODE=${bound}, or use another data folder or database for ${mode}.`,
  );
}

/** A clock that was moved is for tests: real documents carry real time. */
export async function checkClock(owner: Pool, mode: AtMode): Promise<void> {
  if (mode !== 'production') return;
  const { rows } = await owner.query<{ moved: boolean }>(`select shift <> interval '0' as moved from certo.clock`);
  if (rows[0]?.moved === true) {
    throw new CommandError(
      exit.usage,
      "The database's clock is shifted (certo.clock): production needs the real time.",
    );
  }
}

/** The key to sign with. Outside production a first one is generated; production signs only with an imported one. */
export async function signingKey(owner: Pool, master: MasterKey, mode: AtMode): Promise<OpenSigningKey> {
  const current = (await currentSigningKey(owner, master)) ?? (await firstKey(owner, master, mode));
  if (mode === 'production' && current.origin === 'generated') {
    throw new CommandError(
      exit.usage,
      'The signing key was generated for development: import the one whose public half was declared to the AT (certo keys import FILE).',
    );
  }
  return current;
}

async function firstKey(owner: Pool, master: MasterKey, mode: AtMode): Promise<OpenSigningKey> {
  if (mode === 'production') {
    throw new CommandError(
      exit.usage,
      'There is no signing key: import the one whose public half was declared to the AT (certo keys import FILE).',
    );
  }
  await addSigningKey(owner, master).catch((error: { code?: string }) => {
    // Another service made version 1 at the same moment: that one counts.
    if (error.code !== '23505') throw error;
  });
  return (await currentSigningKey(owner, master))!;
}

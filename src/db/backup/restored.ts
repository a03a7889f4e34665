/** Whether a restore of which nobody heard the end came to it: its process was ended between its commit and its last word. */
import { type OpenOptions, openLogin } from '../open.ts';

// What a database says that was never restored into: no tables, no role, none that this user may act as.
const empty = /^(42P01|3F000|42704|22023|42501)$/;
// And a restore that is still at work holds the tables.
const held = '55P03';

/** Whether the database has the restore of the backup with this SHA-256 (hexadecimal). Throws DatabaseUnavailable. */
export async function isRestored(target: OpenOptions, digest: string): Promise<boolean> {
  const pool = await openLogin({ ...target, applicationName: 'certo look' });
  try {
    await pool.query(`set lock_timeout = '1s'`);
    await pool.query('set role certo_owner');
    const { rows } = await pool.query(
      `select exists (select from certo.restores where digest = decode($1, 'hex')) as there`,
      [digest],
    );
    return rows[0].there === true;
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (empty.test(code) || code === held) return false;
    throw error;
  } finally {
    await pool.end();
  }
}

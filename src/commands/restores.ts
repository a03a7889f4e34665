/** The restores on record, as the operator's commands tell of them. */
import type { Pool } from 'pg';
import { type Outside, tell } from './outside.ts';
import { counted } from './progress.ts';

export interface RestoreOnRecord {
  readonly number: number;
  readonly restoredAt: string;
  /** The instant that the backup showed. */
  readonly takenAt: string;
  readonly nothingLost: boolean;
}

/** All of them, oldest first. */
export async function restoresOf(owner: Pick<Pool, 'query'>): Promise<RestoreOnRecord[]> {
  const { rows } = await owner.query(
    'select number, restored_at, taken_at, nothing_lost from certo.restores order by number',
  );
  return rows.map((row) => ({
    number: row.number as number,
    restoredAt: (row.restored_at as Date).toISOString(),
    takenAt: (row.taken_at as Date).toISOString(),
    nothingLost: row.nothing_lost as boolean,
  }));
}

/** "2026-11-21 23:57:15 UTC" */
export function instantWords(instant: string): string {
  return `${instant.slice(0, 19).replace('T', ' ')} UTC`;
}

/** How often and when; nothing where there was none. */
export function restoreWords(restores: readonly RestoreOnRecord[]): string | undefined {
  const last = restores.at(-1);
  if (last === undefined) return undefined;
  const lost = last.nothingLost ? ', with nothing lost by the word of the operator' : '';
  return `Restored ${counted(restores.length, 'time')}, last on ${instantWords(last.restoredAt)} from the backup of ${instantWords(last.takenAt)}${lost}.`;
}

/** Says nothing where there was none. */
export function tellRestores(outside: Outside, restores: readonly RestoreOnRecord[]): void {
  const words = restoreWords(restores);
  if (words !== undefined) tell(outside, words);
}

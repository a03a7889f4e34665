import type { Tx } from '../db/transact.ts';
import { statement } from '../db/transact.ts';

const now = statement('now', 'select certo.now() as now');

/** Fiscal time: the database's clock. */
export async function readNow(tx: Tx): Promise<Date> {
  const [row] = await tx.query(now);
  return row!['now'] as Date;
}

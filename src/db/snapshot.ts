/**
 * A long reading of one instant: every statement of it sees the database as it stood at the first one, so that the sums
 * at the head of a file are those of the rows that follow, however long they take to be read (PostgreSQL manual,
 * "Repeatable Read Isolation Level"). It can't write and blocks nobody who does.
 */
import { composed, statement } from './statement.ts';
import type { Call, Db, Entry, Row, Tx } from './transact.ts';

// It has to come before the entry: the first query of a transaction, whatever it is, takes the snapshot.
const freeze: Call = [statement('snapshot', 'set transaction isolation level repeatable read, read only'), []];

/** Runs `fn` in a read-only transaction over one snapshot, entered as any other. What `fn` throws comes out again. */
export function snapshot<T>(db: Db, entry: Entry, fn: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transact({ call: freeze, accept: () => undefined }, async (tx) => {
    const [statementOf, values] = entry.call;
    entry.accept(await tx.query(statementOf, values));
    return fn(tx);
  });
}

/**
 * The rows of a query in portions, through a cursor of the server: neither side holds them all. `name` is ours and used
 * once in the transaction.
 */
export async function* rowsOf(
  tx: Tx,
  name: string,
  query: string,
  values: readonly unknown[],
  size: number,
): AsyncGenerator<Row[]> {
  const fetch = () => tx.query({ sql: `fetch ${size} from ${name}`, parameters: [] });
  // Nameless: the server may not keep a plan for a cursor that is gone with its transaction.
  await tx.query(...composed({ sql: `declare ${name} no scroll cursor for ${query}`, parameters: values }));
  for (;;) {
    const rows = await fetch();
    if (rows.length > 0) yield rows;
    if (rows.length < size) return;
  }
}

/** Known SQL has a name: the server parses it once per connection, and errors can say which statement failed. */

/** One row, by column name. Types of the values: see wire-types.ts. */
export type Row = Record<string, unknown>;

/** SQL known when the program is written. Prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** How members of one transaction share it (shared-transaction.ts); 'unshared': they can't. */
  readonly group?: 'once' | 'last' | 'alone' | 'unshared';
}

/** SQL composed at run time (Kysely's compiled queries have this shape). Parsed at each use. */
export interface Composed {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A statement with the values of its parameters $1, $2, … */
export type Call = readonly [Statement, readonly unknown[]];

const texts = new Map<string, string>();

/**
 * Declares known SQL. The name is at most 63 bytes of ASCII and belongs to one text in the whole program: a second text
 * under the same name is a programming error and throws here, at start, not in production under load.
 * A statement that locks rows and does not say how a group shares it is not for groups.
 */
export function statement(name: string, text: string, group?: Statement['group']): Statement {
  // PostgreSQL cuts longer names off silently, and two would become one.
  if (!/^[ -~]{1,63}$/.test(name)) throw new Error(`not a statement name: ${name}`);
  const before = texts.get(name);
  if (before !== undefined && before !== text) throw new Error(`statement ${name} has two texts`);
  texts.set(name, text);
  const sharing = group ?? (/\bfor (no key )?update\b/.test(text) ? 'unshared' : undefined);
  return sharing === undefined ? { name, text } : { name, text, group: sharing };
}

/** Every text declared so far, by name: for checks over all of them. */
export function declaredStatements(): ReadonlyMap<string, string> {
  return texts;
}

/** A composed query as a call: nameless, so it is parsed again at each use. */
export function composed(query: Composed): Call {
  return [{ name: '', text: query.sql }, query.parameters];
}

/**
 * Lists: conditions put together with Kysely's `sql` tag (values are always parameters), one order, one page. Kysely
 * only compiles here; the statement runs through the same transaction as everything else.
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';

import type { Composed } from './statement.ts';

export { sql } from 'kysely';
export type Condition = RawBuilder<unknown>;

const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

export interface Page {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** "field:asc" or "field:desc"; the field has passed the operation's schema. */
  readonly sort?: string | undefined;
}

/** What a list is sorted by: SQL of ours, never of the caller. */
export interface SortColumn {
  readonly by: string;
  /** It may be null: such rows come last, in either direction. Said only where it is so, since no index gives that for both. */
  readonly nulls?: true;
}

export interface Listed {
  /** A tenant table, or SQL of ours in its place. */
  readonly from: string;
  readonly columns: string;
  readonly conditions: readonly Condition[];
  readonly sortColumns: Readonly<Record<string, SortColumn>>;
  readonly page: Page;
}

/** Rows of the company of the transaction. */
export const own = sql`company_id = certo.current_company()`;

/**
 * One page. The id is the tie-breaker, so that pages never overlap. First only the keys of its rows are found, which an
 * index can tell by itself; then these few rows are read. So what is skipped costs a step in an index and no wide row.
 */
export function pageOf(listed: Listed): Composed {
  const { limit = 20, offset = 0 } = listed.page;
  return compile(sql`select ${sql.raw(listed.columns)} from ${pageRows(listed, keysOf(listed, limit, offset))}`);
}

/** Rows by `keys`, a query of page_id and page_key, in the order of the list; behind a "from". */
export function pageRows(listed: Listed, keys: Condition): Condition {
  return sql`(${keys}) page join ${sql.raw(listed.from)} on ${own} and id = page_id order by ${orderOfKeys(listed)}`;
}

/** The keys of the rows that meet the conditions, in the order of the list. */
export function keysOf(listed: Listed, limit: number, offset: number): Condition {
  const { key, direction, last } = orderOf(listed);
  return sql`select id as page_id, ${key} as page_key from ${sql.raw(listed.from)} where ${whereOf(listed)}
    order by ${key} ${direction} ${last}, id ${direction} limit ${limit} offset ${offset}`;
}

/** The list's conditions, within the company of the transaction. */
export function whereOf({ conditions }: Listed): Condition {
  return sql.join([own, ...conditions], sql` and `);
}

/** "order by" of what has page_id and page_key. */
export function orderOfKeys(listed: Listed): Condition {
  const { direction, last } = orderOf(listed);
  return sql`page_key ${direction} ${last}, page_id ${direction}`;
}

/** What the list is sorted by, to stand in a query of its table. */
export function orderOf({ sortColumns, page }: Listed): { key: Condition; direction: Condition; last: Condition } {
  const [field = 'createdAt', direction = 'desc'] = (page.sort ?? 'createdAt:desc').split(':');
  const column = sortColumns[field];
  if (column === undefined || (direction !== 'asc' && direction !== 'desc')) throw new Error(`no such sort: ${field}`);
  return {
    key: sql.raw(column.by),
    direction: sql.raw(direction),
    last: sql.raw(column.nulls === true ? 'nulls last' : ''),
  };
}

/** The query's text with $1, $2 …, and the values for them. */
export function compile(query: Condition): Composed {
  const { sql: text, parameters } = query.compile(compiler);
  return { sql: text, parameters };
}

/** Contains, ignoring case and accents. `column` is SQL of ours. */
export function contains(column: string, text: string): Condition {
  return sql`position(certo.fold(${text}) in certo.fold(${sql.raw(column)})) > 0`;
}

/** `column` is SQL of ours. */
export function equals(column: string, value: unknown): Condition {
  return sql`${sql.raw(column)} = ${value}`;
}

/** All of them, of one at least. */
export function allOf(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join(conditions, sql` and `)})`;
}

/** At least one; of none at all it would be no SQL. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join(conditions, sql` or `)})`;
}

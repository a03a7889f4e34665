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

/**
 * One page of a tenant table. `columns` and the values of `sortColumns` are SQL of ours, never of the caller. The id is
 * the tie-breaker, so that pages never overlap.
 */
export function pageOf(query: {
  readonly from: string;
  readonly columns: string;
  readonly conditions: readonly Condition[];
  readonly sortColumns: Readonly<Record<string, string>>;
  readonly page: Page;
}): { sql: string; parameters: readonly unknown[] } {
  const [field = 'createdAt', direction = 'desc'] = (query.page.sort ?? 'createdAt:desc').split(':');
  const column = query.sortColumns[field];
  if (column === undefined || (direction !== 'asc' && direction !== 'desc')) throw new Error(`no such sort: ${field}`);
  const where = sql.join([sql`company_id = certo.current_company()`, ...query.conditions], sql` and `);
  const compiled = sql`select ${sql.raw(query.columns)} from ${sql.raw(query.from)} where ${where}
    order by ${sql.raw(`${column} ${direction} nulls last, id ${direction}`)}
    limit ${query.page.limit ?? 20} offset ${query.page.offset ?? 0}`.compile(compiler);
  return { sql: compiled.sql, parameters: compiled.parameters };
}

/** Contains, ignoring case and accents. `column` is SQL of ours. */
export function contains(column: string, text: string): Condition {
  return sql`position(certo.fold(${text}) in certo.fold(${sql.raw(column)})) > 0`;
}

export function equals(column: string, value: unknown): Condition {
  return sql`${sql.raw(column)} = ${value}`;
}

export function anyOf(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join(conditions, sql` or `)})`;
}

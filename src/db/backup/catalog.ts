/** What there is to copy, asked of the catalogue: a table, a column or a sequence that is new can't be forgotten. */
import type { ClientBase } from 'pg';
import type { CopiedTable, Manifest } from './manifest.ts';

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Row-level security holds for its owner too. */
  readonly forced: boolean;
  /** Tables that it refers to. */
  readonly refersTo: readonly string[];
}

// What Kysely notes of migrations is made again by migrating.
const ofSchema = `c.relnamespace = 'certo'::regnamespace and c.relname not like 'kysely\\_%'`;

/**
 * Every table of the schema, after those that it refers to and, with a foreign key or without, the companies that its rows
 * are of: loaded in this order, each reference finds its row.
 */
export async function readTables(client: ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname::text as name, c.relforcerowsecurity as forced,
       array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         and a.attgenerated = '' order by a.attnum) as columns,
       array(select f.confrelid::int::text from pg_constraint f where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
         union select o.oid::int::text from pg_class o join pg_attribute a on a.attrelid = c.oid and a.attname = 'company_id'
           where o.oid = to_regclass('certo.companies') and o.oid <> c.oid) as "refersTo", c.oid::int::text as oid
     from pg_class c where c.relkind = 'r' and ${ofSchema} order by c.relname`,
  );
  const names = new Map((rows as (Table & { oid: string })[]).map(({ oid, name }) => [oid, name]));
  return inOrder(rows.map((table) => ({ ...table, refersTo: table.refersTo.map((oid) => names.get(oid) ?? oid) })));
}

function inOrder(tables: readonly Table[]): Table[] {
  const placed: Table[] = [];
  while (placed.length < tables.length) {
    const next = tables.find(
      (table) =>
        !placed.includes(table) && table.refersTo.every((name) => placed.some((before) => before.name === name)),
    );
    if (next === undefined) throw new Error('tables refer to each other in a circle: none can be loaded first');
    placed.push(next);
  }
  return placed;
}

/** A constraint that was never held against the rows that were there before it (NOT VALID); its parts as SQL. */
export interface LaterRule {
  readonly table: string;
  readonly name: string;
  readonly rule: string;
}

/** The constraints of our tables that hold only for what was written since they were made. */
export async function readLaterRules(client: ClientBase): Promise<LaterRule[]> {
  const { rows } = await client.query<LaterRule>(
    `select k.conrelid::regclass::text as table, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as rule
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where not k.convalidated and c.relkind = 'r' and ${ofSchema} order by 1, 2`,
  );
  return rows;
}

/** Rows of each table as the client's transaction sees them. */
export async function countRows(client: ClientBase, tables: readonly Table[]): Promise<CopiedTable[]> {
  const counted: CopiedTable[] = [];
  for (const { name, columns } of tables) {
    const { rows } = await client.query<{ count: number }>(`select count(*)::int8 as count from ${quoted(name)}`);
    counted.push({ name, columns, rows: rows[0]!.count });
  }
  return counted;
}

/**
 * Where each sequence stands. Sequences know no snapshot: it is where they stand now, at or beyond what the tables
 * show.
 */
export async function readSequences(client: ClientBase): Promise<Manifest['sequences']> {
  const { rows: names } = await client.query<{ name: string }>(
    `select c.relname::text as name from pg_class c where c.relkind = 'S' and ${ofSchema} order by c.relname`,
  );
  const read = [];
  for (const { name } of names) {
    const { rows } = await client.query(`select last_value::text as value, is_called as called from ${quoted(name)}`);
    read.push({ name, value: rows[0].value as string, called: rows[0].called as boolean });
  }
  return read;
}

/** A table or sequence of ours in SQL. */
export function quoted(name: string): string {
  return `certo."${name.replaceAll('"', '""')}"`;
}

/** For COPY and INSERT: quoted, in the table's order. */
export function columnList({ columns }: Pick<Table, 'columns'>): string {
  return columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(', ');
}

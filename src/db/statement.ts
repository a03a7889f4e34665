/** Known SQL has a name: the server parses it once per connection, and errors can say which statement failed. */
import { canonicalJson } from '../fiscal/canonical.ts';
import type { ByColumn, ColumnValues } from './by-column.ts';

/** One row, by column name. Types of the values: see wire-types.ts. */
export type Row = Record<string, unknown>;

/** SQL known when the program is written. Prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** How members of one transaction share it (shared-transaction.ts); 'unshared': they can't. */
  readonly group?: 'once' | 'last' | 'alone' | 'unshared';
  /** It does for a list what it would do for each element: see listStatement. */
  readonly list?: Joins;
  /** It takes one element at a time, whose columns of these names are its parameters, in this order. */
  readonly columns?: readonly string[];
  /** Its list travels so. */
  readonly byColumn?: ByColumn;
}

/**
 * An element of a list: its id, or its columns with one. Instead of a value that only the elements need that are sent, a
 * column may have a function that gives it.
 */
export type Element = string | WrittenElement | { readonly id: string; readonly [column: string]: unknown };

/** An element whose columns are JSON already. */
export class WrittenElement {
  readonly id: string;
  /** Members of an object, without braces; `id` is none of them. */
  readonly members: string;

  constructor(id: string, members: string) {
    this.id = id;
    this.members = members;
  }
}

/** How elements of several calls become the lists of the calls that are sent; all in one when nothing is said. */
export type Joins = (elements: readonly Element[]) => readonly (readonly Element[])[];

/** Elements with columns, as a jsonb parameter: for jsonb_populate_recordset and jsonb_to_recordset. */
export class Elements {
  readonly list: readonly Exclude<Element, string>[];

  constructor(list: readonly Exclude<Element, string>[]) {
    this.list = list;
  }

  /** What a statement that takes the list has for it. */
  parameters(): readonly unknown[] {
    return [this.jsonb()];
  }

  /** As the server receives jsonb (jsonb_recv): the version of the form, then the text. As bytes, it is put together once. */
  jsonb(): Buffer {
    const texts = this.list.map(jsonOf);
    const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 3));
    let at = bytes.writeUInt8(jsonb_version);
    for (const [i, text] of texts.entries()) {
      at = bytes.writeUInt8(i === 0 ? sign.open : sign.comma, at);
      at += bytes.write(text, at);
    }
    if (texts.length === 0) at = bytes.writeUInt8(sign.open, at);
    return bytes.subarray(0, bytes.writeUInt8(sign.close, at));
  }
}

/** Elements of a statement whose list travels by column. */
class ElementsByColumn extends Elements {
  readonly #byColumn: ByColumn;

  constructor(list: Elements['list'], byColumn: ByColumn) {
    super(list);
    this.#byColumn = byColumn;
  }

  override parameters(): readonly Buffer[] {
    return this.#byColumn.encode(this.list as readonly ColumnValues[]);
  }
}

/**
 * One element, of a statement that names its columns: each is a parameter. Of a list of one the JSON would take the server as
 * long as the row.
 */
class OneElement extends Elements {
  readonly columns: readonly string[];

  constructor(element: Exclude<Element, string>, columns: readonly string[]) {
    super([element]);
    this.columns = columns;
  }

  override parameters(): readonly unknown[] {
    const element = this.list[0] as { readonly [column: string]: unknown };
    return this.columns.map((column) => given(element[column]));
  }
}

const given = (value: unknown): unknown => (typeof value === 'function' ? value() : value);

const jsonb_version = 1;
const sign = { open: 0x5b, comma: 0x2c, close: 0x5d } as const;

function jsonOf(element: Exclude<Element, string>): string {
  if (element instanceof WrittenElement) return `{"id":${canonicalJson(element.id)},${element.members}}`;
  let members = '';
  for (const column of Object.keys(element)) {
    const value = element[column];
    const text = valueJson(given(value));
    if (text !== undefined) members += `${members === '' ? '' : ','}"${column}":${text}`;
  }
  return `{${members}}`;
}

/** Short texts and bytes, as most are, without a call of V8's. */
function valueJson(value: unknown): string | undefined {
  if (typeof value === 'string') return canonicalJson(value);
  return value instanceof Uint8Array ? bytesJson(value) : JSON.stringify(value);
}

/** What the input of bytea reads, as JSON. */
export function bytesJson(bytes: Uint8Array): string {
  return `"\\\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}"`;
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

/**
 * Declares a statement with one parameter, a list: ids as an array, or Elements. It names the element of each row that it
 * returns in a column `id`. Calls of it that travel together become one (joined.ts): what a statement costs the server
 * before it touches a row (its checks, policies and triggers made ready) is paid once and not for each of them. Rows that
 * it locks without `alone` it has to lock in one order. With `columns` the lists that `joins` makes have one element each. With
 * `byColumn` the parameters are the columns of the list, one array each.
 */
export function listStatement(
  name: string,
  text: string,
  { group, joins = (elements) => [elements], columns, byColumn }: Lists = {},
): Statement {
  statement(name, text, group);
  return {
    name,
    text,
    ...(group === undefined ? {} : { group }),
    list: joins,
    ...(columns === undefined ? {} : { columns }),
    ...(byColumn === undefined ? {} : { byColumn }),
  };
}

interface Lists {
  readonly group?: 'alone';
  readonly joins?: Joins;
  readonly columns?: readonly string[];
  readonly byColumn?: ByColumn;
}

/** A call of such a statement for these elements, in the form that it takes them in. */
export function callFor(statement: Statement, list: readonly Element[]): Call {
  if (typeof list[0] === 'string') return [statement, [list]];
  const elements = list as readonly Exclude<Element, string>[];
  if (statement.byColumn !== undefined) return [statement, [new ElementsByColumn(elements, statement.byColumn)]];
  if (statement.columns === undefined) return [statement, [new Elements(elements)]];
  const [first] = elements;
  if (first === undefined || list.length > 1)
    throw new Error(`statement ${statement.name} takes one element at a time`);
  return [statement, [new OneElement(first, statement.columns)]];
}

/**
 * SQL for "any of this member of the list's elements", to be compared with a column beside the join with the list, so that
 * the index is searched for these values alone. With the join only, the planner, which takes every list for a hundred rows,
 * would rather read all rows of a company as long as it does not know that they are many.
 */
export const anyOf = (member: string, type: 'uuid' | 'text'): string =>
  `any (array(select (e ->> '${member}')::${type} from jsonb_array_elements($1::jsonb) e))`;

/**
 * The same for a list of ids. Not `any ($1)`: the planner would count the ids, find a plan for that number cheaper than the
 * generic one, and plan anew each time, which takes three times as long as the statement.
 */
export const anyId = 'any (array(select unnest($1::uuid[])))';

/**
 * What `certo.now()` says, as a row to select `now` from: for statements that are run all the time. To call the function takes the
 * server four times as long.
 */
export const clock = `(select date_trunc('milliseconds', clock_timestamp() + c.shift) as now from certo.clock c)`;

/**
 * Ends a statement for a list: `otherwise` is called, to fail, unless there is a row of `counted` for each element. `count`:
 * how many elements there are, where they do not travel as JSON.
 */
export const allOr = (counted: string, otherwise: string, count = 'jsonb_array_length($1::jsonb)'): string =>
  `select case when (select count(*) from ${counted}) = ${count} then true else ${otherwise} end as all_done`;

/** The same as `allOr`, for a statement that takes one element at a time. */
export const oneOr = (counted: string, otherwise: string): string =>
  `select case when exists (select from ${counted}) then true else ${otherwise} end as all_done`;

/** Of ids that several members name, each once. */
export const eachOnce: Joins = (ids) => [[...new Set(ids)]];

/** Whoever locks several rows locks them in this order; the server reads a list from its beginning. */
export const inOrderOfIds: Joins = (elements) => [elements.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))];

/** The elements of a call of such a statement. */
export function elementsOf([, [list]]: Call): readonly Element[] {
  return list instanceof Elements ? list.list : (list as readonly string[]);
}

/** As the server writes it. */
export const idOf = (element: Element): string => (typeof element === 'string' ? element : element.id).toLowerCase();

/** Equal calls have equal keys. */
export const keyOf = ([{ name }, values]: Call): string => `${name} ${JSON.stringify(values)}`;

/**
 * Every text declared so far, by name: for checks over all of them.
 * @internal
 */
export function declaredStatements(): ReadonlyMap<string, string> {
  return texts;
}

/** A composed query as a call: nameless, so it is parsed again at each use. */
export function composed(query: Composed): Call {
  return [{ name: '', text: query.sql }, query.parameters];
}

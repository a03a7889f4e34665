/**
 * Rows that contain some words, in the order of a list: `search` and its like. Two ways, each exact by itself. What many
 * rows contain is found soon by walking along the list. What few contain is found by its grams and put in order then; where
 * the walk ends without a full page, that is what it was.
 *
 * Customers and items have their grams in an index of their own. The words of numbered documents are written down by the
 * clock door (db/migrations/0011_lists.sql); a document whose words are not there yet, or that has no number and may change,
 * is judged by its own columns.
 */
import {
  allOf,
  anyOf,
  type Condition,
  compile,
  contains,
  keysOf,
  type Listed,
  orderOf,
  orderOfKeys,
  own,
  type Page,
  pageOf,
  pageRows,
  sql,
  whereOf,
} from '../db/page.ts';
import type { Row, Tx } from '../db/transact.ts';

/**
 * Rows to walk past at least, for a page of 20. Found by measuring at a million documents: a step costs 3 µs, a document that
 * the grams bring 8 µs, so below one match in a few hundred the second way is the shorter one.
 */
const fewest_steps = 2_000;
const steps_per_entry = 50;
const most_steps = 100_000;

/** Where words are looked for by their grams. */
export interface Words {
  /** The function that gives the ids of what contains them; SQL of ours. */
  readonly found: string;
  /** Where they stand, by the id of what they are of: looked up sooner than a row is judged. */
  readonly table?: string;
  /** Written by the clock door, after the issue. */
  readonly afterwards: boolean;
}

/** What `search` looks through in documents. */
export const documentWords: Words = {
  found: 'certo.documents_with',
  table: 'certo.document_words',
  afterwards: true,
};
export const documentNotes: Words = { found: 'certo.documents_noting', afterwards: true };
export const customerWords: Words = { found: 'certo.customers_with', afterwards: false };
export const itemWords: Words = { found: 'certo.items_with', afterwards: false };

/** A filter by text. */
export interface Containing {
  readonly text: string;
  /** Says of a row by its own columns whether it contains the text. */
  readonly itself: Condition;
  /** Undefined: nowhere, every row has to be asked. */
  readonly among: Words | undefined;
  /** It has to be in some of the columns that the words are of, so `itself` is asked of what these bring. */
  readonly narrower?: boolean | undefined;
}

/** In any of these columns, which are those that the words are of. */
export const inAny = (columns: readonly string[], text: string, among: Words): Containing => ({
  text,
  among,
  itself: anyOf(columns.map((column) => contains(column, text))),
});

/** In this column, which is one of several that the words are of, or of which there are no words. */
export const inColumn = (column: string, text: string, among?: Words): Containing => ({
  text,
  among,
  itself: contains(column, text),
  narrower: true,
});

export interface Sought extends Containing {
  readonly among: Words;
  /** Rows of the list that are nobody's to write the words of. */
  readonly unwritten?: Condition | undefined;
}

/**
 * One page of the rows that meet every filter by text. One of them, where any can be looked for, finds the rows; the others
 * are asked of these.
 */
export async function readContaining(
  tx: Tx,
  listed: Listed,
  filters: readonly Containing[],
  unwritten?: Condition,
): Promise<Row[]> {
  const all = filters.map(({ itself }) => itself);
  const finding = rarest(
    filters.filter((filter): filter is Containing & { among: Words } => filter.among !== undefined),
  );
  if (finding === undefined) return await tx.query(pageOf({ ...listed, conditions: [...listed.conditions, ...all] }));
  const narrower = finding.narrower === true || all.length > 1;
  return await searchPage(tx, listed, { ...finding, itself: allOf(all), narrower, unwritten });
}

/** What is longer stands in fewer rows, mostly; of two of one length, what is looked for in less. */
function rarest<F extends Containing>(filters: readonly F[]): F | undefined {
  return filters.toSorted((a, b) => a.text.length - b.text.length).at(-1);
}

/** One page of the rows that contain the text. `steps`: rows to walk past before the other way is taken. */
export async function searchPage(
  tx: Tx,
  listed: Listed,
  sought: Sought,
  steps = stepsFor(listed.page),
): Promise<Row[]> {
  const { limit = 20 } = listed.page;
  const walked = await tx.query(walk(listed, sought, steps));
  const found = walked.filter((row) => row['page_id'] !== null);
  if (found.length === limit || Number(walked[0]!['walked']) < steps) return found;
  return await tx.query(byGrams(listed, sought));
}

function stepsFor({ limit = 20, offset = 0 }: Page): number {
  return Math.min(most_steps, Math.max(fewest_steps, (offset + limit) * steps_per_entry));
}

/** The page, as far as the first `steps` rows of the list fill it; each row, or one of nulls, says how many there were. */
function walk(listed: Listed, { text, among, itself, narrower }: Sought, steps: number) {
  const { limit = 20, offset = 0 } = listed.page;
  const from = sql.raw(listed.from);
  const judged = sql`(select ${itself} from ${from} where ${own} and id = page_id)`;
  const matching = sql`select page_id, page_key from (${keysOf(listed, steps, 0)}) step
    where ${among.table === undefined ? judged : toldOr(judged, among.table, text, narrower)}
    order by ${orderOfKeys(listed)} limit ${limit} offset ${offset}`;
  return compile(sql`select walked, page_id, page_key, ${sql.raw(listed.columns)} from
    (select count(*)::integer as walked from (select from ${from} where ${whereOf(listed)} limit ${steps}) step) steps
    left join ((${matching}) page join ${from} on ${own} and id = page_id) on true order by ${orderOfKeys(listed)}`);
}

/** What the words that stand in `table` say of the row `page_id`, and `judged` where they don't. */
function toldOr(judged: Condition, table: string, text: string, narrower = false): Condition {
  const told = sql`(select case when bool_or(w.words like certo.pattern_of(${text})) then true when bool_or(w.part = 0) then false end
    from ${sql.raw(table)} w where w.company_id = certo.current_company() and w.id = page_id)`;
  return narrower ? sql`(${told}) is distinct from false and ${judged}` : sql`coalesce(${told}, ${judged})`;
}

/** The page from all rows that contain the text. */
function byGrams(listed: Listed, { text, among, itself, narrower, unwritten }: Sought) {
  const { limit = 20, offset = 0 } = listed.page;
  const from = sql.raw(listed.from);
  const found = sql`select ${sql.raw(among.found)}(${text}) as id
    ${among.afterwards ? notYetWritten(itself) : sql``}
    ${unwritten === undefined ? sql`` : sql`union select id from ${from} where ${own} and ${unwritten} and ${itself}`}`;
  const keys = sql`select page_id, page_key from hits order by ${orderOfKeys(listed)} limit ${limit} offset ${offset}`;
  const exactly = narrower ? sql` and ${itself}` : sql``;
  // Materialized, each: the planner does not know how few there are, and would walk along the list once more.
  return compile(sql`with found as materialized (${found}), hits as materialized (
      select id as page_id, ${orderOf(listed).key} as page_key from ${from} where ${whereOf(listed)} and id in (select id from found)${exactly})
    select ${sql.raw(listed.columns)} from ${pageRows(listed, keys)}`);
}

/** Documents whose words are not there yet, or never will be while they have no number. */
function notYetWritten(itself: Condition): Condition {
  // "offset 0" keeps the planner from taking the two apart: it would read all documents of a series for the few, mostly none,
  // whose words are not there yet. And by the "coalesce" itself no index may be asked under row-level security; by a column of it, it may.
  const late = sql`(select s.id, coalesce(u.up_to, 0) as up_to from certo.series s left join certo.searched_series u
      on u.company_id = certo.current_company() and u.series_id = s.id
      where s.company_id = certo.current_company() and s.last_number > coalesce(u.up_to, 0) offset 0) waiting,
    lateral (select id from certo.documents where ${own} and series_id = waiting.id and sequence > waiting.up_to and ${itself} offset 0) late`;
  return sql`union select id from certo.documents where ${own} and number is null and ${itself}
    union select late.id from ${late}`;
}

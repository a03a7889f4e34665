/**
 * `search`: documents that contain some words, in the order of a list. Two ways, each exact by itself. What many documents
 * contain is found soon by walking along the list. What few contain is found by its grams and put in order then; where
 * the walk ends without a full page, that is what it was.
 *
 * The words of numbered documents are written down by the clock door (db/migrations/0011_lists.sql). A document whose
 * words are not there yet, or that has no number and may change, is judged by its own columns.
 */
import {
  type Condition,
  compile,
  keysOf,
  type Listed,
  orderOf,
  orderOfKeys,
  own,
  type Page,
  pageRows,
  sql,
  whereOf,
} from '../db/page.ts';
import type { Row, Tx } from '../db/transact.ts';

/**
 * Documents to walk past at least, for a page of 20. Found by measuring at a million documents: a step costs 3 µs, a
 * document that the grams bring 8 µs, so below one match in a few hundred the second way is the shorter one.
 */
const fewest_steps = 2_000;
const steps_per_entry = 50;
const most_steps = 100_000;

export interface Sought {
  readonly words: string;
  /** Says of a document by its own columns whether it contains the words. */
  readonly itself: Condition;
  /** They have to be in one of the columns whose words are written down, so `itself` is asked of what these bring. */
  readonly narrower?: boolean | undefined;
  /** Rows of the list that are nobody's to write the words of. */
  readonly unwritten?: Condition | undefined;
}

/** One page of the documents that contain the words. `steps`: documents to walk past before the other way is taken. */
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

/** The page, as far as the first `steps` documents of the list fill it; each row, or one of nulls, says how many there were. */
function walk(listed: Listed, { words, itself, narrower }: Sought, steps: number) {
  const { limit = 20, offset = 0 } = listed.page;
  const from = sql.raw(listed.from);
  const written = sql`(select case when bool_or(w.words like certo.pattern_of(${words})) then true when bool_or(w.part = 0) then false end
    from certo.document_words w where w.company_id = certo.current_company() and w.id = page_id)`;
  const judged = sql`(select ${itself} from ${from} where ${own} and id = page_id)`;
  const contained = narrower
    ? sql`(${written}) is distinct from false and ${judged}`
    : sql`coalesce(${written}, ${judged})`;
  const matching = sql`select page_id, page_key from (${keysOf(listed, steps, 0)}) step
    where ${contained}
    order by ${orderOfKeys(listed)} limit ${limit} offset ${offset}`;
  return compile(sql`select walked, page_id, page_key, ${sql.raw(listed.columns)} from
    (select count(*)::integer as walked from (select from ${from} where ${whereOf(listed)} limit ${steps}) step) steps
    left join ((${matching}) page join ${from} on ${own} and id = page_id) on true order by ${orderOfKeys(listed)}`);
}

/** The page from all documents that contain the words. */
function byGrams(listed: Listed, { words, itself, narrower, unwritten }: Sought) {
  const { limit = 20, offset = 0 } = listed.page;
  const from = sql.raw(listed.from);
  // "offset 0" keeps the planner from taking the two apart: it would read all documents of a series for the few, mostly none,
  // whose words are not there yet. And by the "coalesce" itself no index may be asked under row-level security; by a column of it, it may.
  const late = sql`(select s.id, coalesce(u.up_to, 0) as up_to from certo.series s left join certo.searched_series u
      on u.company_id = certo.current_company() and u.series_id = s.id
      where s.company_id = certo.current_company() and s.last_number > coalesce(u.up_to, 0) offset 0) waiting,
    lateral (select id from certo.documents where ${own} and series_id = waiting.id and sequence > waiting.up_to and ${itself} offset 0) late`;
  const found = sql`select certo.documents_with(${words}) as id
    union select id from certo.documents where ${own} and number is null and ${itself}
    union select late.id from ${late}
    ${unwritten === undefined ? sql`` : sql`union select id from ${from} where ${own} and ${unwritten} and ${itself}`}`;
  const keys = sql`select page_id, page_key from hits order by ${orderOfKeys(listed)} limit ${limit} offset ${offset}`;
  const exactly = narrower ? sql` and ${itself}` : sql``;
  // Materialized, each: the planner does not know how few there are, and would walk along the list once more.
  return compile(sql`with found as materialized (${found}), hits as materialized (
      select id as page_id, ${orderOf(listed).key} as page_key from ${from} where ${whereOf(listed)} and id in (select id from found)${exactly})
    select ${sql.raw(listed.columns)} from ${pageRows(listed, keys)}`);
}

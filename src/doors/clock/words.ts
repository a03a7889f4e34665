/**
 * Writes down what `search` looks through, and notes (db/migrations/0011_lists.sql, 0029_words_of_more.sql): after the issue,
 * so that issuing does not wait for it. Any number of processes may do it at once: a series that one has locked the others
 * pass by.
 */
import type { Logger } from 'pino';
import { isShort, StatementError } from '../../db/errors.ts';
import type { Db, Entry } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfCompany, entryOfNobody } from '../../identity/principal.ts';
import type { FailureLog } from '../failure-log.ts';
import { type Repeated, repeat } from './repeat.ts';
import { Setbacks } from './setbacks.ts';

const most_companies = 20;
/** Documents of one transaction: some hundredths of a second of the server's processor. */
const most_together = 200;
/** After each round it rests so many times as long as it took, and longer while many wait for their writes. */
const rest = { idle: 4, busy: 100 };
const idle_ms = 2_000;
/** So often a document has to fail by itself, minutes apart by then, before its words are given up. */
const most_tries = 3;

const toSearch = statement('clock_to_search', 'select id from certo.companies_to_search($1) as id');
const noteSeries = statement(
  'words_series',
  `insert into certo.searched_series (company_id, series_id)
   select s.company_id, s.id from certo.series s where s.company_id = certo.current_company() and s.last_number >= s.start_number
   on conflict do nothing`,
);
// The numbers of a series are committed in their order, so what is visible up to `done` is all there is up to it. Lateral:
// only so the index of numbers gives their order, and not all that waits is read and sorted for each two hundred of it.
// $1: so many at most; $2: of this series, or of any.
const writeWords = statement(
  'words_write',
  `with due as (
     select u.series_id, u.up_to from certo.searched_series u
     where u.company_id = certo.current_company() and ($2::uuid is null or u.series_id = $2) and exists (select from certo.series s
       where s.company_id = certo.current_company() and s.id = u.series_id and s.last_number > u.up_to)
     limit 1 for no key update skip locked),
   read as (
     select d.* from due, lateral (
       select d.id, d.sequence, certo.words_of(d) as words,
         case when d.notes is not null and d.family in ('SALES', 'RECEIPT') then certo.fold(d.notes) end as notes
       from certo.documents d
       where d.company_id = certo.current_company() and d.series_id = due.series_id and d.sequence > due.up_to
       order by d.sequence limit $1::integer) d),
   written as (
     insert into certo.document_words (company_id, id, part, words) select certo.current_company(), id, 0, words from read),
   noted as (
     insert into certo.document_note_words (company_id, id, words) select certo.current_company(), id, notes from read where notes is not null),
   done as (select max(sequence) as sequence, count(*)::integer as count from read)
   update certo.searched_series u set up_to = done.sequence from due, done
   where u.company_id = certo.current_company() and u.series_id = due.series_id and done.count > 0
   returning done.count`,
);

// Which one is tried by itself.
const nextAlone = statement(
  'words_next',
  `select d.series_id, d.sequence, d.id from certo.searched_series u, lateral (
     select d.series_id, d.sequence, d.id from certo.documents d
     where d.company_id = certo.current_company() and d.series_id = u.series_id and d.sequence > u.up_to
     order by d.sequence limit 1) d
   where u.company_id = certo.current_company() and exists (select from certo.series s
     where s.company_id = certo.current_company() and s.id = u.series_id and s.last_number > u.up_to)
   limit 1`,
);
// Only if it is still the next: whoever else has written its words meanwhile knew better.
const setAside = statement(
  'words_set_aside',
  `with due as (
     select u.series_id, u.up_to from certo.searched_series u
     where u.company_id = certo.current_company() and u.series_id = $1 and u.up_to < $2
       and not exists (select from certo.documents d where d.company_id = certo.current_company() and d.series_id = $1
         and d.sequence > u.up_to and d.sequence < $2)
     for no key update),
   written as (
     insert into certo.document_words (company_id, id, part, words)
     select certo.current_company(), d.id, 0, certo.fold(concat_ws(e'\n', d.number, d.atcud)) from due, certo.documents d
     where d.company_id = certo.current_company() and d.series_id = due.series_id and d.sequence = $2)
   update certo.searched_series u set up_to = $2 from due
   where u.company_id = certo.current_company() and u.series_id = due.series_id
   returning u.up_to`,
);

export interface WordsWorld {
  readonly db: Db;
  readonly log: Logger;
  /** Many wait for their writes. */
  readonly busy: () => boolean;
}

/** As one process goes on with it. */
export interface WordsRound extends Pick<WordsWorld, 'db' | 'log'> {
  readonly setbacks: Setbacks;
  /** Aborted: no further company is begun. */
  readonly signal?: AbortSignal;
}

/** Where nothing has failed yet. */
export const noSetbacks = (milliseconds = () => performance.now()) => new Setbacks(most_together, milliseconds);

/**
 * One round over the companies with documents that are not written down yet; true when there may be more. What the server
 * refuses of one company is logged and tried again later, with half as many, while the others go on.
 */
export async function writeDownWords(round: WordsRound): Promise<boolean> {
  const { db, setbacks, signal } = round;
  // Beside those that rest, or twenty of them would be all that is ever found.
  const found = await db.read(entryOfNobody).query(toSearch, [most_companies + setbacks.resting]);
  const companies = found.map(({ id }) => String(id)).filter((companyId) => !setbacks.isResting(companyId));
  let more = companies.length >= most_companies;
  for (const companyId of companies.slice(0, most_companies)) {
    if (signal?.aborted === true) return false;
    if (await writeSome(round, companyId)) more = true;
  }
  return more;
}

interface Next {
  readonly seriesId: string;
  readonly sequence: unknown;
  readonly documentId: string;
}

/** Some of one company; true when there may be more. */
async function writeSome({ db, log, setbacks }: WordsRound, companyId: string): Promise<boolean> {
  const entry = entryOfCompany(companyId, 'clock');
  const atOnce = setbacks.atOnce(companyId);
  let next: Next | undefined;
  try {
    next = atOnce === 1 ? await nextOf(db, entry) : undefined;
    if (next !== undefined && setbacks.tries(companyId, next.documentId) >= most_tries) {
      await db.read(entry, 'lazily').query(setAside, [next.seriesId, next.sequence]);
      const { documentId } = next;
      log.error(
        { companyId, documentId },
        'the words of a document cannot be written down: its number alone is searched',
      );
      setbacks.passed(companyId);
      return true;
    }
    const [, written = []] = await db.read(entry, 'lazily').batch([
      [noteSeries, []],
      [writeWords, [atOnce, next?.seriesId ?? null]],
    ]);
    setbacks.passed(companyId);
    return written.length > 0;
  } catch (error) {
    if (!(error instanceof StatementError) || isShort(error)) throw error;
    setbacks.failed(companyId, next?.documentId, isItsOwn(error));
    log.warn(
      { err: error, companyId, documents: atOnce, documentId: next?.documentId },
      "words of a company's documents could not be written down; fewer are tried after a rest",
    );
    return false;
  }
}

/** Which document is tried by itself; undefined when another process has done all of them. */
async function nextOf(db: Db, entry: Entry): Promise<Next | undefined> {
  const [row] = await db.read(entry).query(nextAlone);
  if (row === undefined) return undefined;
  return { seriesId: String(row['series_id']), sequence: row['sequence'], documentId: String(row['id']) };
}

/**
 * A fault that can be the document's own: what it says is refused (class 22), too much (54), takes too long (57014), or can't
 * be read (XX). One of rights, tables or locks any other would meet as well.
 */
function isItsOwn({ code }: StatementError): boolean {
  return /^(22...|54...|57014|XX...)$/.test(code);
}

/** Goes on until it is stopped. A search is right at any moment: what is not written down yet it reads itself. */
export function startWords({ db, log, busy }: WordsWorld, failures: FailureLog): Repeated {
  const setbacks = noSetbacks();
  return repeat(async (signal) => {
    const began = performance.now();
    const more = await writeDownWords({ db, log, setbacks, signal }).catch((error) => {
      if (!signal.aborted) failures.note(error, 'the words of documents could not be written down; tried again');
      return false;
    });
    return more ? (performance.now() - began) * (busy() ? rest.busy : rest.idle) : idle_ms;
  });
}

/**
 * Writes down what `search` looks through, and notes (db/migrations/0011_lists.sql, 0029_words_of_more.sql): after the issue,
 * so that issuing does not wait for it. Any number of processes may do it at once: a series that one has locked the others
 * pass by.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Db, Entry } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { entryOfCompany } from '../../identity/principal.ts';

const most_companies = 20;
/** Documents of one transaction: some hundredths of a second of the server's processor. */
const most_together = 200;
/** After each round it rests so many times as long as it took, and longer while many wait for their writes. */
const rest = { idle: 4, busy: 100 };
const idle_ms = 2_000;

const toSearch = statement('clock_to_search', `select id from certo.companies_to_search(${most_companies}) as id`);
const noteSeries = statement(
  'words_series',
  `insert into certo.searched_series (company_id, series_id)
   select s.company_id, s.id from certo.series s where s.company_id = certo.current_company() and s.last_number >= s.start_number
   on conflict do nothing`,
);
// The numbers of a series are committed in their order, so what is visible up to `done` is all there is up to it. Lateral:
// only so the index of numbers gives their order, and not all that waits is read and sorted for each two hundred of it.
const writeWords = statement(
  'words_write',
  `with due as (
     select u.series_id, u.up_to from certo.searched_series u
     where u.company_id = certo.current_company() and exists (select from certo.series s
       where s.company_id = certo.current_company() and s.id = u.series_id and s.last_number > u.up_to)
     limit 1 for no key update skip locked),
   read as (
     select d.* from due, lateral (
       select d.id, d.sequence, certo.words_of(d) as words,
         case when d.notes is not null and d.family in ('SALES', 'RECEIPT') then certo.fold(d.notes) end as notes
       from certo.documents d
       where d.company_id = certo.current_company() and d.series_id = due.series_id and d.sequence > due.up_to
       order by d.sequence limit ${most_together}) d),
   written as (
     insert into certo.document_words (company_id, id, part, words) select certo.current_company(), id, 0, words from read),
   noted as (
     insert into certo.document_note_words (company_id, id, words) select certo.current_company(), id, notes from read where notes is not null),
   done as (select max(sequence) as sequence, count(*)::integer as count from read)
   update certo.searched_series u set up_to = done.sequence from due, done
   where u.company_id = certo.current_company() and u.series_id = due.series_id and done.count > 0
   returning done.count`,
);

/** One round over the companies with documents that are not written down yet; true when there may be more. */
export async function writeDownWords(db: Db, nobody: Entry): Promise<boolean> {
  const companies = await db.read(nobody).query(toSearch);
  let more = companies.length === most_companies;
  for (const { id } of companies) {
    const [, written = []] = await db.read(entryOfCompany(String(id), 'clock'), 'lazily').batch([
      [noteSeries, []],
      [writeWords, []],
    ]);
    more ||= written.length > 0;
  }
  return more;
}

export interface WordsWorld {
  readonly db: Db;
  readonly log: Logger;
  /** Many wait for their writes. */
  readonly busy: () => boolean;
}

/** Goes on until it is stopped. A search is right at any moment: what is not written down yet it reads itself. */
export function startWords({ db, log, busy }: WordsWorld, nobody: Entry) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      const began = performance.now();
      const more = await writeDownWords(db, nobody).catch((error) => {
        if (!signal.aborted) log.error({ err: error }, 'the words of documents could not be written down; tried again');
        return false;
      });
      const pause_ms = more ? (performance.now() - began) * (busy() ? rest.busy : rest.idle) : idle_ms;
      await sleep(pause_ms, undefined, { signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

/** What can't be written down of one document keeps nothing else from being written down. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../../../test/service.ts';
import type { Db } from '../../db/transact.ts';
import { noSetbacks, type WordsRound, writeDownWords } from './words.ts';

let service: Service;
let lines: Record<string, unknown>[];
let now = 0;

beforeAll(async () => {
  service = await startService({ companies: ['A', 'B'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  lines = [];
  await service.owner.query('truncate certo.document_words, certo.document_note_words, certo.searched_series');
});

const documents = async (companyId: string) =>
  (
    await service.owner.query<{ id: string; description: string | null; written: boolean; words: string | null }>(
      `select d.id, d.description, w.id is not null as written, w.words from certo.documents d
         left join certo.document_words w on w.company_id = d.company_id and w.id = d.id and w.part = 0
       where d.company_id = $1 and d.number is not null order by d.sequence`,
      [companyId],
    )
  ).rows;

async function issued(company: 'A' | 'B', descriptions: readonly string[]): Promise<void> {
  const { [company]: its } = service.companies;
  for (const description of descriptions) await its.issue(await its.draft({ description }));
}

/** From here on the words of a document with "unsayable" in its description are refused, as those of 200,000 letters would be. */
async function refusing(sqlstate: string): Promise<void> {
  await service.owner.query(`create or replace function certo.words_of(d certo.documents) returns text language plpgsql immutable as $$
    begin
      if d.description like '%unsayable%' then raise 'no words' using errcode = '${sqlstate}'; end if;
      return certo.fold(concat_ws(e'\\n', d.number, d.description));
    end $$`);
}

function round(db: Db = service.db): WordsRound {
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { db, log, setbacks: noSetbacks(() => now) };
}

/** As many rounds as are of use, each after whatever rest the one before asks for. */
async function rounds(one: WordsRound, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await writeDownWords(one);
    now += 300_000;
  }
}

test('a document that is refused is set aside alone, and is found by its number; all others have their words', async () => {
  await issued('A', ['one', 'two', 'unsayable', 'four', 'five']);
  await issued('B', ['other']);
  await refusing('54000');
  const going = round();
  // The first round is enough for the others.
  await writeDownWords(going);
  expect((await documents(service.companies.B.id)).map(({ written }) => written)).toEqual([true]);
  expect(await documents(service.companies.A.id)).toMatchObject(Array(5).fill({ written: false }));
  await rounds(going, 40);
  const written = await documents(service.companies.A.id);
  expect(written.map(({ words }) => words?.split('\n')[1])).toEqual(['one', 'two', expect.any(String), 'four', 'five']);
  const [, , aside] = written;
  expect(aside!.words).not.toContain('unsayable');
  expect(aside!.words).toMatch(/^ft .*\/3\n/);
  const errors = lines.filter(({ level }) => level === 50);
  expect(errors).toMatchObject([{ companyId: service.companies.A.id, documentId: aside!.id }]);
  // 200, 100, 50, 25, 12, 6, 3; then it is alone with those before it, and three times by itself.
  expect(lines.length - 1).toBeLessThan(20);
  expect(await writeDownWords(going)).toBe(false);
});

test('what is no fault of the document gives up none, however often it fails', async () => {
  await refusing('42501');
  const going = round();
  await rounds(going, 40);
  expect((await documents(service.companies.A.id)).map(({ written }) => written)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(lines.filter(({ level }) => level === 50)).toEqual([]);
  await refusing('54000');
  // Another process, which knows nothing of the failures, goes on from where this one was.
  await rounds(round(), 40);
  expect((await documents(service.companies.A.id)).map(({ written }) => written)).toEqual(Array(5).fill(true));
});

test('a company rests after a failure, and its turn is not used up by others that rest', async () => {
  await refusing('54000');
  const going = round();
  await writeDownWords(going);
  const before = lines.length;
  for (let i = 0; i < 5; i++) await writeDownWords(going);
  expect([before, lines.length]).toEqual([1, 1]);
  now += 300_000;
  await writeDownWords(going);
  expect(lines.length).toBe(2);
  // A database that is away is nobody's fault: the whole round fails, and is tried again as it was.
  const away = () => Promise.reject(new Error('away'));
  const nowhere = { query: away, batch: away, commitWith: away };
  await expect(writeDownWords(round({ ...service.db, read: () => nowhere }))).rejects.toThrow('away');
});

test('once it is stopped no further company is begun', async () => {
  await refusing('54000');
  const stopping = new AbortController();
  stopping.abort();
  expect(await writeDownWords({ ...round(), signal: stopping.signal })).toBe(false);
  expect((await documents(service.companies.B.id)).map(({ written }) => written)).toEqual([false]);
});

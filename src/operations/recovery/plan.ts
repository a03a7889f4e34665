/**
 * What recovering a file would do, and everything that stands against it: nothing is written while one document of it
 * can't be. Decided against running heads of the recovery series, as the documents will be one after the other.
 */
import type { Call, Db, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Content, DocumentType } from '../../fiscal/document.ts';
import { decideIssue, type SeriesHead } from '../../fiscal/issue.ts';
import { readiness } from '../../fiscal/readiness.ts';
import { canonicalNumber, keyOfStored, recoveredKey, storedKeys } from '../../fiscal/recovery.ts';
import { assert, type Problem, Refusal, refuseAll } from '../../fiscal/refusal.ts';
import { typeCode } from '../../fiscal/regime.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { readinessFacts } from '../company/company.ts';
import { priceDraft, readAllReferences } from '../invoices/price-draft.ts';
import { readMoment } from '../moment.ts';
import { headColumns } from '../numbering.ts';
import { headOf } from '../running-head.ts';
import type { World } from '../world.ts';
import {
  type AskedRecovery,
  askedRecovery,
  type RecoveredBody,
  recoveredContent,
  totalProblems,
} from './recovered-document.ts';

export interface RecoveryFile {
  readonly companyId: string;
  /** SHA-256 of the file, hexadecimal: the same file may be run again. */
  readonly digest: string;
  /** Each passed the schema of `RecoveredBody`. */
  readonly documents: readonly RecoveredBody[];
  /** Identifier of the recovery series; by default the one there is. */
  readonly seriesCode?: string | undefined;
}

/** One document of the file. */
export interface Planned {
  /** Its place in the file, from 0. */
  readonly place: number;
  readonly key: string;
  readonly asked: AskedRecovery;
  readonly seriesId: string;
  /** Number and ATCUD where an earlier run of this file recovered it. */
  readonly before?: Recovery | undefined;
}

export interface Recovery {
  readonly id: string;
  readonly number: string;
  readonly atcud: string;
}

const readSeries = statement(
  'recovery_series',
  `select ${headColumns} from certo.series s
   where s.company_id = certo.current_company() and s.kind = 'R' and s.status = 'ACTIVE' and ($1::text is null or s.code_key = upper($1))
   order by s.document_type, s.code`,
);
const readRecovered = statement(
  'recovery_known',
  `select id, number, atcud, recovered_key, recovered_file from certo.documents
   where company_id = certo.current_company() and recovered_key = any ($1::text[]) and status <> 'CANCELED'`,
);
/** The recoveries of these originals that stand, by their keys. */
export const recoveredCall = (...keys: readonly string[]): Call => [readRecovered, [keys.flatMap(storedKeys)]];
const readStanding = statement(
  'recovery_standing',
  `select number from certo.documents
   where company_id = certo.current_company() and number is not null and regexp_replace(upper(number), '/0+([0-9])', '/\\1') = any ($1::text[])`,
);

const piece = 50;

/** In the order they are recovered in: by date, then as in the file. Refuses NOT_READY, and INVALID_REQUEST with the first problems. */
export async function planRecovery(db: Db, world: World, file: RecoveryFile): Promise<readonly Planned[]> {
  const read = db.read(entryOfCompany(file.companyId, 'operator'));
  const [[moment], series] = (await read.batch([
    [readMoment, []],
    [readSeries, [file.seriesCode ?? null]],
  ])) as [Row[], Row[]];
  assert(moment !== undefined, 'a company that was found exists');
  const region = moment['region'] as 'PT' | 'PT-MA' | 'PT-AC';
  const notReady = readiness(readinessFacts(moment), world.baseUrl);
  if (notReady.length > 0) {
    const reasons = notReady.map(({ code }) => code);
    throw new Refusal(
      'NOT_READY',
      { type: 'recovered documents', reasons: reasons.join(', ') },
      { members: { reasons } },
    );
  }
  const asked = file.documents.map((body) => askedRecovery(body, region, world.newId));
  const keys = asked.map((one) => recoveredKey(typeCode(one), one.recovered));
  const originals = asked.map(({ recovered }) => canonicalNumber(recovered.original));
  const [recovered, numbered] = (await read.batch([
    recoveredCall(...new Set(keys)),
    [readStanding, [[...new Set(originals)]]],
  ])) as [Row[], Row[]];
  const known = new Map(recovered.map((row) => [keyOfStored(String(row['recovered_key'])), row]));
  const standing = new Map(numbered.map((row) => [canonicalNumber(String(row['number'])), row]));
  const problems: Problem[] = [];
  const at = (place: number, found: readonly Problem[]): void => {
    for (const { pointer, ...rest } of found) problems.push({ ...rest, pointer: `/documents/${place}${pointer}` });
  };
  const first = new Map<string, number>();
  const priced: { planned: Planned; content: Content; head: SeriesHead }[] = [];
  const choose = chooser(series, file.seriesCode);
  const contents = await contentsOf(read, asked, at);
  for (const [place, one] of asked.entries()) {
    const key = keys[place]!;
    const twin = first.get(key);
    first.set(key, twin ?? place);
    if (twin !== undefined)
      at(place, [{ code: 'RECOVERED_TWICE', pointer: '/original', facts: { place: `/documents/${twin}` } }]);
    const before = known.get(key);
    const again = before !== undefined && before['recovered_file'] === file.digest;
    at(place, originalProblems(one, before, again, standing));
    const chosen = choose(one.type);
    if (chosen === undefined) at(place, [{ code: 'NO_RECOVERY_SERIES', pointer: '/type', facts: { type: one.type } }]);
    const content = contents[place];
    if (chosen === undefined || content === undefined) continue;
    const planned = { place, key, asked: one, seriesId: chosen.id, ...(again ? { before: recoveryOf(before) } : {}) };
    priced.push({ planned, content, head: chosen.head });
  }
  priced.sort(
    (a, b) => compareText(a.planned.asked.date ?? '', b.planned.asked.date ?? '') || a.planned.place - b.planned.place,
  );
  decideAll(priced, { now: moment['now'] as Date, region }, world, at);
  problems.sort((a, b) => placeOf(a) - placeOf(b));
  refuseAll(problems);
  return priced.map(({ planned }) => planned);
}

/** Each document against the head that the one before it leaves: dates, limits, what a type needs. */
function decideAll(
  priced: readonly { planned: Planned; content: Content; head: SeriesHead }[],
  { now, region }: { readonly now: Date; readonly region: 'PT' | 'PT-MA' | 'PT-AC' },
  world: World,
  at: (place: number, found: readonly Problem[]) => void,
): void {
  const heads = new Map<string, SeriesHead>();
  for (const { planned, content, head } of priced) {
    if (planned.before !== undefined) continue;
    const { certificateNumber } = world;
    const facts = {
      content,
      head: heads.get(planned.seriesId) ?? head,
      now,
      region,
      notReady: [],
      certificateNumber,
      keyVersion: world.signer().keyVersion,
    };
    try {
      const decided = decideIssue(facts);
      assert(decided.wait === undefined, 'nothing is signed, so nothing is waited for');
      heads.set(planned.seriesId, decided.next);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      at(
        planned.place,
        error.problems.length > 0 ? error.problems : [{ code: error.code, pointer: '', facts: error.facts }],
      );
    }
  }
}

function originalProblems(
  { recovered }: AskedRecovery,
  before: Row | undefined,
  again: boolean,
  standing: ReadonlyMap<string, Row>,
): Problem[] {
  const { kind, original } = recovered;
  if (before !== undefined && !again) {
    const facts = { original, number: String(before['number']) };
    return [{ code: 'RECOVERED_ALREADY', pointer: '/original', facts }];
  }
  const stands = kind === 'D' ? standing.get(canonicalNumber(original)) : undefined;
  if (stands === undefined) return [];
  return [{ code: 'RECOVERED_STANDS', pointer: '/original', facts: { number: String(stands['number']) } }];
}

/** Prices every document; what is wrong with one is told, and the others go on. */
async function contentsOf(
  read: ReturnType<Db['read']>,
  asked: readonly AskedRecovery[],
  at: (place: number, found: readonly Problem[]) => void,
): Promise<readonly (Content | undefined)[]> {
  const contents: (Content | undefined)[] = [];
  for (let from = 0; from < asked.length; from += piece) {
    const some = asked.slice(from, from + piece);
    const references = await readAllReferences(read, some);
    for (const [i, one] of some.entries()) {
      try {
        const content = recoveredContent(priceDraft(one, references[i]!), one);
        at(from + i, totalProblems(content, one));
        contents.push(content);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        at(from + i, error.problems);
        contents.push(undefined);
      }
    }
  }
  return contents;
}

/** The recovery series of a type: the named one, else the only one. */
function chooser(rows: readonly Row[], named: string | undefined) {
  return (type: DocumentType): { readonly id: string; readonly head: SeriesHead } | undefined => {
    const own = rows.filter((row) => row['document_type'] === type);
    const [row] = own;
    if (row === undefined || (named === undefined && own.length > 1)) return undefined;
    return { id: String(row['id']), head: headOf(row) };
  };
}

/** What stands for the original in the recovery series. */
export function recoveryOf(row: Row): Recovery {
  return { id: String(row['id']), number: String(row['number']), atcud: String(row['atcud']) };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const placeOf = ({ pointer }: Problem): number => Number(pointer.split('/')[2]);

/**
 * What recovering a file would do, and everything that stands against it: nothing is written while one document of it
 * can't be. Decided against running heads of the recovery series, as the documents will be one after the other.
 */
import type { Call, Db, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Content, DocumentType, Region } from '../../fiscal/document.ts';
import { decideIssue, type SeriesHead } from '../../fiscal/issue.ts';
import { companyRemedy, notReady, readiness } from '../../fiscal/readiness.ts';
import { canonicalNumber, keyOfStored, recoveredKey, storedKeys } from '../../fiscal/recovery.ts';
import { assert, type Problem, Refusal, refuseAll } from '../../fiscal/refusal.ts';
import { typeCode } from '../../fiscal/regime.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { issuerOf, readinessFacts } from '../company/company.ts';
import { readAllReferences } from '../invoices/price-draft.ts';
import { readMoment } from '../moment.ts';
import { headColumns } from '../numbering.ts';
import { headOf } from '../running-head.ts';
import type { World } from '../world.ts';
import {
  type AskedChild,
  comparedNumber,
  type DraftOfFile,
  type InvoiceOfChild,
  planChildren,
} from './plan-children.ts';
import {
  type AskedRecovery,
  askedRecovery,
  type RecoveredBody,
  recoveredContent,
  totalProblems,
} from './recovered-document.ts';
import { askedNote, type RecoveredNote } from './recovered-note.ts';
import { askedReceipt, type RecoveredReceipt } from './recovered-receipt.ts';

/** Each type has a schema of its own. */
export type FileDocument = RecoveredBody | RecoveredNote | RecoveredReceipt;

export interface RecoveryFile {
  readonly companyId: string;
  /** SHA-256 of the file, hexadecimal: the same file may be run again. */
  readonly digest: string;
  /** Each passed the schema of its type. */
  readonly documents: readonly FileDocument[];
  /** Identifier of the recovery series; by default the one there is. */
  readonly seriesCode?: string | undefined;
}

type Asked = AskedRecovery | AskedChild;
type At = (place: number, found: readonly Problem[]) => void;

/** One document of the file. */
export interface Planned {
  /** Its place in the file, from 0. */
  readonly place: number;
  readonly key: string;
  readonly asked: Asked;
  readonly seriesId: string;
  /** Of a note or a receipt that is to be recovered. */
  readonly invoice?: InvoiceOfChild | undefined;
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
  `select d.number from certo.documents d
   where d.company_id = certo.current_company() and d.number is not null and ${comparedNumber} = any ($1::text[])`,
);

const piece = 50;

/**
 * In the order they are recovered in: by date, receipts and then notes behind what they may be about, then as in the file. Refuses NOT_READY,
 * and INVALID_REQUEST with the first problems.
 */
export async function planRecovery(db: Db, world: World, file: RecoveryFile): Promise<readonly Planned[]> {
  const read = db.read(entryOfCompany(file.companyId, 'operator'));
  const [[moment], series] = (await read.batch([
    [readMoment, []],
    [readSeries, [file.seriesCode ?? null]],
  ])) as [Row[], Row[]];
  assert(moment !== undefined, 'a company that was found exists');
  const region = moment['region'] as Region;
  const reasons = readiness(readinessFacts(moment), world.baseUrl).map(({ code }) => code);
  if (reasons.length > 0) throw notReady('recovered documents', reasons, companyRemedy);
  const asked = file.documents.map((body) => askedOf(body, region, world.newId));
  const problems: Problem[] = [];
  const at: At = (place, found) => {
    for (const { pointer, ...rest } of found) problems.push({ ...rest, pointer: `/documents/${place}${pointer}` });
  };
  const entries = await entriesOf(read, asked, file.digest, at);
  await priceDrafts(read, entries, at);
  await priceChildren(read, entries, { issuer: issuerOf(moment), newId: world.newId }, at);
  const choose = chooser(series, file.seriesCode);
  const priced: Priced[] = [];
  for (const { place, key, asked, before, content, invoice } of entries) {
    // Of a receipt that can't be made it is not known which of two series it would want.
    const isUnknown = asked.type === 'RECEIPT' && content === undefined && before === undefined;
    if (isUnknown) continue;
    const chosen = choose(asked.type, content?.cashVat ?? before?.number.startsWith('RC '));
    if (chosen === undefined)
      at(place, [{ code: 'NO_RECOVERY_SERIES', pointer: '/type', facts: { type: asked.type } }]);
    if (chosen === undefined || (content === undefined && before === undefined)) continue;
    const planned = { place, key, asked, seriesId: chosen.id, invoice, ...(before === undefined ? {} : { before }) };
    priced.push({ planned, content, head: chosen.head });
  }
  priced.sort((a, b) => inOrder(a.planned, b.planned));
  decideAll(priced, { now: moment['now'] as Date, region }, world, at);
  problems.sort((a, b) => placeOf(a) - placeOf(b));
  refuseAll(problems);
  return priced.map(({ planned }) => planned);
}

function askedOf(body: FileDocument, region: Region, newId: () => string): Asked {
  if (body.type === 'CREDIT_NOTE') return askedNote(body, region);
  return body.type === 'RECEIPT' ? askedReceipt(body, region) : askedRecovery(body, region, newId);
}

/** Whether it is made of its invoice. */
export const isChild = (asked: Asked): asked is AskedChild => 'parentInvoiceNumber' in asked;

/** A document of the file with what is found out of it. */
interface Entry extends Pick<Planned, 'place' | 'key' | 'asked' | 'before'> {
  /** Nothing stands against its original, and it is not recovered. */
  readonly isOpen: boolean;
  /** Once it is priced. */
  content?: Content | undefined;
  invoice?: InvoiceOfChild | undefined;
}

interface Priced {
  readonly planned: Planned;
  /** A note or receipt that was recovered before is not priced again: it has taken its part. */
  readonly content: Content | undefined;
  readonly head: SeriesHead;
}

/** In the order of the file: which originals are recovered already, or not lost. */
async function entriesOf(read: Tx, asked: readonly Asked[], digest: string, at: At): Promise<Entry[]> {
  const keys = asked.map((one) => recoveredKey(typeCode(one), one.recovered));
  const originals = asked.map(({ recovered }) => canonicalNumber(recovered.original));
  const [recovered, numbered] = (await read.batch([
    recoveredCall(...new Set(keys)),
    [readStanding, [[...new Set(originals)]]],
  ])) as [Row[], Row[]];
  const known = new Map(recovered.map((row) => [keyOfStored(String(row['recovered_key'])), row]));
  const standing = new Map(numbered.map((row) => [canonicalNumber(String(row['number'])), row]));
  const first = new Map<string, number>();
  return asked.map((one, place) => {
    const key = keys[place]!;
    const twin = first.get(key);
    first.set(key, twin ?? place);
    const before = known.get(key);
    const again = before !== undefined && before['recovered_file'] === digest;
    const problems = originalProblems(one, before, again, standing);
    if (twin !== undefined)
      problems.unshift({ code: 'RECOVERED_TWICE', pointer: '/original', facts: { place: `/documents/${twin}` } });
    at(place, problems);
    const isOpen = problems.length === 0 && !again;
    return { place, key, asked: one, isOpen, ...(again ? { before: recoveryOf(before) } : {}) };
  });
}

/** Each document against the head that the one before it leaves: dates, limits, what a type needs. */
function decideAll(
  priced: readonly Priced[],
  { now, region }: { readonly now: Date; readonly region: Region },
  world: World,
  at: At,
): void {
  const heads = new Map<string, SeriesHead>();
  for (const { planned, content, head } of priced) {
    if (planned.before !== undefined || content === undefined) continue;
    const { certificateNumber } = world;
    const facts = {
      content,
      head: heads.get(planned.seriesId) ?? head,
      // Of no account in a recovery series.
      seriesStart: undefined,
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
  { recovered }: Asked,
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

/** Prices every draft of the file; what is wrong with one is told, and the others go on. */
async function priceDrafts(read: Tx, entries: readonly Entry[], at: At): Promise<void> {
  const drafts = entries.flatMap((entry) => (isChild(entry.asked) ? [] : [{ entry, asked: entry.asked }]));
  for (let from = 0; from < drafts.length; from += piece) {
    const some = drafts.slice(from, from + piece);
    const references = await readAllReferences(
      read,
      some.map(({ asked }) => asked),
    );
    for (const [i, { entry, asked }] of some.entries()) {
      try {
        entry.content = recoveredContent(asked, references[i]!);
        at(entry.place, totalProblems(entry.content, asked));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        at(entry.place, error.problems);
      }
    }
  }
}

/** Prices the notes and receipts that are to be recovered, over their invoices and over each other, in the order of the recovery. */
async function priceChildren(
  read: Tx,
  entries: readonly Entry[],
  by: Parameters<typeof planChildren>[3],
  at: At,
): Promise<void> {
  const drafts = new Map<string, DraftOfFile>();
  const children = [];
  for (const { place, key, asked, isOpen, content } of [...entries].sort(inOrder)) {
    if (isOpen && isChild(asked)) children.push({ place, asked });
    if (!isChild(asked) && !drafts.has(key)) drafts.set(key, { asked, content });
  }
  for (const [place, { content, invoice }] of await planChildren(read, children, drafts, by, at)) {
    entries[place]!.content = content;
    entries[place]!.invoice = invoice;
  }
}

/** The recovery series of a type, of receipts of the scheme or not: the named one, else the only one. */
function chooser(rows: readonly Row[], named: string | undefined) {
  return (type: DocumentType, cashVat = false): { readonly id: string; readonly head: SeriesHead } | undefined => {
    const own = rows.filter(
      (row) => row['document_type'] === type && (type !== 'RECEIPT' || row['cash_vat'] === cashVat),
    );
    const [row] = own;
    if (row === undefined || (named === undefined && own.length > 1)) return undefined;
    return { id: String(row['id']), head: headOf(row) };
  };
}

/** What stands for the original in the recovery series. */
export function recoveryOf(row: Row): Recovery {
  return { id: String(row['id']), number: String(row['number']), atcud: String(row['atcud']) };
}

/**
 * Of a day, receipts behind its invoices and notes behind receipts: what was paid may be credited, and what was credited is
 * not paid.
 */
const inOrder = (a: Pick<Planned, 'place' | 'asked'>, b: Pick<Planned, 'place' | 'asked'>): number =>
  compareText(a.asked.date ?? '', b.asked.date ?? '') || placeInDay(a.asked) - placeInDay(b.asked) || a.place - b.place;
const placeInDay = ({ type }: Asked): number => (type === 'CREDIT_NOTE' ? 2 : type === 'RECEIPT' ? 1 : 0);
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const placeOf = ({ pointer }: Problem): number => Number(pointer.split('/')[2]);

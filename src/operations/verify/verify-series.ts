/** Verifies one series from its first document to its head, in pieces: memory does not grow with the series. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { StatementError } from '../../db/errors.ts';
import { turnWithTime } from '../../db/event-loop.ts';
import type { Db, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { canonicalJson } from '../../fiscal/canonical.ts';
import { type DocumentType, documentTypes } from '../../fiscal/document.ts';
import { type ChainFault, type ChainPoint, verifyChain } from '../../fiscal/hash-chain.ts';
import { documentSeal, findingSeal, frozenMembers, headSeal, type Mac, sealedMembers } from '../../fiscal/seal.ts';
import { documentNumber } from '../../fiscal/series.ts';
import { entryOfCompany } from '../../identity/principal.ts';
import { nextPiece, sequenceOf, storedOf } from './read-documents.ts';
import { verifyAudit } from './verify-audit.ts';
import { documentFaults } from './verify-document.ts';
import { verifyPrints } from './verify-prints.ts';
import { type Before, type SealFault, sealFaults } from './verify-seals.ts';

export interface VerifyWorld {
  readonly db: Pick<Db, 'read'>;
  /** The public halves of every version that there is now. */
  readonly publicKeys: () => Promise<readonly { readonly version: number; readonly publicPem: string }[]>;
  readonly seal: Mac;
}

interface KeyedWorld extends Pick<VerifyWorld, 'db' | 'seal'> {
  readonly keys: ReadonlyMap<number, KeyObject>;
}

/** A series as its row says that it stands; nothing of it is believed. */
export interface SeriesHead {
  readonly companyId: string;
  readonly id: string;
  readonly code: string;
  readonly documentType: DocumentType;
  readonly atType: string;
  readonly kind: string;
  readonly cashVat: boolean;
  readonly validationCode: string;
  readonly startNumber: number;
  readonly lastNumber: number;
  readonly lastHash: string;
  readonly lastDate: string | null;
  readonly lastSystemEntry: string | null;
  readonly lastIssuedAt: string | null;
  readonly lastSeal: Buffer | null;
  readonly headSeal: Buffer | null;
}

export interface Finding {
  readonly companyId: string;
  readonly series: string;
  readonly documentType: string;
  /** Null: it concerns the series, or with an empty series the company. */
  readonly number: string | null;
  readonly problem: string;
  /** Digest of what was found exactly: the same again is the same finding. */
  readonly evidence: Buffer;
}

export interface Watch {
  found(finding: Finding): void;
  /** After each piece, with the number of documents in it; what it returns is waited for. */
  done(documents: number): Promise<void> | void;
  /** Documents read at once, or fewer where they are long. */
  readonly piece: number;
}

const faultWords: Readonly<Record<ChainFault, string>> = {
  GAP: 'does not follow the number before it: there is a gap, or one stands twice',
  NUMBER_DIFFERS: 'has a number that is not its place in the series',
  DATE_GOES_BACK: 'is dated before the document before it',
  SYSTEM_ENTRY_GOES_BACK: 'was signed before the document before it',
  KEY_VERSION: 'names a signing key that is not published, or older than the one before it',
  HASH_WRONG: 'has a signature that does not fit its values and the signature before it',
};

/** The last document that was looked at. */
interface Last extends ChainPoint {
  readonly issuedAt: unknown;
  readonly seal: Buffer | null;
}

/** How far a series is verified. */
interface Reached {
  readonly after: Last | undefined;
  /** What the next document may be sealed after. */
  readonly before: Before;
}

/**
 * One snapshot per piece, not one for all: `head` is what it had when the check began, and what is issued since is
 * not looked at.
 */
async function verifySeries(world: KeyedWorld, head: SeriesHead, watch: Watch): Promise<void> {
  const tx = world.db.read(entryOfCompany(head.companyId, 'verify'));
  let most = Math.min(first_documents, watch.piece);
  const read = (sequence: string) => {
    const reading = nextPiece(tx, head.id, sequence, head.lastNumber, most);
    // Whoever waits for it sees the error.
    reading.catch(() => undefined);
    return reading;
  };
  let reached: Reached = { after: undefined, before: [null] };
  let coming: Promise<Row[]> | undefined;
  for (let isEnd = false, at = lowest; !isEnd; ) {
    const rows = await (coming ?? read(at));
    if (rows.length > 0) at = sequenceOf(rows.at(-1)!);
    isEnd = rows.length === 0 || Number(at) >= head.lastNumber;
    const isCut = rows.length < most;
    // The server measures all that it is asked for: of long documents not many more than fit.
    most = Math.min(watch.piece, (isCut ? rows.length : most) * 2);
    // The database reads the next piece while this one is verified, unless that is long: then one is held at a time.
    coming = isCut || isEnd ? undefined : read(at);
    reached = await verifyPiece(world, head, { rows, ...reached }, watch);
    await watch.done(rows.length);
  }
  const { after } = reached;
  const evidence = canonicalJson(head);
  for (const problem of headFaults(world.seal, head, after)) report(world, head, watch, null, { problem, evidence });
  const [tail] = await tx.query(countTail, [head.id]);
  const beyond = Number(tail?.['count']);
  if (beyond > 0)
    report(world, head, watch, null, { problem: `has ${beyond} document(s) beyond its last number`, evidence });
}

// Numbers below the first one are looked for too.
const lowest = String(Number.MIN_SAFE_INTEGER);

/** Whose turn of the event loop it takes: all checks of books together are as one company. */
const background = 'books';

// How many are asked for before it is known how long they are.
const first_documents = 16;

interface Piece extends Reached {
  readonly rows: readonly Row[];
}

/** Reports what is wrong with a piece; returns how far the series is verified with it. */
async function verifyPiece(
  world: KeyedWorld,
  head: SeriesHead,
  { rows, after, before }: Piece,
  watch: Watch,
): Promise<Reached> {
  const { startNumber } = head;
  const signed = documentTypes[head.documentType]?.signed ?? true;
  let sealedAfter = before;
  let last = after;
  for (const row of rows) {
    // One of a thousand lines takes 50 ms.
    const turn = turnWithTime(background);
    if (turn !== undefined) await turn;
    const { document, sealed } = storedOf(row);
    const previousHash = last?.hash ?? '';
    const number = String(sealed.frozen.number ?? documentNumber(head.atType, head.code, document.sequence));
    const chained = { ...document, grossTotal: String(document.content?.books?.gross) };
    try {
      const chain = verifyChain(world.keys, [chained], { after: last, startNumber, signed });
      const problems = [
        ...chain.map(({ fault }) => faultWords[fault]),
        ...documentFaults(document, head, previousHash),
      ];
      const seals = sealFaults(world.seal, sealed, sealedAfter);
      sealedAfter = seals.next;
      const evidence =
        problems.length === 0
          ? ''
          : documentSeal(world.seal, [sealedMembers(frozenMembers(sealed.frozen))], null).toString('hex');
      const faults: SealFault[] = [...problems.map((problem) => ({ problem, evidence })), ...seals.faults];
      for (const fault of faults) report(world, head, watch, number, fault);
    } catch (error) {
      // Nothing here asks anyone: what can't be judged was never issued so.
      const problem = `cannot be read (${(error as Error).message})`;
      report(world, head, watch, number, { problem, evidence: '' });
      sealedAfter = [sealed.seal];
    }
    last = { ...chained, issuedAt: sealed.frozen.issued_at, seal: sealed.seal };
  }
  return { after: last, before: sealedAfter };
}

function report(world: KeyedWorld, head: SeriesHead, watch: Watch, number: string | null, fault: SealFault): void {
  const { companyId, id, code: series, documentType } = head;
  const { problem } = fault;
  const evidence = findingSeal(world.seal, companyId, id, number, problem, fault.evidence);
  watch.found({ companyId, series, documentType, number, problem, evidence });
}

/** The head is what the next document is chained to: it must be the last one's own values. */
function headFaults(mac: Mac, head: SeriesHead, last: Last | undefined): string[] {
  const empty = head.startNumber - 1;
  const lastNumber = last?.sequence ?? empty;
  if (head.lastNumber > lastNumber && head.lastNumber > empty) {
    return [
      `says that its last document is number ${head.lastNumber}, and the last one found is ${last?.sequence ?? 'none'}`,
    ];
  }
  const differs = (what: string, said: unknown, is: unknown): string[] =>
    (said ?? '') === (is ?? '') ? [] : [`does not hold the ${what} of its last document`];
  const hex = (bytes: Buffer | null | undefined) => bytes?.toString('hex');
  const made = last?.seal ? headSeal(mac, head, head.lastNumber, last.seal) : undefined;
  return [
    ...differs('signature', head.lastHash, last?.hash),
    ...differs('date', head.lastDate, last?.date),
    ...differs('signing time', head.lastSystemEntry, last?.systemEntry),
    ...differs('instant', head.lastIssuedAt, last?.issuedAt),
    ...differs('seal', hex(head.lastSeal), hex(last?.seal)),
    ...(hex(head.headSeal) === hex(made) ? [] : ['has a seal of its end that does not fit what it says']),
  ];
}

const instant = `to_char(last_issued_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const readHeads = statement(
  'verify_heads',
  `select id, code, document_type, at_type, kind, cash_vat, validation_code, start_number::text, last_number::text, last_hash, last_date, last_system_entry,
     ${instant} as last_issued_at, last_seal, head_seal
   from certo.series where company_id = certo.current_company() and id is not null order by document_type, code`,
);
// The head may have moved since it was read: both in one statement.
const countTail = statement(
  'verify_tail',
  `select count(*)::int as count from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id
   where d.company_id = certo.current_company() and d.series_id = $1 and d.sequence > s.last_number`,
);
const countStrays = statement(
  'verify_strays',
  `select
     (select count(*)::int from certo.companies c where c.id = certo.current_company()) as companies,
     (select count(*)::int from certo.documents d where d.company_id = certo.current_company() and d.number is not null
        and (d.sequence is null or not exists (select from certo.series s where s.company_id = certo.current_company() and s.id = d.series_id))) as documents,
     (select count(*)::int from certo.document_events e where e.company_id = certo.current_company()
        and not exists (select from certo.documents d where d.company_id = certo.current_company() and d.id = e.document_id and d.number is not null)) as events`,
);

/** The server could not work with a value that stands there, or its file is damaged: nothing that passes. */
function isOfData(error: unknown): error is StatementError {
  return error instanceof StatementError && /^(22|XX)/.test(error.code);
}

/** Every series of a company, its prints, what its audit tells of documents, and what belongs to none. */
export async function verifyCompany(world: VerifyWorld, companyId: string, watch: Watch): Promise<{ series: number }> {
  const tx = world.db.read(entryOfCompany(companyId, 'verify'));
  const heads = (await tx.query(readHeads)).map((row) => headOf(companyId, row));
  // After the heads: a check takes hours, and what stands up to them may be signed with a key that was made meanwhile.
  const { db, seal } = world;
  const keyed = { db, seal, keys: await keysOf(world) };
  for (const head of heads) {
    await verifySeries(keyed, head, watch).catch((error) => {
      if (!isOfData(error)) throw error;
      report(keyed, head, watch, null, {
        problem: `cannot be read (${error.message})`,
        evidence: canonicalJson(head),
      });
    });
  }
  await verifyPrints(world, companyId, watch);
  await verifyAudit(world, companyId, watch);
  const [strays] = await tx.query(countStrays);
  const [companies, documents, events] = ['companies', 'documents', 'events'].map((what) => Number(strays?.[what]));
  const problems = [
    ...(companies === 0 ? ['has books, and is not there itself'] : []),
    ...(documents === 0 ? [] : [`has ${documents} numbered document(s) outside every series`]),
    ...(events === 0 ? [] : [`has ${events} event(s) of documents that are not there`]),
  ];
  for (const problem of problems) {
    const evidence = findingSeal(world.seal, companyId, problem);
    watch.found({ companyId, series: '', documentType: '', number: null, problem, evidence });
  }
  return { series: heads.length };
}

async function keysOf({ publicKeys }: VerifyWorld): Promise<Map<number, KeyObject>> {
  const published = await publicKeys();
  return new Map(published.map(({ version, publicPem }) => [version, createPublicKey(publicPem)]));
}

function headOf(companyId: string, row: Row): SeriesHead {
  return {
    companyId,
    id: String(row['id']),
    code: String(row['code']),
    documentType: row['document_type'] as DocumentType,
    atType: String(row['at_type']),
    kind: String(row['kind']),
    // As it is stored: null is not false.
    cashVat: row['cash_vat'] as boolean,
    validationCode: (row['validation_code'] as string | null) ?? '',
    startNumber: Number(row['start_number']),
    lastNumber: Number(row['last_number']),
    lastHash: String(row['last_hash']),
    lastDate: row['last_date'] as string | null,
    lastSystemEntry: row['last_system_entry'] as string | null,
    lastIssuedAt: row['last_issued_at'] as string | null,
    lastSeal: row['last_seal'] as Buffer | null,
    headSeal: row['head_seal'] as Buffer | null,
  };
}

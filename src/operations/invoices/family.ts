/** An invoice and what hangs on it: notes and receipts, and what is still open of it after them. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Taken, TakenLine } from '../../fiscal/correct.ts';
import { compare, isZero, round2, sum } from '../../fiscal/decimal.ts';
import type { Content, Day, Decimal, DocumentRef, DocumentType, Totals } from '../../fiscal/document.ts';
import { quotedOriginal } from '../../fiscal/recovery.ts';
import { typeCode } from '../../fiscal/regime.ts';
import type { Mac } from '../../fiscal/seal.ts';
import { type Open, openOf } from '../../fiscal/settle.ts';
import { changeCall, nextUpdate, standingColumns } from '../books.ts';

// The lines of a document may be megabytes: they are read where a note is made of them, and nowhere else.
const lockStatement = (name: string, content: string) =>
  statement(
    name,
    `select ${standingColumns}, d.type, d.number, d.date, ${content} as content, d.application_id, certo.now() as now from certo.documents d
     where d.company_id = certo.current_company() and d.id = $1 and d.family in ('SALES', 'RECEIPT') for update`,
    'alone',
  );
const lockHead = lockStatement('family_lock_head', `d.content - 'lines'`);
const lockWhole = lockStatement('family_lock_whole', 'd.content');

const ofParent = `d.company_id = certo.current_company() and d.parent_id = $1 and d.number is not null and d.status <> 'CANCELED'
     and d.type in ('CREDIT_NOTE', 'DEBIT_NOTE', 'RECEIPT')`;
const readChildren = statement(
  'family_children',
  `select d.id, d.type, d.number, c.totals, c.books from certo.documents d, jsonb_to_record(d.content) c (totals jsonb, books jsonb)
   where ${ofParent} order by d.issued_at, d.sequence`,
);
// One row with all of them. What notes have taken of each line is added up here: decimals are as exact, and a line of the
// invoice is one however many notes there are.
const readTaken = statement(
  'family_taken',
  `with child as materialized (
     select d.id, d.type, d.number, d.issued_at, d.sequence, c.totals, c.books, case when d.type = 'CREDIT_NOTE' then c.lines end as lines
     from certo.documents d, jsonb_to_record(d.content) c (totals jsonb, books jsonb, lines jsonb) where ${ofParent})
   select
     (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'type', type, 'number', number, 'totals', totals, 'books', books)
        order by issued_at, sequence), '[]') from child) as children,
     (select coalesce(jsonb_agg(to_jsonb(taken)), '[]') from (
        select l."originLineId", sum(l.quantity)::text as quantity, sum(l.net)::text as net, sum((l.eur->>'net')::numeric)::text as "eurNet"
        from child, jsonb_to_recordset(lines) l ("originLineId" text, quantity numeric, net numeric, eur jsonb) group by 1) taken) as taken`,
);

/** An active note or receipt. */
export interface Child {
  readonly id: string;
  readonly type: DocumentType;
  readonly number: string;
  readonly totals: Totals;
  readonly books: Totals;
}

/** A numbered or draft document, locked until the commit, with its active notes and receipts. */
export interface Parent {
  readonly id: string;
  readonly type: DocumentType;
  readonly status: string;
  readonly number: string | null;
  readonly date: Day | null;
  readonly content: Omit<Content, 'lines'>;
  readonly outstanding: Decimal;
  readonly applicationId: string | null;
  /** When it was locked. */
  readonly now: Date;
  /** Its standing in the books, for changing it. */
  readonly row: Row;
  readonly children: readonly Child[];
}

/** With its lines, and what notes have taken of them. */
export interface Corrected extends Parent {
  readonly content: Content;
  readonly taken: readonly TakenLine[];
}

/** Types that wait for a payment; the others are paid by what they are. */
const awaitsPayment: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE']);

/** Whether it is paid by receipts. */
export function isPayable(type: DocumentType): boolean {
  return awaitsPayment.has(type);
}

/**
 * How a document stands with so much to be received, right after its issue too: PAID exactly when it waits for a payment
 * and nothing is outstanding; types that never wait stay ISSUED.
 */
export function standing(type: DocumentType, toReceive: Decimal): { status: 'ISSUED' | 'PAID'; outstanding: Decimal } {
  const outstanding = round2(isPayable(type) ? toReceive : '0');
  return { status: isPayable(type) && isZero(outstanding) ? 'PAID' : 'ISSUED', outstanding };
}

/**
 * Locks an invoice until the commit and reads what hangs on it: whoever pays or corrects it comes after. Undefined:
 * there is no such document.
 */
export async function lockFamily(tx: Tx, id: string): Promise<Parent | undefined> {
  const [row] = await tx.query(lockHead, [id]);
  if (row === undefined) return undefined;
  // After the lock: whoever held it may have added one.
  const children = await tx.query(readChildren, [id]);
  return { ...parentOf(row), children: children as unknown as Child[] };
}

/** The same of a document that a credit note is made of. */
export async function lockToCredit(tx: Tx, id: string): Promise<Corrected | undefined> {
  const [row] = await tx.query(lockWhole, [id]);
  if (row === undefined) return undefined;
  const [found] = await tx.query(readTaken, [id]);
  const children = found!['children'] as Child[];
  return { ...parentOf(row), content: row['content'] as Content, children, taken: found!['taken'] as TakenLine[] };
}

function parentOf(row: Row): Omit<Parent, 'children'> {
  return {
    id: String(row['id']),
    type: row['type'] as DocumentType,
    status: String(row['status']),
    number: row['number'] as string | null,
    date: row['date'] as Day | null,
    content: row['content'] as Parent['content'],
    outstanding: String(row['outstanding']),
    applicationId: row['application_id'] as string | null,
    now: row['now'] as Date,
    row,
  };
}

/** As what is made of it names it; a recovered one also by its original number. It has been issued. */
export function refOf({
  id,
  number,
  date,
  type,
  content,
}: Pick<Parent, 'id' | 'number' | 'date' | 'type' | 'content'>): DocumentRef {
  const { recovered } = content;
  const original = recovered === undefined ? undefined : quotedOriginal(typeCode(content), recovered);
  return { id, number: number!, date: date!, type, ...(original === undefined ? {} : { original }) };
}

/** What the active credit notes have taken. */
export function takenOf({ children, taken }: Corrected): Taken {
  const notes = children.filter(({ type }) => type === 'CREDIT_NOTE');
  return { lines: taken, totals: notes.map(({ totals }) => totals), books: notes.map(({ books }) => books) };
}

/** What is open in the document's currency and in the books, after its receipts and credit notes. */
export function openBalance(parent: Parent): { readonly totals: Open; readonly books: Open } {
  const before = parent.children.filter(({ type }) => type === 'RECEIPT' || type === 'CREDIT_NOTE');
  return {
    totals: openOf(
      parent.content.totals,
      before.map(({ totals }) => totals),
    ),
    books: openOf(
      parent.content.books,
      before.map(({ books }) => books),
    ),
  };
}

/** The statement that brings a parent's balance up to date once a child is added to its children or taken from them. */
export function balanceCall(
  parent: Parent,
  children: readonly { readonly type: DocumentType; readonly totals: Totals }[],
  at: Date,
  mac: Mac,
): Call {
  const settling = children
    .filter(({ type }) => type === 'RECEIPT' || type === 'CREDIT_NOTE')
    .map(({ totals }) => totals);
  const credited = round2(sum(children.filter(({ type }) => type === 'CREDIT_NOTE').map(({ totals }) => totals.gross)));
  const { toPay } = openOf(parent.content.totals, settling);
  const changes = { ...standing(parent.type, toPay), credited, updated_at: nextUpdate(parent.row, at) };
  return changeCall(parent.row, { kind: 'BALANCE', at, changes }, mac);
}

/** Asserted where money moves: the stored balance is what the documents say. */
export function balanceHolds(parent: Parent): boolean {
  return !isPayable(parent.type) || compare(parent.outstanding, openBalance(parent).totals.toPay) === 0;
}

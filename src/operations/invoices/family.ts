/** An invoice and what hangs on it: notes and receipts, and what is still open of it after them. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { compare, isZero, round2, sum } from '../../fiscal/decimal.ts';
import type { Content, Day, Decimal, DocumentRef, DocumentType, Totals } from '../../fiscal/document.ts';
import { typeCode } from '../../fiscal/regime.ts';
import { originalOf } from '../../fiscal/saft/codes.ts';
import type { Mac } from '../../fiscal/seal.ts';
import { type Open, openOf } from '../../fiscal/settle.ts';
import { changeCall, nextUpdate, standingColumns } from '../books.ts';

const lockParent = statement(
  'family_lock_parent',
  `select ${standingColumns}, d.type, d.number, d.date, d.content, d.application_id, certo.now() as now from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family in ('SALES', 'RECEIPT') for update`,
  'alone',
);
const readChildren = statement(
  'family_children',
  `select d.id, d.type, d.number, d.content from certo.documents d
   where d.company_id = certo.current_company() and d.parent_id = $1 and d.number is not null and d.status <> 'CANCELED'
     and d.type in ('CREDIT_NOTE', 'DEBIT_NOTE', 'RECEIPT')
   order by d.issued_at, d.sequence`,
);

export interface Child {
  readonly id: string;
  readonly type: DocumentType;
  readonly number: string;
  readonly content: Content;
}

/** A numbered or draft document, locked until the commit, with its active notes and receipts. */
export interface Parent {
  readonly id: string;
  readonly type: DocumentType;
  readonly status: string;
  readonly number: string | null;
  readonly date: Day | null;
  readonly content: Content;
  readonly outstanding: Decimal;
  readonly applicationId: string | null;
  /** When it was locked. */
  readonly now: Date;
  /** Its standing in the books, for changing it. */
  readonly row: Row;
  readonly children: readonly Child[];
}

/** Types that wait for a payment; the others are paid by what they are. */
const awaitsPayment: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE']);

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

export async function lockFamily(tx: Tx, id: string): Promise<Parent | undefined> {
  const [row] = await tx.query(lockParent, [id]);
  if (row === undefined) return undefined;
  // After the lock: whoever held it may have added one.
  const children = await tx.query(readChildren, [id]);
  return { ...parentOf(row), children: children as unknown as Child[] };
}

function parentOf(row: Row): Omit<Parent, 'children'> {
  return {
    id: String(row['id']),
    type: row['type'] as DocumentType,
    status: String(row['status']),
    number: row['number'] as string | null,
    date: row['date'] as Day | null,
    content: row['content'] as Content,
    outstanding: String(row['outstanding']),
    applicationId: row['application_id'] as string | null,
    now: row['now'] as Date,
    row,
  };
}

export function refOf({
  id,
  number,
  date,
  type,
  content,
}: Pick<Parent, 'id' | 'number' | 'date' | 'type' | 'content'>): DocumentRef {
  const { recovered } = content;
  const original = recovered === undefined ? undefined : originalOf(typeCode(content), recovered);
  return { id, number: number!, date: date!, type, ...(original === undefined ? {} : { original }) };
}

export const notesOf = (parent: Parent): Content[] => contentsOf(parent, 'CREDIT_NOTE');

function contentsOf(parent: Parent, ...types: readonly DocumentType[]): Content[] {
  return parent.children.filter((child) => types.includes(child.type)).map((child) => child.content);
}

/** What is open in the document's currency and in the books, after its receipts and credit notes. */
export function openBalance(parent: Parent): { readonly totals: Open; readonly books: Open } {
  const before = contentsOf(parent, 'RECEIPT', 'CREDIT_NOTE');
  return {
    totals: openOf(
      parent.content.totals,
      before.map((content) => content.totals),
    ),
    books: openOf(
      parent.content.books,
      before.map((content) => content.books),
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

export const totalsOfChildren = (parent: Parent): { type: DocumentType; totals: Totals }[] =>
  parent.children.map(({ type, content }) => ({ type, totals: content.totals }));

/** Asserted where money moves: the stored balance is what the documents say. */
export function balanceHolds(parent: Parent): boolean {
  return !isPayable(parent.type) || compare(parent.outstanding, openBalance(parent).totals.toPay) === 0;
}

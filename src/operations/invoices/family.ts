/** An invoice and what hangs on it, notes and receipts, read under its lock; how it stands among them says fiscal/standing.ts. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { TakenLine } from '../../fiscal/correct.ts';
import type { Credited } from '../../fiscal/credit-note.ts';
import type { Content, Day, DocumentType } from '../../fiscal/document.ts';
import { assert } from '../../fiscal/refusal.ts';
import type { Mac } from '../../fiscal/seal.ts';
import { balanceWith, type Hanging, type Head } from '../../fiscal/standing.ts';
import { changeCall, nextUpdate, standingColumns } from '../books.ts';
import { checkedDraft, draftToChange, fromInvoice, lockUnlessNote } from './invoice.ts';

// The lines of a document may be megabytes: they are read where a note is made of them, and nowhere else.
const headText = (content: string): string =>
  `select ${standingColumns}, d.type, d.number, d.date, ${content} as content, d.application_id, certo.now() as now ${fromInvoice}`;
const lockStatement = (name: string, content: string) => statement(name, `${headText(content)} for update`, 'alone');
const lockHead = lockStatement('family_lock_head', `d.content - 'lines'`);
const lockWhole = lockStatement('family_lock_whole', 'd.content');
const readWhole = statement('family_read_whole', headText('d.content'));

const invoiceOfNote = statement('note_invoice', `select d.parent_id ${fromInvoice} and d.type = 'CREDIT_NOTE'`);

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
export interface Child extends Hanging {
  readonly id: string;
}

/** A numbered or draft document, locked until the commit, with its active notes and receipts. */
export interface Parent extends Head {
  readonly applicationId: string | null;
  /** When it was locked. */
  readonly now: Date;
  /** Its standing in the books, for changing it. */
  readonly row: Row;
  readonly children: readonly Child[];
}

/** With its lines, and what notes have taken of them. */
export interface Corrected extends Parent, Credited {
  readonly content: Content;
  readonly children: readonly Child[];
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
  return correctedOf(row, found!);
}

/** The same as it stands, for whoever locks it later. The document is there. */
export async function readToCredit(tx: Tx, id: string): Promise<Corrected> {
  const [[row] = [], [found] = []] = await tx.batch([
    [readWhole, [id]],
    [readTaken, [id]],
  ]);
  assert(row !== undefined && found !== undefined, 'nothing that was issued goes away');
  return correctedOf(row, found);
}

const correctedOf = (row: Row, found: Row): Corrected => ({
  ...parentOf(row),
  content: row['content'] as Content,
  children: found['children'] as Child[],
  taken: found['taken'] as TakenLine[],
});

/**
 * A draft to change or to issue, as `draftToChange` gives it. The invoice of a credit note is locked before it: whoever issues
 * or cancels another of its notes has the invoice, and then changes the drafts.
 */
export async function draftBehindInvoice(
  tx: Tx,
  id: string,
): Promise<{ readonly row: Row; readonly corrected: Corrected | undefined }> {
  const [[note], [row]] = (await tx.batch([
    [invoiceOfNote, [id]],
    [lockUnlessNote, [[id]]],
  ])) as [Row[], Row[]];
  if (note === undefined) return { row: await checkedDraft(tx, id, row), corrected: undefined };
  const corrected = await lockToCredit(tx, String(note['parent_id']));
  return { row: await draftToChange(tx, id), corrected };
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

/** The statement that brings a parent's balance up to date once a note or receipt of it is numbered. */
export function balanceWithCall(parent: Parent, child: Pick<Hanging, 'type' | 'totals'>, at: Date, mac: Mac): Call {
  return balanceCall(parent, [...parent.children, child], at, mac);
}

/** The same once a child is added to its children or taken from them. */
export function balanceCall(
  parent: Parent,
  children: readonly Pick<Hanging, 'type' | 'totals'>[],
  at: Date,
  mac: Mac,
): Call {
  const changes = { ...balanceWith(parent, children), updated_at: nextUpdate(parent.row, at) };
  return changeCall(parent.row, { kind: 'BALANCE', at, changes }, mac);
}

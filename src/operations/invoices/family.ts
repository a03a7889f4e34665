/** An invoice and what hangs on it, notes and receipts, read under its lock; how it stands among them says fiscal/standing.ts. */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { TakenLine } from '../../fiscal/correct.ts';
import type { Credited } from '../../fiscal/credit-note.ts';
import type { Content, Day, DocumentType } from '../../fiscal/document.ts';
import { assert } from '../../fiscal/refusal.ts';
import type { Mac } from '../../fiscal/seal.ts';
import { balanceWith, type Hanging, type Head, type Named } from '../../fiscal/standing.ts';
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

/** Of JSON: what is longer is added up by the server. */
const most_bytes = 32 * 1024;

const ofParent = `d.company_id = certo.current_company() and d.parent_id = $1 and d.number is not null and d.status <> 'CANCELED'`;

const takes = `${ofParent} and d.type in ('CREDIT_NOTE', 'RECEIPT')`;
// Each of them where they are at most so many, which takes a third of the time; else one row without amounts.
const readChildren = statement(
  'family_children',
  `select d.type, c.totals, c.books
   from (select d.type, d.content, count(*) over () as count, row_number() over () as place
         from certo.documents d where ${takes} and d.id is distinct from $2) d
     left join lateral jsonb_to_record(case when d.count <= $3 then d.content end) c (totals jsonb, books jsonb) on true
   where d.count <= $3 or d.place = 1`,
);
// What notes and receipts have taken is added up here, by type, in each currency, rate and kind of withholding: decimals are as
// exact, and an invoice has as many rates and kinds however many receipts there are. Debit notes take nothing.
const sumsText = (lines: string, without: string): string => `with child as materialized (
     select d.type, c.totals, c.books${lines} from certo.documents d, jsonb_to_record(d.content) c (totals jsonb, books jsonb, lines jsonb)
     where ${takes}${without}),
   part as (
     select c.type, x.side, t.* from child c, lateral (values ('totals', c.totals), ('books', c.books)) x (side, amounts),
       jsonb_to_record(x.amounts) t (net numeric, tax numeric, gross numeric, withholding numeric, "toPay" numeric, groups jsonb, withholdings jsonb)),
   rate as (
     select p.type, p.side, g.region, g."taxCode", g.rate, g."exemptionCode", sum(g.base)::text as base, sum(g.tax)::text as tax
     from part p, jsonb_to_recordset(p.groups) g (region text, "taxCode" text, rate text, "exemptionCode" text, base numeric, tax numeric)
     group by 1, 2, 3, 4, 5, 6),
   kind as (
     select p.type, p.side, w.type as of, w.percent, w.reason, sum(w.base)::text as base, sum(w.amount)::text as amount
     from part p, jsonb_to_recordset(p.withholdings) w (type text, percent text, reason text, base numeric, amount numeric)
     group by 1, 2, 3, 4, 5),
   rates as (
     select r.type, r.side, jsonb_agg(jsonb_strip_nulls(jsonb_build_object('region', r.region, 'taxCode', r."taxCode", 'rate', r.rate,
       'exemptionCode', r."exemptionCode", 'base', r.base, 'tax', r.tax))) as groups from rate r group by 1, 2),
   kinds as (
     select k.type, k.side, jsonb_agg(jsonb_strip_nulls(jsonb_build_object('type', k.of, 'percent', k.percent, 'reason', k.reason,
       'base', k.base, 'amount', k.amount))) as withholdings from kind k group by 1, 2),
   whole as (
     select p.type, p.side, jsonb_build_object('net', sum(p.net)::text, 'tax', sum(p.tax)::text, 'gross', sum(p.gross)::text,
       'withholding', sum(p.withholding)::text, 'toPay', sum(p."toPay")::text) as amounts from part p group by 1, 2),
   family as (
     select jsonb_build_object('type', w.type) || jsonb_object_agg(w.side, w.amounts || jsonb_build_object(
       'groups', coalesce(r.groups, '[]'), 'withholdings', coalesce(k.withholdings, '[]'))) as one
     from whole w left join rates r on r.type = w.type and r.side = w.side left join kinds k on k.type = w.type and k.side = w.side
     group by w.type)
   select (select coalesce(jsonb_agg(one), '[]') from family) as children`;

const readSums = statement('family_sums', sumsText('', ' and d.id is distinct from $2'));
// What notes have taken of each line, too: a line of the invoice is one however many notes there are.
const readTaken = statement(
  'family_taken',
  `${sumsText(`, case when d.type = 'CREDIT_NOTE' then c.lines end as lines`, '')},
     (select coalesce(jsonb_agg(to_jsonb(taken)), '[]') from (
        select l."originLineId", sum(l.quantity)::text as quantity, sum(l.net)::text as net, sum((l.eur->>'net')::numeric)::text as "eurNet"
        from child, jsonb_to_recordset(lines) l ("originLineId" text, quantity numeric, net numeric, eur jsonb) group by 1) taken) as taken`,
);
const readNumbers = statement(
  'family_numbers',
  `select d.type, d.number from certo.documents d
   where ${ofParent} and d.type in ('CREDIT_NOTE', 'DEBIT_NOTE', 'RECEIPT') order by d.issued_at, d.sequence`,
);

/** A numbered or draft document, locked until the commit. */
export interface Locked extends Omit<Head, 'children'> {
  readonly applicationId: string | null;
  /** When it was locked. */
  readonly now: Date;
  /** Its standing in the books, for changing it. */
  readonly row: Row;
}

/** With what its active notes and receipts take of it, those of one type together. */
export interface Parent extends Locked, Pick<Head, 'children'> {}

/** With its lines, and what notes have taken of them. */
export interface Corrected extends Parent, Credited {
  readonly content: Content;
}

/**
 * Locks an invoice until the commit and reads what hangs on it, but for `without`: whoever pays or corrects it comes after.
 * Undefined: there is no such document.
 */
export async function lockFamily(tx: Tx, id: string, without?: string): Promise<Parent | undefined> {
  const [row] = await tx.query(lockHead, [id]);
  if (row === undefined) return undefined;
  const parent = parentOf(row);
  // Of each as much as of the invoice itself.
  const most = Math.floor(most_bytes / (2 * JSON.stringify(parent.content.totals).length));
  // After the lock: whoever held it may have added one.
  const children = await tx.query(readChildren, [id, without, most]);
  if (children[0]?.['totals'] !== null) return { ...parent, children: children as unknown as Hanging[] };
  const [found] = await tx.query(readSums, [id, without]);
  return { ...parent, children: childrenOf(found!) };
}

/** Locks a document until the commit, and names the active notes and receipts on it. Undefined: there is none. */
export async function lockToCancel(
  tx: Tx,
  id: string,
): Promise<{ readonly document: Locked; readonly hanging: readonly Named[] } | undefined> {
  const [row] = await tx.query(lockHead, [id]);
  if (row === undefined) return undefined;
  const hanging = await tx.query(readNumbers, [id]);
  return { document: parentOf(row), hanging: hanging as unknown as Named[] };
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

const childrenOf = (found: Row): readonly Hanging[] => found['children'] as Hanging[];

const correctedOf = (row: Row, found: Row): Corrected => ({
  ...parentOf(row),
  content: row['content'] as Content,
  children: childrenOf(found),
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

function parentOf(row: Row): Locked {
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

/** The same with what was read of its children, where one was left out. */
export function balanceWithoutCall(parent: Parent, at: Date, mac: Mac): Call {
  return balanceCall(parent, parent.children, at, mac);
}

function balanceCall(parent: Parent, children: readonly Pick<Hanging, 'type' | 'totals'>[], at: Date, mac: Mac): Call {
  const changes = { ...balanceWith(parent, children), updated_at: nextUpdate(parent.row, at) };
  return changeCall(parent.row, { kind: 'BALANCE', at, changes }, mac);
}

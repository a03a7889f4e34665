/**
 * The notes and receipts of a recovery file, each over what is open of its invoice once those before it are recovered: of
 * an invoice in the books, or of one that the same file recovers first.
 */
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Credited } from '../../fiscal/credit-note.ts';
import type { Content, Party } from '../../fiscal/document.ts';
import { canonicalNumber, duplicateKey, keyOfStored, quotedOriginal, storedKeys } from '../../fiscal/recovery.ts';
import { type Problem, Refusal } from '../../fiscal/refusal.ts';
import { typeCode } from '../../fiscal/regime.ts';
import { balanceWith, standing } from '../../fiscal/standing.ts';
import { readToCredit } from '../invoices/family.ts';
import { type AskedRecovery, totalProblems } from './recovered-document.ts';
import { type AskedRecoveredNote, recoveredNote } from './recovered-note.ts';
import { type AskedRecoveredReceipt, recoveredReceipt } from './recovered-receipt.ts';

/** A document's own number as it is compared (`canonicalNumber`). */
export const comparedNumber = `regexp_replace(upper(d.number), '/0+([0-9])', '/\\1')`;

const readNamed = statement(
  'recovery_named',
  `select d.id, d.number, d.recovered_key, d.status from certo.documents d
   where d.company_id = certo.current_company() and d.number is not null and d.family in ('SALES', 'RECEIPT')
     and d.content -> 'training' is distinct from 'true'::jsonb
     and (${comparedNumber} = any ($1::text[]) or d.recovered_key = any ($2::text[]))`,
);

/** Where the invoice of a note or a receipt is: in the books, or recovered before it with this key. */
export type InvoiceOfChild = { readonly id: string } | { readonly key: string };

/** A document that the file recovers; `content` is undefined of one that can't be. */
export interface DraftOfFile {
  readonly asked: AskedRecovery;
  readonly content: Content | undefined;
}

export type AskedChild = AskedRecoveredNote | AskedRecoveredReceipt;

export interface PlannedChild {
  readonly invoice: InvoiceOfChild;
  readonly content: Content;
}

interface Asked {
  /** Its place in the file, from 0. */
  readonly place: number;
  readonly asked: AskedChild;
}

/**
 * By their places. `children`: in the order in which they are recovered; `drafts`: of the file, by their keys; `at` is told
 * what stands against one. One over a document that can't be recovered itself is left out, and nothing said of it.
 */
export async function planChildren(
  read: Tx,
  children: readonly Asked[],
  drafts: ReadonlyMap<string, DraftOfFile>,
  { issuer, newId }: { readonly issuer: Party; readonly newId: () => string },
  at: (place: number, found: readonly Problem[]) => void,
): Promise<ReadonlyMap<number, PlannedChild>> {
  const books = await namedIn(read, children);
  const open = new Map<string, Credited>();
  const planned = new Map<number, PlannedChild>();
  for (const { place, asked } of children) {
    const number = canonicalNumber(asked.parentInvoiceNumber);
    const key = [duplicateKey(number), number].find((one) => drafts.has(one));
    const row = books.get(number) ?? books.get(duplicateKey(number));
    // One that was cancelled may be recovered anew by this file.
    const isInBooks = row !== undefined && (row['status'] !== 'CANCELED' || key === undefined);
    if (!isInBooks && key === undefined) {
      const facts = { number: asked.parentInvoiceNumber };
      at(place, [{ code: 'RECOVERED_PARENT', pointer: '/parentInvoiceNumber', facts }]);
      continue;
    }
    const name = isInBooks ? String(row['id']) : key!;
    const credited =
      open.get(name) ?? (isInBooks ? await readToCredit(read, name) : asRecovered(name, drafts.get(name)!));
    if (credited === undefined) continue;
    try {
      const content =
        asked.type === 'RECEIPT'
          ? recoveredReceipt(credited, asked, issuer)
          : recoveredNote(credited, asked, issuer, newId).content;
      at(place, totalProblems(content, asked));
      planned.set(place, { invoice: isInBooks ? { id: name } : { key: name }, content });
      open.set(name, withChild(credited, content));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, facts, problems } = error;
      at(place, problems.length > 0 ? problems : [{ code, pointer: '/parentInvoiceNumber', facts }]);
    }
  }
  return planned;
}

/** What they name, by its number and by what it stands for; of two with one name the one that is not cancelled. */
async function namedIn(read: Tx, children: readonly Asked[]): Promise<ReadonlyMap<string, Row>> {
  if (children.length === 0) return new Map();
  const numbers = [...new Set(children.map(({ asked }) => canonicalNumber(asked.parentInvoiceNumber)))];
  const keys = numbers.flatMap((number) => [number, ...storedKeys(duplicateKey(number))]);
  const rows = await read.query(readNamed, [numbers, keys]);
  const named = new Map<string, Row>();
  for (const row of rows) {
    const key = row['recovered_key'] as string | null;
    const names = [canonicalNumber(String(row['number'])), ...(key === null ? [] : [keyOfStored(key)])];
    for (const name of names) {
      if (named.get(name) === undefined || row['status'] !== 'CANCELED') named.set(name, row);
    }
  }
  return named;
}

/** As it will stand once the file has recovered it; it has no number yet but the one that it had. */
function asRecovered(key: string, { asked, content }: DraftOfFile): Credited | undefined {
  if (content === undefined) return undefined;
  return {
    id: key,
    type: content.type,
    ...standing(content.type, content.totals.toPay),
    number: quotedOriginal(typeCode(content), asked.recovered),
    date: asked.date!,
    content,
    children: [],
    taken: [],
  };
}

/** The invoice with one more note or receipt on it. */
function withChild(invoice: Credited, { type, totals, books, lines }: Content): Credited {
  const children = [...invoice.children, { type, totals, books }];
  const taken = lines.map(({ originLineId, quantity, net, eur }) => ({
    originLineId: originLineId!,
    quantity,
    net,
    eurNet: eur.net,
  }));
  return { ...invoice, ...balanceWith(invoice, children), children, taken: [...invoice.taken, ...taken] };
}

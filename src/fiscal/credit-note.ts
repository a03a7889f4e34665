/**
 * Credit notes as documents: which of them may be credited, and what a note has of the invoice that it takes back
 * (documents page, section 5). What its lines are is in correct.ts.
 */
import { type CreditedLine, creditNoteOver, type Taken, type TakenLine } from './correct.ts';
import { taxPointOf } from './debit-note.ts';
import type { Content, Day, DocumentType, Party } from './document.ts';
import { Refusal } from './refusal.ts';
import { type Head, refOf } from './standing.ts';

/** A document to credit, with its lines, the notes and receipts that are not cancelled, and what notes have of its lines. */
export interface Credited extends Head {
  readonly content: Content;
  readonly taken: readonly TakenLine[];
}

/** What is asked for of a credit note. */
export interface AskedCredit {
  /** Printed and exported. */
  readonly reason: string;
  /** Absent: everything that is open. */
  readonly items?: readonly CreditedLine[] | undefined;
  /** Absent: the day of its issue. */
  readonly date?: Day | undefined;
  readonly notes?: string | undefined;
}

const creditable: ReadonlySet<DocumentType> = new Set([
  'INVOICE',
  'SIMPLIFIED_INVOICE',
  'INVOICE_RECEIPT',
  'DEBIT_NOTE',
]);

/** Throws NOT_CREDITABLE: a document of another type, a draft, a cancelled one. */
export function checkCreditable({ type, status }: Pick<Credited, 'type' | 'status'>): void {
  const isIssued = status === 'ISSUED' || status === 'PAID';
  if (!isIssued || !creditable.has(type)) throw new Refusal('NOT_CREDITABLE', { type, status });
}

/**
 * The note over what is open of the document now, by `issuer` as it is now. Throws NOT_CREDITABLE and what `creditNoteOver`
 * throws.
 */
export function creditNote(document: Credited, asked: AskedCredit, issuer: Party, newId: () => string): Content {
  checkCreditable(document);
  const { content } = document;
  const ref = refOf(document);
  return {
    type: 'CREDIT_NOTE',
    issuer,
    customer: content.customer,
    cae: content.cae,
    currency: content.currency,
    exchangeRate: content.exchangeRate,
    date: asked.date,
    // Its lines have the rates and codes of the invoice, which may have ended since (SAF-T page, section 5).
    taxPointDate: taxPointOf({ date: ref.date, taxPointDate: content.taxPointDate }),
    notes: asked.notes,
    parent: { ...ref, reason: asked.reason },
    cashVat: content.cashVat,
    training: content.training,
    ...creditNoteOver(content, takenOf(document), asked.items, newId),
  };
}

/** What the active credit notes have taken. */
function takenOf({ children, taken }: Credited): Taken {
  const notes = children.filter(({ type }) => type === 'CREDIT_NOTE');
  return { lines: taken, totals: notes.map(({ totals }) => totals), books: notes.map(({ books }) => books) };
}

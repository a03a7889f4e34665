/**
 * Open drafts of credit notes. What one takes of its invoice is rounded over all notes before it, so its amounts move by a
 * cent when another is issued or cancelled: then they are made anew, with a new revision, so that a read shows what issuing
 * freezes. Its lines and their quantities stay: more than is open is refused when it is issued.
 */
import type { Call, Row, Tx } from '../../db/transact.ts';
import { Elements, listStatement, statement } from '../../db/transact.ts';
import { canonicalJson } from '../../fiscal/canonical.ts';
import { type AskedCredit, creditNote } from '../../fiscal/credit-note.ts';
import type { Content } from '../../fiscal/document.ts';
import { type Problem, Refusal } from '../../fiscal/refusal.ts';
import { nextRevision } from './draft-rows.ts';
import { type Corrected, lockToCredit } from './family.ts';
import { inChunks, readSome } from './refresh-drafts.ts';

/** What a credit note was asked as: column `asked`. */
export interface AskedNote extends AskedCredit {
  readonly parentInvoiceId: string;
  readonly seriesId?: string | undefined;
}

/** A draft of a note: its columns. */
export interface NoteDraft {
  readonly asked: AskedNote;
  readonly content: Content;
}

const readSeries = statement(
  'note_series',
  `select id from certo.series where company_id = certo.current_company() and id = $1
     and document_type = 'CREDIT_NOTE' and status = 'ACTIVE' and kind <> 'R'`,
);
/** A row where the series that a note is to name is one for it. */
export const noteSeriesCall = (seriesId: string | null): Call => [readSeries, [seriesId]];
/** Told where there is none. */
export const unknownSeries: Problem = { code: 'UNKNOWN_SERIES', pointer: '/seriesId' };

const openNotes = statement(
  'notes_of_invoice',
  `select id from certo.documents where company_id = certo.current_company() and parent_id = $1 and type = 'CREDIT_NOTE'
     and status in ('DRAFT', 'CREATED') order by id for update`,
  'alone',
);
const readNotes = readSome('notes_to_refresh', 'asked', 'content');
const updateNotes = listStatement(
  'notes_refresh',
  `update certo.documents d set ${nextRevision}, content = v.content, net = v.net, tax = v.tax, gross = v.gross, to_pay = v.to_pay
   from jsonb_populate_recordset(null::certo.documents, $1::jsonb) v
   where d.company_id = certo.current_company() and d.id = v.id`,
);

/** The note over what is open of its invoice now, with the lines that it has. Throws what `creditNote` throws. */
export function noteOfNow(invoice: Corrected, { asked, content }: NoteDraft): Content {
  const lineIds = content.lines.map((line) => line.id);
  const items = content.lines.map((line) => ({ id: line.originLineId!, quantity: line.quantity }));
  return creditNote(invoice, { ...asked, items }, content.issuer, () => lineIds.shift()!);
}

/** The same; undefined where it takes more than is open, or its invoice can't be credited any more. */
export function noteIfOpen(invoice: Corrected, draft: NoteDraft): Content | undefined {
  try {
    return noteOfNow(invoice, draft);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return undefined;
  }
}

/** Whether two states of a note say the same in figures. */
export function hasSameAmounts(one: Content, other: Content): boolean {
  const figures = ({ lines, netBeforeDiscount, globalDiscountAmount, totals, books }: Content) => {
    const each = lines.map(({ quantity, gross, discountAmount, net, tax, unitNet, withholdingAmount, eur }) => {
      return { quantity, gross, discountAmount, net, tax, unitNet, withholdingAmount, eur };
    });
    return canonicalJson({ each, netBeforeDiscount, globalDiscountAmount, totals, books });
  };
  return figures(one) === figures(other);
}

/**
 * Prices the open drafts of an invoice's notes again. It comes behind the statements that issued or cancelled one of them, in
 * their transaction, which has the invoice locked: whoever changes or issues such a draft locks that first.
 */
export async function refreshNotes(tx: Tx, invoiceId: string): Promise<void> {
  const ids = (await tx.query(openNotes, [invoiceId])).map(({ id }) => String(id));
  if (ids.length === 0) return;
  const invoice = (await lockToCredit(tx, invoiceId))!;
  await inChunks(tx, ids, readNotes, (some) => refreshSome(tx, invoice, some));
}

async function refreshSome(tx: Tx, invoice: Corrected, some: readonly Row[]): Promise<void> {
  const moved = some.flatMap((row) => {
    const draft = row as unknown as NoteDraft;
    const content = noteIfOpen(invoice, draft);
    if (content === undefined || hasSameAmounts(content, draft.content)) return [];
    const { net, tax, gross, toPay } = content.totals;
    return [{ id: String(row['id']), content, net, tax, gross, to_pay: toPay }];
  });
  if (moved.length > 0) await tx.query(updateNotes, [new Elements(moved)]);
}

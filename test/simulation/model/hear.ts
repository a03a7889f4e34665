/** Replies in the model's words. */
import type { Shown } from './world.ts';

/** A document as replies show it. */
export interface DocumentJson {
  readonly id: string;
  readonly status: string;
  readonly documentType: string;
  readonly number?: string;
  readonly updatedAt: string;
  readonly date?: string;
  readonly dueDate?: string;
  readonly parentInvoiceId: string | null;
  readonly parentInvoiceNumber: string | null;
  readonly parentInvoiceType: string | null;
  readonly parentInvoiceDate: string | null;
  readonly summary: Readonly<Record<string, number>>;
  readonly items?: readonly { readonly id: string }[];
  readonly receipt?: { readonly id: string; readonly number: string };
  readonly deleted?: boolean;
}

const cents = (amount: number | undefined): number | undefined =>
  amount === undefined ? undefined : Math.round(amount * 100);
const dayIn = (instant: string | undefined): string | undefined => instant?.slice(0, 10);

/** In the model's words; `docOf` knows documents by their id, `revisionOf` revisions by their updatedAt. */
export function shownIn(
  reply: DocumentJson,
  known: {
    docOf(id: string): number | undefined;
    revisionOf(doc: number | undefined, updatedAt: string): number | undefined;
  },
): Shown {
  const doc = known.docOf(reply.id);
  if (reply.deleted !== undefined) return { id: doc, deleted: Number(reply.deleted) };
  const { summary, parentInvoiceId, receipt } = reply;
  const { documentType, status, number, parentInvoiceNumber, parentInvoiceType } = reply;
  return {
    id: doc,
    documentType,
    status,
    number,
    date: dayIn(reply.date),
    dueDate: dayIn(reply.dueDate),
    amountWithoutTax: cents(summary['amountWithoutTax']),
    taxAmount: cents(summary['taxAmount']),
    total: cents(summary['total']),
    totalToPay: cents(summary['totalToPay']),
    withholdingTaxAmount: cents(summary['withholdingTaxAmount']),
    creditNotesTotal: cents(summary['creditNotesTotal']),
    parentInvoiceId: parentInvoiceId === null ? null : known.docOf(parentInvoiceId),
    parentInvoiceNumber,
    parentInvoiceType,
    parentInvoiceDate: reply.parentInvoiceDate === null ? null : dayIn(reply.parentInvoiceDate),
    revision: status === 'DRAFT' ? known.revisionOf(doc, reply.updatedAt) : undefined,
    ...(receipt === undefined ? {} : { receipt: known.docOf(receipt.id), receiptNumber: receipt.number }),
  };
}

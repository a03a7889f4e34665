/**
 * Cancellation: only the status changes; number, signature and amounts stay, and the next document still chains to it
 * (documents page, section 6). The reason goes into the books and SAF-T; the AT is told by the clock.
 */
import { Type } from 'typebox';
import type { Call, Row } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { atStatusOf } from '../../fiscal/communicated.ts';
import type { Content, DocumentType } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { closed, idParams, line } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { balanceCall, lockFamily, type Parent } from './family.ts';
import { InvoiceReply, loadInvoice, showInvoice } from './invoice.ts';

const cancelDocument = statement(
  'invoice_cancel',
  `update certo.documents set status = 'CANCELED', outstanding = 0, canceled_at = certo.now(), canceled_by = $2, cancel_reason = $3,
     updated_at = greatest(certo.now(), updated_at + interval '1 millisecond'),
     at_status = $4, at_next_at = case when at_lease is null then null else at_next_at end
   where company_id = certo.current_company() and id = $1 and number is not null and status in ('ISSUED', 'PAID') returning id`,
);

/** Kept in the books and SAF-T. */
export const cancelReason = Type.Optional(line(50, 'Kept in the books and SAF-T; "Erro de emissão" when absent.', 1));

/**
 * The statement that cancels a numbered document. The AT hears of it after it has heard of the issue: a report that is
 * under way keeps its lease.
 */
export function cancelCall(id: string, content: Content, actor: string, reason: string | undefined): Call {
  return [cancelDocument, [id, actor, reason ?? 'Erro de emissão', atStatusOf(content)]];
}

interface CancelChange {
  readonly document: Parent;
  readonly parent: Parent | undefined;
  readonly reason: string | undefined;
  row: Row;
}

export const cancelInvoice = defineWrite({
  name: 'cancelInvoice',
  route: 'POST /invoices/:id/cancel',
  tag: 'Invoices',
  summary: 'Cancel an issued document',
  description:
    'Only for errors of issue, before the document had effect with the customer; else use a credit note. Refused while it has issued notes or receipts: cancel those first, with this same route. Cancelling a receipt or a note gives its amount back to the invoice.',
  params: idParams('Id of the document.'),
  body: closed({ reason: cancelReason }),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  tool: 'cancel_invoice',
  refuses: ['INVOICE_NOT_FOUND', 'INVALID_STATE', 'ALREADY_CANCELED', 'HAS_NOTES', 'HAS_PAYMENTS'],
  async load(tx, asked) {
    const document = await lockFamily(tx, asked.params.id);
    if (document === undefined) throw new Refusal('INVOICE_NOT_FOUND');
    const givesBack = document.type === 'RECEIPT' || document.type === 'CREDIT_NOTE';
    const parentId = document.content.parent?.id;
    return { document, parent: givesBack && parentId !== undefined ? await lockFamily(tx, parentId) : undefined };
  },
  decide({ document, parent }, asked): CancelChange {
    checkCancelable(document);
    return { document, parent, reason: asked.body.reason, row: {} };
  },
  async save(tx, change, asked) {
    const { document, parent, reason } = change;
    await tx.batch([
      cancelCall(document.id, document.content, asked.principal.actor, reason),
      ...(parent === undefined ? [] : [balanceWithout(parent, document.id)]),
    ]);
    change.row = await loadInvoice(tx, document.id);
    return document.id;
  },
  show: ({ row }, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
  after: (world) => world.nudgeReports(),
});

function checkCancelable(document: Parent): void {
  if (document.status === 'CANCELED') throw new Refusal('ALREADY_CANCELED');
  if (document.number === null) throw new Refusal('INVALID_STATE', { status: document.status });
  const numbers = (...types: readonly DocumentType[]) =>
    document.children.filter((child) => types.includes(child.type)).map((child) => child.number);
  const notes = numbers('CREDIT_NOTE', 'DEBIT_NOTE');
  if (notes.length > 0) throw new Refusal('HAS_NOTES', { numbers: notes.join(', ') });
  const receipts = numbers('RECEIPT');
  if (receipts.length > 0) throw new Refusal('HAS_PAYMENTS', { numbers: receipts.join(', ') });
}

function balanceWithout(parent: Parent, childId: string): Call {
  const rest = parent.children.filter((child) => child.id !== childId);
  return balanceCall(
    parent,
    rest.map(({ type, content }) => ({ type, totals: content.totals })),
  );
}

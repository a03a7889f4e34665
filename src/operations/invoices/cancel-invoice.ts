/**
 * Cancellation: only the status changes; number, signature and amounts stay, and the next document still chains to it
 * (documents page, section 6). The reason goes into the books and SAF-T; the AT is told by the clock.
 */
import type { Row } from '../../db/transact.ts';
import { checkCancelable } from '../../fiscal/standing.ts';
import { changedOnce, checkUnbroken } from '../books.ts';
import { CancelBody, cancelCall } from '../cancellation.ts';
import { idParams } from '../fields.ts';
import { defineWrite } from '../operation.ts';
import { balanceWithoutCall, type Locked, lockFamily, lockToCancel, type Parent } from './family.ts';
import { missingInvoice } from './imported.ts';
import { InvoiceReply, loadInvoice } from './invoice.ts';
import { refreshNotes } from './note-drafts.ts';
import { showInvoice } from './show-invoice.ts';

interface CancelChange {
  readonly document: Locked;
  /** Without what the document has taken of it. */
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
  body: CancelBody,
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  tool: 'cancel_invoice',
  refuses: [
    'INVOICE_NOT_FOUND',
    'IMPORTED_FROM_AT',
    'INVALID_STATE',
    'ALREADY_CANCELED',
    'HAS_NOTES',
    'HAS_PAYMENTS',
    'INTEGRITY_BROKEN',
  ],
  async load(tx, asked) {
    const found = await lockToCancel(tx, asked.params.id);
    if (found === undefined) throw await missingInvoice(tx, asked.params.id);
    const { document } = found;
    const givesBack = document.type === 'RECEIPT' || document.type === 'CREDIT_NOTE';
    const parentId = document.content.parent?.id;
    const parent = givesBack && parentId !== undefined ? await lockFamily(tx, parentId, document.id) : undefined;
    return { ...found, parent };
  },
  decide({ document, hanging, parent }, asked): CancelChange {
    checkUnbroken(document.row);
    checkCancelable(document, hanging);
    return { document, parent, reason: asked.body.reason, row: {} };
  },
  async save(tx, change, asked, world) {
    const { document, parent, reason } = change;
    // Both are locked by now: the time of the later lock.
    const at = (parent ?? document).now;
    const results = await tx.batch([
      cancelCall(document.row, document.content, { actor: asked.principal.actor, reason, at }, world.seal),
      ...(parent === undefined ? [] : [balanceWithoutCall(parent, at, world.seal)]),
    ]);
    results.forEach(changedOnce);
    if (document.type === 'CREDIT_NOTE') await refreshNotes(tx, parent!.id);
    change.row = await loadInvoice(tx, document.id);
    return document.id;
  },
  show: ({ row }, { principal }, world) => showInvoice(row, principal.region, principal.companyId, world),
  after: (world) => world.nudgeReports(),
});

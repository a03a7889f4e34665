/**
 * Issue: the act that can't be undone. Draft and series are locked, the law decides, the chain is signed, and number,
 * signature, ATCUD, QR and the frozen document are written in one transaction together with the claim and the audit.
 * Reporting to the AT follows from the `PENDING` that this leaves behind; issuing never waits for it.
 */
import type { Row } from '../../db/transact.ts';
import type { Content, DocumentType } from '../../fiscal/document.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { closed, idParams, instant } from '../fields.ts';
import { lockPlace, type Numbered, numberDocument, stampCalls, stamped } from '../numbering.ts';
import { defineWrite } from '../operation.ts';
import { draftToChange, InvoiceReply, showInvoice } from './invoice.ts';

/** Types that wait for a payment; the others are paid by what they are. */
const awaitsPayment: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE']);

interface IssueChange {
  readonly row: Row;
  readonly numbered: Numbered;
  updatedAt: Date;
}

export const issueInvoice = defineWrite({
  name: 'issueInvoice',
  route: 'POST /invoices/:id/issue',
  tag: 'Invoices',
  summary: 'Issue a draft',
  description:
    'Assigns number, ATCUD, signature and QR code, freezes the document for ever and reports it to the tax authority. It can not be undone; a mistake is corrected with a credit note.',
  params: idParams('Id of the draft.'),
  body: closed({ expectedUpdatedAt: instant('The updatedAt of the draft as you read it.') }),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  tool: 'issue_invoice',
  refuses: [
    'INVOICE_NOT_FOUND',
    'INVALID_STATE',
    'DRAFT_CHANGED',
    'NOT_READY',
    'PARENT_REQUIRED',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'SIMPLIFIED_LIMIT',
    'QR_TOO_MANY_REGIONS',
    'CLOCK_REGRESSION',
  ],
  async load(tx, asked) {
    const row = await draftToChange(tx, asked.params.id);
    return { row, place: await lockPlace(tx, row['type'] as DocumentType, row['series_id'] as string | null) };
  },
  async decide({ row, place }, asked, world): Promise<IssueChange> {
    const currentUpdatedAt = (row['updated_at'] as Date).toISOString();
    if (Date.parse(asked.body.expectedUpdatedAt) !== Date.parse(currentUpdatedAt)) {
      throw new Refusal('DRAFT_CHANGED', {}, { members: { currentUpdatedAt } });
    }
    const document = { id: asked.params.id, content: row['content'] as Content, region: asked.principal.region };
    const numbered = await numberDocument(document, place, world);
    return { row, numbered, updatedAt: numbered.now };
  },
  async save(tx, change, asked) {
    const { content } = change.numbered.decided;
    const outstanding = awaitsPayment.has(content.type) ? content.totals.toPay : '0';
    const results = await tx.batch(
      stampCalls(change.numbered, { status: 'ISSUED', outstanding, atStatus: 'PENDING', actor: asked.principal.actor }),
    );
    change.updatedAt = stamped(results);
    return change.numbered.id;
  },
  show: ({ row, numbered, updatedAt }, { principal }, world) =>
    showInvoice(
      { ...row, ...numberedRow(numbered, updatedAt), status: 'ISSUED', at_status: 'PENDING' },
      principal.region,
      principal.companyId,
      world,
    ),
  after: (world) => world.nudgeReports(),
});

/** The columns that numbering stamped, for showing what was just written without reading it again. */
function numberedRow({ decided, issued, seriesId, now }: Numbered, updatedAt: Date): Row {
  return {
    updated_at: updatedAt,
    series_id: seriesId,
    series_name: issued.seriesCode,
    number: issued.number,
    atcud: issued.atcud,
    hash: issued.hash,
    date: decided.date,
    due_date: decided.dueDate,
    content: decided.content,
    qr: issued.qr,
    issued_at: now,
    now,
  };
}

/** Payment: settles an invoice in full or in part, and issues the receipt that says so, in one transaction. */
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { mechanism } from '../../fiscal/payment-mechanisms.ts';
import { alongside, type Problem } from '../../fiscal/refusal.ts';
import { amountToPay, receiptOver } from '../../fiscal/standing.ts';
import { dayOf, parseDay } from '../../fiscal/time.ts';
import { changedOnce } from '../books.ts';
import { issuerOf } from '../company/company.ts';
import { closed, dayOfBooks, id, idParams, moneyAboveZero, offering, text } from '../fields.ts';
import { lockPlace, numberDocument, regimeOfInvoiceRefusals } from '../numbering.ts';
import { defineWrite } from '../operation.ts';
import { begunNow, type Numbered } from '../stamp.ts';
import { stampCalls } from '../stamping.ts';
import { insertChildCall } from './child.ts';
import { cleared, methodField, methodProblems } from './draft.ts';
import { balanceWithCall, lockFamily, type Parent } from './family.ts';
import { missingInvoice } from './imported.ts';
import { invoiceReplyMembers, loadInvoice } from './invoice.ts';
import { showInvoice } from './show-invoice.ts';

const PayBody = closed({
  amount: Type.Optional(moneyAboveZero('What was received; everything outstanding when absent.')),
  date: Type.Optional(dayOfBooks('Day of the payment and of its receipt; today when absent.')),
  method: methodField,
  notes: Type.Optional(text(2000, 'Printed on the receipt.')),
  seriesId: Type.Optional(id('Series of the receipt; the default one when absent.')),
});

interface PayChange {
  readonly parent: Parent;
  readonly numbered: Numbered;
  readonly seriesId: string | undefined;
  row: Row;
}

export const payInvoice = defineWrite({
  name: 'payInvoice',
  route: 'POST /invoices/:id/pay',
  tag: 'Invoices',
  summary: 'Register a payment',
  description:
    'Issues a receipt for the amount, or for everything outstanding. Tax withheld is settled in proportion; the last payment takes what is left of it. The invoice is PAID when nothing is outstanding.',
  params: idParams('Id of the invoice.'),
  body: offering(PayBody, { amount: 10, method: 'MB' }),
  reply: [
    200,
    closed({
      ...invoiceReplyMembers,
      receipt: closed({ id: Type.String(), number: Type.String(), atcud: Type.String() }),
    }),
  ],
  access: { key: true, oauth: ['invoicing.issue'] },
  fiscal: true,
  grouped: true,
  tool: 'pay_invoice',
  refuses: [
    'INVOICE_NOT_FOUND',
    'IMPORTED_FROM_AT',
    'NOT_PAYABLE',
    'INVALID_STATE',
    'NOT_READY',
    'DATE_GOES_BACK',
    'DATE_IN_FUTURE',
    'DATE_BEFORE_SERIES',
    ...regimeOfInvoiceRefusals,
    'CLOCK_REGRESSION',
    'INTEGRITY_BROKEN',
  ],
  check: ({ method }) => methodProblems(method, '/method'),
  async load(tx, asked) {
    const parent = await lockFamily(tx, asked.params.id);
    if (parent === undefined) throw await missingInvoice(tx, asked.params.id);
    return { parent };
  },
  async locate(tx, { parent }, { body }) {
    const scheme = parent.content.cashVat === true ? 'always' : 'never';
    const seriesId = body.seriesId ?? null;
    return { parent, place: await lockPlace(tx, { type: 'RECEIPT', seriesId, scheme }) };
  },
  async decide({ parent, place }, asked, world): Promise<PayChange> {
    const { region } = asked.principal;
    const isUnknown = place.isNamed && place.series === undefined;
    const unknown: Problem[] = isUnknown ? [{ code: 'UNKNOWN_SERIES', pointer: '/seriesId' }] : [];
    const amount = alongside(unknown, () => amountToPay(parent, asked.body.amount));
    const today = dayOf(place.moment['now'] as Date, region);
    const date = (asked.body.date === undefined ? undefined : parseDay(asked.body.date, region)) ?? today;
    const method = asked.body.method === undefined ? undefined : mechanism(asked.body.method);
    const receipt = receiptOver(parent, amount, { method, date }, cleared(asked.body.notes, undefined));
    const content = { ...receipt, issuer: issuerOf(place.moment) };
    const numbered = await numberDocument({ id: world.newId(), content, region }, place, world);
    return { parent, numbered, seriesId: asked.body.seriesId, row: {} };
  },
  async save(tx, change, asked, world) {
    const { parent, numbered } = change;
    const { actor } = asked.principal;
    const { content } = numbered.decided;
    const written = await tx.batch([
      insertChildCall({
        id: numbered.id,
        content,
        asked: asked.body,
        seriesId: change.seriesId,
        parentId: parent.id,
        actor,
      }),
      ...stampCalls(
        numbered,
        {
          status: 'ISSUED',
          outstanding: '0',
          actor,
          begun: begunNow(asked.body, actor, numbered.now, parent.applicationId),
        },
        world.seal,
      ),
      balanceWithCall(parent, content, numbered.now, world.seal),
    ]);
    changedOnce(written.at(-1));
    change.row = await loadInvoice(tx, parent.id);
    // What was numbered: a check of the books looks whether it is there.
    return numbered.id;
  },
  show: ({ row, numbered }, { principal }, world) => ({
    ...showInvoice(row, principal.region, principal.companyId, world),
    receipt: { id: numbered.id, number: numbered.issued.number, atcud: numbered.issued.atcud },
  }),
  after: (world) => world.nudgeReports(),
});

/** Invoices as the API shows them: the reply's schema, and the statements that read, and lock, the row it is made of. */

import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import type { Call, Row, Tx } from '../../db/transact.ts';
import { anyId, listStatement, statement } from '../../db/transact.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import { closed, dateTime, nullable, oneOf } from '../fields.ts';
import { listedMembers } from '../listed-documents.ts';
import { placeColumns, placesOfDraft } from '../numbering.ts';
import { begunColumns } from '../stamp.ts';
import { invoiceTypes } from './draft.ts';
import { missingInvoice } from './imported.ts';

export const invoiceStatuses = ['CANCELED', 'CREATED', 'DRAFT', 'ISSUED', 'PAID', 'PROCESSING', 'SCHEDULED'] as const;

const text = (description?: string) => Type.String(description === undefined ? {} : { description });
const maybe = (schema: TSchema) => Type.Optional(schema);
const number = (description?: string) => Type.Number(description === undefined ? {} : { description });

const parentMembers = {
  parentInvoiceId: nullable(text('The originating invoice.')),
  parentInvoiceNumber: nullable(text()),
  parentInvoiceDate: nullable(dateTime('Its date.')),
  parentInvoiceType: nullable(text()),
};
const head = {
  id: text(),
  number: maybe(text('Assigned on issue, e.g. FT A2026/1.')),
  documentType: oneOf(invoiceTypes, 'Document type.'),
  status: oneOf(invoiceStatuses, 'State.'),
  date: maybe(dateTime('Document date: the start of that day in the company’s zone.')),
  taxPointDate: nullable(dateTime('Date of supply; null when not recorded.')),
  dueDate: maybe(dateTime('Due date.')),
  currency: text('ISO 4217.'),
  ...parentMembers,
};

const InvoiceItem = closed({
  id: text('Id of the line.'),
  ref: text('Id of the catalogue item.'),
  meta: closed({
    quantity: number(),
    amountWithoutTax: number(),
    amountWithTax: number(),
    taxAmount: number(),
    discountAmount: number('All discounts of the line.'),
    unitItemDiscountPercent: number("The line's own discount."),
    unitItemDiscountAmount: number(),
    unitDiscountPercent: number('The line’s own discount and its share of the global one.'),
    unitDiscountAmount: number(),
    unitAmountWithoutTax: number('Unit price after all discounts.'),
    unitAmountWithTax: number(),
    withholdingTaxAmount: number(),
    withholdingTaxEnabled: Type.Boolean(),
  }),
  data: closed({
    name: text(),
    description: maybe(text()),
    type: oneOf(['PRODUCT', 'SERVICE'], 'Goods or services.'),
    unitPrice: number('Without VAT, before discounts.'),
    vatRate: text(),
    taxRate: number('VAT percentage.'),
    vatExemptionReason: maybe(text()),
    unitType: text(),
    unitDiscountType: maybe(oneOf(['PERCENT', 'AMOUNT'], "Kind of the line's own discount.")),
    unitDiscountPercent: number(),
    unitDiscountAmount: number(),
  }),
});

export const invoiceReplyMembers = {
  ...head,
  atcud: maybe(text()),
  shortHash: maybe(text('Characters 1, 11, 21 and 31 of the signature, as printed.')),
  signature: maybe(
    closed({
      text: text('What was signed: date;system entry;number;gross total;previous signature.'),
      value: text('RSA-SHA1 signature of it, Base64.'),
      keyVersion: Type.Integer({ description: 'Key in /.well-known/fiscal-keys.json that verifies it.' }),
    }),
  ),
  updatedAt: dateTime('Revision; pass it as expectedUpdatedAt when issuing.'),
  description: maybe(text()),
  notes: maybe(text()),
  reason: maybe(text('Why a note corrects its invoice.')),
  cae: text(),
  exchangeRate: maybe(number('EUR per 1 unit, for other currencies than EUR.')),
  createdAt: dateTime('Creation of the record.'),
  issuedAt: maybe(dateTime('Moment of the signature.')),
  syncWithAt: closed({
    status: oneOf(['NOT_APPLICABLE', 'PENDING', 'ACCEPTED', 'REJECTED'], 'Communication with the tax authority.'),
    atCode: maybe(text("The AT's answer code.")),
    atMessage: maybe(text("The AT's answer.")),
  }),
  series: maybe(closed({ ref: text('Id of the series.'), name: text() })),
  customer: closed({
    ref: text(),
    data: closed({
      name: text(),
      taxpayerNumber: maybe(text()),
      email: maybe(text()),
      address: maybe(text()),
      postalCode: maybe(text()),
      city: maybe(text()),
      country: maybe(text()),
      phone: maybe(text()),
      mobile: maybe(text()),
    }),
  }),
  summary: closed({
    amountWithoutTax: number(),
    amountWithTax: number(),
    amountWithoutTaxWithoutDiscount: number(),
    taxAmount: number(),
    globalDiscountType: maybe(oneOf(['PERCENT', 'AMOUNT'], 'Kind of the global discount.')),
    globalDiscountPercent: number(),
    globalDiscountAmount: number(),
    total: number(),
    totalToPay: number('total − withholding.'),
    withholdingTaxAmount: number(),
    creditNotesTotal: number(),
  }),
  items: Type.Array(InvoiceItem),
  payment: maybe(closed({ method: maybe(text()), date: maybe(dateTime('Day of payment.')) })),
  qrCode: maybe(
    closed({
      url: text('Signed link to the image.'),
      data: text('The QR message.'),
      imageData: text('SVG as a data address, percent-encoded.'),
    }),
  ),
  issuer: closed({
    ref: text(),
    data: closed({
      name: text(),
      taxPayerNumber: text(),
      address: maybe(text()),
      city: maybe(text()),
      postalCode: maybe(text()),
      country: maybe(text()),
    }),
  }),
};
export const InvoiceReply = closed(invoiceReplyMembers);

export const InvoiceListEntry = closed({
  ...head,
  scheduleTemplateId: nullable(text('The recurring invoice that issued it.')),
  summary: listedMembers.summary,
  customer: closed({
    ref: maybe(text('Id of the customer; absent on documents imported from the AT.')),
    data: listedMembers.customer.properties.data,
  }),
  source: maybe(oneOf(['AT'], 'On documents imported from the AT, which are only listed.')),
});

/** What was last heard of the AT: while a report is tried again, why. */
export const shownMessage = 'coalesce(at_problem, at_message) as at_message';

const ownColumns = `d.id, d.type, d.status, d.created_at, d.updated_at, d.series_id, d.parent_id, d.number, d.atcud, d.hash, d.signed_text, d.key_version, d.date, d.due_date,
  d.credited, d.content, d.qr, d.issued_at, d.at_status, d.at_code, ${shownMessage}`;
/** Columns of `certo.documents d` that `showInvoice` reads. */
export const shownColumns = `${ownColumns}, certo.now() as now,
  (select s.code from certo.series s where s.company_id = d.company_id and s.id = d.series_id) as series_name`;

/** The invoice whose id is the first parameter. */
export const fromInvoice = `from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family in ('SALES', 'RECEIPT')`;
const readInvoice = statement('invoice_read', `select ${shownColumns} ${fromInvoice}`);
const readAsIssued = statement('invoice_as_issued', `select ${shownColumns}, d.issued_state ${fromInvoice}`);
const amongIds = `d.company_id = certo.current_company() and d.id = ${anyId} and d.family in ('SALES', 'RECEIPT')`;
const lockStatement = (name: string, which: string) =>
  listStatement(
    name,
    `select ${shownColumns}, ${begunColumns} from certo.documents d where ${which} order by d.id for update of d`,
    {
      group: 'alone',
    },
  );
const lockInvoice = lockStatement('invoice_lock', amongIds);
/** What `draftToChange` reads and locks, of anything but a credit note. */
export const lockUnlessNote = lockStatement('invoice_lock_unless_note', `${amongIds} and d.type <> 'CREDIT_NOTE'`);
const readDraft = listStatement(
  'invoice_draft',
  `select ${ownColumns}, ${begunColumns}, ${placeColumns} from certo.documents d ${placesOfDraft} where ${amongIds}`,
);
/**
 * What `draftToChange` reads, without the lock and without what numbering gives it, and what `placeAhead` takes: a row for
 * each series that the draft could go into.
 */
export const readDraftAhead = (id: string): Call => [readDraft, [[id]]];

/** The row that `showInvoice` shows. Throws INVOICE_NOT_FOUND, IMPORTED_FROM_AT. */
export async function loadInvoice(tx: Tx, id: string): Promise<Row> {
  const [row] = await tx.query(readInvoice, [id]);
  if (row === undefined) throw await missingInvoice(tx, id);
  return row;
}

/** The same as it stood when it was issued: what moves of a document stands in it as it was then, sealed with the rest. */
export async function loadAsIssued(tx: Tx, id: string): Promise<Row> {
  const [row] = await tx.query(readAsIssued, [id]);
  const state = row?.['issued_state'] as { readonly updated_at: string } | null | undefined;
  assert(state != null, 'what was issued stays');
  const told = { updated_at: new Date(state.updated_at), at_code: null, at_message: null };
  return { ...row, ...state, ...told, now: row!['issued_at'] };
}

/** Neither issued nor on its way to it. */
export const isDraft = (row: Row): boolean => row['status'] === 'DRAFT' || row['status'] === 'CREATED';

/** Loads a draft to change it, locked until the commit; refuses what is not a draft any more. */
export async function draftToChange(tx: Tx, id: string): Promise<Row> {
  const [row] = await tx.query(lockInvoice, [[id]]);
  return checkedDraft(tx, id, row);
}

/** The row of what is there and a draft. */
export async function checkedDraft(tx: Tx, id: string, row: Row | undefined): Promise<Row> {
  if (row === undefined) throw await missingInvoice(tx, id);
  if (!isDraft(row)) throw new Refusal('INVALID_STATE', { status: String(row['status']) });
  return row;
}

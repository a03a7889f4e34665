/** Invoices as the API shows them: the reply's schema, the row it is made of, and the making. */

import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import type { Call, Row, Tx } from '../../db/transact.ts';
import { anyId, listStatement, statement } from '../../db/transact.ts';
import { add, compare, divide, multiply, percentOf, toNumber, trimmed } from '../../fiscal/decimal.ts';
import type { Content, Discount, PricedLine, Region } from '../../fiscal/document.ts';
import { shortHash } from '../../fiscal/hash-chain.ts';
import { Refusal } from '../../fiscal/refusal.ts';
import { startOfDay } from '../../fiscal/time.ts';
import { qrDataUri } from '../../print/qr.ts';
import { closed, nullable, oneOf } from '../fields.ts';
import { fileLink } from '../links.ts';
import { listedMembers } from '../listed-documents.ts';
import { placeColumns, placesOfDraft } from '../numbering.ts';
import { begunColumns } from '../stamp.ts';
import type { World } from '../world.ts';
import { invoiceTypes } from './draft.ts';
import { missingInvoice } from './imported.ts';

export const invoiceStatuses = ['CANCELED', 'CREATED', 'DRAFT', 'ISSUED', 'PAID', 'PROCESSING', 'SCHEDULED'] as const;

const text = (description?: string) => Type.String(description === undefined ? {} : { description });
const maybe = (schema: TSchema) => Type.Optional(schema);
const number = (description?: string) => Type.Number(description === undefined ? {} : { description });
const dateTime = (description: string) => Type.String({ format: 'date-time', description });

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

const readInvoice = statement(
  'invoice_read',
  `select ${shownColumns} from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family in ('SALES', 'RECEIPT')`,
);
const amongIds = `d.company_id = certo.current_company() and d.id = ${anyId} and d.family in ('SALES', 'RECEIPT')`;
const lockInvoice = listStatement(
  'invoice_lock',
  `select ${shownColumns}, ${begunColumns} from certo.documents d where ${amongIds} order by d.id for update of d`,
  { group: 'alone' },
);
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

/** Neither issued nor on its way to it. */
export const isDraft = (row: Row): boolean => row['status'] === 'DRAFT' || row['status'] === 'CREATED';

/** Loads a draft to change it, locked until the commit; refuses what is not a draft any more. */
export async function draftToChange(tx: Tx, id: string): Promise<Row> {
  const [row] = await tx.query(lockInvoice, [[id]]);
  if (row === undefined) throw await missingInvoice(tx, id);
  if (!isDraft(row)) {
    throw new Refusal('INVALID_STATE', { status: String(row['status']) });
  }
  return row;
}

/** The reply. Amounts become JSON numbers only here; what is undefined is left out. */
export function showInvoice(row: Row, region: Region, companyId: string, world: World): Record<string, unknown> {
  const content = row['content'] as Content;
  return {
    ...showStamp(row, content, region),
    ...showTerms(content),
    ...showHistory(row, content, region),
    ...showDeal(content, region, String(row['credited'])),
    qrCode: row['qr'] === null ? undefined : showQrCode(row, companyId, world),
    issuer: showIssuer(content),
  };
}

/** What a reply shows of the content alone: members of its JSON, without braces. They are the same before and after issuing. */
export interface ShownContent {
  readonly terms: string;
  readonly deal: string;
  readonly issuer: string;
}

/** As a draft, or what has just been issued, shows it: nothing of it is credited. */
export function showContent(content: Content, region: Region): ShownContent {
  return {
    terms: membersOf(showTerms(content)),
    deal: membersOf(showDeal(content, region, '0')),
    issuer: membersOf({ issuer: showIssuer(content) }),
  };
}

/** The JSON of `showInvoice`, where what it shows of the content is known. */
export function invoiceText(row: Row, shown: ShownContent, region: Region, companyId: string, world: World): string {
  const content = row['content'] as Content;
  const stamp = membersOf(showStamp(row, content, region));
  const history = membersOf(showHistory(row, content, region));
  const qrCode = row['qr'] === null ? '' : `,"qrCode":${JSON.stringify(showQrCode(row, companyId, world))}`;
  return `{${stamp},${shown.terms},${history},${shown.deal}${qrCode},${shown.issuer}}`;
}

const membersOf = (object: Record<string, unknown>): string => JSON.stringify(object).slice(1, -1);

function showStamp(row: Row, content: Content, region: Region): Record<string, unknown> {
  const hash = row['hash'];
  return {
    id: row['id'],
    number: row['number'] ?? undefined,
    atcud: row['atcud'] ?? undefined,
    shortHash: hash === null || hash === '' ? undefined : shortHash(String(hash)),
    signature:
      typeof row['signed_text'] === 'string'
        ? { text: row['signed_text'], value: hash, keyVersion: row['key_version'] }
        : undefined,
    documentType: row['type'],
    status: row['status'],
    updatedAt: (row['updated_at'] as Date).toISOString(),
    date: optionalDay((row['date'] as string | null) ?? undefined, region),
    taxPointDate: optionalDay(content.taxPointDate, region) ?? null,
    dueDate: optionalDay((row['due_date'] as string | null) ?? undefined, region),
  };
}

function showTerms(content: Content): Record<string, unknown> {
  return {
    currency: content.currency,
    exchangeRate: content.exchangeRate === undefined ? undefined : toNumber(content.exchangeRate),
    description: content.description,
    notes: content.notes,
    cae: content.cae,
  };
}

function showHistory(row: Row, content: Content, region: Region): Record<string, unknown> {
  return {
    createdAt: (row['created_at'] as Date).toISOString(),
    issuedAt: (row['issued_at'] as Date | null)?.toISOString(),
    ...showParent(content, region),
    syncWithAt: showSync(row),
    series: row['series_id'] === null ? undefined : { ref: row['series_id'], name: row['series_name'] },
  };
}

function showDeal(content: Content, region: Region, credited: string): Record<string, unknown> {
  return {
    customer: showCustomer(content),
    summary: showSummary(content, credited),
    items: content.lines.map(showLine),
    payment:
      content.payment === undefined
        ? undefined
        : { method: content.payment.method, date: optionalDay(content.payment.date, region) },
  };
}

function showCustomer({ customer }: Content): Record<string, unknown> {
  return {
    ref: customer.id,
    data: {
      name: customer.name,
      taxpayerNumber: customer.taxpayerNumber,
      email: customer.email,
      address: customer.address,
      postalCode: customer.postalCode,
      city: customer.city,
      country: customer.country,
      phone: customer.phone,
      mobile: customer.mobile,
    },
  };
}

function showSummary(content: Content, credited: string): Record<string, unknown> {
  const { totals } = content;
  return {
    amountWithoutTax: toNumber(totals.net),
    amountWithTax: toNumber(totals.gross),
    amountWithoutTaxWithoutDiscount: toNumber(content.netBeforeDiscount),
    taxAmount: toNumber(totals.tax),
    globalDiscountType: content.globalDiscount?.type,
    globalDiscountPercent: percentIn(content.globalDiscount),
    globalDiscountAmount: toNumber(content.globalDiscountAmount),
    total: toNumber(totals.gross),
    totalToPay: toNumber(totals.toPay),
    withholdingTaxAmount: toNumber(totals.withholding),
    creditNotesTotal: toNumber(credited),
  };
}

function showQrCode(row: Row, companyId: string, world: World): Record<string, unknown> {
  return {
    url: fileLink(world, { companyId, documentId: String(row['id']), variant: 'qr' }, row['now'] as Date),
    data: row['qr'],
    imageData: qrDataUri(String(row['qr'])),
  };
}

function showIssuer({ issuer }: Content): Record<string, unknown> {
  return {
    ref: issuer.id,
    data: {
      name: issuer.name,
      taxPayerNumber: issuer.taxpayerNumber,
      address: issuer.address,
      city: issuer.city,
      postalCode: issuer.postalCode,
      country: issuer.country,
    },
  };
}

/** How the communication with the AT stands: the one part of a document that changes without a new revision. */
export function showSync(row: Row): Record<string, unknown> {
  return {
    status: row['at_status'],
    atCode: row['at_code'] ?? undefined,
    atMessage: row['at_message'] ?? undefined,
  };
}

/** The document that this one corrects or pays; null four times when there is none. */
export function showParent(content: Pick<Content, 'parent'>, region: Region): Record<string, unknown> {
  const parent = content.parent;
  return {
    parentInvoiceId: parent?.id ?? null,
    parentInvoiceNumber: parent?.number ?? null,
    parentInvoiceDate: optionalDay(parent?.date, region) ?? null,
    parentInvoiceType: parent?.type ?? null,
  };
}

function showLine(line: PricedLine): Record<string, unknown> {
  const allPerUnit = divide(line.discountAmount, line.quantity, 6);
  return {
    id: line.id,
    ref: line.itemId,
    meta: {
      quantity: toNumber(line.quantity),
      amountWithoutTax: toNumber(line.net),
      amountWithTax: toNumber(add(line.net, line.tax)),
      taxAmount: toNumber(line.tax),
      discountAmount: toNumber(line.discountAmount),
      unitItemDiscountPercent: ownPercent(line),
      unitItemDiscountAmount: toNumber(ownDiscountPerUnit(line)),
      unitDiscountPercent: share(line.discountAmount, line.gross),
      unitDiscountAmount: toNumber(allPerUnit),
      unitAmountWithoutTax: toNumber(line.unitNet),
      unitAmountWithTax: toNumber(divide(add(line.net, line.tax), line.quantity, 6)),
      withholdingTaxAmount: toNumber(line.withholdingAmount),
      withholdingTaxEnabled: line.withholding !== undefined,
    },
    data: {
      name: line.name,
      description: line.description,
      type: line.productType,
      unitPrice: toNumber(line.unitPrice),
      vatRate: line.vatRate,
      taxRate: toNumber(line.rate),
      vatExemptionReason: line.exemptionCode,
      unitType: line.unit,
      unitDiscountType: line.discount?.type,
      unitDiscountPercent: percentIn(line.discount),
      unitDiscountAmount: line.discount?.type === 'AMOUNT' ? toNumber(line.discount.value) : 0,
    },
  };
}

function ownDiscountPerUnit(line: PricedLine): string {
  if (line.discount === undefined) return '0';
  if (line.discount.type === 'AMOUNT') return line.discount.value;
  return trimmed(divide(percentOf(line.discount.value, line.unitPrice), '1', 6));
}

/** As it was asked, not of the amount per unit: of a price of few decimals that is rounded. */
function ownPercent({ discount, unitPrice }: PricedLine): number {
  return discount?.type === 'AMOUNT' ? share(discount.value, unitPrice) : percentIn(discount);
}

/** part ÷ whole in percent, 6 decimals at most; 0 of nothing. */
function share(part: string, whole: string): number {
  return compare(whole, '0') === 0 ? 0 : toNumber(divide(multiply(part, '100'), whole, 6));
}

function percentIn(discount: Discount | undefined): number {
  return discount?.type === 'PERCENT' ? toNumber(discount.value) : 0;
}

function optionalDay(day: string | undefined, region: Region): string | undefined {
  return day === undefined ? undefined : startOfDay(day, region);
}

/** Making the reply that shows an invoice, of its row. */
import type { Row } from '../../db/transact.ts';
import {
  add,
  compare,
  divide,
  larger,
  multiply,
  percentOf,
  smaller,
  subtract,
  toNumber,
} from '../../fiscal/decimal.ts';
import type { Content, Discount, PricedLine, Region } from '../../fiscal/document.ts';
import { shortHash } from '../../fiscal/hash-chain.ts';
import { startOfDay, utcText } from '../../fiscal/time.ts';
import { type Piece, utf8 } from '../../fiscal/utf8.ts';
import { foldNames } from '../../print/folded.ts';
import { qrDataUri } from '../../print/qr.ts';
import { fileLink } from '../links.ts';
import type { World } from '../world.ts';

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
  readonly terms: Piece;
  readonly deal: Piece;
  readonly issuer: Piece;
  /** `deal` as it is recorded. */
  readonly folded: Piece;
}

/** As a draft, or what has just been issued, shows it: nothing of it is credited. */
export function showContent(content: Content, region: Region): ShownContent {
  const deal = utf8(membersOf(showDeal(content, region, '0')));
  return {
    terms: utf8(membersOf(showTerms(content))),
    deal,
    issuer: utf8(membersOf({ issuer: showIssuer(content) })),
    folded: foldNames(deal),
  };
}

/** Members of its JSON, without braces. */
export const membersOf = (object: Record<string, unknown>): string => JSON.stringify(object).slice(1, -1);

/** What stands in front of the terms: number, signature, status and days. */
export function showStamp(row: Row, content: Content, region: Region): Record<string, unknown> {
  const hash = row['hash'];
  return {
    id: row['id'],
    number: row['number'] ?? undefined,
    atcud: row['atcud'] ?? undefined,
    shortHash: hash === null || hash === '' ? undefined : (row['short_hash'] ?? shortHash(String(hash))),
    signature:
      typeof row['signed_text'] === 'string'
        ? { text: row['signed_text'], value: hash, keyVersion: row['key_version'] }
        : undefined,
    documentType: row['type'],
    status: row['status'],
    updatedAt: utcText(row['updated_at'] as Date),
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
    // Printed, exported and frozen with the rest, so whoever is about to issue it reads it here.
    reason: content.parent?.reason,
    cae: content.cae,
  };
}

/** What stands between terms and deal. */
export function showHistory(row: Row, content: Content, region: Region): Record<string, unknown> {
  return {
    createdAt: utcText(row['created_at'] as Date),
    issuedAt: row['issued_at'] === null ? undefined : utcText(row['issued_at'] as Date),
    ...showParent(content, region),
    syncWithAt: showSync(row),
    series: row['series_id'] === null ? undefined : { ref: row['series_id'], name: row['series_name'] },
  };
}

function showDeal(content: Content, region: Region, credited: string): Record<string, unknown> {
  return {
    customer: showCustomer(content),
    summary: showSummary(content, credited),
    items: content.lines.map((line) => showLine(line, content.globalDiscount)),
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

/** Of the QR code what is no picture: the link to it, valid from the row's `now`, and its message. */
export function showQrLink(row: Row, companyId: string, world: World): Readonly<Record<'url' | 'data', string>> {
  return {
    url: fileLink(world, { companyId, documentId: String(row['id']), variant: 'qr' }, row['now'] as Date),
    data: String(row['qr']),
  };
}

function showQrCode(row: Row, companyId: string, world: World): Record<string, unknown> {
  const { url, data } = showQrLink(row, companyId, world);
  return { url, data, imageData: qrDataUri(data) };
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

function showLine(line: PricedLine, globalDiscount: Discount | undefined): Record<string, unknown> {
  const own = { percent: ownPercent(line), perUnit: ownDiscountPerUnit(line) };
  const all = withGlobalShare(own, line, globalDiscount);
  return {
    id: line.id,
    ref: line.itemId,
    meta: {
      quantity: toNumber(line.quantity),
      amountWithoutTax: toNumber(line.net),
      amountWithTax: toNumber(add(line.net, line.tax)),
      taxAmount: toNumber(line.tax),
      discountAmount: toNumber(line.discountAmount),
      unitItemDiscountPercent: toNumber(own.percent),
      unitItemDiscountAmount: toNumber(own.perUnit),
      unitDiscountPercent: toNumber(all.percent),
      unitDiscountAmount: toNumber(all.perUnit),
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
  return rounded6(percentOf(line.discount.value, line.unitPrice));
}

/** As it was asked, not of the amount per unit: of a price of few decimals that is rounded. */
function ownPercent({ discount, unitPrice }: PricedLine): string {
  return discount?.type === 'AMOUNT' ? share(discount.value, unitPrice) : (discount?.value ?? '0');
}

interface UnitDiscount {
  readonly percent: string;
  readonly perUnit: string;
}

/**
 * A line's own discount with its share of the global one. Of a percentage that is a percentage again, as exact as what was
 * asked; an amount is shared in whole cents, so that its share is known of the line's money only.
 */
function withGlobalShare(own: UnitDiscount, line: PricedLine, global: Discount | undefined): UnitDiscount {
  if (global === undefined) return own;
  if (global.type === 'PERCENT') {
    const part = (of: string) => percentOf(global.value, of);
    return {
      percent: rounded6(add(own.percent, part(subtract('100', own.percent)))),
      perUnit: rounded6(add(own.perUnit, part(subtract(line.unitPrice, own.perUnit)))),
    };
  }
  const shared = {
    percent: share(line.discountAmount, line.gross),
    perUnit: divide(line.discountAmount, line.quantity, 6),
  };
  // Rounding to cents may have left less than its own, and taken more than there is: of 0.007 × 0.90 it takes 0.01.
  const perUnit = larger(own.perUnit, shared.perUnit);
  return {
    percent: larger(own.percent, shared.percent),
    perUnit: smaller(perUnit, line.unitPrice),
  };
}

/** part ÷ whole in percent, 6 decimals at most; 0 of nothing. */
function share(part: string, whole: string): string {
  return compare(whole, '0') === 0 ? '0' : divide(multiply(part, '100'), whole, 6);
}

const rounded6 = (value: string): string => divide(value, '1', 6);

function percentIn(discount: Discount | undefined): number {
  return discount?.type === 'PERCENT' ? toNumber(discount.value) : 0;
}

/** The first instant of a day that there may be. */
export function optionalDay(day: string | undefined, region: Region): string | undefined {
  return day === undefined ? undefined : startOfDay(day, region);
}

/**
 * Drafts: what a caller may ask for, how a change is laid over it, and the priced document made of it. A draft refers
 * to its customer, items and issuer; the priced document (`content`) is made anew whenever any of them changes, so
 * that a read shows current data and issuing freezes exactly what the last revision showed.
 */

import type { Static, TSchema } from 'typebox';
import { Type } from 'typebox';
import { compare, fromNumber } from '../../fiscal/decimal.ts';
import {
  type Day,
  type Decimal,
  type Discount,
  type DocumentRef,
  type DocumentType,
  isPaidAtOnce,
  type LineInput,
  type Recovered,
  type Region,
  type Transport,
  type VatRate,
} from '../../fiscal/document.ts';
import { exemptionCodes } from '../../fiscal/exemptions.ts';
import { mechanism, paymentMechanisms } from '../../fiscal/payment-mechanisms.ts';
import { type Problem, Refusal, type Words } from '../../fiscal/refusal.ts';
import { parseDay } from '../../fiscal/time.ts';
import { closed, dayOfBooks, id, line, money, oneOf, percent, precise, quantity, text } from '../fields.ts';
import { vatRates } from '../items/item.ts';

export const invoiceTypes = [
  'CREDIT_NOTE',
  'DEBIT_NOTE',
  'INVOICE',
  'INVOICE_RECEIPT',
  'RECEIPT',
  'SIMPLIFIED_INVOICE',
] as const;

const mechanismCodes = Object.keys(paymentMechanisms).join(', ');
const mechanismForm: Words = {
  en: `of one of the codes ${mechanismCodes} (SAF-T PaymentMechanism), or of its name`,
  pt: `de um dos códigos ${mechanismCodes} (PaymentMechanism do SAF-T) ou do respetivo nome`,
};
const mechanismNames = Object.entries(paymentMechanisms).map(([code, { en, pt }]) => `${code} (${en}, ${pt})`);
/** A means of payment, where one may be given. */
export const methodField = Type.Optional(line(60, `SAF-T code or its name: ${mechanismNames.join('; ')}.`, 0, 'MB'));

const discountMembers = {
  unitDiscountType: Type.Optional(oneOf(['PERCENT', 'AMOUNT'], 'Kind of the line discount; AMOUNT is per unit.')),
  unitDiscountPercent: Type.Optional(percent('Line discount in percent.')),
  unitDiscountAmount: Type.Optional(money('Line discount per unit, in the document currency.')),
};

const itemMembers = {
  id: id('Id of the catalogue item.'),
  quantity: quantity('Above 0.'),
  name: Type.Optional(line(200, 'Name on this document.', 2)),
  description: Type.Optional(text(2000, 'Description on this document.')),
  unitPrice: Type.Optional(precise('Unit price without VAT on this document, in its currency.')),
  vatRate: Type.Optional(oneOf(vatRates, 'VAT rate on this document.')),
  vatExemptionReason: Type.Optional(
    line(3, `M code on this document; only with vatRate EXEMPT: ${exemptionCodes}.`, 0, 'M07'),
  ),
  ...discountMembers,
  withholdingTaxEnabled: Type.Optional(
    Type.Boolean({ description: 'Whether tax is withheld on this line; by default as the item says.' }),
  ),
};
export const DraftItem = closed(itemMembers);

const linesLike = <T extends TSchema>(one: T) =>
  Type.Array(one, { minItems: 1, maxItems: 1000, description: 'The lines.' });

/** What a draft is made of, whatever its type. */
export const draftMembers = {
  cae: line(5, "One of the company's activity codes.", 5),
  customerId: id('Id of the customer.'),
  items: linesLike(DraftItem),
  seriesId: Type.Optional(id('Id from GET /series; the default series of the type when absent.')),
  date: Type.Optional(dayOfBooks('Document date; the day of issue when absent.')),
  taxPointDate: Type.Optional(
    dayOfBooks("Date of supply; chooses the VAT rates, but for a DEBIT_NOTE: those are its invoice's."),
  ),
  dueDate: Type.Optional(dayOfBooks('Due date; the document date when absent.')),
  currency: Type.Optional(
    Type.String({ format: 'currency', description: 'ISO 4217; EUR when absent.', examples: ['EUR'] }),
  ),
  exchangeRate: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      exclusiveMaximum: 1e9,
      decimals: 6,
      description:
        "Euros per unit of the currency; exactly when it is not EUR. From 0.0001 (where a unit is worth less than 0.001: from 0.000001) to 10000 (where it is worth less than 0.1: to 1). A DEBIT_NOTE has its invoice's when absent.",
    }),
  ),
  description: Type.Optional(text(2000, 'Printed description.')),
  notes: Type.Optional(text(2000, 'Printed notes.')),
  templateId: Type.Optional(id('PDF template.')),
  globalDiscountType: Type.Optional(oneOf(['PERCENT', 'AMOUNT'], 'Kind of the discount on the whole document.')),
  globalDiscountPercent: Type.Optional(percent('Discount on every line in percent.')),
  globalDiscountAmount: Type.Optional(money('Discount on the document without VAT, spread over the lines.')),
  payment: Type.Optional(
    closed(
      {
        method: methodField,
        date: Type.Optional(dayOfBooks('Day of payment.')),
      },
      'How it was paid: INVOICE_RECEIPT and SIMPLIFIED_INVOICE only.',
    ),
  ),
  parentInvoiceId: Type.Optional(id('The corrected invoice: DEBIT_NOTE only.')),
  reason: Type.Optional(line(50, 'Why it is corrected: DEBIT_NOTE only.', 1)),
};

export const DraftBody = closed({
  type: oneOf(invoiceTypes, 'Document type.'),
  ...draftMembers,
});
const PatchItem = closed({
  ...itemMembers,
  id: id('Id of the catalogue item; on a CREDIT_NOTE items[].id of the line of its invoice.'),
});
/** What is said replaces what was there. Of a credit note, too, which has few of them (patch-note.ts). */
export const DraftPatch = closed({
  type: Type.Optional(
    oneOf(invoiceTypes, 'Another document type: the series of the one before goes, and what only that one may say.'),
  ),
  ...draftMembers,
  cae: Type.Optional(draftMembers.cae),
  customerId: Type.Optional(draftMembers.customerId),
  items: Type.Optional(linesLike(PatchItem)),
  reason: Type.Optional(line(50, 'Why it is corrected: DEBIT_NOTE and CREDIT_NOTE only.', 1)),
});
export type DraftBody = Static<typeof DraftBody>;
export type DraftPatch = Static<typeof DraftPatch>;

/** What was asked, decimals and days as text: column `asked`. */
export interface AskedDraft {
  /** Any but RECEIPT and CREDIT_NOTE, which are made of their invoice. */
  readonly type: DocumentType;
  readonly cae: string;
  readonly customerId: string;
  readonly items: readonly AskedLine[];
  readonly seriesId?: string | undefined;
  readonly date?: Day | undefined;
  readonly taxPointDate?: Day | undefined;
  readonly dueDate?: Day | undefined;
  readonly currency: string;
  readonly exchangeRate?: Decimal | undefined;
  readonly description?: string | undefined;
  readonly notes?: string | undefined;
  readonly templateId?: string | undefined;
  readonly globalDiscount?: Discount | undefined;
  readonly payment?: { readonly method?: string | undefined; readonly date?: Day | undefined } | undefined;
  readonly parentInvoiceId?: string | undefined;
  readonly reason?: string | undefined;
  /** The pro forma that it was converted from. */
  readonly origin?: DocumentRef | undefined;
  /** Transport documents only. */
  readonly transport?: Transport | undefined;
  /** Of a recovery only: what it stands for. */
  readonly recovered?: Recovered | undefined;
}

/** Of a line what a document can't say otherwise than its item does. */
export type Promised = Pick<LineInput, 'productType' | 'unit' | 'region' | 'fixedRate' | 'withholding'>;

export interface AskedLine {
  readonly lineId: string;
  /** The line of the pro forma that it was converted from. */
  readonly originLineId?: string | undefined;
  /** What that line says in place of the catalogue, whatever it says by now. */
  readonly promised?: Promised | undefined;
  readonly id: string;
  readonly quantity: Decimal;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly unitPrice?: Decimal | undefined;
  readonly vatRate?: VatRate | undefined;
  readonly vatExemptionReason?: string | undefined;
  readonly discount?: Discount | undefined;
  readonly withholdingTaxEnabled?: boolean | undefined;
}

const otherRoutes: Partial<Record<string, string>> = {
  CREDIT_NOTE: 'POST /invoices/credit-notes',
  RECEIPT: 'POST /invoices/{id}/pay',
};

/** USE_OTHER_ENDPOINT for a type that is made of its invoice. */
export function refuseOtherRoutes(type: string | undefined): void {
  const route = type === undefined ? undefined : otherRoutes[type];
  if (type !== undefined && route !== undefined) throw new Refusal('USE_OTHER_ENDPOINT', { type, route });
}

/** What a draft keeps when its type changes. Nobody could take away what the new one refuses. */
function underOtherType(before: AskedDraft, type: DocumentType): AskedDraft {
  const payment = isPaidAtOnce(type) ? before.payment : undefined;
  return { ...before, seriesId: undefined, payment, parentInvoiceId: undefined, reason: undefined };
}

/** Lays a body over what was asked before (nothing, for a new draft). `region` is the company's, for its days. */
export function mergeDraft(
  old: AskedDraft | undefined,
  body: Partial<Omit<DraftBody, 'type'>> & { readonly type?: DocumentType },
  region: Region,
  newId: () => string,
): AskedDraft {
  const type = body.type ?? old!.type;
  const before = old === undefined || old.type === type ? old : underOtherType(old, type);
  const asDay = (value: string | undefined): Day | undefined =>
    value === undefined ? undefined : parseDay(value, region);
  const currency = body.currency ?? before?.currency ?? 'EUR';
  const rate = body.exchangeRate === undefined ? undefined : fromNumber(body.exchangeRate);
  return {
    type,
    cae: body.cae ?? before?.cae ?? '',
    customerId: body.customerId ?? before?.customerId ?? '',
    items: body.items?.map((item) => askedLine(item, newId)) ?? before?.items ?? [],
    seriesId: body.seriesId ?? before?.seriesId,
    date: asDay(body.date) ?? before?.date,
    taxPointDate: asDay(body.taxPointDate) ?? before?.taxPointDate,
    dueDate: asDay(body.dueDate) ?? before?.dueDate,
    currency,
    // Another currency drops the rate, which was of the one before; with EUR one is refused only when it is given.
    exchangeRate: rate ?? (currency === before?.currency ? before.exchangeRate : undefined),
    description: cleared(body.description, before?.description),
    notes: cleared(body.notes, before?.notes),
    templateId: body.templateId ?? before?.templateId,
    globalDiscount: mergedDiscount(
      discountOf(body.globalDiscountType, body.globalDiscountPercent, body.globalDiscountAmount),
      before?.globalDiscount,
    ),
    // Of the payment, too, only what is given changes.
    payment:
      body.payment === undefined
        ? before?.payment
        : {
            // A blank one is none.
            method: body.payment.method === undefined ? before?.payment?.method : mechanism(body.payment.method),
            date: asDay(body.payment.date) ?? before?.payment?.date,
          },
    parentInvoiceId: body.parentInvoiceId ?? before?.parentInvoiceId,
    reason: body.reason ?? before?.reason,
    origin: before?.origin,
    transport: before?.transport,
  };
}

/** A line as asked; what it does not override is left to the catalogue. */
export function askedLine(item: Static<typeof DraftItem>, newId: () => string): AskedLine {
  return {
    lineId: newId(),
    id: item.id,
    quantity: fromNumber(item.quantity),
    name: item.name,
    description: cleared(item.description, undefined),
    unitPrice: item.unitPrice === undefined ? undefined : fromNumber(item.unitPrice),
    vatRate: item.vatRate,
    vatExemptionReason: cleared(item.vatExemptionReason, undefined),
    discount: mergedDiscount(
      discountOf(item.unitDiscountType, item.unitDiscountPercent, item.unitDiscountAmount),
      undefined,
    ),
    withholdingTaxEnabled: item.withholdingTaxEnabled,
  };
}

/** What a text is once it is given; a blank one clears. */
export function cleared(value: string | undefined, before: string | undefined): string | undefined {
  if (value === undefined) return before;
  return value.trim() === '' ? undefined : value;
}

/** Which member says the discount; undefined when none is given; 'unclear' when they do not fit together. */
function discountMember(
  type: 'PERCENT' | 'AMOUNT' | undefined,
  percentage: number | undefined,
  amount: number | undefined,
): { readonly type: 'PERCENT' | 'AMOUNT'; readonly value: number } | 'unclear' | undefined {
  if (type === undefined && percentage === undefined && amount === undefined) return undefined;
  const chosen = type ?? (percentage !== undefined ? 'PERCENT' : 'AMOUNT');
  const [value, other] = chosen === 'PERCENT' ? [percentage, amount] : [amount, percentage];
  // The other member may come along as 0, as replies show it.
  if (value === undefined || (other !== undefined && other !== 0)) return 'unclear';
  return { type: chosen, value };
}

/** The discount that three members of a checked body say. */
function discountOf(...members: Parameters<typeof discountMember>): Discount | 'unclear' | undefined {
  const member = discountMember(...members);
  return typeof member === 'object' ? { type: member.type, value: fromNumber(member.value) } : member;
}

/** A discount of 0 removes the one before. */
function mergedDiscount(given: Discount | 'unclear' | undefined, before: Discount | undefined): Discount | undefined {
  if (given === undefined || given === 'unclear') return before;
  return compare(given.value, '0') === 0 ? undefined : given;
}

/** What is wrong with a means of payment; a blank text names none. */
export function methodProblems(method: unknown, pointer: string): Problem[] {
  if (typeof method !== 'string' || method.trim() === '' || mechanism(method) !== undefined) return [];
  return [{ code: 'INVALID_FORMAT', pointer, facts: { format: mechanismForm } }];
}

/** Rules on the body alone; members of a wrong type are the schema's business. */
export function draftProblems(body: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [];
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  const kind = (value: unknown) => (value === 'PERCENT' || value === 'AMOUNT' ? value : undefined);
  const unclear = (of: Record<string, unknown>, prefix: string) =>
    discountMember(kind(of[`${prefix}Type`]), number(of[`${prefix}Percent`]), number(of[`${prefix}Amount`])) ===
    'unclear';
  if (unclear(body, 'globalDiscount')) problems.push({ code: 'DISCOUNT_INCOMPLETE', pointer: '/globalDiscountType' });
  const items = Array.isArray(body['items']) ? body['items'] : [];
  items.forEach((item: unknown, i) => {
    if (item !== null && typeof item === 'object' && unclear(item as Record<string, unknown>, 'unitDiscount')) {
      problems.push({ code: 'DISCOUNT_INCOMPLETE', pointer: `/items/${i}/unitDiscountType` });
    }
  });
  const payment = body['payment'];
  if (payment !== null && typeof payment === 'object') {
    const method = (payment as Record<string, unknown>)['method'];
    problems.push(...methodProblems(method, '/payment/method'));
  }
  if (body['currency'] === 'EUR' && body['exchangeRate'] !== undefined) {
    problems.push({ code: 'EXCHANGE_RATE_NOT_ALLOWED', pointer: '/exchangeRate' });
  }
  return problems;
}

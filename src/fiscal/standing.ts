/**
 * How an issued document stands among its notes and receipts: whether it is paid, what is open of it, what may be paid, and
 * whether it may be cancelled (documents page, sections 6 and 7; contract decisions 3, "Status" and "Pay").
 */
import { compare, fromNumber, isZero, round2, sum } from './decimal.ts';
import type { Content, Day, Decimal, DocumentRef, DocumentType, Totals } from './document.ts';
import { quotedOriginal } from './recovery.ts';
import { assert, Refusal, refuseAll } from './refusal.ts';
import { typeCode } from './regime.ts';
import { bookedPart, type Open, openOf, settledPart } from './settle.ts';

/** Notes or receipts of one type that are not cancelled: one, or what several have together. */
export interface Hanging {
  readonly type: DocumentType;
  readonly totals: Totals;
  readonly books: Totals;
}

/** A note or receipt that is not cancelled. */
export interface Named {
  readonly type: DocumentType;
  readonly number: string;
}

/** A document that others may hang on; without a number it is a draft. */
export interface Head {
  readonly id: string;
  readonly type: DocumentType;
  readonly status: string;
  readonly number: string | null;
  readonly date: Day | null;
  readonly content: Omit<Content, 'lines'>;
  /** As it is stored: 2 decimals. */
  readonly outstanding: Decimal;
  readonly children: readonly Hanging[];
}

/** Types that wait for a payment; the others are paid by what they are. */
const awaitsPayment: ReadonlySet<DocumentType> = new Set(['INVOICE', 'DEBIT_NOTE']);

/** Types whose amount is taken from what is open of the invoice. */
const takesFrom: ReadonlySet<DocumentType> = new Set(['RECEIPT', 'CREDIT_NOTE']);

/**
 * How a document stands with so much to be received, right after its issue too: PAID exactly when it waits for a payment
 * and nothing is outstanding; types that never wait stay ISSUED.
 */
export function standing(type: DocumentType, toReceive: Decimal): { status: 'ISSUED' | 'PAID'; outstanding: Decimal } {
  const isPayable = awaitsPayment.has(type);
  const outstanding = round2(isPayable ? toReceive : '0');
  return { status: isPayable && isZero(outstanding) ? 'PAID' : 'ISSUED', outstanding };
}

/** How it stands with these notes and receipts, and what of it the notes have credited (2 decimals). */
export function balanceWith(
  { type, content }: Pick<Head, 'type' | 'content'>,
  children: readonly Pick<Hanging, 'type' | 'totals'>[],
): ReturnType<typeof standing> & { credited: Decimal } {
  const taking = children.filter((child) => takesFrom.has(child.type)).map(({ totals }) => totals);
  const notes = children.filter((child) => child.type === 'CREDIT_NOTE').map(({ totals }) => totals.gross);
  return { ...standing(type, openOf(content.totals, taking).toPay), credited: round2(sum(notes)) };
}

/** What is open in the document's currency and in the books, after its receipts and credit notes. */
export function openBalance({ content, children }: Pick<Head, 'content' | 'children'>): {
  readonly totals: Open;
  readonly books: Open;
} {
  const before = children.filter(({ type }) => takesFrom.has(type));
  const [totals, books] = [before.map((child) => child.totals), before.map((child) => child.books)];
  return { totals: openOf(content.totals, totals), books: openOf(content.books, books) };
}

/**
 * What a payment of `asked` settles, or of everything outstanding: 0 < amount <= outstanding, 2 decimals. Throws
 * INVALID_STATE (a draft, cancelled, paid), NOT_PAYABLE (its type waits for no payment) and, at /amount,
 * AMOUNT_EXCEEDS_OUTSTANDING.
 */
export function amountToPay(document: Head, asked: number | undefined): Decimal {
  const { type, status, outstanding } = document;
  if (document.number === null) throw new Refusal('INVALID_STATE', { status });
  if (!awaitsPayment.has(type)) throw new Refusal('NOT_PAYABLE', { type });
  if (status !== 'ISSUED') throw new Refusal('INVALID_STATE', { status });
  const isTrue = compare(outstanding, openBalance(document).totals.toPay) === 0;
  assert(isTrue, 'the stored balance is what the documents say');
  if (isZero(outstanding)) throw new Refusal('INVALID_STATE', { status: 'PAID' });
  if (asked === undefined) return round2(outstanding);
  const amount = fromNumber(asked);
  if (compare(amount, outstanding) > 0) {
    const { currency } = document.content;
    refuseAll([{ code: 'AMOUNT_EXCEEDS_OUTSTANDING', pointer: '/amount', facts: { outstanding, currency } }]);
  }
  return round2(amount);
}

/** As what is made of it names it; a recovered one also by its original number. It has been issued. */
export function refOf({
  id,
  number,
  date,
  type,
  content,
}: Pick<Head, 'id' | 'number' | 'date' | 'type' | 'content'>): DocumentRef {
  assert(number !== null && date !== null, 'only what is issued is named by others');
  const { recovered } = content;
  const original = recovered === undefined ? undefined : quotedOriginal(typeCode(content), recovered);
  return { id, number, date, type, ...(original === undefined ? {} : { original }) };
}

/** The receipt of a payment (`amount`: of `amountToPay`): it has no lines; it says what of which document is settled. */
export function receiptOver(
  parent: Head,
  amount: Decimal,
  payment: { readonly method: string | undefined; readonly date: Day },
  notes: string | undefined,
): Content {
  const open = openBalance(parent);
  const totals = settledPart(open.totals, amount);
  const books = bookedPart(open, totals);
  const { content } = parent;
  const document = refOf(parent);
  const { net, tax, gross, withholding, groups } = books;
  return {
    type: 'RECEIPT',
    issuer: content.issuer,
    customer: content.customer,
    cae: content.cae,
    currency: content.currency,
    exchangeRate: content.exchangeRate,
    date: payment.date,
    notes,
    payment,
    parent: document,
    settles: [{ document, net, tax, gross, withholding, groups }],
    cashVat: content.cashVat,
    training: content.training,
    lines: [],
    netBeforeDiscount: totals.net,
    globalDiscountAmount: '0.00',
    totals,
    books,
  };
}

/**
 * Only errors of issue are cancelled, and what hangs on a document (`hanging`) before it (documents page, section 6). Throws
 * ALREADY_CANCELED, INVALID_STATE (a draft), HAS_NOTES, HAS_PAYMENTS.
 */
export function checkCancelable({ status, number }: Pick<Head, 'status' | 'number'>, hanging: readonly Named[]): void {
  if (status === 'CANCELED') throw new Refusal('ALREADY_CANCELED');
  if (number === null) throw new Refusal('INVALID_STATE', { status });
  const numbers = (...types: readonly DocumentType[]) =>
    hanging.filter((child) => types.includes(child.type)).map((child) => child.number);
  const notes = numbers('CREDIT_NOTE', 'DEBIT_NOTE');
  if (notes.length > 0) throw new Refusal('HAS_NOTES', { numbers: notes.join(', ') });
  const receipts = numbers('RECEIPT');
  if (receipts.length > 0) throw new Refusal('HAS_PAYMENTS', { numbers: receipts.join(', ') });
}

/**
 * Pro formas into invoices: in full or in part, until the quantities are used. A line of an invoice takes from the line
 * of the pro forma it was made of; one that names none (the caller wrote the lines anew) takes from the lines of its item.
 */
import { compare, divide, isZero, multiply, round2, smaller, subtract, sum, trimmed } from './decimal.ts';
import type { Content, Decimal, Discount, DocumentRef, PricedLine } from './document.ts';
import { worthOf } from './open-line.ts';
import { type Problem, Refusal, refuseAll } from './refusal.ts';

/** A line of the pro forma to invoice: by its own id, or that of its item where only one line has it. */
export interface WantedLine {
  readonly id: string;
  readonly quantity: Decimal;
}

/** How much of a line of the pro forma. */
export interface TakenLine {
  readonly line: PricedLine;
  readonly quantity: Decimal;
}

/** Of a line of an invoice what says how much of which line it takes. */
export type TakingLine = Pick<PricedLine, 'itemId' | 'originLineId' | 'quantity' | 'name'>;

export interface Open {
  /** Quantity still open by the line's id; "0" when it is used up. */
  readonly quantities: ReadonlyMap<string, Decimal>;
  /** Names of lines of the invoices that take more than there was. */
  readonly exceeded: readonly string[];
}

/** What an invoice takes of the pro forma that it was made of. */
export interface Taking {
  readonly lines: readonly TakingLine[];
  readonly globalDiscount?: Discount | undefined;
}

/** A pro forma as it stands. */
export interface Proforma {
  readonly ref: DocumentRef;
  readonly status: 'CREATED' | 'ISSUED' | 'CANCELED';
  readonly content: Content;
  /** By the invoices that stand: a cancelled one gives its quantities back. */
  readonly invoiced: readonly Taking[];
}

/** What no invoice that stands has taken yet; `more`: and these not either. */
export function openOfProforma({ content, invoiced }: Proforma, more: readonly Taking[] = []): Open {
  return openOf(
    content.lines,
    [...invoiced, ...more].flatMap(({ lines }) => lines),
  );
}

/**
 * Drafts reserve nothing: the quantities are judged when an invoice is issued. Throws PROPOSAL_CANCELED,
 * PROPOSAL_NOT_TAKEN, PROPOSAL_EXCEEDED.
 */
export function checkConversion(invoice: Content, proforma: Proforma): void {
  const { number } = proforma.ref;
  if (proforma.status === 'CANCELED') throw new Refusal('PROPOSAL_CANCELED', { number });
  if (!takesOf(proforma.content.lines, invoice.lines)) throw new Refusal('PROPOSAL_NOT_TAKEN', { number });
  const { exceeded } = openOfProforma(proforma, [invoice]);
  if (exceeded.length > 0) throw new Refusal('PROPOSAL_EXCEEDED', { number, items: exceeded.join(', ') });
}

/** What is open of a pro forma after the given lines of invoices. Items that it does not have take nothing from it. */
export function openOf(proforma: readonly PricedLine[], invoiced: readonly TakingLine[]): Open {
  const quantities = new Map(proforma.map((line) => [line.id, line.quantity]));
  const exceeded = new Set<string>();
  const take = (ids: readonly string[], taking: TakingLine): void => {
    let wanted = taking.quantity;
    for (const id of ids) {
      if (isZero(wanted)) break;
      const left = quantities.get(id)!;
      const taken = smaller(wanted, left);
      quantities.set(id, trimmed(subtract(left, taken)));
      wanted = subtract(wanted, taken);
    }
    if (!isZero(wanted)) exceeded.add(taking.name);
  };
  const isTied = ({ originLineId }: TakingLine) => originLineId !== undefined && quantities.has(originLineId);
  for (const taking of invoiced.filter(isTied)) take([taking.originLineId!], taking);
  const ofItem = new Map<string, string[]>();
  for (const { id, itemId } of proforma) {
    const ids = ofItem.get(itemId);
    if (ids === undefined) ofItem.set(itemId, [id]);
    else ids.push(id);
  }
  for (const taking of invoiced.filter((one) => !isTied(one))) {
    const ids = ofItem.get(taking.itemId);
    if (ids === undefined) continue;
    take(ids, taking);
    // Lines that are used up are not walked through again; the last one says that there is nothing left.
    while (ids.length > 1 && isZero(quantities.get(ids[0]!)!)) ids.shift();
  }
  return { quantities, exceeded: [...exceeded] };
}

/** Whether any of the lines is of the pro forma: an invoice of other things does not invoice it (SAF-T page, section 6). */
export function takesOf(proforma: readonly PricedLine[], invoiced: readonly TakingLine[]): boolean {
  return invoiced.some(isOf(proforma));
}

function isOf(proforma: readonly PricedLine[]): (line: TakingLine) => boolean {
  const own = new Set(proforma.flatMap(({ id, itemId }) => [id, itemId]));
  return ({ itemId, originLineId }) => own.has(itemId) || own.has(originLineId ?? itemId);
}

/** The invoice of a pro forma with these lines, which says which of its own were added and are not of the pro forma. */
export function convertedOf(invoice: Content, proforma: readonly PricedLine[]): Content {
  const isOwn = isOf(proforma);
  const added = invoice.lines.filter((line) => !isOwn(line)).map(({ id }) => id);
  return added.length === 0 ? invoice : { ...invoice, origin: { ...invoice.origin!, added } };
}

/** The document that a line came from (SAF-T page, section 5, OrderReferences); undefined of a line that was added. */
export function originOf({ origin }: Content, { id }: PricedLine): DocumentRef | undefined {
  return origin?.added?.includes(id) ? undefined : origin;
}

/**
 * The lines of a conversion; without `wanted` everything that is open. Throws INVALID_REQUEST with UNKNOWN_LINE,
 * DUPLICATE_LINE or QUANTITY_EXCEEDS_OPEN. Nothing open: an empty list.
 */
export function takenLines(
  proforma: readonly PricedLine[],
  { quantities }: Open,
  wanted: readonly WantedLine[] | undefined,
): TakenLine[] {
  const rest = proforma.map((line) => ({ line, quantity: quantities.get(line.id)! }));
  if (wanted === undefined) return rest.filter(({ quantity }) => !isZero(quantity));
  const seen = new Set<string>();
  const problems: Problem[] = [];
  const taken = wanted.flatMap(({ id, quantity }, i): TakenLine[] => {
    const line = lineNamed(proforma, id);
    if (line === undefined) {
      problems.push({ code: 'UNKNOWN_LINE', pointer: `/items/${i}/id` });
      return [];
    }
    if (seen.has(line.id)) problems.push({ code: 'DUPLICATE_LINE', pointer: `/items/${i}/id` });
    seen.add(line.id);
    const open = quantities.get(line.id)!;
    if (compare(quantity, open) > 0) {
      problems.push({ code: 'QUANTITY_EXCEEDS_OPEN', pointer: `/items/${i}/quantity`, facts: { open } });
    }
    return [{ line, quantity }];
  });
  refuseAll(problems);
  return taken;
}

function lineNamed(proforma: readonly PricedLine[], id: string): PricedLine | undefined {
  const own = proforma.find((line) => line.id === id);
  if (own !== undefined) return own;
  const [first, ...more] = proforma.filter((line) => line.itemId === id);
  return more.length === 0 ? first : undefined;
}

/**
 * The global discount of a conversion: a percentage stays. Of an amount the part that the lines have of the whole, down
 * to the cent, so that no split ever gets more than the whole; all that the invoices so far left of it when these lines
 * are the last; and never more than the lines are worth.
 */
export function discountOf(
  proforma: Pick<Content, 'lines' | 'globalDiscount'>,
  taken: readonly TakenLine[],
  before: readonly Pick<Content, 'globalDiscount'>[],
  open: Open,
): Discount | undefined {
  const whole = proforma.globalDiscount;
  if (whole === undefined || whole.type === 'PERCENT') return whole;
  const used = sum(before.map(({ globalDiscount: one }) => (one?.type === 'AMOUNT' ? one.value : '0')));
  const left = compare(used, whole.value) >= 0 ? '0' : subtract(whole.value, used);
  const isLast = proforma.lines.every((line) => {
    const quantity = taken.find((one) => one.line.id === line.id)?.quantity ?? '0';
    return compare(quantity, open.quantities.get(line.id)!) === 0;
  });
  const worths = taken.map(({ line, quantity }) => worthOf({ ...line, quantity }));
  // As pricing rounds them: a discount above that is refused.
  const most = smaller(left, sum(worths.map(round2)));
  const value = isLast ? most : smaller(most, partOf(whole.value, sum(worths), sum(proforma.lines.map(worthOf))));
  return isZero(value) ? undefined : { type: 'AMOUNT', value: round2(value) };
}

/** amount × part ÷ whole in whole cents, rounded down. */
function partOf(amount: Decimal, part: Decimal, whole: Decimal): Decimal {
  if (isZero(whole)) return '0';
  const rounded = divide(multiply(amount, part), whole, 2);
  const above = compare(multiply(rounded, whole), multiply(amount, part)) > 0;
  return above ? subtract(rounded, '0.01') : rounded;
}

/**
 * Credit notes: the lines of the original that are taken back, in full or in part, at the original's prices, rates and
 * exemption codes (documents page, section 5). Quantities and values still open on the original are the limit. All notes
 * together take exactly what the original had: amounts are rounded over what the notes have taken so far, so that each
 * is at most a cent away from its own rounding, and the last does not make up for all before it. Only where notes between
 * were cancelled may it have to, since what the others took of their cents stays with them.
 */
import {
  add,
  compare,
  divide,
  excess,
  isZero,
  larger,
  multiply,
  percentOf,
  round2,
  smaller,
  subtract,
  sum,
  trimmed,
} from './decimal.ts';
import type { Content, Decimal, Priced, PricedLine, TaxGroup, Totals, WithholdingGroup } from './document.ts';
import { worthOf } from './open-line.ts';
import { assert, type Problem, refuseAll } from './refusal.ts';
import { firstBy, rateKey, type Share, sharesOf, together, withholdingKey } from './tax-groups.ts';

/** A line of the original to take back; no quantity: all that is open of it. */
export interface CreditedLine {
  /** Id of the original's line. */
  readonly id: string;
  readonly quantity?: Decimal | undefined;
}

/** Of one line of the original, by one note or by several together. */
export interface TakenLine {
  readonly originLineId: string;
  readonly quantity: Decimal;
  readonly net: Decimal;
  readonly eurNet: Decimal;
}

/** What the active notes so far have taken of the original; `totals` and `books` of each. */
export interface Taken {
  readonly lines: readonly TakenLine[];
  readonly totals: readonly Totals[];
  readonly books: readonly Totals[];
}

/**
 * The priced body of a credit note over `original`, of which notes have `taken` a part so far. Without `wanted`:
 * everything that is open. Throws INVALID_REQUEST with UNKNOWN_LINE, QUANTITY_EXCEEDS_OPEN, DUPLICATE_LINE or
 * NOTHING_TO_CREDIT.
 */
export function creditNoteOver(
  original: Content,
  taken: Taken,
  wanted: readonly CreditedLine[] | undefined,
  newId: () => string,
): Priced & Pick<Content, 'globalDiscount'> {
  const open = openLines(original.lines, taken.lines);
  const asked: readonly CreditedLine[] =
    wanted ??
    [...open.values()].filter((line) => compare(line.quantity, '0') > 0).map((line) => ({ id: line.line.id }));
  refuseAll(problemsOf(open, asked));
  const inEuros = original.currency === 'EUR';
  const lines = asked.map((item, i) => creditedLine(open.get(item.id)!, item.quantity, i + 1, newId(), inEuros));
  const totals = totalsOf(lines, original.totals, taken.totals, (line) => line.net);
  const books = totalsOf(lines, original.books, taken.books, (line) => line.eur.net);
  const gross = round2(sum(lines.map((line) => line.gross)));
  return {
    lines: withTaxes(lines, totals, books),
    netBeforeDiscount: gross,
    ...globalShare(original, lines, totals.net),
    totals,
    books,
  };
}

/** What the original's global discount took off the lines: of a percentage the same one, of an amount this part. */
function globalShare({ globalDiscount }: Content, lines: readonly PricedLine[], net: Decimal) {
  const none = { globalDiscountAmount: '0.00' };
  if (globalDiscount === undefined) return none;
  // A line's net may be a cent off its own rounding, which is neither a discount nor more than the share.
  const worth = sum(lines.map((line) => smaller(round2(worthOf(line)), line.gross)));
  const amount = compare(worth, net) > 0 ? round2(subtract(worth, net)) : none.globalDiscountAmount;
  if (globalDiscount.type === 'PERCENT') return { globalDiscount, globalDiscountAmount: amount };
  return isZero(amount) ? none : { globalDiscount: { ...globalDiscount, value: amount }, globalDiscountAmount: amount };
}

interface OpenLine {
  readonly line: PricedLine;
  readonly quantity: Decimal;
  readonly net: Decimal;
  readonly eurNet: Decimal;
}

/** By the id of the original's line, in its order. */
function openLines(original: readonly PricedLine[], taken: readonly TakenLine[]): Map<string, OpenLine> {
  const byLine = new Map<string, TakenLine[]>();
  for (const one of taken) {
    const of = byLine.get(one.originLineId);
    if (of === undefined) byLine.set(one.originLineId, [one]);
    else of.push(one);
  }
  return new Map(original.map((line) => [line.id, openLine(line, byLine.get(line.id) ?? [])]));
}

function openLine(line: PricedLine, taken: readonly TakenLine[]): OpenLine {
  const rest = (whole: Decimal, amountOf: (one: TakenLine) => Decimal) => left(whole, taken.map(amountOf));
  return {
    line,
    quantity: rest(line.quantity, (one) => one.quantity),
    net: round2(rest(line.net, (one) => one.net)),
    eurNet: round2(rest(line.eur.net, (one) => one.eurNet)),
  };
}

function problemsOf(open: ReadonlyMap<string, OpenLine>, asked: readonly CreditedLine[]): Problem[] {
  if (asked.length === 0) return [{ code: 'NOTHING_TO_CREDIT', pointer: '/parentInvoiceId' }];
  const seen = new Set<string>();
  return asked.flatMap((item, i): Problem[] => {
    const found = open.get(item.id);
    if (found === undefined) return [{ code: 'UNKNOWN_LINE', pointer: `/items/${i}/id` }];
    if (seen.has(item.id)) return [{ code: 'DUPLICATE_LINE', pointer: `/items/${i}/id` }];
    seen.add(item.id);
    const exceeds = item.quantity === undefined ? isZero(found.quantity) : compare(item.quantity, found.quantity) > 0;
    return exceeds
      ? [{ code: 'QUANTITY_EXCEEDS_OPEN', pointer: `/items/${i}/quantity`, facts: { open: found.quantity } }]
      : [];
  });
}

/** The part of a line that a quantity takes: in proportion to the whole line, over what earlier notes have taken. */
function creditedLine(
  open: OpenLine,
  quantity: Decimal | undefined,
  number: number,
  id: string,
  inEuros: boolean,
): PricedLine {
  const { line } = open;
  const taken = quantity ?? open.quantity;
  const upTo = add(subtract(line.quantity, open.quantity), taken);
  const isLast = compare(taken, open.quantity) === 0;
  const shareOf = (whole: Decimal, of: Decimal): Decimal => round2(divide(multiply(whole, of), line.quantity, 2));
  const share = (whole: Decimal, rest: Decimal): Decimal =>
    isLast ? rest : part(shareOf(whole, upTo), shareOf(whole, taken), whole, rest);
  const net = share(line.net, open.net);
  const eurNet = share(line.eur.net, open.eurNet);
  // Without a discount what rounding takes is none either.
  const gross = isZero(line.discountAmount) ? net : larger(round2(multiply(taken, line.unitPrice)), net);
  const discountAmount = round2(subtract(gross, net));
  return {
    ...line,
    id,
    originLineId: line.id,
    number,
    quantity: taken,
    gross,
    discountAmount,
    net,
    tax: '0.00',
    unitNet: unit(net, taken),
    withholdingAmount: '0.00',
    eur: {
      net: eurNet,
      tax: '0.00',
      unitNet: unit(eurNet, taken),
      discountAmount: inEuros ? discountAmount : convertedDiscount(line, taken, eurNet),
    },
  };
}

/** What the discount of a line in another currency is in euros, of the quantity taken. */
function convertedDiscount({ eur, quantity }: PricedLine, taken: Decimal, eurNet: Decimal): Decimal {
  if (isZero(eur.discountAmount)) return '0.00';
  const gross = round2(divide(multiply(add(eur.net, eur.discountAmount), taken), quantity, 2));
  return round2(subtract(larger(gross, eurNet), eurNet));
}

/** Totals per rate, rounded over all notes up to this one: never above what is left of the original. */
function totalsOf(
  lines: readonly PricedLine[],
  original: Totals,
  before: readonly Totals[],
  netOf: (line: PricedLine) => Decimal,
): Totals {
  const rates = firstBy(original.groups, rateKey);
  const taxed = sharesOf(
    before.flatMap((note) => note.groups),
    rateKey,
    (group) => group.tax,
  );
  // In the order in which the note's lines have them: its QR code begins with the region of its first line.
  const groups = [...together(lines, rateKey)].flatMap(([key, own]): TaxGroup[] => {
    const group = rates.get(key);
    if (group === undefined) return [];
    const base = round2(sum(own.map(netOf)));
    return [{ ...group, base, tax: levied(base, group.rate, { base: group.base, amount: group.tax }, taxed(key)) }];
  });
  const withheld = sharesOf(
    before.flatMap((note) => note.withholdings),
    withholdingKey,
    (group) => group.amount,
  );
  const ofKind = together(lines, kindsOf(original.withholdings));
  const withholdings = original.withholdings.flatMap((group): WithholdingGroup[] => {
    const own = ofKind.get(group);
    if (own === undefined) return [];
    const base = round2(sum(own.map(netOf)));
    const amount = levied(base, group.percent, group, withheld(withholdingKey(group)));
    // Of a note of a cent or two the cents of cancelled ones may be more than it has: nobody withholds more than all of it.
    return [{ ...group, base, amount: smaller(amount, base) }];
  });
  const net = round2(sum(lines.map(netOf)));
  const tax = round2(sum(groups.map((group) => group.tax)));
  const gross = round2(add(net, tax));
  const withholding = round2(sum(withholdings.map((group) => group.amount)));
  assert(
    compare(net, sum(groups.map((group) => group.base))) === 0,
    'every line of a note is of a rate of the original',
  );
  return { net, tax, gross, withholding, toPay: round2(subtract(gross, withholding)), groups, withholdings };
}

/**
 * Finds the group of a line's withholding. Older invoices have norms of one type and percentage together, under the first of
 * them.
 */
function kindsOf(groups: readonly WithholdingGroup[]): (line: PricedLine) => WithholdingGroup | undefined {
  const alikeKey = ({ type, percent }: Pick<WithholdingGroup, 'type' | 'percent'>) => withholdingKey({ type, percent });
  const same = firstBy(groups, withholdingKey);
  const alike = firstBy(groups, alikeKey);
  return ({ withholding: own }) => own && (same.get(withholdingKey(own)) ?? alike.get(alikeKey(own)));
}

/** A note's percentage of its base: that of all notes up to it, less what those before it have `taken` of the `whole`. */
function levied(base: Decimal, percent: Decimal, whole: Share, taken: Share): Decimal {
  const upTo = add(taken.base, base);
  const rest = left(whole.amount, [taken.amount]);
  if (compare(upTo, whole.base) >= 0) return round2(rest);
  return part(round2(percentOf(percent, upTo)), round2(percentOf(percent, base)), whole.amount, rest);
}

const cent = '0.01';

/**
 * What leads from what was taken of the whole to `target`, but no more than a cent away from the note's `own` rounding, and no
 * more than is left. It would be, where notes between were cancelled: the cents that the others have of them stay with those.
 */
function part(target: Decimal, own: Decimal, whole: Decimal, rest: Decimal): Decimal {
  const step = excess(target, subtract(whole, rest));
  const near = larger(excess(own, cent), smaller(step, add(own, cent)));
  return round2(smaller(near, rest));
}

/** Spreads the tax of each rate, and the withholding of each kind, over the note's lines. */
function withTaxes(lines: readonly PricedLine[], totals: Totals, books: Totals): PricedLine[] {
  const [rates, eurRates] = [firstBy(totals.groups, rateKey), firstBy(books.groups, rateKey)];
  const taxes = spreadOver(
    lines,
    (line) => rates.get(rateKey(line)),
    (group) => group.tax,
    (line) => line.net,
  );
  const eurTaxes = spreadOver(
    lines,
    (line) => eurRates.get(rateKey(line)),
    (group) => group.tax,
    (line) => line.eur.net,
  );
  const withheld = spreadOver(
    lines,
    kindsOf(totals.withholdings),
    (group) => group.amount,
    (line) => line.net,
  );
  return lines.map((line, i) => ({
    ...line,
    tax: taxes[i]!,
    withholdingAmount: withheld[i]!,
    eur: { ...line.eur, tax: eurTaxes[i]! },
  }));
}

function spreadOver<G>(
  lines: readonly PricedLine[],
  groupOf: (line: PricedLine) => G | undefined,
  amountOf: (group: G) => Decimal,
  netOf: (line: PricedLine) => Decimal,
): Decimal[] {
  const result = lines.map(() => '0.00');
  for (const [group, own] of together(lines.keys(), (i) => groupOf(lines[i]!))) {
    if (group === undefined) continue;
    const base = sum(own.map((i) => netOf(lines[i]!)));
    let running = '0';
    let given = '0';
    for (const i of own) {
      running = add(running, netOf(lines[i]!));
      const upTo = isZero(base) ? '0' : round2(divide(multiply(amountOf(group), running), base, 2));
      result[i] = round2(subtract(upTo, given));
      given = upTo;
    }
  }
  return result;
}

function left(whole: Decimal, parts: readonly Decimal[]): Decimal {
  const used = sum(parts);
  return compare(used, whole) >= 0 ? '0' : trimmed(subtract(whole, used));
}

const unit = (net: Decimal, quantity: Decimal): Decimal => trimmed(divide(net, quantity, 6), 2);

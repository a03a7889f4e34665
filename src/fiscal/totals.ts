/**
 * Prices a document: one rounding policy, so that paper, SAF-T, QR code and web service tie to the cent.
 *
 *  1. Line base = quantity × unit price, exact.
 *  2. Less the line's own discount, exact.
 *  3. Less the line's part of the global discount: the same percentage on each line, exact; or an amount shared in whole
 *     cents in proportion to the exact line values (share-out.ts).
 *  4. Line net = that, rounded to 2 decimals half away from zero.
 *  5. VAT per (region, tax code, rate, exemption code), rounded once on the group's base; net + tax = gross.
 *  6. Withholding per (type, percent, legal norm) on net bases; it changes no total, only what is to pay.
 *  7. Another currency: each line's net is converted and rounded, then steps 5 and 6 again in EUR.
 *
 * Law: more than 2 decimals inside, the gross total rounded to 2 and exactly what is signed (Despacho 8632/2014, 3.2.3
 * and 2.6.7); discounts between 0 and 100 % (3.2.8); no negative amounts.
 */
import { add, compare, divide, multiply, percentOf, round2, subtract, sum, trimmed } from './decimal.ts';
import type { Decimal, Priced, PricedLine, PriceInput, TaxGroup, Totals, WithholdingGroup } from './document.ts';
import { type LevyGroup, levy } from './levy.ts';
import { type OpenLine, openLine } from './open-line.ts';
import { type Problem, refuseAll } from './refusal.ts';
import { shareOut } from './share-out.ts';
import { withholdingKey } from './tax-groups.ts';

/** No total reaches this: 13 digits before the point is what replies keep exactly as JSON numbers. */
const limit = '10000000000000';

/**
 * Lines and totals of a document. Throws INVALID_REQUEST with every problem at once, each with a pointer into the draft
 * body ("/items/0/unitDiscountAmount"): discounts beyond 100 %, exemption codes missing, unknown, ended or out of place,
 * a fixed rate that is not in force on the tax point, an exchange rate missing or out of place, totals of 1e13 or more.
 */
export function price(input: PriceInput): Priced {
  const problems: Problem[] = [];
  const open = input.lines.map((line, index) => openLine(line, index, input.taxPoint, problems));
  const values = open.map((line) => round2(line.value));
  const total = sum(values);
  const nets = netsOf(input, open, values, total, problems);
  checkCurrency(input, problems);
  const netBeforeDiscount = round2(sum(open.map((line) => line.gross)));
  checkLimit(problems, netBeforeDiscount);
  refuseAll(problems);

  const document = booksOf(open, nets);
  const books = input.exchangeRate === undefined ? document : booksOf(open, converted(nets, input.exchangeRate));
  checkLimit(problems, document.totals.gross, books.totals.gross);
  refuseAll(problems);
  return {
    lines: open.map((line, index) => pricedLine(line, index, document, books, input.exchangeRate)),
    netBeforeDiscount,
    globalDiscountAmount: round2(subtract(total, document.totals.net)),
    totals: document.totals,
    books: books.totals,
  };
}

/** Steps 3 and 4: the net of each line. When the global discount is refused, the nets are as if there were none. */
function netsOf(
  input: PriceInput,
  open: readonly OpenLine[],
  values: readonly Decimal[],
  total: Decimal,
  problems: Problem[],
): readonly Decimal[] {
  const discount = input.globalDiscount;
  if (discount === undefined) return values;
  const percent = discount.type === 'PERCENT';
  if (compare(discount.value, percent ? '100' : total) > 0) {
    const pointer = percent ? '/globalDiscountPercent' : '/globalDiscountAmount';
    problems.push({ code: 'DISCOUNT_OUT_OF_RANGE', pointer });
    return values;
  }
  if (percent) {
    const kept = subtract('100', discount.value);
    return open.map((line) => round2(percentOf(kept, line.value)));
  }
  const shares = shareOut(
    discount.value,
    open.map((line) => line.value),
  );
  return values.map((value, index) => round2(subtract(value, shares[index]!)));
}

function checkCurrency(input: PriceInput, problems: Problem[]): void {
  const foreign = input.currency !== 'EUR';
  if (foreign === (input.exchangeRate !== undefined)) return;
  problems.push({ code: foreign ? 'EXCHANGE_RATE_REQUIRED' : 'EXCHANGE_RATE_NOT_ALLOWED', pointer: '/exchangeRate' });
}

function checkLimit(problems: Problem[], ...amounts: readonly Decimal[]): void {
  if (amounts.every((amount) => compare(amount, limit) < 0)) return;
  problems.push({ code: 'AMOUNT_TOO_LARGE', pointer: '/items' });
}

/** The totals of one currency, and each line's amounts in it. */
interface Books {
  readonly nets: readonly Decimal[];
  readonly taxes: readonly Decimal[];
  readonly withheld: readonly Decimal[];
  readonly totals: Totals;
}

/** Steps 5 and 6. */
function booksOf(open: readonly OpenLine[], nets: readonly Decimal[]): Books {
  const vat = levy(open.map((line, index) => ({ key: line.taxKey, percent: line.rate, base: nets[index]! })));
  const kept = levy(
    open.map(({ line: { withholding } }, index) => ({
      // Each norm stands in SAF-T with its own amount (VAT page, section 4).
      key: withholding && withholdingKey(withholding),
      percent: withholding?.percent ?? '0',
      base: nets[index]!,
    })),
  );
  const net = round2(sum(nets));
  const tax = round2(sum(vat.groups.map((group) => group.amount)));
  const gross = round2(add(net, tax));
  const withholding = round2(sum(kept.groups.map((group) => group.amount)));
  const groups = vat.groups.map((group) => taxGroup(open, group));
  const withholdings = kept.groups.map((group) => withholdingGroup(open, group));
  const toPay = round2(subtract(gross, withholding));
  return {
    nets,
    taxes: vat.parts,
    withheld: kept.parts,
    totals: { net, tax, gross, withholding, toPay, groups, withholdings },
  };
}

function taxGroup(open: readonly OpenLine[], group: LevyGroup): TaxGroup {
  const { line, rate, taxCode } = open[group.first]!;
  const exemption = line.exemptionCode === undefined ? {} : { exemptionCode: line.exemptionCode };
  return { region: line.region, taxCode, rate, ...exemption, base: group.base, tax: group.amount };
}

function withholdingGroup(open: readonly OpenLine[], group: LevyGroup): WithholdingGroup {
  const { type, percent, reason } = open[group.first]!.line.withholding!;
  const why = reason === undefined ? {} : { reason };
  return { type, percent: trimmed(percent), ...why, base: group.base, amount: group.amount };
}

/** Step 7: EUR per 1 unit, rounded per line. */
function converted(amounts: readonly Decimal[], exchangeRate: Decimal): readonly Decimal[] {
  return amounts.map((amount) => round2(multiply(amount, exchangeRate)));
}

function pricedLine(
  open: OpenLine,
  index: number,
  document: Books,
  books: Books,
  exchangeRate: Decimal | undefined,
): PricedLine {
  const money = moneyOf(open, index, document, open.gross);
  const { net, tax, unitNet, discountAmount } = money;
  const { line } = open;
  // Member by member: what is spread first and added to makes V8 describe each object anew, in 20 µs instead of 0.05.
  return {
    id: line.id,
    originLineId: line.originLineId,
    itemId: line.itemId,
    name: line.name,
    description: line.description,
    productType: line.productType,
    unit: line.unit,
    quantity: line.quantity,
    unitPrice: line.unitPrice,
    vatRate: line.vatRate,
    region: line.region,
    fixedRate: line.fixedRate,
    exemptionCode: line.exemptionCode,
    discount: line.discount,
    withholding: line.withholding,
    number: index + 1,
    rate: open.rate,
    taxCode: open.taxCode,
    gross: open.gross,
    discountAmount,
    net,
    tax,
    unitNet,
    withholdingAmount: document.withheld[index]!,
    eur: exchangeRate === undefined ? money : moneyOf(open, index, books, round2(multiply(open.gross, exchangeRate))),
  } satisfies Record<keyof PricedLine, unknown>;
}

/** A line's amounts in one currency; `gross` is the line before discounts in that currency. */
function moneyOf(open: OpenLine, index: number, books: Books, gross: Decimal): PricedLine['eur'] {
  const net = books.nets[index]!;
  const discountAmount = round2(subtract(gross, net));
  return { net, tax: books.taxes[index]!, unitNet: unitPrice(net, open.line.quantity), discountAmount };
}

/** After all discounts, so that quantity × unit price is the line's net as near as 6 decimals come; 2 of them at least. */
function unitPrice(net: Decimal, quantity: Decimal): Decimal {
  return quantity === '1' ? net : trimmed(divide(net, quantity, 6), 2);
}

/** One line before the global discount: its base, its own discount, its rate, and what is wrong with it. */
import { compare, multiply, percentOf, round2, subtract } from './decimal.ts';
import type { Day, Decimal, LineInput, TaxCode } from './document.ts';
import { exemptionCodesOn, exemptionOn } from './exemptions.ts';
import { assert, type Problem } from './refusal.ts';
import { findRate, rateFacts, taxCodes } from './vat-rates.ts';

export interface OpenLine {
  readonly line: LineInput;
  readonly rate: Decimal;
  readonly taxCode: TaxCode;
  /** Names the line's VAT group: region, tax code, rate, exemption code. */
  readonly taxKey: string;
  /** quantity × unit price, rounded to 2. */
  readonly gross: Decimal;
  /** After the line's own discount, exact. */
  readonly value: Decimal;
}

/** Opens a line. Problems are added to `problems`; the line that comes back is then only good for finding more of them. */
export function openLine(line: LineInput, index: number, taxPoint: Day, problems: Problem[]): OpenLine {
  assert(compare(line.quantity, '0') > 0, 'a line has a quantity');
  assert(line.withholding === undefined || compare(line.withholding.percent, '100') <= 0, 'withholding above 100 %');
  const place = `/items/${index}`;
  const base = multiply(line.quantity, line.unitPrice);
  const rate = checkedRate(line, place, taxPoint, problems);
  checkExemption(line, place, taxPoint, problems);
  const taxCode = taxCodes[line.vatRate];
  return {
    line,
    rate,
    taxCode,
    taxKey: `${line.region} ${taxCode} ${rate} ${line.exemptionCode ?? ''}`,
    gross: round2(base),
    value: afterOwnDiscount(line, base, place, problems),
  };
}

/** Despacho 8632/2014, 3.2.8: between 0 and 100 % of what it is taken from. An amount is taken from the unit price. */
function afterOwnDiscount(line: LineInput, base: Decimal, place: string, problems: Problem[]): Decimal {
  const discount = line.discount;
  if (discount === undefined) return base;
  const percent = discount.type === 'PERCENT';
  if (compare(discount.value, percent ? '100' : line.unitPrice) > 0) {
    const pointer = `${place}/${percent ? 'unitDiscountPercent' : 'unitDiscountAmount'}`;
    problems.push({ code: 'DISCOUNT_OUT_OF_RANGE', pointer });
    return base;
  }
  return worthOf(line);
}

/** quantity × unit price less the line's own discount, exact; of a line whose discount is in range. */
export function worthOf({
  quantity,
  unitPrice,
  discount,
}: Pick<LineInput, 'quantity' | 'unitPrice' | 'discount'>): Decimal {
  const base = multiply(quantity, unitPrice);
  if (discount === undefined) return base;
  if (discount.type === 'PERCENT') return percentOf(subtract('100', discount.value), base);
  return multiply(quantity, subtract(unitPrice, discount.value));
}

/** A rate fixed by hand must be the one in force for its name: a NORMAL line at 13 % would stand in the wrong QR field. */
function checkedRate(line: LineInput, place: string, day: Day, problems: Problem[]): Decimal {
  const rate = findRate(line.region, line.vatRate, day);
  const asked = line.fixedRate;
  if (rate !== undefined && (asked === undefined || compare(asked, rate) === 0)) return rate;
  const facts = rateFacts(line.region, line.vatRate, day);
  problems.push({ code: 'VAT_RATE_NOT_IN_FORCE', pointer: `${place}/vatRate`, facts });
  return rate ?? '0';
}

/** A code is mandatory exactly when the rate is 0 (SAF-T assertions 1 and 2). */
function checkExemption(line: LineInput, place: string, day: Day, problems: Problem[]): void {
  const pointer = `${place}/vatExemptionReason`;
  const code = line.exemptionCode;
  if (line.vatRate !== 'EXEMPT') {
    if (code !== undefined) problems.push({ code: 'EXEMPTION_NOT_ALLOWED', pointer });
    return;
  }
  if (code === undefined) problems.push({ code: 'EXEMPTION_REQUIRED', pointer });
  else if (exemptionOn(code, day) === undefined) {
    problems.push({ code: 'EXEMPTION_UNKNOWN', pointer, facts: { code, date: day, allowed: exemptionCodesOn(day) } });
  }
}

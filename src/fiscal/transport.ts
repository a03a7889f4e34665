/**
 * Transport documents (DL 147/2003 as changed by DL 28/2019): goods in circulation are told to the AT before the
 * transport starts. So nothing is issued for a start that is past, and nothing is cancelled after it.
 */
import type { Day, Priced, PricedLine, PriceInput, Region, Totals, Transport } from './document.ts';
import { assert, type Problem, Refusal } from './refusal.ts';
import { dayOf, laterText, zonedText } from './time.ts';
import { findRate, taxCodes } from './vat-rates.ts';

const zero = '0.00';
const nothing: Totals = {
  net: zero,
  tax: zero,
  gross: zero,
  withholding: zero,
  toPay: zero,
  groups: [],
  withholdings: [],
};

/**
 * Lines that say what is carried and not what it costs: every amount is 0.00 and there is no tax (SAF-T reference,
 * section 6). Rates and exemption codes are not judged, since the document does not tell them.
 */
export function unvalued({ lines, taxPoint, currency }: PriceInput): Priced {
  assert(currency === 'EUR', 'a document without values has no currency of its own');
  return {
    lines: lines.map(
      (line, index): PricedLine => ({
        ...line,
        number: index + 1,
        unitPrice: zero,
        discount: undefined,
        withholding: undefined,
        rate: findRate(line.region, line.vatRate, taxPoint) ?? '0',
        taxCode: taxCodes[line.vatRate],
        gross: zero,
        discountAmount: zero,
        net: zero,
        tax: zero,
        unitNet: zero,
        withholdingAmount: zero,
        eur: { net: zero, tax: zero, unitNet: zero, discountAmount: zero },
      }),
    ),
    netBeforeDiscount: zero,
    globalDiscountAmount: zero,
    totals: nothing,
    books: nothing,
  };
}

/**
 * Start and end in local time, as the paper, SAF-T and the AT tell them. In autumn's repeated hour the clock can show less
 * at the start than at the signature, and at the end than at the start; no transport starts before its document is issued
 * (`systemEntry`), nor ends before it begins.
 */
export function journeyTimes(
  { start, end }: Pick<Transport, 'start' | 'end'>,
  region: Region,
  systemEntry: string,
): { readonly start: string; readonly end?: string | undefined } {
  const began = laterText(start, region, systemEntry);
  return { start: began, end: end === undefined ? undefined : laterText(end, region, began) };
}

/** Whole seconds count: documents, SAF-T and the AT know no fractions. */
function isPast(start: string, now: Date): boolean {
  return Date.parse(start) < Math.floor(now.getTime() / 1000) * 1000;
}

/** What is wrong with the times of a draft: a start that is past can never be issued any more. */
export function timeProblems(
  { start, end }: Pick<Transport, 'start' | 'end'>,
  asked: { readonly start: boolean; readonly end: boolean },
  now: Date,
  region: Region,
): Problem[] {
  const problems: Problem[] = [];
  if (asked.start && isPast(start, now)) {
    problems.push({ code: 'MOVEMENT_IN_PAST', pointer: '/movementDate', facts: startFacts(start, now, region) });
  }
  if ((asked.start || asked.end) && end !== undefined && Date.parse(end) < Date.parse(start)) {
    problems.push({ code: 'END_BEFORE_START', pointer: asked.end ? '/movementEndDate' : '/movementDate' });
  }
  return problems;
}

/**
 * At the moment of issue: throws MOVEMENT_IN_PAST, and MOVEMENT_TOO_FAR for what the AT does not take yet (code -21: the
 * document would be numbered and could not be told).
 */
export function checkStart({ start }: Pick<Transport, 'start'>, now: Date, region: Region): void {
  if (isPast(start, now)) throw new Refusal('MOVEMENT_IN_PAST', startFacts(start, now, region));
  const day = dayOf(start, region);
  if (day > monthsLater(dayOf(now, region), 3)) {
    throw new Refusal('MOVEMENT_TOO_FAR', { start: zonedText(start, region), from: monthsLater(day, -3) });
  }
}

/** Cancelling is for transports that did not start (AT transport manual, code -13). Throws MOVEMENT_STARTED. */
export function checkNotStarted({ start }: Pick<Transport, 'start'>, now: Date, region: Region): void {
  if (Date.parse(start) <= now.getTime()) throw new Refusal('MOVEMENT_STARTED', { start: zonedText(start, region) });
}

function startFacts(start: string, now: Date, region: Region): { readonly start: string; readonly now: string } {
  return { start: zonedText(start, region), now: zonedText(now, region) };
}

/** The same day some months later, or the month's last one. */
export function monthsLater(day: Day, months: number): Day {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, lastDay))).toISOString().slice(0, 10);
}

/** Groups of letters and digits with one hyphen or space between: "00-AA-00", "AA 00 AA", and plates of other countries. */
export function isLicensePlate(text: string): boolean {
  return /^[A-Z0-9]+([ -][A-Z0-9]+)*$/i.test(text) && /\d/.test(text) && text.length >= 4;
}

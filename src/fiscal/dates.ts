/**
 * Days that a document may have: against the first day that SAF-T has room for, and against the days that the document
 * names, of the document it is about and of its payment.
 */
import type { Content, Day } from './document.ts';
import type { Problem } from './refusal.ts';

/**
 * StartDate, EndDate and FiscalYear of a SAF-T file begin here (Portaria 302/2016, types SAFPTDateSpan and FiscalYear): what
 * is dated before can stand in no valid file, and makes each one that has to hold it invalid.
 */
export const earliest_day: Day = '2000-01-01';

/** What of a document, or of a draft, its day is held against. */
export type Dated = Pick<Content, 'type' | 'parent' | 'origin' | 'taxPointDate' | 'dueDate' | 'payment' | 'recovered'>;

/** DATE_TOO_EARLY of a day, where SAF-T has no room for it. */
export function tooEarly(pointer: string, date: Day | undefined): Problem[] {
  if (date === undefined || date >= earliest_day) return [];
  return [{ code: 'DATE_TOO_EARLY', pointer, facts: { date, earliest: earliest_day } }];
}

/**
 * What stands against dating a document `date`; nothing but a day that is too early where a draft has no date yet. It names a
 * document that was there already (CIVA article 36, no. 6), so it is not before it: it would also fall into a tax period in
 * which there was nothing to correct. What is paid when it is issued (FR, FS) was paid by then. A recovered paper stands as
 * it was handed out. A supply may lie ahead of its invoice (CIVA article 8), so nothing else is said of the tax point.
 */
export function dateProblems(date: Day | undefined, dated: Dated): Problem[] {
  const early = earlyProblems(date, dated);
  // Such a slip contradicts the others too: it is told alone.
  if (early.length > 0 || date === undefined || dated.recovered !== undefined) return early;
  const { parent, origin, payment } = dated;
  const problems: Problem[] = [];
  for (const about of [parent, origin]) {
    if (about === undefined || date >= about.date) continue;
    const facts = { number: about.number, parentDate: about.date, date };
    problems.push({ code: 'DATE_BEFORE_PARENT', pointer: '/date', facts });
  }
  const paymentDate = payment?.date;
  if (paymentDate !== undefined && paymentDate > date) {
    problems.push({ code: 'PAYMENT_AFTER_DATE', pointer: '/payment/date', facts: { paymentDate, date } });
  }
  return problems;
}

/**
 * A day before the first one is a slip wherever it stands, also where the schema of SAF-T has no bound. Not asked for, and so
 * not judged: the tax point of a credit note, which is that of what it credits, and the payment of a receipt, which is of
 * the receipt's own day.
 */
function earlyProblems(date: Day | undefined, { type, taxPointDate, dueDate, payment }: Dated): Problem[] {
  return [
    ...tooEarly('/date', date),
    ...tooEarly('/taxPointDate', type === 'CREDIT_NOTE' ? undefined : taxPointDate),
    ...tooEarly('/dueDate', dueDate),
    ...tooEarly('/payment/date', type === 'RECEIPT' ? undefined : payment?.date),
  ];
}

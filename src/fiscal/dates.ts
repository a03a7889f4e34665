/** The day of a document against the days that it names: of the document it is about, and of its payment. */
import type { Content, Day } from './document.ts';
import type { Problem } from './refusal.ts';

/** What of a document, or of a draft, its day is held against. */
type Dated = Pick<Content, 'parent' | 'origin' | 'payment' | 'recovered'>;

/**
 * What stands against dating a document `date`; nothing where a draft has no date yet. It names a document that was there
 * already (CIVA article 36, no. 6), so it is not before it: it would also fall into a tax period in which there was nothing
 * to correct. What is paid when it is issued (FR, FS) was paid by then. A recovered paper stands as it was handed out. A
 * supply may lie ahead of its invoice (CIVA article 8), so nothing is said of the tax point.
 */
export function dateProblems(date: Day | undefined, { parent, origin, payment, recovered }: Dated): Problem[] {
  if (date === undefined || recovered !== undefined) return [];
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

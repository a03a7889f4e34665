/**
 * A credit note of a recovery file: it names its invoice by a number and the lines that it takes back by their places, as
 * its paper does, and is made of that invoice like any other note (fiscal/credit-note.ts).
 */
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { type AskedCredit, type Credited, checkCreditable, creditNote } from '../../fiscal/credit-note.ts';
import { fromNumber } from '../../fiscal/decimal.ts';
import type { Content, Day, Decimal, Party, Recovered, Region } from '../../fiscal/document.ts';
import { quotedNumber } from '../../fiscal/recovery.ts';
import { refuseAll } from '../../fiscal/refusal.ts';
import { refOf } from '../../fiscal/standing.ts';
import { parseDay } from '../../fiscal/time.ts';
import { closed, line, oneOf, quantity } from '../fields.ts';
import { cleared } from '../invoices/draft.ts';
import { childMembers, ofInvoiceProblems, toldInFile } from './recovered-child.ts';
import { recoveredOf } from './recovered-document.ts';

export const RecoveredNote = closed({
  ...childMembers,
  type: oneOf(['CREDIT_NOTE'], 'Document type.'),
  reason: line(50, 'Why it is corrected, as the original says it.', 1),
  items: Type.Optional(
    Type.Array(
      closed({
        line: Type.Integer({ minimum: 1, maximum: 1000, description: "Place of the invoice's line, from 1." }),
        quantity: Type.Optional(quantity('How much of it; all that is open when absent.')),
      }),
      { minItems: 1, maxItems: 1000, description: 'Of a partial note; everything still open when absent.' },
    ),
  ),
});
export type RecoveredNote = Static<typeof RecoveredNote>;

/** What a note of the file is recovered as. */
export interface AskedRecoveredNote {
  readonly type: 'CREDIT_NOTE';
  readonly parentInvoiceNumber: string;
  readonly customerId: string;
  readonly reason: string;
  readonly lines?: readonly { readonly line: number; readonly quantity?: Decimal | undefined }[] | undefined;
  readonly date: Day;
  readonly notes: string | undefined;
  readonly recovered: Recovered;
  readonly total: Decimal;
}

/** `region` is the company's, for its days. */
export function askedNote(body: RecoveredNote, region: Region): AskedRecoveredNote {
  const { type, parentInvoiceNumber, customerId, reason, items, date, notes, total } = body;
  return {
    type,
    parentInvoiceNumber,
    customerId,
    reason,
    lines: items?.map((item) => ({
      line: item.line,
      quantity: item.quantity === undefined ? undefined : fromNumber(item.quantity),
    })),
    date: parseDay(date, region)!,
    notes: cleared(notes, undefined),
    recovered: recoveredOf(body),
    total: fromNumber(total),
  };
}

/**
 * The note over what is open of its invoice now, and what was asked for it by the ids of the invoice's lines. Throws
 * NOT_CREDITABLE, and INVALID_REQUEST with what is wrong at its place in the file.
 */
export function recoveredNote(
  invoice: Credited,
  asked: AskedRecoveredNote,
  issuer: Party,
  newId: () => string,
): { readonly content: Content; readonly credit: AskedCredit } {
  checkCreditable(invoice);
  const { lines } = invoice.content;
  const { reason, date, notes, recovered } = asked;
  const problems = ofInvoiceProblems(invoice, asked);
  const items = asked.lines?.flatMap(({ line, quantity }, i) => {
    const found = lines[line - 1];
    if (found !== undefined) return [{ id: found.id, quantity }];
    const facts = { number: quotedNumber(refOf(invoice)), line, lines: lines.length };
    problems.push({ code: 'RECOVERED_LINE', pointer: `/items/${i}/line`, facts });
    return [];
  });
  refuseAll(problems);
  const credit = { reason, items, date, notes };
  const content = toldInFile(() => creditNote(invoice, credit, issuer, newId));
  return { content: { ...content, recovered }, credit };
}

/** What notes and receipts of a recovery file have in common: they name the invoice that they are about. */
import { Type } from 'typebox';
import { dateProblems } from '../../fiscal/dates.ts';
import type { Day, DocumentType } from '../../fiscal/document.ts';
import { quotedNumber } from '../../fiscal/recovery.ts';
import { type Problem, Refusal } from '../../fiscal/refusal.ts';
import { type Head, refOf } from '../../fiscal/standing.ts';
import { id, line, text } from '../fields.ts';
import { originalMembers } from './recovered-document.ts';

/** Members of both. */
export const childMembers = {
  ...originalMembers,
  parentInvoiceNumber: line(60, 'The invoice: its number, of a recovered one the number that it had.', 1),
  customerId: id("Id of the customer, who is the invoice's."),
  notes: Type.Optional(text(2000, 'Printed notes.')),
};

/**
 * They are of their invoice's customer and not dated before it, also where they were written by hand: they would fall into a
 * tax period in which there was nothing to correct or to pay.
 */
export function ofInvoiceProblems(
  invoice: Head,
  { type, date, customerId }: { readonly type: DocumentType; readonly date: Day; readonly customerId: string },
): Problem[] {
  const ref = refOf(invoice);
  const problems = dateProblems(date, { type, parent: { ...ref, number: quotedNumber(ref) } });
  const { customer } = invoice.content;
  if (customer.id !== customerId)
    problems.push({ code: 'PARENT_DIFFERS', pointer: '/customerId', facts: { expected: customer.id } });
  return problems;
}

/** What is said of a request for a note or a payment is said of where the file has it. */
export function toldInFile<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, error.facts, { problems: error.problems.map(inFile) });
  }
}

const inFile = (problem: Problem): Problem => ({
  ...problem,
  pointer: problem.pointer
    .replace(/^\/parentInvoiceId$/, '/parentInvoiceNumber')
    .replace(/^(\/items\/\d+)\/id$/, '$1/line')
    .replace(/^\/amount$/, '/total'),
});

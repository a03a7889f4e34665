/**
 * A receipt of a recovery file: it names the invoice that was paid by a number, and says how much was received; it is made
 * of that invoice like any other receipt (fiscal/standing.ts).
 */
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { fromNumber } from '../../fiscal/decimal.ts';
import type { Content, Day, Decimal, Party, Recovered, Region } from '../../fiscal/document.ts';
import { mechanism } from '../../fiscal/payment-mechanisms.ts';
import { isOfOtherType } from '../../fiscal/recovery.ts';
import { refuseAll } from '../../fiscal/refusal.ts';
import { amountToPay, type Head, receiptOver } from '../../fiscal/standing.ts';
import { parseDay } from '../../fiscal/time.ts';
import { closed, line, moneyAboveZero, oneOf } from '../fields.ts';
import { cleared } from '../invoices/draft.ts';
import { childMembers, ofInvoiceProblems, toldInFile } from './recovered-child.ts';
import { recoveredOf } from './recovered-document.ts';

export const RecoveredReceipt = closed({
  ...childMembers,
  type: oneOf(['RECEIPT'], 'Document type; also of the cash VAT scheme (RC), as the invoice says.'),
  total: moneyAboveZero("What was received, in the invoice's currency."),
  method: Type.Optional(line(60, 'SAF-T mechanism code (MB, NU, TB, …) or its name.', 0, 'MB')),
});
export type RecoveredReceipt = Static<typeof RecoveredReceipt>;

/** What a receipt of the file is recovered as. */
export interface AskedRecoveredReceipt {
  readonly type: 'RECEIPT';
  readonly parentInvoiceNumber: string;
  readonly customerId: string;
  readonly date: Day;
  readonly method: string | undefined;
  readonly notes: string | undefined;
  readonly recovered: Recovered;
  readonly total: Decimal;
}

/** `region` is the company's, for its days. */
export function askedReceipt(body: RecoveredReceipt, region: Region): AskedRecoveredReceipt {
  const { type, parentInvoiceNumber, customerId, date, method, notes, total } = body;
  return {
    type,
    parentInvoiceNumber,
    customerId,
    date: parseDay(date, region)!,
    method: method === undefined ? undefined : mechanism(method),
    notes: cleared(notes, undefined),
    recovered: recoveredOf(body),
    total: fromNumber(total),
  };
}

/**
 * The receipt over what is outstanding of its invoice now. Throws INVALID_STATE, NOT_PAYABLE, and INVALID_REQUEST with what
 * is wrong at its place in the file.
 */
export function recoveredReceipt(invoice: Head, asked: AskedRecoveredReceipt, issuer: Party): Content {
  const { method, date, notes, recovered, total } = asked;
  const amount = toldInFile(() => amountToPay(invoice, Number(total)));
  const { cashVat } = invoice.content;
  const problems = ofInvoiceProblems(invoice, asked);
  // Which of its two codes a receipt has, its invoice says.
  if (isOfOtherType({ type: 'RECEIPT', cashVat }, recovered)) {
    const facts = { original: recovered.original, type: 'RECEIPT', code: cashVat === true ? 'RC' : 'RG' };
    problems.push({ code: 'RECOVERED_TYPE', pointer: '/original', facts });
  }
  refuseAll(problems);
  return { ...receiptOver(invoice, amount, { method, date }, notes), issuer, recovered };
}

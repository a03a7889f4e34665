/** One document of a recovery file: the body of a draft, with what it stands for. */
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { compare, fromNumber } from '../../fiscal/decimal.ts';
import { type Content, documentTypes, type Recovered, type Region } from '../../fiscal/document.ts';
import { isOfOtherType, isOriginal, longest_original, originalForm } from '../../fiscal/recovery.ts';
import type { Problem } from '../../fiscal/refusal.ts';
import { closed, dayOfBooks, line, money, oneOf } from '../fields.ts';
import { type AskedDraft, draftMembers, draftProblems, mergeDraft } from '../invoices/draft.ts';

/** Types that are recovered: those of POST /invoices. */
export const recoveredTypes = ['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE'] as const;

const { seriesId: _series, templateId: _template, ...members } = draftMembers;

export const RecoveredBody = closed({
  kind: oneOf(['M', 'D'], 'M: a printed form filled in by hand. D: a copy of a document lost with its data.'),
  original: line(longest_original, 'M: series/number of the form. D: the whole number of the lost document.', 1),
  type: oneOf(recoveredTypes, 'Document type.'),
  ...members,
  date: dayOfBooks("The original's date."),
  total: money("The original's total with VAT: what is calculated must be the same."),
  reported: Type.Optional(
    Type.Boolean({
      description:
        'The AT has it already by its original number, and is not told again. By default true of D and false of M.',
    }),
  ),
  cashVat: Type.Optional(Type.Boolean({ description: 'The original carries the mention of the cash VAT scheme.' })),
});
export type RecoveredBody = Static<typeof RecoveredBody>;

/** What a document of the file is recovered as: column `asked`. */
export interface AskedRecovery extends AskedDraft {
  readonly recovered: Recovered;
  readonly total: string;
  readonly cashVat?: boolean | undefined;
}

/** Reported already unless the body says otherwise: true of D, false of M. */
export function askedRecovery(body: RecoveredBody, region: Region, newId: () => string): AskedRecovery {
  const { kind, original, total, reported = kind === 'D', cashVat, ...draft } = body;
  return {
    ...mergeDraft(undefined, draft, region, newId),
    recovered: { kind, original, ...(reported ? { known: true } : {}) },
    total: fromNumber(total),
    cashVat: cashVat === true ? true : undefined,
  };
}

/** Rules on the body alone, after the schema's. */
export function recoveryProblems(body: Record<string, unknown>): Problem[] {
  const problems = draftProblems(body);
  const { kind, original } = body;
  // The schema says how long it may be.
  const isRead = typeof original === 'string' && original.length <= longest_original;
  if ((kind !== 'M' && kind !== 'D') || !isRead) return problems;
  const type = recoveredTypes.find((one) => one === body['type']);
  if (!isOriginal({ kind, original })) {
    problems.push({ code: 'INVALID_FORMAT', pointer: '/original', facts: { format: originalForm[kind] } });
  } else if (type !== undefined && isOfOtherType(type, { kind, original })) {
    const { code } = documentTypes[type];
    problems.push({ code: 'RECOVERED_TYPE', pointer: '/original', facts: { original, type, code } });
  }
  return problems;
}

/** The priced document as it is recovered. */
export function recoveredContent(priced: Content, { recovered, cashVat }: AskedRecovery): Content {
  return { ...priced, recovered, cashVat };
}

/** What the paper says and what is calculated must be the same: the paper is what the customer has. */
export function totalProblems(content: Content, { total }: AskedRecovery): Problem[] {
  const { currency, totals } = content;
  if (compare(totals.gross, total) === 0) return [];
  return [{ code: 'RECOVERED_TOTAL', pointer: '/total', facts: { total, calculated: totals.gross, currency } }];
}

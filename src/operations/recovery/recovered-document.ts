/** One document of a recovery file: the body of a draft, a credit note or a receipt, with what it stands for. */
import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { Row } from '../../db/transact.ts';
import { fits } from '../../fiscal/cut.ts';
import { compare, fromNumber } from '../../fiscal/decimal.ts';
import { type Content, documentTypes, type Recovered, type Region } from '../../fiscal/document.ts';
import { isOfOtherType, isOriginal, longest_original, originalForm } from '../../fiscal/recovery.ts';
import { invalid, type Problem } from '../../fiscal/refusal.ts';
import { closed, dayOfBooks, line, money, oneOf } from '../fields.ts';
import { type AskedDraft, draftMembers, draftProblems, mergeDraft, methodProblems } from '../invoices/draft.ts';
import { priceDraft } from '../invoices/price-draft.ts';

/** Types that are recovered as they are drafted: those of POST /invoices. */
const draftedTypes = ['INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT', 'DEBIT_NOTE'] as const;
/** All that are recovered; credit notes and receipts are made of their invoice. */
const recoveredTypes = [...draftedTypes, 'CREDIT_NOTE', 'RECEIPT'] as const;

const { seriesId: _series, templateId: _template, ...members } = draftMembers;

/** What every document of a file says of its original. */
export const originalMembers = {
  kind: oneOf(['M', 'D'], 'M: a printed form filled in by hand. D: a copy of a document lost with its data.'),
  original: line(longest_original, 'M: series/number of the form. D: the whole number of the lost document.', 1),
  date: dayOfBooks("The original's date."),
  total: money("The original's total with VAT: what is calculated must be the same."),
  reported: Type.Optional(
    Type.Boolean({
      description:
        'The AT has it already by its original number, and is not told again. By default true of D and false of M.',
    }),
  ),
};

export const RecoveredBody = closed({
  ...members,
  ...originalMembers,
  // Whoever gives another type is told all that there are.
  type: Type.Unsafe<(typeof draftedTypes)[number]>(oneOf(recoveredTypes, 'Document type.')),
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
export function recoveredOf({
  kind,
  original,
  reported = kind === 'D',
}: Pick<RecoveredBody, 'kind' | 'original' | 'reported'>): Recovered {
  return { kind, original, ...(reported ? { known: true } : {}) };
}

/** The body as it is asked for, with ids for its lines. */
export function askedRecovery(body: RecoveredBody, region: Region, newId: () => string): AskedRecovery {
  const { kind, original, total, reported, cashVat, ...draft } = body;
  return {
    ...mergeDraft(undefined, draft, region, newId),
    recovered: recoveredOf({ kind, original, reported }),
    total: fromNumber(total),
    cashVat: cashVat === true ? true : undefined,
  };
}

/** Rules on the body alone, after the schema's. */
export function recoveryProblems(body: Record<string, unknown>): Problem[] {
  const problems = [
    ...draftProblems(body),
    ...(body['type'] === 'RECEIPT' ? methodProblems(body['method'], '/method') : []),
  ];
  const { kind, original } = body;
  // The schema says how long it may be; it counts characters, of which some are two units.
  const isRead = typeof original === 'string' && fits(original, longest_original);
  if ((kind !== 'M' && kind !== 'D') || !isRead) return problems;
  const type = recoveredTypes.find((one) => one === body['type']);
  if (!isOriginal({ kind, original })) {
    problems.push({ code: 'INVALID_FORMAT', pointer: '/original', facts: { format: originalForm[kind] } });
  } else if (type !== undefined && isOfOtherType({ type, cashVat: 'unknown' }, { kind, original })) {
    const { code } = documentTypes[type];
    problems.push({ code: 'RECOVERED_TYPE', pointer: '/original', facts: { original, type, code } });
  }
  return problems;
}

/**
 * The document as it is recovered, priced with what it refers to. Refuses what `priceDraft` refuses, and RECOVERED_PARENT: what
 * was practised is corrected by nothing real.
 */
export function recoveredContent(asked: AskedRecovery, references: Row): Content {
  const { recovered, cashVat } = asked;
  const parent = references['parent'] as Row | null;
  if (parent?.['training'] === true) {
    const number = String(parent['number']);
    throw invalid([{ code: 'RECOVERED_PARENT', pointer: '/parentInvoiceId', facts: { number } }]);
  }
  return { ...priceDraft(asked, references), recovered, cashVat };
}

/** What the paper says and what is calculated must be the same: the paper is what the customer has. */
export function totalProblems(content: Content, { total }: Pick<AskedRecovery, 'total'>): Problem[] {
  const { type, currency, totals } = content;
  // A receipt is made of its total.
  if (type === 'RECEIPT' || compare(totals.gross, total) === 0) return [];
  const code = type === 'CREDIT_NOTE' ? 'RECOVERED_NOTE_TOTAL' : 'RECOVERED_TOTAL';
  return [{ code, pointer: '/total', facts: { total, calculated: totals.gross, currency } }];
}

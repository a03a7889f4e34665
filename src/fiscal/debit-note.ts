/**
 * Debit notes: they add to an invoice and are taxed as it was, with the rates and exemption codes that it has, by its tax
 * point (documents page, section 5). What is taxed otherwise is another supply, and has its own invoice.
 */
import type { Content, Day, PricedLine, TaxGroup } from './document.ts';
import { type Problem, refuseAll } from './refusal.ts';
import { pricedOn } from './reprice.ts';
import { type RateOf, rateKey } from './tax-groups.ts';

/** What a debit note has of the invoice that it corrects. */
export interface Corrected {
  readonly date: Day;
  readonly taxPointDate?: Day | null | undefined;
  /** The invoice's taxes. */
  readonly groups: readonly TaxGroup[];
}

/** The day that chose the rates of an issued invoice. */
export const taxPointOf = ({ taxPointDate, date }: Pick<Corrected, 'date' | 'taxPointDate'>): Day =>
  taxPointDate ?? date;

/** RATE_NOT_OF_PARENT of each line whose territory, rate or exemption code its invoice does not have. */
export function foreignRates(lines: readonly PricedLine[], { groups }: Corrected): Problem[] {
  const expected = groups.map(toldRate).join(', ');
  const rates = new Set(groups.map(rateKey));
  const withoutCode = ({ exemptionCode: _, ...rate }: RateOf): string => rateKey(rate);
  const exempt = new Set(groups.filter(({ exemptionCode }) => exemptionCode !== undefined).map(withoutCode));
  return lines.flatMap((line, i): Problem[] => {
    if (rates.has(rateKey(line))) return [];
    const isOtherCode = exempt.has(withoutCode(line));
    const pointer = `/items/${i}/${isOtherCode ? 'vatExemptionReason' : 'vatRate'}`;
    return [{ code: 'RATE_NOT_OF_PARENT', pointer, facts: { expected } }];
  });
}

/**
 * A draft that was priced before its invoice's tax point chose the rates is priced again, or refused: INVALID_REQUEST.
 * Where it states no tax point of its own it has that of its invoice, on which its rates and codes were in force (SAF-T
 * page, section 5).
 */
export function debitNoteOver(note: Content, original: Corrected): Content {
  const taxPointDate = taxPointOf(original);
  const priced = pricedOn(note, taxPointDate);
  refuseAll(foreignRates(priced.lines, original));
  return priced.taxPointDate === undefined ? { ...priced, taxPointDate } : priced;
}

const toldRate = ({ region, rate, exemptionCode }: TaxGroup): string => `${exemptionCode ?? `${rate} %`} (${region})`;

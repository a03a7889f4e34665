/**
 * Sums of a reported document, computed here with whole numbers and on purpose not with the house's own decimals:
 * a rounding fault there must show up here.
 */

import type { XmlElement } from '../read-xml.ts';
import { childrenOf } from '../read-xml.ts';
import { inside, value } from './rules.ts';

/** "12.5" → 1250n; undefined when there are more than two decimals. */
function hundredths(text: string): bigint | undefined {
  const found = /^\+?(\d*)(?:\.(\d{0,2})0*)?$/.exec(text);
  return found === null ? undefined : BigInt(`${found[1] || '0'}${(found[2] ?? '').padEnd(2, '0')}`);
}

const differs = (a: bigint, b: bigint, most: bigint): boolean => (a > b ? a - b : b - a) > most;

/**
 * Whether a document's lines and totals agree: amounts sum to NetTotal, net and tax to gross, and tax is what base and
 * rate give, within a cent for each tax (a note that takes the rest of an invoice may carry its residual cent).
 * `own` is the side that counts positive (C for invoices, D for credit notes).
 */
export function amountsAgree(data: XmlElement, own: 'C' | 'D'): boolean {
  const [tax, net, gross] = ['TaxPayable', 'NetTotal', 'GrossTotal'].map((name) =>
    hundredths(value(data, 'DocumentTotals', name)),
  );
  if (tax === undefined || net === undefined || gross === undefined || net + tax !== gross) return false;
  let sum = 0n;
  const bases = new Map<string, { rate: string; base: bigint }>();
  for (const line of childrenOf(data, 'LineSummary')) {
    const amount = hundredths(value(line, 'Amount') || value(line, 'TotalTaxBase'));
    if (amount === undefined) return false;
    const signed = value(line, 'DebitCreditIndicator') === own ? amount : -amount;
    sum += signed;
    const rate = value(line, 'Tax', 'TaxPercentage');
    if (rate === '') continue;
    const key = `${value(line, 'Tax', 'TaxType')}|${value(line, 'Tax', 'TaxCountryRegion')}|${value(line, 'Tax', 'TaxCode')}|${rate}`;
    bases.set(key, { rate, base: (bases.get(key)?.base ?? 0n) + signed });
  }
  if (sum !== net) return false;
  let expected = 0n;
  for (const { rate, base } of bases.values()) {
    const percent = hundredths(rate);
    if (percent === undefined) return false;
    expected += (base * percent + 5_000n) / 10_000n;
  }
  return bases.size === 0 || !differs(expected, tax, BigInt(bases.size));
}

/** Withheld tax is part of what is to be paid. */
export function withholdingFits(data: XmlElement): boolean {
  const gross = hundredths(value(data, 'DocumentTotals', 'GrossTotal')) ?? 0n;
  const sum = childrenOf(data, 'WithholdingTax').reduce(
    (total, w) => total + (hundredths(value(w, 'WithholdingTaxAmount')) ?? 0n),
    0n,
  );
  return sum <= gross;
}

/** Lines whose exemption code does not go with their rate: it is required at 0 % and forbidden above. */
export function exemptionFault(
  data: XmlElement,
  isKnown: (code: string, day: string) => boolean,
  fallbackDay: string,
): boolean {
  return childrenOf(data, 'LineSummary').some((line) => {
    if (inside(line, 'Tax') === undefined) return false;
    const code = value(line, 'TaxExemptionCode');
    const zero = hundredths(value(line, 'Tax', 'TaxPercentage')) === 0n;
    if (!zero) return code !== '';
    const day = value(line, 'TaxPointDate').slice(0, 10) || fallbackDay;
    return (
      (code.match(/M\d{2}/g) ?? []).length === 0 || !(code.match(/M\d{2}/g) ?? []).every((one) => isKnown(one, day))
    );
  });
}

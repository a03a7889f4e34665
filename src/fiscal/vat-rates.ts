/**
 * VAT rates by region, code and day, each with its source, and the words of the API for them.
 *
 * A rate applies by the day of the tax point, not of issue (CIVA articles 7 and 8): callers hand in the tax point.
 */
import type { Day, Decimal, Region, TaxCode, VatRate } from './document.ts';
import { type Facts, Refusal } from './refusal.ts';

interface RatePeriod {
  readonly region: Region;
  readonly vatRate: Exclude<VatRate, 'EXEMPT'>;
  readonly percent: Decimal;
  /** First and last day in force, inclusive. */
  readonly from: Day;
  readonly to?: Day;
}

/** "(unconfirmed)" marks a start that no primary source could be read for; the percentage itself is certain. */
const periods: readonly RatePeriod[] = [
  // CIVA article 18, no. 1, since Lei 55-A/2010.
  { region: 'PT', vatRate: 'REDUCED', percent: '6', from: '2011-01-01' },
  { region: 'PT', vatRate: 'INTERMEDIATE', percent: '13', from: '2011-01-01' },
  { region: 'PT', vatRate: 'NORMAL', percent: '23', from: '2011-01-01' },
  // CIVA article 18, no. 3 b). Reduced rate 5 → 4 on 2024-10-01 (regional budget). Starts of 2012 unconfirmed.
  { region: 'PT-MA', vatRate: 'REDUCED', percent: '5', from: '2012-04-01', to: '2024-09-30' },
  { region: 'PT-MA', vatRate: 'REDUCED', percent: '4', from: '2024-10-01' },
  { region: 'PT-MA', vatRate: 'INTERMEDIATE', percent: '12', from: '2012-04-01' },
  { region: 'PT-MA', vatRate: 'NORMAL', percent: '22', from: '2012-04-01' },
  // CIVA article 18, no. 3 a). Normal rate 18 → 16 on 2021-07-01 (DLR 15-A/2021/A; Ofício Circulado 25045/2024).
  // Starts of 2014 to 2016 unconfirmed.
  { region: 'PT-AC', vatRate: 'REDUCED', percent: '4', from: '2015-07-01' },
  { region: 'PT-AC', vatRate: 'INTERMEDIATE', percent: '9', from: '2016-01-01' },
  { region: 'PT-AC', vatRate: 'NORMAL', percent: '18', from: '2014-01-01', to: '2021-06-30' },
  { region: 'PT-AC', vatRate: 'NORMAL', percent: '16', from: '2021-07-01' },
];

/** SAF-T TaxCode of each rate of the API (Portaria 302/2016, table TaxTableEntry). */
export const taxCodes: Readonly<Record<VatRate, TaxCode>> = {
  REDUCED: 'RED',
  INTERMEDIATE: 'INT',
  NORMAL: 'NOR',
  EXEMPT: 'ISE',
};

/** The percentage in force ("23"; "0" for EXEMPT), or undefined when the table has none for that day. */
export function findRate(region: Region, vatRate: VatRate, day: Day): Decimal | undefined {
  if (vatRate === 'EXEMPT') return '0';
  for (const period of periods) {
    if (period.region === region && period.vatRate === vatRate && inForce(period, day)) return period.percent;
  }
  return undefined;
}

/** The percentage in force. Refuses VAT_RATE_NOT_IN_FORCE when the table has none for that day. */
export function rateOn(region: Region, vatRate: VatRate, day: Day): Decimal {
  const percent = findRate(region, vatRate, day);
  if (percent === undefined) throw new Refusal('VAT_RATE_NOT_IN_FORCE', rateFacts(region, vatRate, day));
  return percent;
}

/** What VAT_RATE_NOT_IN_FORCE says: which rate would be. */
export function rateFacts(region: Region, vatRate: VatRate, date: Day): Facts {
  const percent = findRate(region, vatRate, date);
  const expected = percent === undefined ? { en: 'not known', pt: 'desconhecida' } : `${percent} %`;
  return { region, vatRate, date, expected };
}

function inForce(period: RatePeriod, day: Day): boolean {
  return period.from <= day && (period.to === undefined || day <= period.to);
}

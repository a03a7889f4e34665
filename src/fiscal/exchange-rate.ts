/**
 * Which exchange rates are plausible: a rate that was inverted or lost its decimal point would stand in books that nobody
 * can change any more (docs/decisions/0093-plausible-exchange-rates.md).
 */
import type { Decimal } from './document.ts';

/**
 * Currencies of which one unit was worth less than 0.001 EUR in 2025, by order of magnitude: ten times what others must
 * be worth, so that no currency is refused for losing a part of its value.
 */
const weak = new Set(
  `ARS BIF CDF CLP COP GNF IDR IQD IRR KHR KPW KRW LAK LBP MGA MMK MWK NGN PYG RWF SDG SSP SYP TZS UGX UZS VND YER`.split(
    ' ',
  ),
);

export interface PlausibleRates {
  readonly least: Decimal;
  readonly most: Decimal;
}

const usual: PlausibleRates = { least: '0.0001', most: '10000' };
/** The contract has six decimals for a rate. */
const ofWeak: PlausibleRates = { least: '0.000001', most: usual.most };

/** In euros per unit of the currency, both included. */
export function plausibleRates(currency: string): PlausibleRates {
  return weak.has(currency) ? ofWeak : usual;
}

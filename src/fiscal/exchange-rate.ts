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
  `AOA ARS BIF CDF CLP COP GNF IDR IQD IRR KHR KPW KRW LAK LBP MGA MMK MNT MWK NGN PYG RWF SDG SSP SYP TZS UGX UZS VND YER`.split(
    ' ',
  ),
);

/**
 * Currencies of which one unit was worth 0.001 to 0.1 EUR in 2025. One that was worth so little is not worth more than a
 * euro: whoever says so has inverted the rate (160 yen per euro for 0.00625 euros per yen).
 */
const small = new Set(
  `AFN ALL AMD BDT BTN BWP CRC CUP CVE CZK DJF DOP DZD EGP ETB GMD GYD HNL HTG HUF INR ISK JMD JPY KES KGS KMF KZT LKR LRD
   LSL MDL MKD MUR MVR MXN MZN NAD NIO NPR PHP PKR RSD RUB SCR SRD STN SZL THB TJS TRY TWD UAH UYU VUV XAF XOF XPF ZAR`.split(
    /\s+/,
  ),
);

export interface PlausibleRates {
  readonly least: Decimal;
  readonly most: Decimal;
}

const usual: PlausibleRates = { least: '0.0001', most: '10000' };
const ofSmall: PlausibleRates = { least: usual.least, most: '1' };
/** The contract has six decimals for a rate. */
const ofWeak: PlausibleRates = { least: '0.000001', most: ofSmall.most };

/** In euros per unit of the currency, both included. */
export function plausibleRates(currency: string): PlausibleRates {
  if (weak.has(currency)) return ofWeak;
  return small.has(currency) ? ofSmall : usual;
}

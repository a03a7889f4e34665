/** UnitPrice as SAF-T and the transport message tell it, exact enough for any quantity. */
import { compare, divide, multiply, round2 } from './decimal.ts';
import type { Decimal, PricedLine } from './document.ts';

/** Integer digits of a quantity up to which the six decimals of `unitNet` always do: half of the last, times 9,999, is below half a cent. */
const safe_digits = 4;

/**
 * Net of one unit in EUR, after all discounts. Six decimals, as frozen with the line; as many more as it takes where
 * quantity × price would not be the line's net, rounded to the cent (Portaria 302/2016, UnitPrice: the schema sets no limit).
 */
export function exactUnitPrice({ quantity, eur: { net, unitNet } }: Pick<PricedLine, 'quantity' | 'eur'>): Decimal {
  const point = quantity.indexOf('.');
  if ((point === -1 ? quantity.length : point) <= safe_digits) return unitNet;
  let price = unitNet;
  for (let places = 7; compare(round2(multiply(quantity, price)), net) !== 0; places += 1) {
    price = divide(net, quantity, places);
  }
  return price;
}

/** MasterFiles: the customers, items and taxes that documents of the period name. */

import { buyerCountry, buyerTaxId, unknown } from '../buyer.ts';
import { cut } from '../cut.ts';
import { compare, trimmed } from '../decimal.ts';
import type { Day, Region, TaxCode, VatRate } from '../document.ts';
import { addDays } from '../time.ts';
import { findRate } from '../vat-rates.ts';
import { customerCode } from './codes.ts';
import { addressXml } from './head.ts';
import type { SaftCustomer, SaftItem, SaftTax } from './source.ts';
import { group, leaf, optional, plain, whole } from './xml-text.ts';

/** A Customer. The generic final consumer has nothing known but its name. */
export function customerXml(customer: SaftCustomer): string {
  const generic = customer.finalConsumer === true;
  const known: SaftCustomer = generic ? { id: customer.id, name: 'Consumidor final' } : customer;
  return group(
    'Customer',
    leaf('CustomerID', customerCode(customer, customer.identity)) +
      plain('AccountID', unknown) +
      leaf('CustomerTaxID', buyerTaxId(customer)) +
      leaf('CompanyName', cut(known.name, 100)) +
      optional('Contact', known.contact, 50) +
      group('BillingAddress', addressXml(known, buyerCountry(customer))) +
      whole('Telephone', known.phone || known.mobile, 20) +
      whole('Fax', known.fax, 20) +
      whole('Email', known.email, 254) +
      whole('Website', known.website, 60) +
      plain('SelfBillingIndicator', '0'),
  );
}

/** A Product. Items carry no barcode, so ProductNumberCode repeats the code, as the Portaria asks. */
export function productXml(item: SaftItem): string {
  return group(
    'Product',
    plain('ProductType', item.type === 'SERVICE' ? 'S' : 'P') +
      leaf('ProductCode', item.id) +
      leaf('ProductDescription', productDescription(item.name)) +
      leaf('ProductNumberCode', item.id),
  );
}

/** 2 to 200 characters. */
export function productDescription(name: string): string {
  return cut(name, 200).padEnd(2);
}

/** The TaxTable, or nothing without taxes: an empty one is invalid. */
export function taxTableXml(taxes: readonly SaftTax[], from: Day, to: Day): string {
  return taxes.length === 0 ? '' : group('TaxTable', taxes.map((tax) => taxXml(tax, from, to)).join(''));
}

const rateNames: Readonly<Record<TaxCode, string>> = {
  NOR: 'Taxa normal',
  INT: 'Taxa intermédia',
  RED: 'Taxa reduzida',
  ISE: 'Isento',
};
const regionNames: Readonly<Record<Region, string>> = { PT: 'Continente', 'PT-MA': 'Madeira', 'PT-AC': 'Açores' };

function taxXml(tax: SaftTax, from: Day, to: Day): string {
  const ended = lastDayOf(tax, from, to);
  return group(
    'TaxTableEntry',
    plain('TaxType', 'IVA') +
      plain('TaxCountryRegion', tax.region) +
      plain('TaxCode', tax.taxCode) +
      plain('Description', `IVA - ${rateNames[tax.taxCode]} - ${regionNames[tax.region]}`) +
      (ended === undefined ? '' : plain('TaxExpirationDate', ended)) +
      plain('TaxPercentage', percentage(tax.rate)),
  );
}

const vatRates: Readonly<Record<TaxCode, VatRate>> = {
  NOR: 'NORMAL',
  INT: 'INTERMEDIATE',
  RED: 'REDUCED',
  ISE: 'EXEMPT',
};

/** The last day of a rate that ended within the period; undefined for one still in force at its end. */
function lastDayOf({ region, taxCode, rate }: SaftTax, from: Day, to: Day): Day | undefined {
  const inForce = (day: Day) => {
    const found = findRate(region, vatRates[taxCode], day);
    return found !== undefined && compare(found, rate) === 0;
  };
  if (inForce(to) || !inForce(from)) return undefined;
  let [last, after] = [from, to];
  for (;;) {
    const middle = addDays(last, Math.floor(daysBetween(last, after) / 2));
    if (middle === last) return last;
    if (inForce(middle)) last = middle;
    else after = middle;
  }
}

function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);
}

const percentages = new Map<string, string>();

/** "23" as "23.00". */
export function percentage(rate: string): string {
  let text = percentages.get(rate);
  if (text === undefined) {
    text = trimmed(rate, 2);
    percentages.set(rate, text);
  }
  return text;
}

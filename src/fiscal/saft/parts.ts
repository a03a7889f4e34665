/** Parts that several sections share: status, totals, payment, withholding, places of loading and unloading. */

import { cut } from '../cut.ts';
import { isZero } from '../decimal.ts';
import type { Content, Day, Place, Region } from '../document.ts';
import { mechanism } from '../payment-mechanisms.ts';
import { dayOf } from '../time.ts';
import { journeyTimes } from '../transport.ts';
import { addressXml } from './head.ts';
import type { SaftDocument } from './source.ts';
import { group, leaf, optional, plain } from './xml-text.ts';

/** Names of the elements that are called differently in each section. */
export interface StatusNames {
  readonly status: 'InvoiceStatus' | 'MovementStatus' | 'WorkStatus' | 'PaymentStatus';
  readonly source: 'SourceBilling' | 'SourcePayment';
}

/** DocumentStatus: what the document is now, since when, and who made it so. */
export function statusXml(document: SaftDocument, { status, source }: StatusNames): string {
  return `<DocumentStatus>\n<${status}>${document.status}</${status}>\n<${status}Date>${document.statusAt}</${status}Date>\n${optional(
    'Reason',
    document.reason,
    50,
  )}${leaf('SourceID', cut(document.statusBy, 30))}<${source}>${document.content.recovered === undefined ? 'P' : 'M'}</${source}>\n</DocumentStatus>\n`;
}

/** Month of the document's date: companies here have the calendar year. */
export function period(date: Day): string {
  return `<Period>${Number(date.slice(5, 7))}</Period>\n`;
}

/** TaxPayable, NetTotal and GrossTotal, in EUR as they were signed. */
export function sumsXml({ books }: Content): string {
  return `<TaxPayable>${books.tax}</TaxPayable>\n<NetTotal>${books.net}</NetTotal>\n<GrossTotal>${books.gross}</GrossTotal>\n`;
}

/** Currency, for a document in another one than EUR. */
export function currencyXml({ currency, exchangeRate, totals }: Content): string {
  if (currency === 'EUR' || exchangeRate === undefined) return '';
  return group(
    'Currency',
    plain('CurrencyCode', currency) + plain('CurrencyAmount', totals.gross) + plain('ExchangeRate', exchangeRate),
  );
}

/** How and when it was paid: all that is left after withholding. */
export function paymentXml(name: 'Payment' | 'PaymentMethod', { payment, books }: Content, date: Day): string {
  const code = payment?.method === undefined ? undefined : mechanism(payment.method);
  return group(
    name,
    (code === undefined ? '' : plain('PaymentMechanism', code)) +
      plain('PaymentAmount', books.toPay) +
      plain('PaymentDate', payment?.date ?? date),
  );
}

/** One WithholdingTax per kind and rate. */
export function withholdingXml({ books: { withholdings } }: Content): string {
  if (withholdings.length === 0) return '';
  return withholdings
    .filter(({ amount }) => !isZero(amount))
    .map(({ type, reason, amount }) =>
      group(
        'WithholdingTax',
        plain('WithholdingTaxType', type) +
          optional('WithholdingTaxDescription', reason, 60) +
          plain('WithholdingTaxAmount', amount),
      ),
    )
    .join('');
}

/** ShipTo, ShipFrom and the times of a transport; instants become the company's civil time (`journeyTimes`). */
export function shippingXml({ transport }: Content, region: Region, systemEntry: string): string {
  if (transport === undefined) return '';
  const { end, loading, unloading, licensePlate } = transport;
  const times = journeyTimes(transport, region, systemEntry);
  const to = (end === undefined ? '' : plain('DeliveryDate', dayOf(end, region))) + placeXml(unloading);
  const from = optional('DeliveryID', licensePlate, 255) + placeXml(loading);
  return (
    group('ShipTo', to) +
    group('ShipFrom', from) +
    (times.end === undefined ? '' : plain('MovementEndTime', times.end)) +
    plain('MovementStartTime', times.start)
  );
}

function placeXml(place: Place): string {
  return group('Address', addressXml(place, place.country));
}

/**
 * Who bought, as the QR code (fields B and C), SAF-T (Portaria 302/2016, CustomerTaxID and Country) and the messages to
 * the AT name it: they have to agree.
 */
import type { Party } from './document.ts';
import { finalConsumerNif } from './nif.ts';

/** For what the books do not know of a buyer or a place (Portaria 302/2016, notes of BillingAddress). */
export const unknown = 'Desconhecido';

/** The buyer's own number, else the generic final consumer's. */
export function buyerTaxId(party: Pick<Party, 'finalConsumer' | 'taxpayerNumber'>): string {
  return (party.finalConsumer === true ? undefined : party.taxpayerNumber) || finalConsumerNif;
}

/** The buyer's country, else "Desconhecido". */
export function buyerCountry(party: Pick<Party, 'finalConsumer' | 'country'>): string {
  return (party.finalConsumer === true ? undefined : party.country) || unknown;
}

/** Issuer and buyer as the AT's messages name them: the same values as in SAF-T and in the QR code. */
import type { Party } from '../fiscal/document.ts';
import { finalConsumerNif } from '../fiscal/nif.ts';
import type { DocumentReport } from './reports.ts';

/** Nine digits: an issuer without is a fault of ours, and no message is made. */
export function issuerNif({ content }: DocumentReport): string {
  const nif = content.issuer.taxpayerNumber ?? '';
  if (!/^\d{9}$/.test(nif)) throw new Error('assertion failed: the issuer has a NIF of nine digits');
  return nif;
}

/** The buyer's own number, else the generic final consumer's. */
export function buyerTaxId(party: Party): string {
  return (party.finalConsumer === true ? undefined : party.taxpayerNumber) ?? finalConsumerNif;
}

/** The buyer's country, else "Desconhecido". */
export function buyerCountry(party: Party): string {
  return (party.finalConsumer === true ? undefined : party.country) ?? 'Desconhecido';
}

/** Issuer and buyer on a paper, from the frozen snapshot. */
import type { Party } from '../fiscal/document.ts';
import type { Pen } from './pen.ts';

export interface PaperParty {
  readonly label?: string;
  readonly name: string;
  /** Address and tax number. */
  readonly lines: readonly string[];
  readonly contacts?: readonly string[];
}

/** Letterhead: name, address, NIF, and how to reach the issuer. */
export function issuerOf(issuer: Party, pen: Pen): PaperParty {
  const contacts = [issuer.phone ?? issuer.mobile, issuer.email, issuer.website].filter(isText).map(pen.write);
  const taxNumber = isText(issuer.taxpayerNumber) ? [`NIF ${pen.write(issuer.taxpayerNumber)}`] : [];
  return { name: pen.write(issuer.name), lines: [...addressOf(issuer, pen), ...taxNumber], contacts };
}

/** A buyer who gave no NIF is the final consumer, said in the place of the number. */
export function customerOf(customer: Party, pen: Pen): PaperParty {
  const to = pen.label('to');
  if (customer.finalConsumer) return { label: to, name: 'Consumidor final', lines: [] };
  const word = (customer.country ?? 'PT') === 'PT' ? 'taxNumber' : 'foreignTaxNumber';
  const taxNumber = isText(customer.taxpayerNumber)
    ? `${pen.label(word)} ${pen.write(customer.taxpayerNumber)}`
    : 'Consumidor final';
  return { label: to, name: pen.write(customer.name), lines: [...addressOf(customer, pen), taxNumber] };
}

const countryNames = new Intl.DisplayNames(['pt-PT'], { type: 'region', fallback: 'code' });

function addressOf(party: Party, pen: Pen): string[] {
  const town = [party.postalCode, party.city].filter(isText).join(' ');
  const abroad = party.country !== undefined && /^[A-Z]{2}$/.test(party.country) && party.country !== 'PT';
  const country = abroad ? countryNames.of(party.country!) : undefined;
  return [party.address, town, country].filter(isText).map(pen.write);
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

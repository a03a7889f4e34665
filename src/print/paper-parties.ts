/** Issuer and buyer on a paper, from the frozen snapshot. */
import { type Content, documentTypes, type Party } from '../fiscal/document.ts';
import { vatNumber } from '../fiscal/nif.ts';
import type { Producer } from './input.ts';
import type { Pen } from './pen.ts';
import type { Word } from './words.ts';

export interface PaperParty {
  readonly label?: string;
  readonly name: string;
  /** Address and tax number. */
  readonly lines: readonly string[];
  readonly contacts?: readonly string[];
}

/**
 * Letterhead: name, address (with the country for a customer in another one), NIF (with its prefix beside a number of
 * another member state: RITI article 27, no. 5), and how to reach the issuer. A training document has the producer's instead.
 */
export function issuerOf({ issuer, customer, training }: Content, producer: Producer, pen: Pen): PaperParty {
  const { name, taxpayerNumber } = training === true ? producer : issuer;
  const home = isAbroad(customer.country) ? ['Portugal'] : [];
  const address = training === true ? [] : [...addressLines(issuer, pen), ...home];
  const contacts = training === true ? [] : [issuer.phone ?? issuer.mobile, issuer.email, issuer.website];
  const prefix = vatNumber(customer.country, customer.taxpayerNumber) === undefined ? '' : 'PT';
  const taxNumber = isText(taxpayerNumber) ? [`${pen.label('taxNumber')} ${prefix}${pen.write(taxpayerNumber)}`] : [];
  return {
    name: pen.write(name),
    lines: [...address, ...taxNumber],
    contacts: contacts.filter(isText).map(pen.write),
  };
}

const roles: Readonly<Record<string, Word>> = { RECEIPT: 'payer', TRANSPORT: 'recipient' };

/** A buyer who gave no NIF is the final consumer, said in the place of the number. */
export function customerOf({ type, customer }: Content, pen: Pen): PaperParty {
  const label = pen.label(roles[documentTypes[type].family] ?? 'to');
  if (customer.finalConsumer) return { label, name: 'Consumidor final', lines: [] };
  const word = (customer.country ?? 'PT') === 'PT' ? 'taxNumber' : 'foreignTaxNumber';
  const number = vatNumber(customer.country, customer.taxpayerNumber) ?? customer.taxpayerNumber;
  const taxNumber = isText(number) ? `${pen.label(word)} ${pen.write(number)}` : 'Consumidor final';
  return { label, name: pen.write(customer.name), lines: [...addressLines(customer, pen), taxNumber] };
}

const [portuguese, english] = ['pt-PT', 'en-GB'].map(
  (language) => new Intl.DisplayNames([language], { type: 'region', fallback: 'code' }),
) as [Intl.DisplayNames, Intl.DisplayNames];

/** Street, town, and the country when it is another one than Portugal. */
export function addressLines(
  place: Pick<Party, 'address' | 'postalCode' | 'city' | 'country'>,
  pen: Pick<Pen, 'write' | 'told'>,
): string[] {
  const town = [place.postalCode, place.city].filter(isText).join(' ');
  const country = isAbroad(place.country)
    ? pen.told(portuguese.of(place.country!)!, english.of(place.country!)!)
    : undefined;
  return [place.address, town, country].filter(isText).map(pen.write);
}

/** The built-in final consumer lives in no country that could be named. */
function isAbroad(country: string | undefined): boolean {
  return country !== undefined && /^[A-Z]{2}$/.test(country) && country !== 'PT';
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}

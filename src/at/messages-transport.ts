/**
 * Body of the transport service (DocumentosTransporte.wsdl). Only the root is qualified: a prefix there, no default
 * namespace. Traps of the order: CustomerAddress before CustomerName, AddressTo before AddressFrom, end before start.
 */

import { buyerTaxId } from '../fiscal/buyer.ts';
import { cut } from '../fiscal/cut.ts';
import type { Party, PricedLine } from '../fiscal/document.ts';
import { documentTypes } from '../fiscal/document.ts';
import { finalConsumerNif } from '../fiscal/nif.ts';
import { exactUnitPrice } from '../fiscal/unit-price.ts';
import { unitText } from '../fiscal/units.ts';
import { issuerNif } from './issuer-nif.ts';
import type { Place, TransportReport } from './reports.ts';
import { group, leaf, optional } from './write-xml.ts';

export const transportNamespace = 'https://servicos.portaldasfinancas.gov.pt/sgdtws/documentosTransporte/';

/** A new document, or with `status` A its cancellation, which needs the code that the AT gave it: an assertion. */
export function transportBody(message: TransportReport): string {
  const { content, issued } = message;
  if (message.status === 'A' && message.atDocCode === undefined) {
    throw new Error('assertion failed: cancelling a transport document needs the code the AT gave it');
  }
  const children = [
    leaf('TaxRegistrationNumber', issuerNif(message)),
    leaf('CompanyName', cut(content.issuer.name, 100)),
    address('CompanyAddress', content.issuer),
    leaf('DocumentNumber', issued.number),
    // Optional in one copy of the WSDL, required in another: code -22 where it is missing.
    leaf('ATCUD', issued.atcud),
    optional('ATDocCodeID', message.atDocCode),
    leaf('MovementStatus', message.status),
    leaf('MovementDate', issued.date),
    leaf('MovementType', documentTypes[content.type].code),
    leaf(message.toSupplier === true ? 'SupplierTaxID' : 'CustomerTaxID', recipient(content.customer)),
    domestic(content.customer) ? addressIfAny('CustomerAddress', content.customer) : '',
    leaf('CustomerName', cut(content.customer.name, 100)),
    message.unloading !== undefined && domestic(message.unloading) ? addressIfAny('AddressTo', message.unloading) : '',
    address('AddressFrom', message.loading),
    optional('MovementEndTime', message.end),
    leaf('MovementStartTime', message.start),
    optional('VehicleID', message.licensePlate === undefined ? undefined : cut(message.licensePlate, 32)),
    ...content.lines.map((line) => transportLine(line, message)),
  ];
  const name = 'doc:envioDocumentoTransporteRequestElem';
  return `<${name} xmlns:doc="${transportNamespace}">${children.join('')}</${name}>`;
}

function transportLine(line: PricedLine, message: TransportReport): string {
  return group(
    'Line',
    ...(message.origins?.[line.id] ?? []).map((o) => group('OrderReferences', leaf('OriginatingON', o.number))),
    leaf('ProductDescription', cut(line.name, 200)),
    leaf('Quantity', line.quantity),
    leaf('UnitOfMeasure', cut(unitText(line.unit), 20)),
    leaf('UnitPrice', message.valued ? exactUnitPrice(line) : '0.00'),
  );
}

/**
 * The field holds 20 characters, SAF-T allows 30: a number that does not fit is told as "not given", never cut. Nor is a
 * foreign number of nine digits told: the message has no country, and the AT takes it for a NIF (its code -20, or
 * somebody else's).
 */
function recipient(party: Party): string {
  const number = buyerTaxId(party);
  const mistaken = !domestic(party) && /^\d{9}$/.test(number);
  return number.length <= 20 && !mistaken ? number : finalConsumerNif;
}

/** Country is fixed to PT in the WSDL, so a foreign place can't be told; it stays on the printed document. */
function domestic(place: Place): boolean {
  return place.country === undefined || place.country === 'PT';
}

/** Unknown parts are left out: each is optional, none may be empty. The small d is the WSDL's. */
function address(name: string, place: Place): string {
  const { postalCode } = place;
  return group(
    name,
    optional('Addressdetail', place.address === undefined ? undefined : cut(place.address, 210)),
    optional('City', place.city === undefined ? undefined : cut(place.city, 50)),
    optional('PostalCode', postalCode !== undefined && /^\d{4}-\d{3}$/.test(postalCode) ? postalCode : undefined),
    leaf('Country', 'PT'),
  );
}

function addressIfAny(name: string, place: Place): string {
  const known = (place.address ?? '') !== '' || (place.city ?? '') !== '' || (place.postalCode ?? '') !== '';
  return known ? address(name, place) : '';
}

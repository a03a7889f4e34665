/** DocumentosTransporte.wsdl, the request. */
import { date, dateTime, decimal, integer, matching, oneOf, text } from './simple-types.ts';
import type { Complex } from './structure.ts';
import { any, choice, one, opt, sequence, some } from './structure.ts';

const address = sequence(
  opt('Addressdetail', text(1, 210)),
  opt('City', text(1, 50)),
  opt('PostalCode', matching(/[0-9]{4}-[0-9]{3}/)),
  // Fixed to PT; an empty element takes the fixed value.
  opt('Country', oneOf('PT', '')),
);

const line = sequence(
  any('OrderReferences', sequence(opt('OriginatingON', text(1, 60)))),
  one('ProductDescription', text(1, 200)),
  one('Quantity', decimal()),
  one('UnitOfMeasure', text(1, 20)),
  one('UnitPrice', decimal()),
);

export const transportSchemas: Readonly<Record<string, Complex>> = {
  envioDocumentoTransporteRequestElem: sequence(
    one('TaxRegistrationNumber', integer(100000000n, 999999999n)),
    one('CompanyName', text(1, 100)),
    one('CompanyAddress', address),
    one('DocumentNumber', text(1, 60)),
    opt('ATCUD', text(1, 100)),
    opt('ATDocCodeID', text(1, 200)),
    one('MovementStatus', oneOf('N', 'T', 'A')),
    one('MovementDate', date),
    one('MovementType', oneOf('GR', 'GT', 'GA', 'GC', 'GD')),
    choice(opt('CustomerTaxID', text(1, 20)), opt('SupplierTaxID', text(1, 20))),
    opt('CustomerAddress', address),
    opt('CustomerName', text(1, 100)),
    opt('AddressTo', address),
    one('AddressFrom', address),
    opt('MovementEndTime', dateTime),
    one('MovementStartTime', dateTime),
    opt('VehicleID', text(1, 32)),
    some('Line', line),
  ),
};

/** Complex types that several records of the schema share. */
import { each, many, maybe, one, perhaps, sequence, some } from './grammar.ts';
import {
  country,
  customerCountry,
  day,
  exemptionCode,
  foreignCurrency,
  list,
  money,
  taxCode,
  taxRegion,
  text,
  time,
  whole,
} from './leaf-types.ts';

const addressUntilCountry = [
  ...perhaps({ BuildingNumber: text(10), StreetName: text(200) }),
  ...each({ AddressDetail: text(210), City: text(50), PostalCode: text(20) }),
  maybe({ Region: text(50) }),
];
export const address = sequence([...addressUntilCountry, one({ Country: country })]);
export const customerAddress = sequence([...addressUntilCountry, one({ Country: customerCountry })]);

/** Telephone, Fax, Email and Website of the company, customers and suppliers. */
export const contacts = perhaps({ Telephone: text(20), Fax: text(20), Email: text(254), Website: text(60) });

export const indicator = whole(0, 1);
export const count = whole(0);
export const sourceId = text(30);
export const activityCode = text(5, 5, /^\d*$/, '62010');
export const transactionId = text(70, 1, /^[1-9]\d{3}-[01]\d-[0-3]\d [^ ]{1,30} [^ ]{1,20}$/, '2026-03-02 VENDAS 15');
export const taxType = list('IVA', 'IS', 'NS');
const taxValue = one({ TaxPercentage: money, TaxAmount: money });

/** Tax of a line; the table's and the receipts' differ only in words that the form of a code covers. */
export const tax = sequence([...each({ TaxType: taxType, TaxCountryRegion: taxRegion, TaxCode: taxCode }), taxValue]);
export const movementTax = sequence(
  each({
    TaxType: list('IVA', 'NS'),
    TaxCountryRegion: taxRegion,
    TaxCode: list('RED', 'INT', 'NOR', 'ISE', 'OUT', 'NS'),
    TaxPercentage: money,
  }),
);

export const orderReferences = sequence(perhaps({ OriginatingON: text(60), OrderDate: day }));
export const references = sequence(perhaps({ Reference: text(60), Reason: text(50) }));
export const serialNumbers = sequence([some({ SerialNumber: text(100) })]);
export const customsInformation = sequence([many({ ARCNo: text(21) }), maybe({ IECAmount: money })]);
export const customsDetails = sequence([
  many({ CNCode: text(8, 8, /^\d{8}$/, '01012100') }),
  many({ UNNumber: text(4, 4, /^\d{4}$/, '1203') }),
]);

/** DebitAmount or CreditAmount. */
export const side = one({ DebitAmount: money, CreditAmount: money });
export const exemption = perhaps({ TaxExemptionReason: text(60, 6), TaxExemptionCode: exemptionCode });

const shippingPoint = sequence([
  many({ DeliveryID: text(255) }),
  maybe({ DeliveryDate: day }),
  many({ WarehouseID: text(50), LocationID: text(30) }),
  maybe({ Address: customerAddress }),
]);
export const shipping = [...perhaps({ ShipTo: shippingPoint, ShipFrom: shippingPoint, MovementEndTime: time })];

export const mechanism = list('CC', 'CD', 'CH', 'CI', 'CO', 'CS', 'DE', 'LC', 'MB', 'NU', 'OU', 'PR', 'TB', 'TR');
export const paymentMethod = sequence([
  maybe({ PaymentMechanism: mechanism }),
  ...each({ PaymentAmount: money, PaymentDate: day }),
]);
export const withholding = sequence([
  ...perhaps({ WithholdingTaxType: list('IRS', 'IRC', 'IS'), WithholdingTaxDescription: text(60) }),
  one({ WithholdingTaxAmount: money }),
]);
export const currency = sequence(each({ CurrencyCode: foreignCurrency, CurrencyAmount: money, ExchangeRate: money }));
export const sums = each({ TaxPayable: money, NetTotal: money, GrossTotal: money });
export const sourceBilling = list('P', 'I', 'M');

/** Fatcorews.wsdl, the requests this program sends. */
import { anyText, date, dateTime, decimal, integer, matching, oneOf, text } from './simple-types.ts';
import type { Complex, Part, Simple } from './structure.ts';
import { any, choice, one, opt, sequence, some } from './structure.ts';

const money = decimal(0n, 999999999999999n);
const nif = integer(100000000n, 999999999n);
const flag = integer(0n, 1n);
const number = matching(/[^ ]+ [^/^ ]+\/[0-9]+/, 60);
const version = matching(/0.0.1/);
const auditFile = matching(/1\.04_01|1\.03_01|1\.02_01|1\.01_01|1\.00_01|inexistente/);
const hash = matching(/[0]|[^^]{4}/);
const eac = matching(/[0-9]{5}/);
const country = matching(/[A-Z]{2}|Desconhecido/);
const taxCode = matching(/RED|INT|NOR|ISE|OUT|([a-zA-Z0-9.])*|NS|NA/, 10);
const id60 = text(1, 60);

const status = (name: string, ...values: string[]): Complex =>
  sequence(one(name, oneOf(...values)), one(`${name}Date`, dateTime));
const channel = opt('CanalRegisto', sequence(one('Sistema', anyText), opt('Versao', anyText)));
const customer = [one('CustomerTaxID', text(1, 30)), one('CustomerTaxIDCountry', country)];

const invoiceTypes = oneOf('FT', 'NC', 'ND', 'FS', 'FR', 'RP', 'RE', 'CS', 'LD', 'RA');
const workTypes = oneOf('CM', 'CC', 'FC', 'FO', 'NE', 'OU', 'OR', 'PF', 'RP', 'RE', 'CS', 'LD', 'RA');

const invoiceHeader: Part[] = [
  one('InvoiceNo', number),
  one('ATCUD', text(1, 100)),
  one('InvoiceDate', date),
  one('InvoiceType', invoiceTypes),
  one('SelfBillingIndicator', flag),
  ...customer,
];
const workHeader: Part[] = [
  one('DocumentNumber', number),
  one('ATCUD', text(1, 100)),
  one('WorkDate', date),
  one('WorkType', workTypes),
  ...customer,
];
const paymentHeader: Part[] = [
  one('PaymentRefNo', number),
  one('ATCUD', text(1, 100)),
  one('TransactionDate', date),
  one('PaymentType', oneOf('RC')),
  ...customer,
];

const tax = sequence(
  one('TaxType', oneOf('IVA', 'IS', 'NS')),
  one('TaxCountryRegion', matching(/[A-Z]{2}|PT-MA|PT-AC/)),
  one('TaxCode', (value) => value !== '' && taxCode(value)),
  choice(one('TaxPercentage', decimal(0n, 10000n)), one('TotalTaxAmount', money)),
);
const exemption = opt('TaxExemptionCode', matching(/(M[0-9]{2})+/));
const side = one('DebitCreditIndicator', oneOf('C', 'D'));

const lineSummary = (taxPart: Part): Complex =>
  sequence(
    any('OrderReferences', sequence(opt('OriginatingON', id60), opt('OrderDate', date))),
    one('TaxPointDate', date),
    any('Reference', id60),
    side,
    choice(one('TotalTaxBase', money), one('Amount', money)),
    taxPart,
    exemption,
  );

const paymentLine = sequence(
  some('SourceDocumentID', sequence(one('OriginatingON', id60), one('InvoiceDate', date))),
  opt('SettlementAmount', money),
  side,
  one('Amount', money),
  opt('Tax', tax),
  exemption,
);

const totals = one(
  'DocumentTotals',
  sequence(one('TaxPayable', money), one('NetTotal', money), one('GrossTotal', money)),
);
const withholding = any(
  'WithholdingTax',
  sequence(opt('WithholdingTaxType', oneOf('IRS', 'IRC', 'IS')), one('WithholdingTaxAmount', money)),
);

const invoiceData = sequence(
  ...invoiceHeader,
  one('DocumentStatus', status('InvoiceStatus', 'N', 'A', 'F', 'S')),
  one('HashCharacters', hash),
  one('CashVATSchemeIndicator', flag),
  // The element has a default value in the schema: empty means 0.
  one('PaperLessIndicator', (value) => value === '' || flag(value)),
  opt('EACCode', eac),
  one('SystemEntryDate', dateTime),
  some('LineSummary', lineSummary(one('Tax', tax))),
  totals,
  withholding,
);
const workData = sequence(
  ...workHeader,
  one('DocumentStatus', status('WorkStatus', 'N', 'A', 'F')),
  one('HashCharacters', hash),
  opt('EACCode', eac),
  one('SystemEntryDate', dateTime),
  some('LineSummary', lineSummary(opt('Tax', tax))),
  totals,
);
const paymentData = sequence(
  ...paymentHeader,
  one('DocumentStatus', status('PaymentStatus', 'N', 'A')),
  one('SystemEntryDate', dateTime),
  some('LineSummary', paymentLine),
  totals,
  withholding,
);

const registration = (name: string, data: Complex): Complex =>
  sequence(
    one('eFaturaMDVersion', version),
    one('AuditFileVersion', auditFile),
    one('TaxRegistrationNumber', nif),
    one('TaxEntity', text(1, 20)),
    one('SoftwareCertificateNumber', integer(0n)),
    one(name, data),
    channel,
  );

const change = (kind: string, header: Part[], ...states: string[]): Complex =>
  sequence(
    one('eFaturaMDVersion', version),
    one('TaxRegistrationNumber', nif),
    one(`${kind}Header`, sequence(...header)),
    one(`${kind}Status`, status(`${kind}Status`, ...states)),
    channel,
  );

export const documentSchemas: Readonly<Record<string, Complex | Simple>> = {
  RegisterInvoiceRequest: registration('InvoiceData', invoiceData),
  ChangeInvoiceStatusRequest: change('Invoice', invoiceHeader, 'N', 'A', 'F'),
  RegisterWorkRequest: registration('WorkData', workData),
  ChangeWorkStatusRequest: change('Work', workHeader, 'N', 'A', 'F'),
  RegisterPaymentRequest: registration('PaymentData', paymentData),
  ChangePaymentStatusRequest: change('Payment', paymentHeader, 'N', 'A'),
};

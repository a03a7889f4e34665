/** SourceDocuments of the schema: the four sections and their documents. */
import { type ElementType, each, many, maybe, one, perhaps, type RecordName, sequence, some } from './grammar.ts';
import { day, documentNumber, hashControl, list, money, text, time, whole } from './leaf-types.ts';
import {
  activityCode,
  count,
  currency,
  customsInformation,
  exemption,
  indicator,
  movementTax,
  orderReferences,
  paymentMethod,
  references,
  serialNumbers,
  shipping,
  side,
  sourceBilling,
  sourceId,
  sums,
  tax,
  transactionId,
  withholding,
} from './schema-parts.ts';

const customerId = text(30);

/** DocumentStatus, whose elements are called differently in each section. */
function status(name: string, words: readonly string[], source: string): ElementType {
  return sequence([
    ...each({ [`${name}Status`]: list(...words), [`${name}StatusDate`]: time }),
    maybe({ Reason: text(50) }),
    ...each({ SourceID: sourceId, [source]: sourceBilling }),
  ]);
}

/** From the number to HashControl, in the sections that are signed. */
const signedHead = (number: string, documentStatus: ElementType) => [
  ...each({
    [number]: documentNumber,
    ATCUD: text(100),
    DocumentStatus: documentStatus,
    Hash: text(172),
    HashControl: hashControl,
  }),
  maybe({ Period: whole(1, 12) }),
];

const lineStart = [
  one({ LineNumber: count }),
  many({ OrderReferences: orderReferences }),
  ...each({
    ProductCode: text(60),
    ProductDescription: text(200, 2),
    Quantity: money,
    UnitOfMeasure: text(20),
    UnitPrice: money,
  }),
];
const lineEnd = [...exemption, ...perhaps({ SettlementAmount: money, CustomsInformation: customsInformation })];

/** Lines of invoices and working documents; the latter may leave Tax out. */
const salesLine = (taxPiece: ReturnType<typeof one>) =>
  sequence(
    [
      ...lineStart,
      maybe({ TaxBase: money }),
      one({ TaxPointDate: day }),
      many({ References: references }),
      one({ Description: text(200) }),
      maybe({ ProductSerialNumber: serialNumbers }),
      side,
      taxPiece,
      ...lineEnd,
    ],
    'line',
  );

const movementLine = sequence(
  [
    ...lineStart,
    one({ Description: text(200) }),
    maybe({ ProductSerialNumber: serialNumbers }),
    side,
    maybe({ Tax: movementTax }),
    ...lineEnd,
  ],
  'line',
);

const settlement = sequence(
  perhaps({ SettlementDiscount: text(30), SettlementAmount: money, SettlementDate: day, PaymentTerms: text(100) }),
);
const specialRegimes = sequence(
  each({
    SelfBillingIndicator: indicator,
    CashVATSchemeIndicator: indicator,
    ThirdPartiesBillingIndicator: indicator,
  }),
);

const invoice = sequence(
  [
    ...signedHead('InvoiceNo', status('Invoice', ['N', 'S', 'A', 'R', 'F'], 'SourceBilling')),
    ...each({
      InvoiceDate: day,
      InvoiceType: list('FT', 'FS', 'FR', 'ND', 'NC', 'VD', 'TV', 'TD', 'AA', 'DA', 'RP', 'RE', 'CS', 'LD', 'RA'),
      SpecialRegimes: specialRegimes,
      SourceID: sourceId,
    }),
    maybe({ EACCode: activityCode }),
    one({ SystemEntryDate: time }),
    maybe({ TransactionID: transactionId }),
    one({ CustomerID: customerId }),
    ...shipping,
    maybe({ MovementStartTime: time }),
    some({ Line: salesLine(one({ Tax: tax })) }),
    one({
      DocumentTotals: sequence([
        ...sums,
        maybe({ Currency: currency }),
        many({ Settlement: settlement }),
        many({ Payment: paymentMethod }),
      ]),
    }),
    many({ WithholdingTax: withholding }),
  ],
  'invoice',
);

const totals = sequence([...sums, maybe({ Currency: currency })]);

const movement = sequence(
  [
    ...signedHead('DocumentNumber', status('Movement', ['N', 'T', 'A', 'F', 'R'], 'SourceBilling')),
    ...each({ MovementDate: day, MovementType: list('GR', 'GT', 'GA', 'GC', 'GD'), SystemEntryDate: time }),
    maybe({ TransactionID: transactionId }),
    one({ CustomerID: customerId, SupplierID: text(30) }),
    one({ SourceID: sourceId }),
    ...perhaps({ EACCode: activityCode, MovementComments: text(60) }),
    ...shipping,
    one({ MovementStartTime: time }),
    maybe({ ATDocCodeID: text(200) }),
    some({ Line: movementLine }),
    one({ DocumentTotals: totals }),
  ],
  'movement',
);

const work = sequence(
  [
    ...signedHead('DocumentNumber', status('Work', ['N', 'A', 'F'], 'SourceBilling')),
    ...each({
      WorkDate: day,
      WorkType: list('CM', 'CC', 'FC', 'FO', 'NE', 'OU', 'OR', 'PF', 'DC', 'RP', 'RE', 'CS', 'LD', 'RA'),
      SourceID: sourceId,
    }),
    maybe({ EACCode: activityCode }),
    one({ SystemEntryDate: time }),
    maybe({ TransactionID: transactionId }),
    one({ CustomerID: customerId }),
    some({ Line: salesLine(maybe({ Tax: tax })) }),
    one({ DocumentTotals: totals }),
  ],
  'work',
);

const settled = sequence([...each({ OriginatingON: text(60), InvoiceDate: day }), maybe({ Description: text(200) })]);
const paymentLine = sequence(
  [
    one({ LineNumber: count }),
    some({ SourceDocumentID: settled }),
    maybe({ SettlementAmount: money }),
    side,
    maybe({ Tax: tax }),
    ...exemption,
  ],
  'line',
);

const payment = sequence(
  [
    ...each({ PaymentRefNo: documentNumber, ATCUD: text(100) }),
    ...perhaps({ Period: whole(1, 12), TransactionID: transactionId }),
    ...each({ TransactionDate: day, PaymentType: list('RC', 'RG') }),
    ...perhaps({ Description: text(200), SystemID: text(60) }),
    one({ DocumentStatus: status('Payment', ['N', 'A'], 'SourcePayment') }),
    many({ PaymentMethod: paymentMethod }),
    ...each({ SourceID: sourceId, SystemEntryDate: time, CustomerID: customerId }),
    some({ Line: paymentLine }),
    one({
      DocumentTotals: sequence([
        ...sums,
        maybe({ Settlement: sequence([one({ SettlementAmount: money })]) }),
        maybe({ Currency: currency }),
      ]),
    }),
    many({ WithholdingTax: withholding }),
  ],
  'payment',
);

const section = (record: RecordName, name: string, document: ElementType) =>
  sequence(
    [...each({ NumberOfEntries: count, TotalDebit: money, TotalCredit: money }), many({ [name]: document })],
    record,
  );

export const sourceDocuments = sequence([
  ...perhaps({
    SalesInvoices: section('salesInvoices', 'Invoice', invoice),
    MovementOfGoods: sequence(
      [...each({ NumberOfMovementLines: count, TotalQuantityIssued: money }), many({ StockMovement: movement })],
      'movementOfGoods',
    ),
    WorkingDocuments: section('workingDocuments', 'WorkDocument', work),
    Payments: section('payments', 'Payment', payment),
  }),
]);

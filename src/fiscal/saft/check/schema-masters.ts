/** Header, MasterFiles and GeneralLedgerEntries of the schema. */
import { each, many, maybe, one, perhaps, sequence, some } from './grammar.ts';
import { day, list, money, span, taxCode, taxRegion, text, time, whole } from './leaf-types.ts';
import {
  address,
  contacts,
  count,
  customerAddress,
  customsDetails,
  indicator,
  taxType,
  transactionId,
} from './schema-parts.ts';

export const header = sequence(
  [
    ...each({
      AuditFileVersion: list('1.04_01'),
      CompanyID: text(50, 1, /^(?:(?:\d{9})+|[^^]+ [\d/]+)$/, '500000000, Lisboa 500000000'),
      TaxRegistrationNumber: whole(100_000_000, 999_999_999),
      TaxAccountingBasis: list('C', 'E', 'F', 'I', 'P', 'R', 'S', 'T'),
      CompanyName: text(100),
    }),
    maybe({ BusinessName: text(60) }),
    ...each({
      CompanyAddress: address,
      FiscalYear: whole(2000, 9999),
      StartDate: span,
      EndDate: span,
      CurrencyCode: list('EUR'),
      DateCreated: span,
      TaxEntity: text(20),
      ProductCompanyTaxID: text(30),
      SoftwareCertificateNumber: count,
      ProductID: text(255, 3, /^[^/]+\/[^/]+$/, 'Programa/Produtor'),
      ProductVersion: text(30),
    }),
    maybe({ HeaderComment: text(255) }),
    ...contacts,
  ],
  'header',
);

const ledgerAccountId = text(30, 2, /^[^^]*$/, '2111');
const accountId = text(30, 1, /^[^^]*$/, 'Desconhecido');
const ledgerAccounts = sequence([
  one({ TaxonomyReference: list('S', 'M', 'N', 'O') }),
  some({
    Account: sequence(
      [
        ...each({
          AccountID: ledgerAccountId,
          AccountDescription: text(100),
          OpeningDebitBalance: money,
          OpeningCreditBalance: money,
          ClosingDebitBalance: money,
          ClosingCreditBalance: money,
          GroupingCategory: list('GR', 'GA', 'GM', 'AR', 'AA', 'AM'),
        }),
        ...perhaps({ GroupingCode: ledgerAccountId, TaxonomyCode: whole(1, 999) }),
      ],
      'account',
    ),
  }),
]);

const customer = sequence(
  [
    ...each({ CustomerID: text(30), AccountID: accountId, CustomerTaxID: text(30), CompanyName: text(100) }),
    maybe({ Contact: text(50) }),
    one({ BillingAddress: customerAddress }),
    many({ ShipToAddress: customerAddress }),
    ...contacts,
    one({ SelfBillingIndicator: indicator }),
  ],
  'customer',
);
const supplier = sequence(
  [
    ...each({ SupplierID: text(30), AccountID: accountId, SupplierTaxID: text(30), CompanyName: text(100) }),
    maybe({ Contact: text(50) }),
    one({ BillingAddress: address }),
    many({ ShipFromAddress: address }),
    ...contacts,
    one({ SelfBillingIndicator: indicator }),
  ],
  'supplier',
);
const product = sequence(
  [
    ...each({ ProductType: list('P', 'S', 'O', 'E', 'I'), ProductCode: text(60) }),
    maybe({ ProductGroup: text(50) }),
    ...each({ ProductDescription: text(200, 2), ProductNumberCode: text(60) }),
    maybe({ CustomsDetails: customsDetails }),
  ],
  'product',
);
const taxEntry = sequence(
  [
    ...each({ TaxType: taxType, TaxCountryRegion: taxRegion, TaxCode: taxCode, Description: text(255) }),
    maybe({ TaxExpirationDate: day }),
    one({ TaxPercentage: money, TaxAmount: money }),
  ],
  'tax',
);

export const masterFiles = sequence([
  maybe({ GeneralLedgerAccounts: ledgerAccounts }),
  many({ Customer: customer }),
  many({ Supplier: supplier }),
  many({ Product: product }),
  maybe({ TaxTable: sequence([some({ TaxTableEntry: taxEntry })]) }),
]);

const ledgerLine = (amount: string) =>
  sequence(
    [
      ...each({ RecordID: text(30), AccountID: ledgerAccountId }),
      maybe({ SourceDocumentID: text(60) }),
      ...each({ SystemEntryDate: time, Description: text(200), [amount]: money }),
    ],
    'ledgerLine',
  );
const transaction = sequence(
  [
    ...each({
      TransactionID: transactionId,
      Period: whole(1, 16),
      TransactionDate: day,
      SourceID: text(30),
      Description: text(200),
      DocArchivalNumber: text(20, 1, /^[^ ]*$/, 'A123'),
      TransactionType: list('N', 'R', 'A', 'J'),
      GLPostingDate: day,
    }),
    maybe({ CustomerID: text(30), SupplierID: text(30) }),
    one({ Lines: sequence([some({ DebitLine: ledgerLine('DebitAmount'), CreditLine: ledgerLine('CreditAmount') })]) }),
  ],
  'transaction',
);
export const ledger = sequence(
  [
    ...each({ NumberOfEntries: count, TotalDebit: money, TotalCredit: money }),
    many({
      Journal: sequence([
        ...each({ JournalID: text(30, 1, /^[^ ]*$/, 'VENDAS'), Description: text(200) }),
        many({ Transaction: transaction }),
      ]),
    }),
  ],
  'ledger',
);

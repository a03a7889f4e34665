/** Header, customers, suppliers, products, taxes, and the accounts and entries of a ledger. */
import { isNif } from '../../nif.ts';
import { apart, cent, unitsOf, unitsText } from '../amounts.ts';
import { addKey, type Book, checkReference } from './book.ts';
import { allIn, child, type SaftNode, textIn } from './structure.ts';

/** The header: period, fiscal year, NIF, whether the program is certified. */
export function checkHeader(book: Book, node: SaftNode): void {
  const [from, to] = [textIn(node, 'StartDate'), textIn(node, 'EndDate')];
  book.from = from;
  book.to = to;
  const certificate = textIn(node, 'SoftwareCertificateNumber');
  book.certified = certificate !== '' && Number(certificate) !== 0;
  if (from !== '' && to !== '' && to < from) book.findings.tell('PERIOD_REVERSED', node.line, { from, to });
  const nif = textIn(node, 'TaxRegistrationNumber');
  if (/^\d{9}$/.test(nif) && !isNif(nif)) {
    book.findings.tell('NIF_WRONG', node.line, { name: 'TaxRegistrationNumber', value: nif });
  }
  const year = textIn(node, 'FiscalYear');
  // A tax period may begin within the year before. What is missing or no number was told.
  const before = Number.parseInt(from, 10) - Number.parseInt(year, 10);
  if (before < 0 || before > 1) {
    book.findings.tell('FISCAL_YEAR', node.line, { value: year, from });
  }
}

/** A customer: its key, and its NIF where it is of Portugal. */
export function checkCustomer(book: Book, node: SaftNode): void {
  addKey(book, 'CustomerID', node);
  const nif = textIn(node, 'CustomerTaxID');
  if (textIn(child(node, 'BillingAddress'), 'Country') === 'PT' && nif !== '' && !isNif(nif)) {
    book.findings.tell('CUSTOMER_NIF_WRONG', node.line, { value: textIn(node, 'CustomerID'), nif });
  }
}

/** How taxes are compared: type, region, code, and the percentage as a number. */
export function taxKey(tax: SaftNode): string {
  const percentage = unitsOf(textIn(tax, 'TaxPercentage'));
  const rate = percentage === undefined ? '' : ` ${unitsText(percentage)} %`;
  return `${textIn(tax, 'TaxType')} ${textIn(tax, 'TaxCountryRegion')} ${textIn(tax, 'TaxCode')}${rate}`;
}

/** An account: its key, and the assertions on its category. */
export function checkAccount(book: Book, node: SaftNode): void {
  addKey(book, 'AccountID', node);
  const under = textIn(node, 'GroupingCode');
  if (under !== '' && !book.groupings.has(under)) book.groupings.set(under, node.line);
  const category = textIn(node, 'GroupingCategory');
  if (category === '') return;
  const rule = (name: string, wanted: boolean) => {
    const there = child(node, name) !== undefined;
    if (there === wanted) return;
    const code = wanted ? 'ACCOUNT_CODE_MISSING' : 'ACCOUNT_CODE_NOT_EXPECTED';
    book.findings.tell(code, node.line, { category, name });
  };
  rule('TaxonomyCode', category === 'GM');
  rule('GroupingCode', category !== 'GR' && category !== 'AR');
}

/** Once all accounts are known: those that others are grouped under. */
export function checkGroupings(book: Book): void {
  for (const [value, line] of book.groupings) {
    if (!book.keys.AccountID.has(value)) book.findings.tell('REFERENCE_UNKNOWN', line, { name: 'GroupingCode', value });
  }
}

/** What a ledger's entries sum to. */
export interface LedgerTally {
  entries: number;
  debit: bigint;
  credit: bigint;
  /** False when an amount could not be read, as of a section. */
  complete: boolean;
}

/** A debit or credit line of an entry. */
export function checkLedgerLine(book: Book, ledger: LedgerTally, node: SaftNode): void {
  checkReference(book, 'AccountID', node);
  const debit = unitsOf(textIn(node, 'DebitAmount'));
  const credit = unitsOf(textIn(node, 'CreditAmount'));
  ledger.debit += debit ?? 0n;
  ledger.credit += credit ?? 0n;
  if (debit === undefined && credit === undefined) ledger.complete = false;
}

/** An entry of a journal. */
export function checkTransaction(book: Book, ledger: LedgerTally, node: SaftNode): void {
  addKey(book, 'TransactionID', node);
  checkReference(book, 'CustomerID', node);
  checkReference(book, 'SupplierID', node);
  ledger.entries += 1;
}

/** The ledger's head against its entries. */
export function checkLedger(book: Book, ledger: LedgerTally, node: SaftNode): void {
  for (const journal of allIn(node, 'Journal')) addKey(book, 'JournalID', journal);
  const count = textIn(node, 'NumberOfEntries');
  if (count !== '' && Number(count) !== ledger.entries) {
    const facts = { name: 'NumberOfEntries', value: count, expected: ledger.entries };
    book.findings.tell('SECTION_COUNT', node.line, facts);
  }
  for (const [name, sum] of [
    ['TotalDebit', ledger.debit],
    ['TotalCredit', ledger.credit],
  ] as const) {
    const told = unitsOf(textIn(node, name));
    if (told === undefined || !ledger.complete || apart(told, sum) <= cent) continue;
    const facts = { name, value: unitsText(told), expected: unitsText(sum), leftOut: '–' };
    book.findings.tell('SECTION_SUM', node.line, facts);
  }
}

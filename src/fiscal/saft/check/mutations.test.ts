/** A good file, broken in one place at a time: the check names what is wrong there, and nothing else. */

import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { everything, sourceOf, textOf } from '../../../../test/golden/saft-samples.ts';
import { addDays } from '../../time.ts';
import { writeSaft } from '../write.ts';
import { checkSaft, type SaftReport } from './check-saft.ts';
import { findingWords } from './finding-words.ts';
import { type FindingCode, findingSentence } from './findings.ts';

const books = everything();
const ours = books.then(({ documents }) => textOf(writeSaft(sourceOf(documents))));
/** Written by hand in the manner of another program; signed documents are the published vectors. */
const otherFile = new URL('../fixtures/other-program.xml', import.meta.url);
const other = new TextDecoder('windows-1252')
  .decode(readFileSync(otherFile))
  .replace('"Windows-1252"', '"UTF-8"')
  .replace(/(<\/?)s:/g, '$1')
  .replace('xmlns:s=', 'xmlns=');
const vectors = JSON.parse(readFileSync(new URL('../../fixtures/hash-chain-vectors.json', import.meta.url), 'utf8'));

async function* bytesOf(xml: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(xml);
}

const ownKey = books.then(({ publicKey }) => publicKey);
const publishedKey = Promise.resolve(createPublicKey(vectors.publicKey));

/** With the key of version 1, or with one key of which nobody says the version. */
async function check(xml: string, key = ownKey, ofAnyVersion = false): Promise<SaftReport> {
  const publicKey = await key;
  if (ofAnyVersion) return checkSaft(bytesOf(xml), { onlyKey: publicKey });
  return checkSaft(bytesOf(xml), { publicKeys: (version) => (version === 1 ? publicKey : undefined) });
}

type Replacement = string | ((found: string) => string);
/** The first place changed; a mutation that changes nothing proves nothing. */
const swap = (from: string | RegExp, to: Replacement) => (xml: string) => {
  const changed = xml.replace(from, typeof to === 'string' ? () => to : to);
  expect(changed).not.toBe(xml);
  return changed;
};
/** The same within one document. */
const within = (number: string, from: string | RegExp, to: Replacement) => (xml: string) => {
  const start = xml.search(new RegExp(`<(?:InvoiceNo|DocumentNumber|PaymentRefNo)>${number}<`));
  expect(start).toBeGreaterThan(0);
  const last = xml.startsWith('<PaymentRefNo', start) ? /<\/Payment>/ : /<\/(?:Invoice|StockMovement|WorkDocument)>/;
  const stop = start + xml.slice(start).search(last);
  return xml.slice(0, start) + swap(from, to)(xml.slice(start, stop)) + xml.slice(stop);
};
/** Keys are made anew for each run: one signature of 4,096 begins with any two letters. */
const signedWrong = (number: string) =>
  within(number, /<Hash>../, (found) => (found === '<Hash>ZZ' ? '<Hash>YY' : '<Hash>ZZ'));
const both =
  (...steps: ((xml: string) => string)[]) =>
  (xml: string) =>
    steps.reduce((text, step) => step(text), xml);
/** A whole document taken out. */
const without = (number: string) => (xml: string) => {
  const at = xml.indexOf(`>${number}<`);
  const start = xml.lastIndexOf('<Invoice>', at);
  return xml.slice(0, start) + xml.slice(xml.indexOf('</Invoice>', at) + '</Invoice>\n'.length);
};

/** So much more credit in all, as the head of a section tells it. */
const credited = (section: string, more: number) =>
  swap(new RegExp(`(?<=<${section}>[\\s\\S]*?<TotalCredit>)[^<]*`), (sum) => (Number(sum) + more).toFixed(2));

type Mutation = readonly [
  what: string,
  codes: readonly FindingCode[],
  mutate: (xml: string) => string,
  document?: string,
];
const ft1 = 'FT A2026/1';
const sold = 'FT A2026/2';

const structure: readonly Mutation[] = [
  ['an element left out', ['ELEMENT_MISSING'], swap('<TaxEntity>Global</TaxEntity>\n', '')],
  ['a mandatory element of a document left out', ['ELEMENT_MISSING'], within(ft1, /<SystemEntryDate>.*\n/, ''), ft1],
  ['a required choice left out', ['ELEMENT_MISSING'], within('GT A2026/1', /<CreditAmount>.*\n/, ''), 'GT A2026/1'],
  ['the type of a document left out', ['ELEMENT_MISSING'], within(ft1, /<InvoiceType>.*\n/, ''), ft1],
  [
    'the status of a cancelled document left out',
    ['ELEMENT_MISSING'],
    within('FT A2026/3', /<InvoiceStatus>.*\n/, ''),
    'FT A2026/3',
  ],
  [
    'the amount of a withholding left out',
    ['ELEMENT_MISSING'],
    within('FR A2026/1', /<WithholdingTaxAmount>.*\n/, ''),
    'FR A2026/1',
  ],
  ['the fiscal year left out', ['ELEMENT_MISSING'], swap(/<FiscalYear>.*\n/, '')],
  ['the date of a document left out', ['ELEMENT_MISSING'], within('FT F2026/1', /<InvoiceDate>.*\n/, ''), 'FT F2026/1'],
  ...['TaxPayable', 'NetTotal', 'GrossTotal'].map(
    (name): Mutation => [
      `${name} left out`,
      ['ELEMENT_MISSING'],
      within('FR A2026/1', new RegExp(`<${name}>.*\\n`), ''),
      'FR A2026/1',
    ],
  ),
  ['a quantity left out', ['ELEMENT_MISSING'], within('GD A2026/1', /<Quantity>.*\n/, ''), 'GD A2026/1'],
  [
    'the first day left out, and documents behind the last',
    ['ELEMENT_MISSING'],
    both(swap(/<StartDate>.*\n/, ''), swap('<EndDate>2026-03-31', '<EndDate>2026-03-05')),
  ],
  ['the last day left out', ['ELEMENT_MISSING'], swap(/<EndDate>.*\n/, '')],
  ['a whole structure left out', ['ELEMENT_MISSING'], swap(/<CompanyAddress>[\s\S]*?<\/CompanyAddress>\n/, '')],
  [
    'a document without lines',
    ['ELEMENT_MISSING', 'SECTION_COUNT', 'SECTION_SUM'],
    within('GD A2026/1', /<Line>[\s\S]*?<\/Line>\n/, ''),
    'GD A2026/1',
  ],
  [
    'two elements exchanged',
    ['ELEMENT_ORDER'],
    swap(/(<City>.*\n)(<PostalCode>.*\n)/, '<PostalCode>1000-001</PostalCode>\n<City>Lisboa</City>\n'),
  ],
  [
    'sections exchanged',
    ['ELEMENT_ORDER'],
    (xml) => xml.replace(/(<WorkingDocuments>[\s\S]*<\/WorkingDocuments>\n)(<Payments>[\s\S]*<\/Payments>\n)/, '$2$1'),
  ],
  [
    'an element twice',
    ['ELEMENT_REPEATED'],
    swap(/<StartDate>.*\n/, '<StartDate>2026-03-01</StartDate>\n<StartDate>2026-03-01</StartDate>\n'),
  ],
  [
    'both sides of a choice',
    ['ELEMENT_REPEATED'],
    within('GT A2026/1', '<CreditAmount>', '<DebitAmount>0</DebitAmount>\n<CreditAmount>'),
    'GT A2026/1',
  ],
  ['an element that does not exist', ['ELEMENT_UNKNOWN'], swap('<TaxEntity>', '<Capital>5000</Capital>\n<TaxEntity>')],
  [
    'an element in the wrong parent',
    ['ELEMENT_UNKNOWN'],
    within('GR A2026/1', '<Quantity>', '<TaxPointDate>2026-03-06</TaxPointDate>\n<Quantity>'),
    'GR A2026/1',
  ],
  ['an element inside a text', ['ELEMENT_UNKNOWN'], swap('<TaxEntity>Global', '<TaxEntity>Global<b>x</b>')],
  ['an attribute', ['ATTRIBUTE'], swap('<TaxEntity>', '<TaxEntity lang="pt">')],
  [
    'nil, which no element may be',
    ['ATTRIBUTE', 'VALUE_EMPTY'],
    swap('<TaxEntity>Global', '<TaxEntity xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true">'),
  ],
  ['text between elements', ['TEXT_UNEXPECTED'], swap('<MasterFiles>\n', '<MasterFiles>\nolá\n')],
  ['another namespace inside', ['NAMESPACE'], swap('<TaxEntity>', '<TaxEntity xmlns="urn:x">')],
  ['another version', ['VERSION_OTHER'], swap('PT_1.04_01"', 'PT_1.03_01"')],
  [
    'another root',
    ['ROOT_UNKNOWN'],
    (xml) => xml.replaceAll('AuditFile>', 'Auditoria>').replace('<AuditFile ', '<Auditoria '),
  ],
  ['an empty text', ['VALUE_EMPTY'], swap('<City>Lisboa', '<City>')],
  ['a text that is too long', ['VALUE_TOO_LONG'], swap('<City>Lisboa', `<City>${'é'.repeat(51)}`)],
  [
    'a text that is too short',
    ['VALUE_TOO_SHORT'],
    within(ft1, /<ProductDescription>[^<]*/, '<ProductDescription>X'),
    ft1,
  ],
  [
    'a number with a comma',
    ['VALUE_NOT_NUMBER'],
    within('FT F2026/1', /<CreditAmount>[^<]*/, '<CreditAmount>1000,00'),
    'FT F2026/1',
  ],
  ['an exponent', ['VALUE_NOT_NUMBER'], within('GT A2026/1', /<UnitPrice>[^<]*/, '<UnitPrice>0e0'), 'GT A2026/1'],
  ['a negative amount', ['VALUE_NEGATIVE'], within('GT A2026/1', /<UnitPrice>[^<]*/, '<UnitPrice>-1.00'), 'GT A2026/1'],
  ['a month beyond December', ['VALUE_OUT_OF_RANGE'], within(ft1, '<Period>3', '<Period>13'), ft1],
  [
    'a day that does not exist',
    ['VALUE_NOT_DATE'],
    within(ft1, '<TaxPointDate>2026-03-02', '<TaxPointDate>2026-02-30'),
    ft1,
  ],
  [
    'a time without seconds',
    ['VALUE_NOT_TIME'],
    within('GT A2026/1', /<MovementStartTime>[^<]*/, '<MovementStartTime>2026-03-30T10:30'),
    'GT A2026/1',
  ],
  [
    'a time with a zone',
    ['TIME_WITH_ZONE'],
    within('GT A2026/1', /<MovementStartTime>[^<]*/, '<MovementStartTime>2026-03-30T10:30:00Z'),
    'GT A2026/1',
  ],
  ['a word that is not listed', ['VALUE_NOT_LISTED'], within(ft1, '<InvoiceStatus>N', '<InvoiceStatus>X'), ft1],
  ['a country that does not exist', ['VALUE_NOT_LISTED'], swap('<Country>DK', '<Country>EL')],
  ['EUR as another currency', ['VALUE_NOT_LISTED'], swap('<CurrencyCode>GBP', '<CurrencyCode>EUR'), 'FT A2026/4'],
  ['a number of another form', ['VALUE_FORM'], within('FT F2026/1', 'FT F2026/1', 'FT-F2026-1')],
  ['a product without producer', ['VALUE_FORM'], swap('<ProductID>Certo/Certo', '<ProductID>Certo')],
  [
    'an exemption code of another form',
    ['VALUE_FORM'],
    within('GR A2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M7'),
    'GR A2026/1',
  ],
  [
    'a HashControl of another form',
    ['VALUE_FORM'],
    within('FT R2026/1', /<HashControl>[^<]*/, '<HashControl>1-FTM abc'),
    'FT R2026/1',
  ],
];

const keys: readonly Mutation[] = [
  ['a customer twice', ['KEY_REPEATED'], (xml) => xml.replace(/<Customer>[\s\S]*?<\/Customer>\n/, '$&$&')],
  ['a product twice', ['KEY_REPEATED'], (xml) => xml.replace(/<Product>[\s\S]*?<\/Product>\n/, '$&$&')],
  [
    'a document twice',
    ['NUMBER_REPEATED', 'SECTION_COUNT', 'SECTION_SUM'],
    (xml) => xml.replace(/<Invoice>\n<InvoiceNo>FS A2026\/1[\s\S]*?<\/Invoice>\n/, '$&$&'),
    'FS A2026/1',
  ],
  ['a customer without record', ['REFERENCE_UNKNOWN'], within(ft1, /<CustomerID>[^<]*/, '<CustomerID>NINGUEM'), ft1],
  ['a product without record', ['REFERENCE_UNKNOWN'], within(ft1, /<ProductCode>[^<]*/, '<ProductCode>NADA'), ft1],
];

const assertions: readonly Mutation[] = [
  [
    'no tax and no reason',
    ['EXEMPTION_REASON_MISSING'],
    within('GR A2026/1', /<TaxExemptionReason>.*\n<TaxExemptionCode>.*\n/, ''),
    'GR A2026/1',
  ],
  [
    'a reason beside tax',
    ['EXEMPTION_NOT_EXPECTED'],
    within(
      sold,
      '</Tax>\n',
      '</Tax>\n<TaxExemptionReason>Isento artigo 9</TaxExemptionReason>\n<TaxExemptionCode>M07</TaxExemptionCode>\n',
    ),
    sold,
  ],
  ['a reason without code', ['EXEMPTION_INCOMPLETE'], within('GR A2026/1', /<TaxExemptionCode>.*\n/, ''), 'GR A2026/1'],
  [
    'a code without reason',
    ['EXEMPTION_INCOMPLETE', 'EXEMPTION_REASON_MISSING'],
    within('GR A2026/1', /<TaxExemptionReason>.*\n/, ''),
    'GR A2026/1',
  ],
  [
    'a tax base beside a price',
    ['TAX_BASE_WITH_VALUE'],
    within(sold, '<TaxPointDate>', '<TaxBase>22.20</TaxBase>\n<TaxPointDate>'),
    sold,
  ],
  ['an RC line without tax', ['RC_WITHOUT_TAX'], within('RC C2026/1', /<Tax>[\s\S]*?<\/Tax>\n/, ''), 'RC C2026/1'],
];

/** A line of 1000.00 as so many pieces at a price. */
const millions = (price: string, quantity = '30000000') =>
  both(
    within('FT F2026/1', '<Quantity>10<', `<Quantity>${quantity}<`),
    within('FT F2026/1', '<UnitPrice>100.00<', `<UnitPrice>${price}<`),
  );

/** RG A2026/2 settles 1000.00 and its tax: with other totals. */
const receiptNet = (net: string, gross: string) =>
  both(
    within('RG A2026/2', '<NetTotal>1000.00', `<NetTotal>${net}`),
    within('RG A2026/2', '<GrossTotal>1230.00', `<GrossTotal>${gross}`),
  );
/** The same with what its line settles told with its tax, as some programs do. */
const receiptGross = (amount: string) =>
  both(
    within('RG A2026/2', '<CreditAmount>1000.00', `<CreditAmount>${amount}`),
    credited('Payments', Number(amount) - 1000),
  );
/** A document with another tax, and the total that it makes. */
const taxed = (number: string, tax: string) =>
  within(number, /<TaxPayable>[^<]*(<\/TaxPayable>\n<NetTotal>)([^<]*)(<\/NetTotal>\n<GrossTotal>)[^<]*/, (found) => {
    const net = /<NetTotal>([^<]*)/.exec(found)![1]!;
    return `<TaxPayable>${tax}</TaxPayable>\n<NetTotal>${net}</NetTotal>\n<GrossTotal>${(Number(net) + Number(tax)).toFixed(2)}`;
  });
/** 4 of the 10 of a line, on the other side. */
const partOf = (line: string) =>
  line
    .replace('<LineNumber>1', '<LineNumber>2')
    .replace('<Quantity>10', '<Quantity>4')
    .replace('CreditAmount>1000.00</CreditAmount', 'DebitAmount>400.00</DebitAmount');
/** A line of the tax of 100.00 alone. */
const taxOf = (line: string) =>
  line
    .replace('<LineNumber>1', '<LineNumber>2')
    .replace(/<UnitPrice>[^<]*<\/UnitPrice>\n/, '<UnitPrice>0.00</UnitPrice>\n<TaxBase>100.00</TaxBase>\n')
    .replace(/<DebitAmount>[^<]*/, '<DebitAmount>0.00');
const paid = (amount: string) => within('FR A2026/1', /<PaymentAmount>[^<]*/, `<PaymentAmount>${amount}`);
const withheldStamp = within('FR A2026/1', '<WithholdingTaxType>IRS', '<WithholdingTaxType>IS');
/** What a document says that it was made of. */
const madeOf = (number: string, origin: string) =>
  within(
    number,
    '</LineNumber>\n',
    `</LineNumber>\n<OrderReferences>\n<OriginatingON>${origin}</OriginatingON>\n</OrderReferences>\n`,
  );

/** FT A2026/3 is cancelled. */
const noteOn = within('ND A2026/1', /(?<=<Reference>)[^<]*/, 'FT A2026/3');
/** The same with the note's series before the invoice's: sections need no order. */
const noteBefore = (xml: string) => {
  const changed = noteOn(xml);
  const [note = ''] = /<Invoice>\n<InvoiceNo>ND A2026\/1<[\s\S]*?<\/Invoice>\n/.exec(changed) ?? [];
  expect(note).not.toBe('');
  return swap('<Invoice>\n', (found) => note + found)(changed.replace(note, ''));
};

const figures: readonly Mutation[] = [
  [
    'a NIF with a wrong check digit',
    ['NIF_WRONG'],
    swap('<TaxRegistrationNumber>500000000', '<TaxRegistrationNumber>500000001'),
  ],
  [
    'a customer of PT with a wrong NIF',
    ['CUSTOMER_NIF_WRONG'],
    swap('<CustomerTaxID>501442600', '<CustomerTaxID>501442601'),
  ],
  ['a fiscal year two years before the period', ['FISCAL_YEAR'], swap('<FiscalYear>2026', '<FiscalYear>2024')],
  ['a fiscal year behind the period', ['FISCAL_YEAR'], swap('<FiscalYear>2026', '<FiscalYear>2027')],
  [
    'a document outside the period',
    ['DATE_OUTSIDE_PERIOD'],
    swap('<EndDate>2026-03-31', '<EndDate>2026-03-11'),
    'RC C2026/1',
  ],
  [
    'a tax that is not in the table',
    ['TAX_NOT_IN_TABLE'],
    (xml) => xml.replace(/<TaxTableEntry>(?:(?!<TaxTableEntry>)[\s\S])*<TaxCode>INT[\s\S]*?<\/TaxTableEntry>\n/, ''),
    'FT A2026/1',
  ],
  ['a line number left out', ['LINE_NUMBER'], within(ft1, '<LineNumber>2', '<LineNumber>3'), ft1],
  ['a quantity changed', ['LINE_AMOUNT'], within(ft1, '<Quantity>12', '<Quantity>13'), ft1],
  ...['0.000033', '0.0000333', '0.00003333'].map(
    (price): Mutation => [
      `a price of six decimals or more, rounded too far for the quantity: ${price}`,
      ['LINE_PRICE_ROUNDED'],
      millions(price),
      'FT F2026/1',
    ],
  ),
  ...['0.00003', '0.000032', '0.0000330'].map(
    (price): Mutation => [
      `a price that its decimals do not explain: ${price}`,
      ['LINE_AMOUNT'],
      millions(price),
      'FT F2026/1',
    ],
  ),
  [
    'a price that its last decimal explains to a cent',
    ['LINE_PRICE_ROUNDED'],
    millions('0.000001', '2000020000'),
    'FT F2026/1',
  ],
  ['a price just beyond that', ['LINE_AMOUNT'], millions('0.000001', '2000020000.1'), 'FT F2026/1'],
  ['an amount just beyond a cent', ['LINE_AMOUNT'], millions('100.0011', '10.0'), 'FT F2026/1'],
  ['a quantity of a transport changed', ['SECTION_SUM'], within('GD A2026/1', '<Quantity>3', '<Quantity>4')],
  [
    'an amount changed',
    ['LINE_AMOUNT', 'NET_TOTAL', 'TAX_TOTAL', 'SECTION_SUM'],
    within('FT F2026/1', '<CreditAmount>1000.00', '<CreditAmount>900.00'),
    'FT F2026/1',
  ],
  [
    'a rate changed',
    ['RATE_NOT_IN_FORCE', 'TAX_TOTAL', 'TAX_NOT_IN_TABLE'],
    within('FT F2026/1', '<TaxPercentage>23.00', '<TaxPercentage>22.00'),
    'FT F2026/1',
  ],
  ...['PT-AC', 'PT-MA'].map(
    (region): Mutation => [
      `the rate of another region than ${region}`,
      ['RATE_NOT_IN_FORCE', 'TAX_NOT_IN_TABLE'],
      within('FT F2026/1', '<TaxCountryRegion>PT<', `<TaxCountryRegion>${region}<`),
      'FT F2026/1',
    ],
  ),
  [
    'an exemption code that does not exist',
    ['EXEMPTION_CODE_UNKNOWN'],
    within('FT C2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M08'),
    'FT C2026/1',
  ],
  [
    'an exemption code of a transport that is in no table',
    ['EXEMPTION_CODE_UNKNOWN'],
    within('GR A2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M98'),
    'GR A2026/1',
  ],
  [
    'an exemption code of a transport that has ended by its date',
    ['EXEMPTION_CODE_ENDED'],
    within('GR A2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M26'),
    'GR A2026/1',
  ],
  [
    'a rate of a transport that is not in force on its date',
    ['RATE_NOT_IN_FORCE', 'TAX_NOT_IN_TABLE'],
    within('GR A2026/1', '<TaxPercentage>6.00', '<TaxPercentage>5.90'),
    'GR A2026/1',
  ],
  [
    'an exemption code that has ended',
    ['EXEMPTION_CODE_ENDED'],
    within('FT C2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M26'),
    'FT C2026/1',
  ],
  [
    'an exemption code that is not in the first table',
    ['EXEMPTION_CODE_UNKNOWN'],
    both(
      within('FT C2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M08'),
      within('FT C2026/1', /<TaxPointDate>[^<]*/g, '<TaxPointDate>2022-07-01'),
    ),
    'FT C2026/1',
  ],
  ...['NC A2026/1', 'ND A2026/1'].map(
    (number): Mutation => [
      `a rate of another day, which the invoice of a note may have: ${number}`,
      ['TAX_TOTAL', 'TAX_NOT_IN_TABLE'],
      within(number, /<TaxPercentage>[^<]*/, '<TaxPercentage>27.00'),
      number,
    ],
  ),
  [
    'the wrong side',
    ['SIDE', 'SECTION_SUM'],
    within('FT F2026/1', /CreditAmount>1000.00<\/CreditAmount/, 'DebitAmount>1000.00</DebitAmount'),
    'FT F2026/1',
  ],
  [
    'a note without reference',
    ['REFERENCES_MISSING'],
    within('ND A2026/1', /<References>[\s\S]*?<\/References>\n/, ''),
    'ND A2026/1',
  ],
  ...[sold, 'FS A2026/1', 'FR A2026/1'].map(
    (number): Mutation => [
      `a reference on an invoice: ${number}`,
      ['REFERENCES_NOT_EXPECTED'],
      within(number, '<Description>', '<References>\n<Reference>FT A2026/1</Reference>\n</References>\n<Description>'),
      number,
    ],
  ),
  [
    'a gross total changed',
    ['GROSS_TOTAL', 'HASH_WRONG'],
    within('FT F2026/1', '<GrossTotal>1230.00', '<GrossTotal>1230.01'),
    'FT F2026/1',
  ],
  [
    'the tax of a receipt changed',
    ['GROSS_TOTAL'],
    within('RG A2026/2', '<TaxPayable>230.00', '<TaxPayable>230.01'),
    'RG A2026/2',
  ],
  [
    'a net total changed with the gross',
    ['NET_TOTAL', 'HASH_WRONG'],
    both(
      within('FT F2026/1', '<NetTotal>1000.00', '<NetTotal>1010.00'),
      within('FT F2026/1', '<GrossTotal>1230.00', '<GrossTotal>1240.00'),
    ),
    'FT F2026/1',
  ],
  [
    'a tax total changed with the gross',
    ['TAX_TOTAL', 'HASH_WRONG'],
    both(
      within('FT F2026/1', '<TaxPayable>230.00', '<TaxPayable>231.00'),
      within('FT F2026/1', '<GrossTotal>1230.00', '<GrossTotal>1231.00'),
    ),
    'FT F2026/1',
  ],
  [
    'a line that takes back a part of another',
    ['SIDE', 'SECTION_SUM', 'HASH_WRONG'],
    both(
      within('FT F2026/1', /<Line>[\s\S]*<\/Line>\n/, (line) => line + partOf(line)),
      within('FT F2026/1', '<TaxPayable>230.00', '<TaxPayable>138.00'),
      within('FT F2026/1', '<NetTotal>1000.00', '<NetTotal>600.00'),
      within('FT F2026/1', '<GrossTotal>1230.00', '<GrossTotal>738.00'),
    ),
    'FT F2026/1',
  ],
  [
    'a line of tax alone beside the others of a credit note',
    ['HASH_WRONG'],
    both(
      within('NC A2026/1', /<Line>[\s\S]*<\/Line>\n/, (line) => line + taxOf(line)),
      within('NC A2026/1', '<TaxPayable>0.86', '<TaxPayable>13.86'),
      within('NC A2026/1', '<GrossTotal>7.46', '<GrossTotal>20.46'),
    ),
    'NC A2026/1',
  ],
  [
    'a net total of a receipt more than a cent from its lines',
    ['NET_TOTAL'],
    receiptNet('1000.02', '1230.02'),
    'RG A2026/2',
  ],
  ['a receipt of gross amounts more than a cent from its total', ['NET_TOTAL'], receiptGross('1230.02'), 'RG A2026/2'],
  ['a tax that its line does not explain', ['TAX_TOTAL', 'HASH_WRONG'], taxed('FT F2026/1', '230.03'), 'FT F2026/1'],
  [
    'a tax of a note that no notes before explain',
    ['TAX_TOTAL', 'HASH_WRONG'],
    taxed('NC A2026/1', '0.97'),
    'NC A2026/1',
  ],
  ['a tax with cents of its own', ['HASH_WRONG'], taxed('FT F2026/1', '230.02'), 'FT F2026/1'],
  ['a tax of a note with cents of the notes before', ['HASH_WRONG'], taxed('NC A2026/1', '0.96'), 'NC A2026/1'],
  [
    'an FR that is not paid',
    ['PAYMENT_MISSING'],
    within('FR A2026/1', /<Payment>[\s\S]*?<\/Payment>\n/, ''),
    'FR A2026/1',
  ],
  ['an FR paid in part', ['PAYMENT_SUM'], paid('900.00'), 'FR A2026/1'],
  ['an FR paid two cents short', ['PAYMENT_SUM'], paid('999.98'), 'FR A2026/1'],
  ['an FR paid two cents over', ['PAYMENT_SUM'], paid('1000.02'), 'FR A2026/1'],
  ['an FR with stamp duty, paid two cents over', ['PAYMENT_SUM'], both(withheldStamp, paid('1230.02')), 'FR A2026/1'],
  ['a payment that cannot be read', ['VALUE_NOT_NUMBER'], paid('1000,00'), 'FR A2026/1'],
  ['an FR paid as if nothing were withheld', ['PAYMENT_SUM'], paid('1230.00'), 'FR A2026/1'],
  [
    'an FS paid in part',
    ['PAYMENT_SUM'],
    within('FS A2026/1', /<PaymentAmount>[^<]*/, '<PaymentAmount>23.51'),
    'FS A2026/1',
  ],
  [
    'a pro forma that was invoiced and still stands as new',
    ['INVOICED_NOT_TOLD'],
    within('PF A2026/1', '<WorkStatus>F', '<WorkStatus>N'),
    'PF A2026/1',
  ],
  ...['FS A2026/1', 'FR A2026/1'].map(
    (number): Mutation => [
      `a pro forma that ${number} was made of and still stands as new`,
      ['INVOICED_NOT_TOLD'],
      madeOf(number, 'PF A2026/2'),
      'PF A2026/2',
    ],
  ),
  [
    'a pro forma that was invoiced and stands as cancelled',
    ['INVOICED_NOT_TOLD', 'CANCEL_REASON_MISSING', 'SECTION_SUM'],
    within('PF A2026/1', '<WorkStatus>F', '<WorkStatus>A'),
    'PF A2026/1',
  ],
  [
    'one of two pro formas that is told as a budget',
    ['TYPE_NOT_OF_SERIES'],
    within('PF A2026/1', '<WorkType>PF', '<WorkType>OR'),
    'PF A2026/2',
  ],
  [
    'a budget that was invoiced and still stands as new',
    ['INVOICED_NOT_TOLD', 'TYPE_NOT_OF_SERIES'],
    both(within('PF A2026/1', '<WorkType>PF', '<WorkType>OR'), within('PF A2026/1', '<WorkStatus>F', '<WorkStatus>N')),
    'PF A2026/1',
  ],
  [
    'a transport that was invoiced and still stands as new',
    ['INVOICED_NOT_TOLD'],
    within('GT A2026/1', '<MovementStatus>F', '<MovementStatus>N'),
    'GT A2026/1',
  ],
  ...['FS A2026/1', 'FR A2026/1'].map(
    (number): Mutation => [
      `a transport that ${number} was made of and still stands as new`,
      ['INVOICED_NOT_TOLD'],
      madeOf(number, 'GD A2026/1'),
      'GD A2026/1',
    ],
  ),
  ['a count of documents', ['SECTION_COUNT'], swap(/(?<=<SalesInvoices>\n)<NumberOfEntries>\d+/, '<NumberOfEntries>3')],
  ['a count of lines', ['SECTION_COUNT'], swap('<NumberOfMovementLines>8', '<NumberOfMovementLines>7')],
  ['a total of debits', ['SECTION_SUM'], swap(/<TotalDebit>[^<]*/, '<TotalDebit>1.00')],
  ['a total of credits two cents off', ['SECTION_SUM'], credited('SalesInvoices', 0.02)],
  ['a total of credits', ['SECTION_SUM'], swap(/<TotalCredit>[^<]*/, '<TotalCredit>1.00')],
  ['a total quantity', ['SECTION_SUM'], swap('<TotalQuantityIssued>37', '<TotalQuantityIssued>49')],
  ['a cancelled document that counts', ['SECTION_SUM'], within('FT A2026/3', '<InvoiceStatus>A', '<InvoiceStatus>N')],
  ['a replaced invoice that counts', ['SECTION_SUM'], within('FT F2026/1', '<InvoiceStatus>N', '<InvoiceStatus>F')],
  ['a cancelled pro forma that counts', ['SECTION_SUM'], within('PF A2026/3', '<WorkStatus>A', '<WorkStatus>F')],
  ['a cancelled receipt that counts', ['SECTION_SUM'], within('RG A2026/3', '<PaymentStatus>A', '<PaymentStatus>N')],
  [
    'a cancelled transport that counts',
    ['SECTION_SUM'],
    within('GR A2026/2', '<MovementStatus>A', '<MovementStatus>N'),
  ],
  ...[noteOn, noteBefore].map(
    (mutate, i): Mutation => [
      `a note that corrects a cancelled invoice ${i === 0 ? 'before' : 'behind'} the note in the file`,
      ['NOTE_ON_CANCELLED'],
      mutate,
      'ND A2026/1',
    ],
  ),
  [
    'an original that was recovered twice',
    ['RECOVERED_TWICE'],
    within('FT R2026/2', /<HashControl>[^<]*/, '<HashControl>1-FTM abc/00001'),
    'FT R2026/2',
  ],
  ['a cancellation without reason', ['CANCEL_REASON_MISSING'], within('FT A2026/3', /<Reason>.*\n/, ''), 'FT A2026/3'],
  [
    'a status before the document',
    ['STATUS_BEFORE_ENTRY'],
    within('FT A2026/3', '<InvoiceStatusDate>2026-03-06T18', '<InvoiceStatusDate>2026-03-05T18'),
    'FT A2026/3',
  ],
];

const chains: readonly Mutation[] = [
  // The next one can't be verified without the one that is missing.
  ['a document left out', ['NUMBER_GAP', 'SECTION_COUNT', 'SECTION_SUM'], without('FT A2026/2')],
  [
    'the first document left out',
    ['HASH_UNVERIFIED', 'SECTION_COUNT', 'SECTION_SUM'],
    without('FT A2026/1'),
    'FT A2026/2',
  ],
  [
    'documents out of order',
    ['NUMBER_ORDER', 'HASH_UNVERIFIED'],
    (xml) =>
      xml.replace(
        /(<Invoice>\n<InvoiceNo>FT A2026\/1<[\s\S]*?<\/Invoice>\n)([\s\S]*?)(?=<Invoice>\n<InvoiceNo>FT A2026\/4<)/,
        '$2$1',
      ),
    'FT A2026/1',
  ],
  [
    'a date changed back',
    ['DATE_GOES_BACK', 'DATE_BEFORE_PARENT', 'HASH_WRONG'],
    within('FT A2026/5', '<InvoiceDate>2026-03-06', '<InvoiceDate>2026-03-05'),
    'FT A2026/5',
  ],
  [
    'a credit note before its invoice',
    ['DATE_BEFORE_PARENT', 'HASH_WRONG'],
    within('NC A2026/1', '<InvoiceDate>2026-03-06', '<InvoiceDate>2026-03-05'),
    'NC A2026/1',
  ],
  [
    'a debit note before its invoice',
    ['DATE_BEFORE_PARENT', 'HASH_WRONG'],
    within('ND A2026/1', '<InvoiceDate>2026-03-06', '<InvoiceDate>2026-03-05'),
    'ND A2026/1',
  ],
  [
    'a receipt before what it settles',
    ['DATE_BEFORE_PARENT'],
    within('RG A2026/1', '<TransactionDate>2026-03-10', '<TransactionDate>2026-03-05'),
    'RG A2026/1',
  ],
  [
    'a receipt of cash VAT before its invoice',
    ['DATE_BEFORE_PARENT'],
    within('RC C2026/1', '<TransactionDate>2026-03-12', '<TransactionDate>2026-03-05'),
    'RC C2026/1',
  ],
  [
    'a cancelled receipt before its invoice, which settles nothing',
    ['DATE_GOES_BACK'],
    within('RG A2026/3', '<TransactionDate>2026-03-12', '<TransactionDate>2026-03-05'),
    'RG A2026/3',
  ],
  [
    'an invoice before the pro forma that it was made of, further down',
    ['DATE_BEFORE_PARENT', 'HASH_WRONG'],
    (xml) => xml.replaceAll('<WorkDate>2026-03-06', '<WorkDate>2026-03-07'),
    'FT A2026/5',
  ],
  [
    'a time changed back',
    ['ENTRY_GOES_BACK', 'HASH_WRONG'],
    within('FT A2026/5', '<SystemEntryDate>2026-03-06T09', '<SystemEntryDate>2026-03-06T08'),
    'FT A2026/5',
  ],
  ['a signature changed', ['HASH_WRONG'], signedWrong('FT F2026/1'), 'FT F2026/1'],
  ['the last signature of a type changed', ['HASH_WRONG'], signedWrong('PF A2026/3'), 'PF A2026/3'],
  ['a signature of a transport changed', ['HASH_WRONG'], signedWrong('GC A2026/1'), 'GC A2026/1'],
  ['a signature replaced by 0', ['HASH_ZERO'], within('FT A2026/2', /<Hash>[^<]*/, '<Hash>0'), 'FT A2026/2'],
  ['the last signature replaced by 0', ['HASH_ZERO'], within('FT F2026/1', /<Hash>[^<]*/, '<Hash>0'), 'FT F2026/1'],
  [
    'a signature and its control replaced by 0',
    ['HASH_ZERO'],
    both(within('GR A2026/1', /<Hash>[^<]*/, '<Hash>0'), within('GR A2026/1', /<HashControl>[^<]*/, '<HashControl>0')),
    'GR A2026/1',
  ],
  [
    'a signature replaced by 0, in the middle of a series, as if the document came from elsewhere',
    ['HASH_ZERO'],
    both(
      within('FT A2026/2', /<Hash>[^<]*/, '<Hash>0'),
      within('FT A2026/2', /<HashControl>[^<]*/, '<HashControl>0'),
      within('FT A2026/2', '<SourceBilling>P', '<SourceBilling>I'),
    ),
    'FT A2026/2',
  ],
  [
    'the first signature of a series replaced by 0, as if the document came from elsewhere',
    ['HASH_WRONG'],
    both(
      within('FT A2026/1', /<Hash>[^<]*/, '<Hash>0'),
      within('FT A2026/1', /<HashControl>[^<]*/, '<HashControl>0'),
      within('FT A2026/1', '<SourceBilling>P', '<SourceBilling>I'),
    ),
    'FT A2026/2',
  ],
  [
    'a total with one decimal',
    ['GROSS_TOTAL_FORM', 'HASH_WRONG'],
    within('FT F2026/1', '<GrossTotal>1230.00', '<GrossTotal>1230.0'),
    'FT F2026/1',
  ],
  [
    'a total with four decimals',
    ['GROSS_TOTAL_FORM', 'HASH_WRONG'],
    within('GR A2026/1', /<GrossTotal>73.53/, '<GrossTotal>73.5300'),
    'GR A2026/1',
  ],
  [
    'a total with a zero in front',
    ['GROSS_TOTAL_FORM', 'HASH_WRONG'],
    within('PF A2026/1', '<GrossTotal>1230.00', '<GrossTotal>01230.00'),
    'PF A2026/1',
  ],
  [
    'a total below zero',
    ['GROSS_TOTAL_FORM', 'HASH_WRONG'],
    within('GT A2026/1', '<GrossTotal>0.00', '<GrossTotal>-0.00'),
    'GT A2026/1',
  ],
  ['a signature cut', ['HASH_FORM'], within('FT F2026/1', /<Hash>..../, '<Hash>'), 'FT F2026/1'],
  [
    'a signature of an unknown key',
    ['HASH_KEY_UNKNOWN'],
    within('FT F2026/1', '<HashControl>1', '<HashControl>7'),
    'FT F2026/1',
  ],
  [
    'an own document told as one of another program',
    ['SOURCE_MISMATCH'],
    within('FT F2026/1', '<SourceBilling>P', '<SourceBilling>I'),
    'FT F2026/1',
  ],
  [
    'a recovered document told as own',
    ['SOURCE_MISMATCH'],
    within('FT R2026/1', '<SourceBilling>M', '<SourceBilling>P'),
    'FT R2026/1',
  ],
  ['an ATCUD with its label', ['ATCUD_FORM'], within('FT F2026/1', '<ATCUD>', '<ATCUD>ATCUD:'), 'FT F2026/1'],
  ['an ATCUD of another number', ['ATCUD_NUMBER'], within('FT A2026/2', /-2<\/ATCUD>/, '-3</ATCUD>'), 'FT A2026/2'],
  [
    'an ATCUD with zeros that the number has not',
    ['ATCUD_NUMBER'],
    within('FT F2026/1', /-1<\/ATCUD>/, '-0001</ATCUD>'),
    'FT F2026/1',
  ],
  [
    'an ATCUD without the zeros of the number',
    ['ATCUD_NUMBER', 'HASH_WRONG'],
    within('FT F2026/1', '>FT F2026/1<', '>FT F2026/0001<'),
    'FT F2026/0001',
  ],
  [
    'a number and an ATCUD with zeros, signed without them',
    ['HASH_WRONG'],
    both(within('FT F2026/1', /-1<\/ATCUD>/, '-0001</ATCUD>'), within('FT F2026/1', '>FT F2026/1<', '>FT F2026/0001<')),
    'FT F2026/0001',
  ],
  ['an ATCUD of too short a code', ['ATCUD_FORM'], within('FT F2026/1', /<ATCUD>./, '<ATCUD>'), 'FT F2026/1'],
  [
    'the same second twice in a series',
    ['HASH_WRONG'],
    (xml) =>
      within(
        'FT R2026/2',
        /<SystemEntryDate>[^<]*/,
        /<InvoiceNo>FT R2026\/1<[\s\S]*?(<SystemEntryDate>[^<]*)/.exec(xml)![1]!,
      )(xml),
    'FT R2026/2',
  ],
  ['an ATCUD of another series', ['ATCUD_CODE'], within('FT A2026/2', /<ATCUD>.../, '<ATCUD>ZZZ'), 'FT A2026/2'],
  ['no ATCUD', ['ATCUD_ZERO'], within('FT A2026/2', /<ATCUD>[^<]*/, '<ATCUD>0'), 'FT A2026/2'],
  [
    'one code for two types',
    ['TYPE_NOT_OF_SERIES'],
    within('FT F2026/1', '<InvoiceType>FT', '<InvoiceType>FS'),
    'FT F2026/1',
  ],
  [
    'one code for two types, in two sections',
    ['TYPE_NOT_OF_SERIES', 'HASH_WRONG'],
    within('GD A2026/1', '>GD A2026/1<', '>FT G2026/1<'),
    'FT G2026/1',
  ],
];

/** With one key, whose version is that of the signatures it made. */
const controls: readonly Mutation[] = [
  [
    'a HashControl of another version than the key that signed',
    ['HASH_CONTROL_OTHER'],
    within('FT F2026/1', '<HashControl>1', '<HashControl>99'),
    'FT F2026/1',
  ],
  [
    'the HashControl of a recovered document likewise',
    ['HASH_CONTROL_OTHER'],
    within('FT R2026/2', '<HashControl>1-', '<HashControl>2-'),
    'FT R2026/2',
  ],
  ['a signature changed', ['HASH_WRONG'], signedWrong('FT F2026/1'), 'FT F2026/1'],
  [
    'a signature of a key that was not given',
    ['HASH_KEY_UNKNOWN'],
    both(signedWrong('FT F2026/1'), within('FT F2026/1', '<HashControl>1', '<HashControl>2')),
    'FT F2026/1',
  ],
];

const ledger: readonly Mutation[] = [
  ['a ledger that counts wrong', ['SECTION_COUNT'], swap('<NumberOfEntries>1', '<NumberOfEntries>2')],
  ['a ledger that sums wrong', ['SECTION_SUM'], swap('<TotalDebit>1230.00', '<TotalDebit>1231.00')],
  ['a debit left out', ['ELEMENT_MISSING'], swap(/<DebitAmount>1230.00<\/DebitAmount>\s*/, '')],
  ['a credit left out', ['ELEMENT_MISSING'], swap(/<CreditAmount>230.00<\/CreditAmount>\s*/, '')],
  ['a ledger two cents off', ['SECTION_SUM'], swap('<TotalDebit>1230.00', '<TotalDebit>1230.02')],
  [
    'a parent of accounts with a taxonomy',
    ['ACCOUNT_CODE_NOT_EXPECTED'],
    swap(/(?<=<GroupingCode>21<\/GroupingCode>)/, '<TaxonomyCode>10</TaxonomyCode>'),
  ],
  ...['GA', 'AA', 'AM'].map(
    (category): Mutation => [
      `an account of ${category} without parent`,
      ['ACCOUNT_CODE_MISSING'],
      swap(
        /<GroupingCategory>GA<\/GroupingCategory>\s*<GroupingCode>21<\/GroupingCode>/,
        `<GroupingCategory>${category}</GroupingCategory>`,
      ),
    ],
  ),
  [
    'a first-level analytic account with a parent',
    ['ACCOUNT_CODE_NOT_EXPECTED'],
    swap(
      '<GroupingCategory>GR</GroupingCategory>',
      '<GroupingCategory>AR</GroupingCategory><GroupingCode>72</GroupingCode>',
    ),
  ],
  ['an account without its taxonomy', ['ACCOUNT_CODE_MISSING'], swap(/<TaxonomyCode>10<\/TaxonomyCode>\s*/, '')],
  [
    'a first-level account with a parent',
    ['ACCOUNT_CODE_NOT_EXPECTED'],
    swap(
      '<GroupingCategory>GR</GroupingCategory>',
      '<GroupingCategory>GR</GroupingCategory><GroupingCode>72</GroupingCode>',
    ),
  ],
  ['an account that groups under nothing', ['REFERENCE_UNKNOWN'], swap('<GroupingCode>211<', '<GroupingCode>999<')],
  [
    'an entry on an unknown account',
    ['REFERENCE_UNKNOWN'],
    swap(/<AccountID>721(?=<\/AccountID>\s*<SourceDocumentID>)/, '<AccountID>799'),
  ],
  ['an account twice', ['KEY_REPEATED'], (xml) => xml.replace(/<Account>[\s\S]*?<\/Account>\s*/, '$&$&')],
  [
    'an entry twice',
    ['KEY_REPEATED', 'SECTION_COUNT', 'SECTION_SUM'],
    (xml) => xml.replace(/<Transaction>[\s\S]*?<\/Transaction>\s*/, '$&$&'),
  ],
  [
    'a journal twice',
    ['KEY_REPEATED'],
    swap('</Journal>', '</Journal><Journal><JournalID>VENDAS</JournalID><Description>Outro</Description></Journal>'),
  ],
  [
    'a supplier without record',
    ['REFERENCE_UNKNOWN'],
    swap(/<SupplierID>F1(?=<\/SupplierID>\s*<SourceID>)/, '<SupplierID>F9'),
    'GD A2026/1',
  ],
  ['a supplier twice', ['KEY_REPEATED'], (xml) => xml.replace(/<Supplier>[\s\S]*?<\/Supplier>\s*/, '$&$&')],
  [
    'a period turned round',
    ['PERIOD_REVERSED', 'DATE_OUTSIDE_PERIOD'],
    swap('<EndDate>2026-03-31', '<EndDate>2026-02-28'),
  ],
];

describe.each([
  { group: 'structure', mutations: structure, base: ours, key: ownKey },
  { group: 'keys', mutations: keys, base: ours, key: ownKey },
  { group: 'assertions', mutations: assertions, base: ours, key: ownKey },
  { group: 'figures', mutations: figures, base: ours, key: ownKey },
  { group: 'chains', mutations: chains, base: ours, key: ownKey },
  { group: 'controls', mutations: controls, base: ours, key: ownKey, ofAnyVersion: true },
  { group: 'ledger', mutations: ledger, base: Promise.resolve(other), key: publishedKey },
])('$group', ({ mutations, base, key, ofAnyVersion }) => {
  const named = mutations.map(([what, codes, mutate, document]) => ({ what, codes, mutate, document }));
  test.each(named)('$what', async ({ codes, mutate, document }) => {
    const good = await base;
    const xml = mutate(good);
    expect(xml).not.toBe(good);
    const { findings, counts } = await check(xml, key, ofAnyVersion);
    expect(Object.keys(counts).sort()).toEqual([...codes].sort());
    const first = findings.find(({ code }) => code === codes[0]);
    expect(first?.document).toBe(document);
    for (const finding of findings) {
      for (const language of ['en', 'pt'] as const) {
        expect(findingSentence(finding, language)).not.toMatch(/[{}]|undefined/);
      }
    }
  });
});

const notedOnly = madeOf('ND A2026/1', 'PF A2026/2');
const cancelledNote = both(
  noteOn,
  within('ND A2026/1', '<InvoiceStatus>N', '<InvoiceStatus>A'),
  within('ND A2026/1', '</InvoiceStatusDate>\n', '</InvoiceStatusDate>\n<Reason>Engano</Reason>\n'),
  credited('SalesInvoices', -1000),
);
/** The second recovery stands; the first is cancelled, so it sums to nothing. */
const recoveredAgain = both(
  within('FT R2026/2', /<HashControl>[^<]*/, '<HashControl>1-FTM abc/00001'),
  within('FT R2026/1', '<InvoiceStatus>N', '<InvoiceStatus>A'),
  within('FT R2026/1', '</InvoiceStatusDate>\n', '</InvoiceStatusDate>\n<Reason>Engano</Reason>\n'),
  credited('SalesInvoices', -22.2),
);
const cancelledConversion = both(
  within('FT A2026/5', '<InvoiceStatus>N', '<InvoiceStatus>A'),
  within('FT A2026/5', '</InvoiceStatusDate>\n', '</InvoiceStatusDate>\n<Reason>Engano</Reason>\n'),
  within('PF A2026/1', '<WorkStatus>F', '<WorkStatus>N'),
  credited('SalesInvoices', -1000),
);

/** A discount of 100 for paying, with the tax that its receipt tells. */
const paidWithDiscount = (tax: number) =>
  both(
    within('RG A2026/2', '<CreditAmount>1000.00', '<SettlementAmount>100.00</SettlementAmount>\n<CreditAmount>900.00'),
    within(
      'RG A2026/2',
      '</CreditAmount>\n',
      '</CreditAmount>\n<Tax>\n<TaxType>IVA</TaxType>\n<TaxCountryRegion>PT</TaxCountryRegion>\n' +
        '<TaxCode>NOR</TaxCode>\n<TaxPercentage>23.00</TaxPercentage>\n</Tax>\n',
    ),
    within('RG A2026/2', '<TaxPayable>230.00', `<TaxPayable>${tax}`),
    within('RG A2026/2', '<NetTotal>1000.00', '<NetTotal>900.00'),
    within('RG A2026/2', '<GrossTotal>1230.00', `<GrossTotal>${(900 + tax).toFixed(2)}`),
    credited('Payments', -100),
  );

test('the tax of a discount for paying may stay or be taken back, and is nothing else', async () => {
  const findings = async (tax: number) => (await check(paidWithDiscount(tax)(await ours))).findings;
  // A cent for the line and one for the total, and no more.
  for (const tax of [206.98, 207, 207.02, 229.98, 230, 230.02]) expect(await findings(tax)).toEqual([]);
  for (const tax of [206, 206.97, 207.03, 229.97, 230.03, 231]) {
    expect(await findings(tax)).toMatchObject([{ code: 'TAX_TOTAL', document: 'RG A2026/2' }]);
  }
});

test.each([
  ['a tax period that began the year before', swap('<FiscalYear>2026', '<FiscalYear>2025')],
  ['characters beyond the basic plane count once', swap('<City>Lisboa', `<City>${'😀'.repeat(50)}`)],
  ['a price with as many decimals as its quantity needs', millions('0.000033333333')],
  ['a price with more decimals than anyone reads', millions(`0.0000${'3'.repeat(40)}`)],
  ['a tax that is told as an amount', within('FT F2026/1', /<TaxPercentage>.*\n/, '<TaxAmount>230.00</TaxAmount>\n')],
  ['an amount a cent from what its price makes', millions('100.001', '10.0')],
  ['a total of credits a cent off', credited('SalesInvoices', 0.01)],
  ['a net total of a receipt a cent from its lines', receiptNet('1000.01', '1230.01')],
  ['a receipt of gross amounts', receiptGross('1230.00')],
  ['a receipt of gross amounts a cent from its total', receiptGross('1230.01')],
  ['an FR paid a cent short', paid('999.99')],
  ['an FR paid a cent over', paid('1000.01')],
  ['stamp duty that was withheld', withheldStamp],
  ['stamp duty that was withheld, to a cent', both(withheldStamp, paid('1000.01'))],
  [
    'stamp duty that was paid, of what was withheld',
    within(
      'FR A2026/1',
      '<WithholdingTax>',
      '<WithholdingTax>\n<WithholdingTaxType>IS</WithholdingTaxType>\n<WithholdingTaxAmount>10.00</WithholdingTaxAmount>\n</WithholdingTax>\n<WithholdingTax>',
    ),
  ],
  ['stamp duty that was withheld and paid all the same, to a cent', both(withheldStamp, paid('1230.01'))],
  [
    'an invoice that tells a payment in part',
    within(
      sold,
      '</GrossTotal>\n',
      '</GrossTotal>\n<Payment>\n<PaymentAmount>1.00</PaymentAmount>\n<PaymentDate>2026-03-06</PaymentDate>\n</Payment>\n',
    ),
  ],
  [
    'an exemption code of the table before the first that is known',
    both(
      within('FT C2026/1', '<TaxExemptionCode>M07', '<TaxExemptionCode>M08'),
      within('FT C2026/1', /<TaxPointDate>[^<]*/g, '<TaxPointDate>2022-06-30'),
    ),
  ],
  ['zero with a sign', swap(/(?<=<UnitPrice>)0.00/, '-0.00')],
  ['spaces around numbers', swap('<TaxPercentage>23.00', '<TaxPercentage> 23.00 ')],
  ['a rate written in another way', swap('<TaxPercentage>23.00', '<TaxPercentage>023')],
  ['a pro forma whose only invoice is cancelled', cancelledConversion],
  ['an original that was recovered again after its first recovery was cancelled', recoveredAgain],
  ['a pro forma whose invoice stands in another file', swap('<OriginatingON>PF A2026/1', '<OriginatingON>PF B2025/1')],
  ['a pro forma that a note alone names', notedOnly],
  // Cancelled before it started, after it was invoiced.
  ['a cancelled transport that was invoiced', madeOf('FS A2026/1', 'GR A2026/2')],
  ['a cancelled note on a cancelled invoice', cancelledNote],
  ['a transport that a note alone names', madeOf('ND A2026/1', 'GD A2026/1')],
  ['an invoiced transport for others', within('GT A2026/1', '<MovementStatus>F', '<MovementStatus>T')],
  ['an invoiced summary of transports', within('GT A2026/1', '<MovementStatus>F', '<MovementStatus>R')],
  ['stamp duty that was withheld and paid all the same', both(withheldStamp, paid('1230.00'))],
  ['an FS that does not say how it was paid', within('FS A2026/1', /<Payment>[\s\S]*?<\/Payment>\n/, '')],
  ['a comment and an instruction', swap('<MasterFiles>', '<?x y?><!-- - --><MasterFiles>')],
])('%s is no finding', async (_what, change) => {
  expect((await check(change(await ours))).findings).toEqual([]);
});

test.each<readonly [string, (xml: string) => string]>([
  [
    'whose sides differ as its head says',
    both(swap('<DebitAmount>1230.00', '<DebitAmount>1231.00'), swap('<TotalDebit>1230.00', '<TotalDebit>1231.00')),
  ],
  ['whose head is a cent off', swap('<TotalDebit>1230.00', '<TotalDebit>1230.01')],
  [
    'with an account of the first analytic level',
    swap('<GroupingCategory>GR</GroupingCategory>', '<GroupingCategory>AR</GroupingCategory>'),
  ],
  ...['AA', 'AM'].map(
    (category) => [`with one of ${category}`, swap('<GroupingCategory>GA<', `<GroupingCategory>${category}<`)] as const,
  ),
])('a ledger %s is no finding', async (_what, change) => {
  expect((await check(change(await other), publishedKey)).findings).toEqual([]);
});

test('every note before its invoice is told where it stands, and none before one that is not in the file', async () => {
  const early = (number: string) => within(number, '<InvoiceDate>2026-03-06', '<InvoiceDate>2026-03-05');
  const notes = ['NC A2026/1', 'ND A2026/1'];
  const naming = async (named: string) => {
    const change = both(
      ...notes.map(early),
      ...notes.map((number) => within(number, '<Reference>FT A2026/1<', `<Reference>${named}<`)),
    );
    const { findings } = await check(change(without('FT A2026/2')(await ours)));
    return findings.filter(({ code }) => code === 'DATE_BEFORE_PARENT').map(({ document, facts }) => [document, facts]);
  };
  for (const named of ['FT A2026/4', 'FT A2026/6', 'NC A2026/2']) {
    const namedDate = named === 'FT A2026/6' ? '2026-03-09' : '2026-03-06';
    expect(await naming(named)).toEqual(notes.map((number) => [number, { date: '2026-03-05', named, namedDate }]));
  }
  // Left out between two others, behind the last, before the first, of no series here, and of a form of its own.
  for (const named of ['FT A2026/2', 'FT A2026/7', 'FT A2026/0', 'FT B2026/1', 'FTM abc/00001', '1'])
    expect(await naming(named)).toEqual([]);
});

test('DATE_BEFORE_PARENT is a warning: what was issued so cannot be changed any more', () =>
  expect(findingWords.DATE_BEFORE_PARENT.severity).toBe('WARNING'));

test.each(['HASH_ZERO', 'HASH_CONTROL_OTHER', 'GROSS_TOTAL_FORM', 'PAYMENT_SUM', 'INVOICED_NOT_TOLD'] as const)(
  '%s is an error',
  (code) => expect(findingWords[code].severity).toBe('ERROR'),
);

test('every finding there is has been seen here or in the tests of the reader', () => {
  const seen = new Set(
    [structure, keys, assertions, figures, chains, controls, ledger].flat().flatMap(([, codes]) => codes),
  );
  const elsewhere = /^(?:XML|ENCODING)_/;
  expect(Object.keys(findingWords).filter((code) => !seen.has(code as FindingCode) && !elsewhere.test(code))).toEqual(
    [],
  );
});

test('the file of another program passes, with every published signature verified', async () => {
  const publicKey = createPublicKey(vectors.publicKey);
  const file = (async function* () {
    yield readFileSync(otherFile);
  })();
  const report = await checkSaft(file, { publicKeys: () => publicKey });
  expect(report.findings.map((finding) => findingSentence(finding, 'en'))).toEqual([]);
  // Two documents were integrated: another program's key signed them.
  expect(report.hashes).toEqual({ verified: vectors.vectors.length, unverified: 2 });
  expect(report.documents).toEqual({ invoice: 9, movement: 2, work: 1, payment: 2 });
});

test.each<[FindingCode, (xml: string) => string, Readonly<Record<string, string | number>>]>([
  ['LINE_NUMBER', within(ft1, '<LineNumber>2', '<LineNumber>3'), { value: '3', expected: 2 }],
  [
    'LINE_AMOUNT',
    within('FT F2026/1', '<UnitPrice>100.00', '<UnitPrice>100.10'),
    { quantity: '10', price: '100.10', expected: '1001.00', value: '1000.00' },
  ],
  [
    'GROSS_TOTAL',
    within('RG A2026/2', '<TaxPayable>230.00', '<TaxPayable>230.01'),
    { value: '1230.00', expected: '1230.01' },
  ],
  ['NET_TOTAL', receiptNet('1000.02', '1230.02'), { value: '1000.02', expected: '1000.00' }],
  ['TAX_TOTAL', taxed('NC A2026/1', '0.97'), { value: '0.97', expected: '0.858' }],
  ['PAYMENT_SUM', paid('999.98'), { value: '999.98', expected: '1000.00' }],
  ['SECTION_COUNT', swap('<NumberOfMovementLines>8', '<NumberOfMovementLines>7'), { value: '7', expected: 8 }],
  [
    'SECTION_SUM',
    swap('<TotalQuantityIssued>37', '<TotalQuantityIssued>49'),
    { name: 'TotalQuantityIssued', value: '49.00', expected: '37.00', leftOut: 'A' },
  ],
  ['EXEMPTION_INCOMPLETE', within('GR A2026/1', /<TaxExemptionCode>.*\n/, ''), { name: 'TaxExemptionCode' }],
  ['FISCAL_YEAR', swap('<FiscalYear>2026', '<FiscalYear>2024'), { value: '2024', from: '2026-03-01' }],
  ['NUMBER_GAP', without('FT A2026/2'), { series: 'FT A2026', missing: '2' }],
])('%s tells what stands there and what belongs there', async (code, change, facts) => {
  const { findings } = await check(change(await ours));
  expect(findings.find((finding) => finding.code === code)?.facts).toMatchObject(facts);
});

test('the line is that of the element, the document is named, the words say how to mend it', async () => {
  const xml = swap('<Country>DK', '<Country>EL')(await ours);
  const { findings, errors, warnings } = await check(xml);
  const line = xml.slice(0, xml.indexOf('<Country>EL')).split('\n').length;
  expect(findings).toEqual([
    {
      code: 'VALUE_NOT_LISTED',
      severity: 'ERROR',
      line,
      facts: {
        path: 'AuditFile/MasterFiles/Customer/BillingAddress/Country',
        name: 'Country',
        value: 'EL',
        allowed: 'ISO 3166-1, Desconhecido',
      },
    },
  ]);
  expect([errors, warnings]).toEqual([1, 0]);
  expect(findingSentence(findings[0]!, 'pt')).toBe(
    '"EL" em AuditFile/MasterFiles/Customer/BillingAddress/Country não é nenhum de: ISO 3166-1, Desconhecido. Corrija.',
  );
});

test('the first and the last day of a period are in it, the days beside them are not', async () => {
  const xml = await ours;
  const dates = [...xml.matchAll(/<(?:Invoice|Movement|Work|Transaction)Date>([^<]+)/g)]
    .map(([, date]) => date!)
    .sort();
  const during = (from: string, to: string) =>
    check(xml.replace(/<StartDate>[^<]+/, `<StartDate>${from}`).replace(/<EndDate>[^<]+/, `<EndDate>${to}`));
  const [first, last] = [dates[0]!, dates.at(-1)!];
  expect((await during(first, first)).counts.PERIOD_REVERSED).toBeUndefined();
  expect((await during(first, last)).counts.DATE_OUTSIDE_PERIOD).toBeUndefined();
  expect((await during(addDays(first, 1), last)).counts.DATE_OUTSIDE_PERIOD).toBeGreaterThan(0);
  expect((await during(first, addDays(last, -1))).counts.DATE_OUTSIDE_PERIOD).toBeGreaterThan(0);
});

test.each([
  ['2022-12-31', undefined],
  ['2023-01-01', 1],
])('an ATCUD of 0 on %s', async (date, told) => {
  const on = both(within(sold, /<ATCUD>[^<]*/, '<ATCUD>0'), within(sold, /<InvoiceDate>[^<]*/, `<InvoiceDate>${date}`));
  expect((await check(on(await ours))).counts.ATCUD_ZERO).toBe(told);
});

test('a file that is wrong throughout is counted, not remembered', async () => {
  const xml = (await ours).replaceAll('<UnitOfMeasure>', '<UnitOfMeasure lang="pt">');
  const { findings, counts } = await checkSaft(bytesOf(xml), { mostPerCode: 5 });
  expect(findings).toHaveLength(5);
  expect(counts.ATTRIBUTE).toBeGreaterThan(20);
});

test('each finding has a sentence in both languages with the same facts', () => {
  const places = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
  for (const { en, pt } of Object.values(findingWords)) {
    expect(places(pt)).toEqual(places(en));
    for (const sentence of [en, pt]) expect(sentence).toMatch(/^[\p{L}"{].*\.$/su);
    expect(pt).not.toBe(en);
  }
});

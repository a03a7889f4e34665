/**
 * The writer of SAF-T (PT) 1.04_01 (Portaria 302/2016; schema of 2022-05-17): text in portions, as its source hands
 * documents over, so that the size of a file costs no memory.
 */
import { compare } from '../decimal.ts';
import type { Family, Region } from '../document.ts';
import { assert } from '../refusal.ts';
import { unitsText } from './amounts.ts';
import { encoderOf, type SaftEncoding } from './encode.ts';
import { fileHead } from './head.ts';
import { emptyTally, type Tally } from './lines.ts';
import { customerXml, productXml, taxTableXml } from './masters.ts';
import { movementXml } from './movements.ts';
import { receiptXml } from './payments.ts';
import { invoiceXml } from './sales.ts';
import type { SaftDocument, SaftSection, SaftSource, SaftSums } from './source.ts';
import { workXml } from './working.ts';
import { plain } from './xml-text.ts';

/** Characters per portion: large enough that a write costs nothing, small beside everything else in memory. */
const portion = 1 << 18;

type WriteDocument = (document: SaftDocument, region: Region, tally: Tally | undefined) => string;

interface SectionForm {
  readonly family: Family;
  readonly element: string;
  readonly write: WriteDocument;
  /** Statuses that the section's sums leave out (SAF-T notes of TotalDebit, TotalCredit and TotalQuantityIssued). */
  readonly leftOut: string;
}

/** In the schema's order. A converted pro forma (F) keeps counting in its section, a billed transport document too. */
const forms: readonly SectionForm[] = [
  { family: 'SALES', element: 'SalesInvoices', write: invoiceXml, leftOut: 'AF' },
  { family: 'TRANSPORT', element: 'MovementOfGoods', write: movementXml, leftOut: 'A' },
  {
    family: 'PROFORMA',
    element: 'WorkingDocuments',
    write: (document, _region, tally) => workXml(document, tally),
    leftOut: 'A',
  },
  {
    family: 'RECEIPT',
    element: 'Payments',
    write: (document, _region, tally) => receiptXml(document, tally),
    leftOut: 'A',
  },
];

/**
 * The file, in encoded portions. Throws before the end when a section's documents are not what its head said they are:
 * a file that is cut off can't be mistaken for a good one.
 */
export async function* writeSaft(source: SaftSource, encoding: SaftEncoding = 'UTF-8'): AsyncGenerator<Uint8Array> {
  const encode = encoderOf(encoding);
  let pending = '';
  for await (const xml of fileXml(source, encoding)) {
    pending += xml;
    if (pending.length < portion) continue;
    yield encode(pending);
    pending = '';
  }
  yield encode(pending);
}

async function* fileXml(source: SaftSource, encoding: SaftEncoding): AsyncGenerator<string> {
  const { header } = source;
  yield fileHead(header, encoding);
  yield '<MasterFiles>\n';
  for await (const customers of source.customers) yield customers.map(customerXml).join('');
  for await (const items of source.items) yield items.map(productXml).join('');
  yield taxTableXml(source.taxes, header.from, header.to);
  yield '</MasterFiles>\n';
  // SourceDocuments may be left out, but without it nobody sees that the period was empty.
  yield '<SourceDocuments>\n';
  for (const form of forms) {
    const section = source.sections[form.family];
    if (section !== undefined) yield* sectionXml(form, section, header.region);
  }
  yield '</SourceDocuments>\n</AuditFile>\n';
}

async function* sectionXml(form: SectionForm, section: SaftSection, region: Region): AsyncGenerator<string> {
  const tally = emptyTally();
  yield `<${form.element}>\n${headXml(form, section.sums)}`;
  for await (const documents of section.documents) {
    let xml = '';
    for (const document of documents) {
      tally.entries += 1;
      tally.lines += document.content.lines.length;
      xml += form.write(document, region, form.leftOut.includes(document.status) ? undefined : tally);
    }
    yield xml;
  }
  checkTally(form, section.sums, tally);
  yield `</${form.element}>\n`;
}

function headXml({ family }: SectionForm, { count, debit, credit, quantity }: SaftSums): string {
  if (family === 'TRANSPORT') {
    return plain('NumberOfMovementLines', String(count)) + plain('TotalQuantityIssued', quantity);
  }
  return plain('NumberOfEntries', String(count)) + plain('TotalDebit', debit) + plain('TotalCredit', credit);
}

function checkTally({ family, element }: SectionForm, sums: SaftSums, tally: Tally): void {
  const same = (text: string, units: bigint) => compare(text, unitsText(units)) === 0;
  const holds =
    family === 'TRANSPORT'
      ? sums.count === tally.lines && same(sums.quantity, tally.quantity)
      : sums.count === tally.entries && same(sums.debit, tally.debit) && same(sums.credit, tally.credit);
  assert(holds, `the documents of ${element} sum to what its head says`);
}

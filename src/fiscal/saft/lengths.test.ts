/** How much of a text SAF-T takes: as much as its schema does and not a character less, counted in code points. */
import { expect, test } from 'vitest';
import { sampleContent } from '../../../test/fiscal-samples.ts';
import {
  customers,
  goods,
  header,
  openDesk,
  receiptContent,
  refOf,
  settledOf,
  sourceOf,
  textOf,
  transportContent,
} from '../../../test/golden/saft-samples.ts';
import { schemaFaults } from '../../../test/golden/saft-schema.ts';
import type { SaftDocument, SaftSource } from './source.ts';
import { writeSaft } from './write.ts';

/** One character in two UTF-16 units. */
const long = '😀'.repeat(300);
const place = { address: long, city: long, postalCode: long, country: 'PT' };
const lines = [{ ...goods, name: long, description: long, unit: long }];

/** Code points of the text in each element of this name, over the whole file. */
function lengthsIn(xml: string, element: string): number[] {
  return [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, text]) => [...text!].length);
}

async function fileOf(documents: readonly SaftDocument[], over: Partial<SaftSource> = {}): Promise<string> {
  const xml = await textOf(writeSaft(sourceOf(documents, over)));
  expect(schemaFaults(xml)).toEqual([]);
  return xml;
}

test('longer texts are cut to what the schema takes', async () => {
  const desk = openDesk();
  const customer = { ...customers.business, ...place, name: long, contact: long };
  const over = { statusBy: long, issuedBy: long, reason: long };
  const invoice = await desk.issue(
    sampleContent('INVOICE', [{ ...lines[0]!, withholding: { type: 'IRS', percent: '23', reason: long } }], {
      customer,
    }),
    { over },
  );
  const parent = { ...refOf(invoice), reason: long, original: long };
  await desk.issue(sampleContent('CREDIT_NOTE', lines, { customer, parent }), { over });
  const proforma = await desk.issue(sampleContent('PROFORMA', lines, { customer }), { over });
  const origin = { ...refOf(proforma), number: long };
  await desk.issue(sampleContent('INVOICE', lines, { customer, origin }), { over });
  const { transport } = transportContent('GUIA_DE_REMESSA', lines, true);
  const journey = { ...transport!, loading: place, unloading: place, licensePlate: long, comments: long };
  await desk.issue(transportContent('GUIA_DE_REMESSA', lines, true, { customer, transport: journey }), {
    over: { ...over, atDocCode: long },
  });
  const settled = { ...settledOf(invoice), document: { ...refOf(invoice), number: long } };
  await desk.issue(receiptContent([settled], { customer, notes: long }), { over });
  const program = { ...header.program, version: long };
  const company = { ...header.company, ...place, name: long };
  const xml = await fileOf(desk.documents, { header: { ...header, company, program, comment: long } });
  const longest = {
    CompanyName: 100,
    Contact: 50,
    AddressDetail: 210,
    City: 50,
    PostalCode: 20,
    ProductVersion: 30,
    HeaderComment: 255,
    ProductDescription: 200,
    SourceID: 30,
    Reason: 50,
    UnitOfMeasure: 20,
    WithholdingTaxDescription: 60,
    OriginatingON: 60,
    DeliveryID: 255,
    MovementComments: 60,
    ATDocCodeID: 200,
  };
  for (const [element, length] of Object.entries(longest))
    expect([element, new Set(lengthsIn(xml, element))]).toEqual([element, new Set([length])]);
  // Of lines, and of the receipt; the table of taxes has its own.
  const [taxes, described] = [xml.slice(0, xml.indexOf('</TaxTable>')), xml.slice(xml.indexOf('</TaxTable>'))];
  expect(lengthsIn(taxes, 'Description')).not.toContain(200);
  expect(new Set(lengthsIn(described, 'Description'))).toEqual(new Set([200]));
  expect(lengthsIn(xml, 'Reference')).toEqual([60]);
});

test.each([
  ['Telephone', 'phone', (length: number) => '1'.repeat(length), 20],
  ['Fax', 'fax', (length: number) => '1'.repeat(length), 20],
  ['Email', 'email', (length: number) => `${'a'.repeat(length - 5)}@b.pt`, 254],
  ['Website', 'website', (length: number) => 'a'.repeat(length), 60],
] as const)(
  '%s: one that fits stands whole, a longer one is left out',
  async (element, member, textOfLength, longest) => {
    const told = async (length: number) => {
      const text = textOfLength(length);
      expect(text).toHaveLength(length);
      const customer = { ...customers.business, mobile: undefined, [member]: text };
      const document = await openDesk().issue(sampleContent('INVOICE', [goods], { customer }));
      const company = { ...header.company, phone: undefined, email: undefined, website: undefined, [member]: text };
      return lengthsIn(await fileOf([document], { header: { ...header, company } }), element);
    };
    // The company has no fax.
    expect(await told(longest)).toEqual(member === 'fax' ? [longest] : [longest, longest]);
    expect(await told(longest + 1)).toEqual([]);
  },
);

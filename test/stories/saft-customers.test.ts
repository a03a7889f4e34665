/** The customers of a SAF-T: one record for each tax identity that documents show, as they show it. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import { customerCode } from '../../src/fiscal/saft/codes.ts';
import { schemaFaults } from '../golden/saft-schema.ts';
import type { InvoiceJson } from '../replies.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;
const january = ['2026-01-01', '2026-01-31'] as const;
const february = ['2026-02-01', '2026-02-28'] as const;
const year = ['2026-01-01', '2026-12-31'] as const;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: new Date('2026-01-05T10:00:00Z') });
  ({ A } = service.companies);
});
afterAll(() => service.stop());

interface Told {
  readonly id: string;
  readonly nif: string;
  readonly country: string;
  readonly address: string;
}

const valueIn = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)`).exec(xml)?.[1] ?? '';

async function saftOf([from, to]: readonly [string, string]): Promise<string> {
  const { text } = await A.get(`/saft?fromDate=${from}&toDate=${to}`);
  expect(schemaFaults(text)).toEqual([]);
  expect((await checkSaft(Readable.from([Buffer.from(text)]))).errors).toBe(0);
  return text;
}

/** The record that each document names. */
async function customersOf(period: readonly [string, string]): Promise<Map<string, Told>> {
  const xml = await saftOf(period);
  const records = new Map<string, Told>();
  for (const [record] of xml.matchAll(/<Customer>[\s\S]*?<\/Customer>/g)) {
    const id = valueIn(record, 'CustomerID');
    expect(id.length).toBeLessThanOrEqual(30);
    expect(records.has(id)).toBe(false);
    const told = { nif: valueIn(record, 'CustomerTaxID'), country: valueIn(record, 'Country') };
    records.set(id, { id, ...told, address: valueIn(record, 'AddressDetail') });
  }
  const named = new Map<string, Told>();
  const kinds = /<(Invoice|StockMovement|WorkDocument|Payment)>\n[\s\S]*?\n<\/\1>/g;
  for (const [document] of xml.matchAll(kinds)) {
    const number = /<(?:InvoiceNo|DocumentNumber|PaymentRefNo)>([^<]*)/.exec(document)?.[1];
    if (number === undefined) continue;
    const customer = records.get(valueIn(document, 'CustomerID'));
    expect(customer).toBeDefined();
    named.set(number, customer!);
  }
  expect(new Set([...named.values()].map(({ id }) => id))).toEqual(new Set(records.keys()));
  return named;
}

/** Number → buyer, as each QR message tells them. */
async function signedBuyers(): Promise<Map<string, { nif: string; country: string }>> {
  const { rows } = await service.owner.query(
    'select number, qr from certo.documents where company_id = $1 and number is not null',
    [A.id],
  );
  return new Map(
    rows.map(({ number, qr }) => [number, { nif: /\*B:([^*]*)/.exec(qr)![1]!, country: /\*C:([^*]*)/.exec(qr)![1]! }]),
  );
}

const invoiceFor = async (customerId: string) => A.issue(await A.draft({ customerId }));
async function pay(invoice: InvoiceJson): Promise<string> {
  return (await A.post<{ receipt: { number: string } }>(`/invoices/${invoice.id}/pay`, {})).json.receipt.number;
}
const credit = async ({ id }: InvoiceJson) =>
  (await A.post<InvoiceJson>('/invoices/credit-notes', { parentInvoiceId: id })).json;

describe('a customer whose NIF is filled in between two documents', () => {
  let first: InvoiceJson;
  let second: InvoiceJson;
  let plain: string;

  beforeAll(async () => {
    const rita = await A.customer({ name: 'Rita', address: 'Rua Velha 1', postalCode: '1000-001', city: 'Lisboa' });
    plain = customerCode({ id: rita.id });
    first = await invoiceFor(rita.id);
    const other = await invoiceFor(rita.id);
    expect((await customersOf(january)).get(first.number!)!.id).toBe(plain);
    await service.setClock(new Date('2026-02-02T10:00:00Z'));
    const change = { taxpayerNumber: '501442600', address: 'Rua Nova 2', city: 'Porto' };
    expect((await A.patch(`/customers/${rita.id}`, change)).status).toBe(200);
    second = await invoiceFor(rita.id);
    await A.proposal({ customerId: rita.id });
    await A.issueTransport(await A.transport({ customerId: rita.id }));
    // The record as it was then, in documents of now.
    await pay(first);
    await credit(other);
    await service.setClock(new Date('2026-03-02T10:00:00Z'));
  });

  test('each document is attributed to the buyer that it was signed with', async () => {
    const named = await customersOf(year);
    const signed = await signedBuyers();
    expect(named.size).toBe(7);
    for (const [number, { nif, country }] of named)
      expect([number, { nif, country }]).toEqual([number, signed.get(number)]);
    expect(named.get(first.number!)).toEqual({ id: plain, nif: '999999990', country: 'PT', address: 'Rua Velha 1' });
    expect(named.get(second.number!)).toMatchObject({ nif: '501442600', address: 'Rua Nova 2' });
  });

  test('it has the same CustomerID whichever period is exported, and whenever', async () => {
    const whole = await customersOf(year);
    for (const period of [january, february]) {
      for (const [number, { id }] of await customersOf(period))
        expect([number, id]).toEqual([number, whole.get(number)!.id]);
    }
    expect(whole.get(first.number!)!.id).toBe(plain);
    expect(whole.get(second.number!)!.id).toBe(`${plain}-2`);
  });
});

test('copies of an old record do not make it the latest', async () => {
  const firm = await A.customer({ name: 'Oficina, Lda', taxpayerNumber: '508025095', address: 'Rua Velha 1' });
  const [first, second] = [await invoiceFor(firm.id), await invoiceFor(firm.id)];
  await A.patch(`/customers/${firm.id}`, { address: 'Rua Nova 2' });
  const third = await invoiceFor(firm.id);
  const receipt = await pay(first);
  const note = await credit(second);
  const debit = { type: 'DEBIT_NOTE', customerId: firm.id, reason: 'Preço' };
  const added = await A.issue(await A.draft({ ...debit, parentInvoiceId: first.id }));
  // Copies of a copy.
  const copies = [
    await pay(added),
    (await credit(await A.issue(await A.draft({ ...debit, parentInvoiceId: first.id })))).number,
  ];
  const named = await customersOf(year);
  for (const number of [first.number, second.number, third.number, receipt, note.number, added.number, ...copies]) {
    expect(named.get(number!)).toMatchObject({ id: customerCode({ id: firm.id }), address: 'Rua Nova 2' });
  }
});

test('of copies alone the one of the latest record is told', async () => {
  await service.setClock(new Date('2026-04-01T10:00:00Z'));
  const firm = await A.customer({ name: 'Só recibos, Lda', taxpayerNumber: '508025095', address: 'Rua Velha 1' });
  const first = await invoiceFor(firm.id);
  await A.patch(`/customers/${firm.id}`, { address: 'Rua Nova 2' });
  const second = await invoiceFor(firm.id);
  await service.setClock(new Date('2026-05-04T10:00:00Z'));
  const receipts = [await pay(second), await pay(first)];
  const named = await customersOf(['2026-05-01', '2026-05-31']);
  expect(receipts.map((number) => named.get(number)!.address)).toEqual(['Rua Nova 2', 'Rua Nova 2']);
});

test('a country is told as each document shows it, also of one who comes back', async () => {
  const eva = await A.customer({ name: 'Eva', country: 'PT' });
  const numbers: string[] = [];
  for (const country of ['PT', 'ES', 'PT', 'FR', 'ES']) {
    await A.patch(`/customers/${eva.id}`, { country });
    numbers.push((await invoiceFor(eva.id)).number!);
  }
  const named = await customersOf(year);
  const plain = customerCode({ id: eva.id });
  expect(numbers.map((number) => [named.get(number)!.id, named.get(number)!.country])).toEqual([
    [plain, 'PT'],
    [`${plain}-2`, 'ES'],
    [plain, 'PT'],
    [`${plain}-3`, 'FR'],
    [`${plain}-2`, 'ES'],
  ]);
});

test('whoever had a NIF before any document has one record, of the plain code', async () => {
  const customer = await A.customer({ name: 'Ainda sem' });
  const draft = await A.draft({ customerId: customer.id });
  await A.patch(`/customers/${customer.id}`, { taxpayerNumber: '501442600' });
  const issued = await A.issue((await A.get<InvoiceJson>(`/invoices/${draft.id}`)).json);
  expect((await customersOf(year)).get(issued.number!)).toMatchObject({
    id: customerCode({ id: customer.id }),
    nif: '501442600',
  });
});

test('a contact is told of a company that has one', async () => {
  const person = { firstName: 'Inês', lastName: 'Faria', companyPosition: 'Gerente' };
  const firm = await A.customer({ name: undefined, companyName: 'Faria & Filhos, Lda', ...person });
  const alone = await A.customer({ name: undefined, ...person, lastName: 'Sousa' });
  await invoiceFor(firm.id);
  await invoiceFor(alone.id);
  const xml = await saftOf(year);
  expect(xml).toContain('<CompanyName>Faria &amp; Filhos, Lda</CompanyName>\n<Contact>Inês Faria</Contact>\n');
  expect(xml.match(/<Contact>/g)).toHaveLength(1);
});

test('books from before the identities were kept are read for them', async () => {
  const identities = async () =>
    (await service.owner.query('select id, tax_identities from certo.customers order by id')).rows;
  // Changed since its last document: the next one shows what no document has shown yet.
  const ana = await A.customer({ name: 'Ana' });
  await invoiceFor(ana.id);
  await A.patch(`/customers/${ana.id}`, { country: 'ES' });
  const kept = await identities();
  expect(kept.find(({ id }) => id === ana.id)!.tax_identities).toEqual(['999999990 PT', '999999990 ES']);
  const migration = readFileSync(new URL('../../src/db/migrations/0020_tax_identities.sql', import.meta.url), 'utf8');
  const client = await service.owner.connect();
  try {
    await client.query('begin; alter table certo.customers drop column tax_identities');
    await client.query(`${migration}; commit`);
  } finally {
    client.release(true);
  }
  expect(await identities()).toEqual(kept);
});

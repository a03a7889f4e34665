import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/database.ts';
import { sampleContent } from '../../../test/fiscal-samples.ts';
import {
  customers,
  everything,
  goods,
  header,
  idOf,
  openDesk,
  refOf,
  sourceOf,
  textOf,
} from '../../../test/golden/saft-samples.ts';
import { schemaFaults } from '../../../test/golden/saft-schema.ts';
import { documentTypes } from '../../fiscal/document.ts';
import { isNif } from '../../fiscal/nif.ts';
import { checkSaft } from '../../fiscal/saft/check/check-saft.ts';
import { typeCodeOf } from '../../fiscal/saft/codes.ts';
import type { SaftDocument, SaftSource } from '../../fiscal/saft/source.ts';
import { writeSaft } from '../../fiscal/saft/write.ts';
import { createCompany } from '../company/create-company.ts';
import { exportSaft, type SaftAsked } from './export-saft.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

let lastNif = 510_000_000;
function nextNif(): string {
  do lastNif += 1;
  while (!isNif(String(lastNif)));
  return String(lastNif);
}

/** A company with the sample's header, whose books hold these documents. */
async function keep(
  documents: readonly SaftDocument[],
): Promise<{ companyId: string; add: (d: SaftDocument) => Promise<void> }> {
  const { ownerPool } = database;
  const { name, address, postalCode, city, email, phone, website } = header.company;
  const company = {
    name,
    taxpayerNumber: nextNif(),
    cae: ['62010'],
    region: 'PT' as const,
    address,
    postalCode,
    city,
    email,
    phone,
    website,
  };
  const companyId = await createCompany(ownerPool, company, randomUUID);
  const series = new Map<string, string>();
  const known = new Set<string>();
  const add = async (document: SaftDocument) => {
    await addMasters(companyId, document, known);
    await addDocument(companyId, document, await seriesOf(companyId, document, series));
  };
  for (const document of documents) await add(document);
  return { companyId, add };
}

async function addMasters(companyId: string, { content }: SaftDocument, known: Set<string>): Promise<void> {
  const { customer, lines } = content;
  const { ownerPool } = database;
  if (!known.has(customer.id)) {
    await ownerPool.query(
      `insert into certo.customers (company_id, id, created_by, shown_name, country, fax) values ($1, $2, 'test', $3, $4, $5)`,
      [
        companyId,
        customer.id,
        customer.name,
        customer.country ?? 'PT',
        customer.id === customers.business.id ? '+351 220 000 000' : null,
      ],
    );
  }
  for (const { itemId, name, productType } of lines.filter((line) => !known.has(line.itemId))) {
    await ownerPool.query(
      `insert into certo.items (company_id, id, created_by, name, type, unit_price, unit_type, vat_rate, vat_territory)
       values ($1, $2, 'test', $3, $4, 1, 'UNIT', 'NORMAL', 'CONTINENTAL') on conflict do nothing`,
      [companyId, itemId, name, productType],
    );
  }
  for (const id of [customer.id, ...lines.map((line) => line.itemId)]) known.add(id);
}

async function seriesOf(
  companyId: string,
  { content, issued, kind }: SaftDocument,
  known: Map<string, string>,
): Promise<string> {
  const atType = typeCodeOf(issued);
  const key = `${atType} ${issued.seriesCode}`;
  const id = known.get(key) ?? randomUUID();
  if (!known.has(key)) {
    await database.ownerPool.query(
      `insert into certo.series (company_id, id, document_type, at_type, code, kind, status, validation_code, cash_vat) values ($1, $2, $3, $4, $5, $6, 'ACTIVE', 'AAJFTEST', $7)`,
      [companyId, id, content.type, atType, issued.seriesCode, kind, atType === 'RC'],
    );
  }
  known.set(key, id);
  return id;
}

async function addDocument(companyId: string, document: SaftDocument, seriesId: string): Promise<void> {
  const { content, issued, status, statusAt, statusBy } = document;
  const canceled = status === 'A';
  const note = content.type === 'CREDIT_NOTE' || content.type === 'DEBIT_NOTE';
  const row = {
    company_id: companyId,
    id: idOf(issued.number),
    family: documentTypes[content.type].family,
    type: content.type,
    status: canceled ? 'CANCELED' : content.type === 'INVOICE_RECEIPT' ? 'PAID' : 'ISSUED',
    created_by: 'test',
    customer_id: content.customer.id,
    item_ids: content.lines.map(({ itemId }) => itemId),
    series_id: seriesId,
    parent_id: note ? content.parent!.id : null,
    customer_name: content.customer.name,
    currency: content.currency,
    cae: content.cae,
    date: issued.date,
    net: content.totals.net,
    tax: content.totals.tax,
    gross: content.totals.gross,
    to_pay: content.totals.toPay,
    asked: {},
    content: JSON.stringify(content),
    sequence: issued.sequence,
    number: issued.number,
    atcud: issued.atcud,
    hash: issued.hash,
    key_version: issued.keyVersion,
    certificate_number: issued.certificateNumber,
    system_entry: issued.systemEntry,
    qr: 'qr',
    // March before the 29th: Lisbon's time is UTC.
    issued_at: `${issued.systemEntry}Z`,
    issued_by: document.issuedBy,
    canceled_at: canceled ? `${statusAt}Z` : null,
    canceled_by: canceled ? statusBy : null,
    cancel_reason: document.reason ?? null,
    at_code: '0',
    at_doc_code: document.atDocCode ?? null,
    origin_id: content.origin?.id ?? null,
    // Not what is tested here: only there.
    seal: Buffer.alloc(32),
    state_seal: Buffer.alloc(32),
    issued_state: '{}',
  };
  const names = Object.keys(row);
  await database.ownerPool.query(
    `insert into certo.documents (${names}) values (${names.map((_, i) => `$${i + 1}`)})`,
    Object.values(row),
  );
}

const asked = (companyId: string, more: Partial<SaftAsked> = {}): SaftAsked => ({
  companyId,
  from: header.from,
  to: header.to,
  program: header.program,
  ...more,
});

async function exported(companyId: string, more: Partial<SaftAsked> = {}): Promise<string> {
  const portions: Uint8Array[] = [];
  await exportSaft(database.db, asked(companyId, more), (bytes) => void portions.push(bytes));
  return Buffer.concat(portions).toString('utf8');
}

const numbers = (xml: string) =>
  [...xml.matchAll(/<(?:InvoiceNo|DocumentNumber|PaymentRefNo)>([^<]*)/g)].map((found) => found[1]);

describe('the books of a company', () => {
  test('come out as the writer makes them of the same documents in memory', async () => {
    const desk = await everything();
    const moved = { ...customers.business, address: 'Rua Nova 9' };
    await desk.issue(sampleContent('INVOICE', [goods], { customer: moved }), { day: '2026-03-12' });
    const recovered = desk.documents.find(({ issued }) => issued.number === 'FT R2026/2')!;
    const parent = { ...refOf(recovered), original: 'FT A2025/00099', reason: 'Acerto' };
    await desk.issue(sampleContent('DEBIT_NOTE', [goods], { customer: moved, parent }), { day: '2026-03-12' });
    const { companyId } = await keep(desk.documents);
    const xml = await exported(companyId);
    expect(schemaFaults(xml)).toEqual([]);
    const same = xml
      .replace(/<DateCreated>[^<]*/, '<DateCreated>2026-04-01')
      .replace(/<CompanyID>\d+/, '<CompanyID>500000000')
      .replace(/<TaxRegistrationNumber>\d+/, '<TaxRegistrationNumber>500000000');
    expect(same).toBe(await textOf(writeSaft(inOrder(desk.documents))));
    expect(xml).toContain('Rua Nova 9');
    expect(xml).not.toContain(
      'Av. da Liberdade 2</AddressDetail>\n<City>Porto</City>\n<PostalCode>4000-001</PostalCode>\n<Country>PT</Country>\n</BillingAddress>',
    );
    const report = await checkSaft(stream(xml), { publicKeys: () => desk.publicKey });
    expect(report.findings).toEqual([]);
    expect(report.hashes.verified).toBe(desk.documents.filter(({ issued }) => issued.hash !== '').length);
  });

  test('long documents come a few at a time, whatever stands before them, and short ones many', async () => {
    const desk = await openDesk();
    const words = 'x'.repeat(1_900);
    const long = Array.from({ length: 200 }, (_, i) => ({ ...goods, id: `line-${i}`, description: words }));
    const issue = async (count: number, lines: readonly (typeof goods)[]) => {
      for (let i = 0; i < count; i += 1)
        await desk.issue(sampleContent('INVOICE', lines, { customer: customers.business }), { day: '2026-03-12' });
    };
    await issue(100, [goods]);
    await issue(30, long);
    await issue(100, [goods]);
    const { companyId } = await keep(desk.documents);
    const portions: number[] = [];
    const xml = await exported(companyId, { passed: (documents) => portions.push(documents) });
    expect(numbers(xml)).toEqual(desk.documents.map(({ issued }) => issued.number));
    const sizes = desk.documents.map(({ content }) => JSON.stringify(content).length);
    const held = portions.map((documents) => sizes.splice(0, documents).reduce((sum, size) => sum + size, 0));
    expect(sizes).toEqual([]);
    // 2 MiB and the one that reaches beyond them, with the spaces that PostgreSQL writes between members.
    expect(Math.max(...held)).toBeLessThan(2.6 * 1024 * 1024);
    expect(Math.max(...portions)).toBeGreaterThan(30);
    expect(portions.length).toBeLessThan(25);
  });

  test('come out in part: a stretch of each series, with the masters of that part only', async () => {
    const { documents } = await everything();
    const { companyId } = await keep(documents);
    const xml = await exported(companyId, { from: '2026-03-09', to: '2026-03-10' });
    expect(numbers(xml)).toEqual(['FT A2026/6', 'RG A2026/1']);
    expect(xml.match(/<Customer>/g)).toHaveLength(1);
    expect(xml.match(/<Product>/g)).toHaveLength(2);
    expect(xml.match(/<TaxTableEntry>/g)).toHaveLength(2);
    expect(schemaFaults(xml)).toEqual([]);
    expect((await checkSaft(stream(xml))).errors).toBe(0);
  });

  test('tell the taxes of receipts where these do: in the cash VAT scheme, also where their invoice is in another file', async () => {
    const { documents } = await everything();
    const { companyId } = await keep(documents);
    const taxes = async (day: string) => {
      const xml = await exported(companyId, { from: day, to: day });
      expect(schemaFaults(xml)).toEqual([]);
      return [numbers(xml), [...xml.matchAll(/<Description>(IVA - .*)</g)].map(([, text]) => text)];
    };
    expect(await taxes('2026-03-11')).toEqual([['RG A2026/2'], []]);
    const three = ['Isento', 'Taxa normal', 'Taxa reduzida'].map((rate) => `IVA - ${rate} - Continente`);
    expect(await taxes('2026-03-12')).toEqual([['RC C2026/1', 'RG A2026/3'], three]);
  });

  test('empty of documents are a valid file too', async () => {
    const { companyId } = await keep([]);
    expect(schemaFaults(await exported(companyId))).toEqual([]);
  });

  test('never hold drafts nor another company’s documents', async () => {
    const mine = await keep([
      await openDesk().issue(sampleContent('INVOICE', [goods], { customer: customers.business })),
    ]);
    const theirs = openDesk();
    await theirs.issue(sampleContent('INVOICE', [goods], { customer: customers.business }), { series: 'OUTRA' });
    await keep(theirs.documents);
    await database.ownerPool.query(
      `insert into certo.documents (company_id, id, family, type, status, created_by, customer_id, customer_name, currency, cae, date, net, tax, gross, to_pay, asked, content)
       select company_id, gen_random_uuid(), family, type, 'DRAFT', created_by, customer_id, customer_name, currency, cae, date, 5, 5, 10, 10, asked, content
       from certo.documents where company_id = $1`,
      [mine.companyId],
    );
    expect(numbers(await exported(mine.companyId))).toEqual(['FT A2026/1']);
  });

  test('show a pro forma as invoiced since its first invoice, also when that was cancelled', async () => {
    const desk = openDesk();
    const proforma = await desk.issue(sampleContent('PROFORMA', [goods], { customer: customers.business }));
    const { content, issued } = proforma;
    const origin = { id: idOf(issued.number), number: issued.number, date: issued.date, type: content.type };
    const { companyId, add } = await keep(desk.documents);
    // A draft invoices nothing yet, also one that has its date already.
    await database.ownerPool.query(
      `insert into certo.documents (company_id, id, family, type, status, created_by, customer_id, customer_name, currency, cae, date, origin_id, net, tax, gross, to_pay, asked, content)
       select company_id, gen_random_uuid(), 'SALES', 'INVOICE', 'DRAFT', created_by, customer_id, customer_name, currency, cae, date, id, 5, 5, 10, 10, asked, content
       from certo.documents where company_id = $1`,
      [companyId],
    );
    expect(await exported(companyId)).toContain('<WorkStatus>N</WorkStatus>');
    const invoice = sampleContent('INVOICE', [goods], { customer: customers.business, origin });
    const first = await desk.issue(invoice, { day: '2026-03-09', status: 'A' });
    // Whichever of them the books hold first.
    await add(await desk.issue(invoice, { day: '2026-03-10' }));
    await add(first);
    const since = `<WorkStatus>F</WorkStatus>\n<WorkStatusDate>${first.issued.systemEntry}</WorkStatusDate>`;
    expect(await exported(companyId)).toContain(since);
    // In the file of an earlier period, which has no invoice of it, it stands as it was made.
    const before = `<WorkStatus>N</WorkStatus>\n<WorkStatusDate>${issued.systemEntry}</WorkStatusDate>`;
    expect(await exported(companyId, { to: '2026-03-06' })).toContain(before);
  });
});

describe('more documents than one portion', () => {
  let companyId: string;
  beforeAll(async () => {
    const first = await openDesk().issue(sampleContent('INVOICE', [goods], { customer: customers.business }));
    companyId = (await keep([first])).companyId;
    await database.ownerPool.query(
      `insert into certo.documents (company_id, id, family, type, status, created_by, customer_id, item_ids, series_id, customer_name, currency, cae, date,
         net, tax, gross, to_pay, asked, content, sequence, number, atcud, hash, key_version, certificate_number, system_entry, qr, issued_at, issued_by, seal, state_seal, issued_state)
       select company_id, gen_random_uuid(), family, type, status, created_by, customer_id, item_ids, series_id, customer_name, currency, cae, date,
         net, tax, gross, to_pay, asked, content, n, 'FT A2026/' || n, 'AAJFFTAX-' || n, hash, key_version, certificate_number, system_entry, qr, issued_at, issued_by, seal, state_seal, issued_state
       from certo.documents, generate_series(2, 900) n where company_id = $1`,
      [companyId],
    );
  });

  test('come in order, once each, and sum up', async () => {
    const xml = await exported(companyId);
    expect(numbers(xml)).toEqual(Array.from({ length: 900 }, (_, i) => `FT A2026/${i + 1}`));
    expect((await checkSaft(stream(xml))).findings).toEqual([]);
    expect(xml).toContain(
      '<NumberOfEntries>900</NumberOfEntries>\n<TotalDebit>0.00</TotalDebit>\n<TotalCredit>19980.00</TotalCredit>',
    );
  });

  test('are those of one instant: what is cancelled meanwhile is not cancelled in the file', async () => {
    let portions = 0;
    let written = '';
    await exportSaft(database.db, asked(companyId), async (bytes) => {
      portions += 1;
      if (portions === 1) {
        await database.ownerPool.query(
          `update certo.documents set status = 'CANCELED', canceled_at = issued_at, canceled_by = 'x', last_event = 1, state_seal = sha256('x') where company_id = $1 and sequence = 900`,
          [companyId],
        );
      }
      written += Buffer.from(bytes).toString('utf8');
    });
    expect(portions).toBeGreaterThan(3);
    expect(written).not.toContain('<InvoiceStatus>A');
    const after = await exported(companyId);
    expect(after.match(/<InvoiceStatus>A/g)).toHaveLength(1);
    expect(after).toContain('<TotalCredit>19957.80<');
  });
});

test('a reader that goes away ends the export and gives the connection back', async () => {
  const { companyId } = await keep([
    await openDesk().issue(sampleContent('INVOICE', [goods], { customer: customers.business })),
  ]);
  for (let i = 0; i < 12; i += 1) {
    const gone = exportSaft(database.db, asked(companyId), () => Promise.reject(new Error('gone')));
    await expect(gone).rejects.toThrow('gone');
  }
  expect(numbers(await exported(companyId))).toEqual(['FT A2026/1']);
});

async function* stream(xml: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(xml);
}

/** As the database hands masters over: by id. Of a customer, the latest document's data and the record's fax. */
function inOrder(documents: readonly SaftDocument[]): SaftSource {
  async function* listed<T>(values: readonly T[]): AsyncGenerator<readonly T[]> {
    yield values;
  }
  const byId = <T extends { readonly id: string }>(values: Iterable<T>) =>
    [...values].sort((a, b) => (a.id < b.id ? -1 : 1));
  const parties = new Map(documents.map(({ content: { customer } }) => [customer.id, customer]));
  const withFax = [...parties.values()].map((party) =>
    party.id === customers.business.id ? { ...party, fax: '+351 220 000 000' } : party,
  );
  const lines = new Map(documents.flatMap(({ content }) => content.lines.map((line) => [line.itemId, line] as const)));
  const source = sourceOf(documents);
  const code = ({ region, taxCode, rate }: SaftSource['taxes'][number]) => `${region} ${taxCode} ${rate}`;
  return {
    ...source,
    customers: listed(byId(withFax)),
    items: listed(
      byId([...lines.values()].map(({ itemId, name, productType }) => ({ id: itemId, name, type: productType }))),
    ),
    taxes: [...source.taxes].sort((a, b) => (code(a) < code(b) ? -1 : 1)),
  };
}

/**
 * T1 to T15 of the acceptance list: each document is there on paper and in the one SAF-T file, and has what the tax
 * authority looks for. With CERTIFICATION_OUT set, the dossier is written there once all of it has passed.
 */
import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import { findingSentence } from '../../src/fiscal/saft/check/findings.ts';
import { textOf } from '../golden/print-reading.ts';
import { schemaFaults } from '../golden/saft-schema.ts';
import type { InvoiceEntryJson, InvoiceJson, TransportJson } from '../replies.ts';
import { type Service, startService } from '../service.ts';
import { chainFaults, readSaft, type Saft, sumOf } from './saft-reading.ts';
import { type Dossier, type Entry, type Item, opening, playScenario } from './scenario.ts';
import { writeDossier } from './write-dossier.ts';

let service: Service;
let dossier: Dossier;
let saft: Saft;
let passed = 0;

beforeAll(async () => {
  service = await startService({ companies: ['A'], clock: opening });
  const { CERTIFICATION_PRODUCER: name, CERTIFICATION_PRODUCER_NIF: nif } = process.env;
  dossier = await playScenario(service, { name, nif });
  saft = readSaft(dossier.saft);
});
afterAll(async () => {
  const { CERTIFICATION_OUT: out } = process.env;
  if (out !== undefined && passed === 16) writeDossier(dossier, out);
  await service?.stop();
});

/** A test that the dossier waits for. */
function proves(name: string, proof: () => Promise<void> | void): void {
  test(name, async () => {
    await proof();
    passed += 1;
  });
}

function entriesOf(item: Item): Entry[] {
  const found = dossier.entries.filter((entry) => entry.item === item);
  if (found.length === 0) throw new Error(`the dossier has no ${item}`);
  return found;
}
const only = (item: Item): Entry => {
  const [entry, ...more] = entriesOf(item);
  expect(more).toEqual([]);
  return entry!;
};
/** Its element of the file. */
const told = ({ document }: Entry) => saft.document(document.number!);
const paperOf = (entry: Entry, which = 0) => textOf(entry.papers[which]!.pdf);
/** Exact text of an amount of a reply. */
const money = (amount: number) => amount.toFixed(2);

proves('T1 documents in two accounting periods: the Period differs', async () => {
  const [first, second] = entriesOf('T1');
  expect([told(first!).Period, told(second!).Period]).toEqual(['1', '2']);
  const pages = (await paperOf(first!)).split(/── page \d+ ──/).slice(1);
  expect(pages).toHaveLength(2);
  for (const [index, page] of pages.entries()) {
    for (const said of [
      '15-01-2026',
      first!.document.number!,
      `ATCUD:${first!.document.atcud}`,
      `Página ${index + 1} de 2`,
    ])
      if (index === 0 || said !== '15-01-2026') expect(page).toContain(said);
    expect(/A transportar/.test(page)).toBe(index === 0);
    expect(/Transportado[\s\S]*Taxa de IVA[\s\S]*Total sem IVA/.test(page)).toBe(index === 1);
  }
  expect(await paperOf(second!)).toMatch(/03-02-2026/);
});

proves(
  'T2 a simplified invoice to a customer who gave the NIF: it is on paper, the total within the limit',
  async () => {
    const entry = only('T2');
    const text = await paperOf(entry);
    expect(text).toContain('Fatura simplificada');
    expect(text).toContain('NIF 123456789');
    expect(text).toContain('Original');
    expect(entry.papers.map(({ label }) => label)).toEqual(['original', '80 mm', '58 mm']);
    for (const which of [1, 2]) {
      const roll = await paperOf(entry, which);
      expect(roll).toContain('2.ª via');
      expect(roll).toContain('NIF 123456789');
      // Of the day of issue, whatever the customer's address is by now.
      expect(roll).toContain('Rua do Comércio, 21');
      expect(roll).not.toContain('Coimbra');
    }
    const document = told(entry);
    expect(document.InvoiceType).toBe('FS');
    expect(saft.customers.find(({ CustomerID }) => CustomerID === document.CustomerID).CustomerTaxID).toBe('123456789');
    expect(Number(document.DocumentTotals.GrossTotal)).toBeLessThanOrEqual(1000);
  },
);

proves(
  'T3 an invoice, then cancelled: marked on paper, A in the file with reason, time and user, outside the sums',
  async () => {
    const entry = only('T3');
    expect(entry.papers.map(({ label }) => label)).toEqual(['antes', 'depois']);
    const [before, after] = [await paperOf(entry, 0), await paperOf(entry, 1)];
    expect(before).not.toContain('ANULADO');
    expect(after).toContain('ANULADO');
    for (const text of [before, after]) expect(text).toContain(entry.document.number);
    const { DocumentStatus, SourceID, Line } = told(entry);
    expect(DocumentStatus).toEqual({
      InvoiceStatus: 'A',
      InvoiceStatusDate: expect.stringMatching(/^2026-01-16T10:00:0\d$/),
      Reason: 'Adquirente errado',
      SourceID,
      SourceBilling: 'P',
    });
    expect(SourceID).toMatch(/^key-[0-9a-f]{12}$/);
    const standing = saft.invoices.filter((one) => one.DocumentStatus.InvoiceStatus !== 'A');
    expect(standing).toHaveLength(saft.invoices.length - 1);
    const lines = standing.flatMap((one) => one.Line);
    const { TotalCredit, NumberOfEntries } = saft.file.SourceDocuments.SalesInvoices;
    expect(TotalCredit).toBe(sumOf(lines.flatMap(({ CreditAmount = [] }) => CreditAmount)));
    expect(Number(Line[0].CreditAmount)).toBe(500);
    expect(NumberOfEntries).toBe(String(saft.invoices.length));
  },
);

async function isWorkingDocument(entry: Entry, status: string): Promise<void> {
  const text = await paperOf(entry);
  expect(text).toContain('Fatura pró-forma');
  expect(text).toContain('Este documento não serve de fatura');
  expect(text).toMatch(/Data e hora de emissão/);
  expect(text).toMatch(/\d\d-0[12]-2026 \d\d:\d\d/);
  expect(saft.works).toContain(told(entry));
  const { Hash, DocumentStatus, WorkType } = told(entry);
  expect([Hash.length, DocumentStatus.WorkStatus, WorkType]).toEqual([172, status, 'PF']);
}

proves('T4 a working document: mention, hour, signed, in WorkingDocuments', () => isWorkingDocument(only('T4'), 'F'));

proves('T5 an invoice made from T4: OrderReferences on each line, and T4 has status F', async () => {
  const entry = only('T5');
  const origin = only('T4').document;
  const lines = told(entry).Line;
  expect(lines).toHaveLength(2);
  for (const { OrderReferences } of lines)
    expect(OrderReferences).toEqual([{ OriginatingON: origin.number, OrderDate: '2026-01-20' }]);
  expect(told(only('T4')).DocumentStatus.WorkStatus).toBe('F');
});

proves('T6 a credit note on T5: References with reason, DebitAmount, quantities and values controlled', async () => {
  const entry = only('T6');
  const invoice = only('T5').document as InvoiceJson;
  const [line, ...more] = told(entry).Line;
  expect(more).toEqual([]);
  expect(line.References).toEqual([{ Reference: invoice.number, Reason: 'Devolução' }]);
  expect([line.DebitAmount, line.CreditAmount, line.Quantity]).toEqual(['15.80', undefined, '2']);
  const text = await paperOf(entry);
  for (const part of ['Nota de crédito', invoice.number!, 'Devolução']) expect(text).toContain(part);
  const A = service.companies.A;
  const tooMuch = { parentInvoiceId: invoice.id, items: [{ id: invoice.items[1]!.id, quantity: 10.5 }] };
  const { status, json } = await A.post('/invoices/credit-notes', tooMuch);
  expect([status, json.errors?.map(({ code }) => code)]).toEqual([400, ['QUANTITY_EXCEEDS_OPEN']]);
  const { summary } = (await A.get<InvoiceJson>(`/invoices/${invoice.id}`)).json;
  expect(summary.creditNotesTotal).toBe((entry.document as InvoiceJson).summary.total);
});

proves(
  'T7 different rates and an exempt line: the mention is tied to the line, code and reason in the file',
  async () => {
    const entry = only('T7');
    const text = await paperOf(entry);
    expect(text).toMatch(/Formação em segurança.*M07 0 %/);
    expect(text).toMatch(/M07 Isento artigo 9\.º do CIVA/);
    const taxes = told(entry).Line.map((line: { Tax: object }) => line.Tax);
    expect(taxes.map(({ TaxCode, TaxPercentage }: Record<string, string>) => [TaxCode, Number(TaxPercentage)])).toEqual(
      [
        ['NOR', 23],
        ['INT', 13],
        ['RED', 6],
        ['ISE', 0],
      ],
    );
    const [normal, , , exempt] = told(entry).Line;
    expect([exempt.TaxExemptionCode, exempt.TaxExemptionReason]).toEqual(['M07', 'Isento artigo 9.º do CIVA']);
    expect([normal.TaxExemptionCode, normal.TaxExemptionReason]).toEqual([undefined, undefined]);
  },
);

proves('T8 line and global discounts: rounded line by line, SettlementAmount, gross 166.22', async () => {
  const entry = only('T8');
  const { Line, DocumentTotals } = told(entry);
  const figures = Line.map(({ Quantity, UnitPrice, CreditAmount, SettlementAmount }: Record<string, string>) => [
    Quantity,
    UnitPrice,
    CreditAmount,
    SettlementAmount,
  ]);
  expect(figures).toEqual([
    ['100', '0.4514', '45.14', '9.86'],
    ['1', '90.00', '90.00', '10.00'],
  ]);
  expect(DocumentTotals).toMatchObject({ TaxPayable: '31.08', NetTotal: '135.14', GrossTotal: '166.22' });
  expect((entry.document as InvoiceJson).signature?.text).toContain(';166.22;');
  const text = await paperOf(entry);
  for (const part of ['166,22 €', '8,8 %', '135,14', '31,08']) expect(text).toContain(part);
});

proves('T9 a document in foreign currency: Currency block, and EUR is what is signed', async () => {
  const entry = only('T9');
  const { DocumentTotals } = told(entry);
  expect(DocumentTotals).toMatchObject({
    GrossTotal: '276.45',
    Currency: { CurrencyCode: 'USD', CurrencyAmount: '300.00', ExchangeRate: '0.9215' },
  });
  expect((entry.document as InvoiceJson).signature?.text).toContain(';276.45;');
  const text = await paperOf(entry);
  for (const part of ['300,00 USD', '276,45 €', '0,9215']) expect(text).toContain(part);
});

proves('T10 below one euro before ten o’clock: leading zeros in what is signed and in the file', async () => {
  const entry = only('T10');
  const { SystemEntryDate, DocumentTotals } = told(entry);
  expect(SystemEntryDate).toMatch(/^2026-01-15T09:00:0\d$/);
  expect(DocumentTotals.GrossTotal).toBe('0.80');
  expect((entry.document as InvoiceJson).signature?.text).toMatch(
    /^2026-01-15;2026-01-15T09:00:0\d;FT A2026\/1;0\.80;$/,
  );
  const text = await paperOf(entry);
  for (const part of ['0,80 €', 'Rui Tavares']) expect(text).toContain(part);
});

proves(
  'T11 another customer without NIF: two customers with 999999990, each with a CustomerID of its own',
  async () => {
    const customers = [only('T10'), only('T11')].map((entry) =>
      saft.customers.find(({ CustomerID }) => CustomerID === told(entry).CustomerID),
    );
    expect(customers.map(({ CustomerTaxID, CompanyName }) => [CustomerTaxID, CompanyName])).toEqual([
      ['999999990', 'Rui Tavares'],
      ['999999990', 'Helena Pinto'],
    ]);
    expect(new Set(customers.map(({ CustomerID }) => CustomerID)).size).toBe(2);
    for (const entry of [only('T10'), only('T11')]) expect(await paperOf(entry)).toMatch(/Consumidor final/);
  },
);

proves('T12 two transport documents, one valued and one not: 0.00, places, times and the AT’s code', async () => {
  const [valued, unvalued] = entriesOf('T12');
  expect(told(valued!).DocumentTotals).toMatchObject({ NetTotal: '770.00', GrossTotal: '947.10' });
  expect(told(unvalued!).DocumentTotals).toMatchObject({ TaxPayable: '0.00', NetTotal: '0.00', GrossTotal: '0.00' });
  for (const { UnitPrice, CreditAmount, Tax } of told(unvalued!).Line)
    expect([UnitPrice, CreditAmount, Tax]).toEqual(['0.00', '0.00', undefined]);
  for (const entry of [valued!, unvalued!]) {
    const document = entry.document as TransportJson;
    expect(document.atDocCode).toMatch(/^\d+$/);
    expect(told(entry)).toMatchObject({
      ATDocCodeID: document.atDocCode,
      MovementStartTime: '2026-02-10T14:30:00',
      ShipFrom: { Address: { AddressDetail: 'Rua do Teste, 1', City: 'Lisboa', PostalCode: '1000-001' } },
      ShipTo: { Address: { AddressDetail: 'Rua do Comércio, 21', City: 'Porto', PostalCode: '4000-100' } },
    });
    const text = await paperOf(entry);
    for (const part of ['Rua do Teste, 1', 'Rua do Comércio, 21', '14:30', 'AA-01-BB', document.atDocCode!])
      expect(text).toContain(part);
    expect(text).toContain('Este documento não serve de fatura');
  }
  expect(told(valued!).MovementEndTime).toBe('2026-02-10T18:00:00');
  expect(await paperOf(valued!)).toContain('947,10 €');
  expect(await paperOf(unvalued!)).not.toMatch(/\d,\d\d €/);
});

proves('T13 a pro forma that nobody invoiced: as T4, with status N', () => isWorkingDocument(only('T13'), 'N'));

proves('T14 every other type that the program issues, on paper under its title and in its section', async () => {
  const titles: Readonly<Record<string, string>> = {
    ND: 'Nota de débito',
    FR: 'Fatura-recibo',
    RG: 'Recibo',
    RC: 'Recibo',
    FT: 'Fatura',
    GD: 'Guia de devolução',
    GC: 'Guia de consignação',
    GA: 'Guia de movimentação de ativos fixos próprios',
  };
  const entries = new Map(entriesOf('T14').map((entry) => [entry.document.number!.split(' ')[0], entry]));
  expect([...entries.keys()].sort()).toEqual(Object.keys(titles).sort());
  for (const [code, title] of Object.entries(titles)) {
    const text = await paperOf(entries.get(code)!);
    expect(text.replace(/\s+/g, ' ')).toContain(title);
    const document = told(entries.get(code)!);
    expect(document.InvoiceType ?? document.MovementType ?? document.PaymentType).toBe(code);
  }
  const receipt = entries.get('RG')!;
  expect(await paperOf(receipt)).toContain('Emitido por programa certificado n.º 9999/AT');
  expect(told(receipt).DocumentTotals.GrossTotal).not.toBe('0.00');
  expect(told(entries.get('FT')!).SpecialRegimes.CashVATSchemeIndicator).toBe('1');
  expect(await paperOf(entries.get('FT')!)).toContain('IVA - regime de caixa');
  const lines = told(entries.get('RC')!).Line.map(({ Tax }: { Tax: { TaxPercentage: string } }) => Tax.TaxPercentage);
  expect(lines.map(Number)).toEqual([23, 13]);
  expect(told(entries.get('FR')!).DocumentTotals.Payment.PaymentMechanism).toBe('NU');
  expect(told(entries.get('ND')!).Line[0].References[0].Reason).toBe('Acerto de preço');
});

proves(
  'T15 the SAF-T of the whole set: valid, every signature verified by the key alone, sums and papers equal',
  async () => {
    expect(schemaFaults(dossier.saft)).toEqual([]);
    const publicKey = createPublicKey(dossier.publicPem);
    const report = await checkSaft(bytesOf(dossier.saft), { publicKeys: () => publicKey });
    expect(report.findings.map((finding) => findingSentence(finding, 'en'))).toEqual([]);
    expect(report.hashes.unverified).toBe(0);
    expect(chainFaults(saft, publicKey)).toEqual([]);
    const all = [...saft.invoices, ...saft.movements, ...saft.works, ...saft.payments];
    expect(report.hashes.verified).toBe(all.length - saft.payments.length);
    // Nothing was issued that is not shown, and each stands under the same number, ATCUD, signature and total everywhere.
    expect(new Set(dossier.entries.map(({ document }) => document.number))).toEqual(
      new Set(all.map(({ InvoiceNo, DocumentNumber, PaymentRefNo }) => InvoiceNo ?? DocumentNumber ?? PaymentRefNo)),
    );
    for (const entry of dossier.entries) {
      const { Hash, ATCUD, DocumentTotals } = told(entry);
      const { atcud, shortHash, summary, qrCode, currency = 'EUR' } = entry.document as InvoiceJson;
      expect(ATCUD).toBe(atcud);
      if (currency === 'EUR') expect(DocumentTotals.GrossTotal).toBe(money(summary.total));
      for (const { pdf } of entry.papers) {
        const text = (await textOf(pdf)).replace(/\s+/g, ' ');
        expect(text).toContain(`ATCUD:${ATCUD}`);
        if (Hash === undefined) continue;
        const four = [0, 10, 20, 30].map((place) => Hash[place]).join('');
        expect([four, text.includes(`${four}-Processado por programa certificado n.º 9999/AT`)]).toEqual([
          shortHash,
          true,
        ]);
        expect(qrCode?.data).toContain(`*Q:${four}*`);
      }
      if (Hash !== undefined) expect(Hash).toBe((entry.document as InvoiceJson).signature?.value);
    }
    const listed = (await service.companies.A.get<InvoiceEntryJson[]>('/invoices?limit=100')).json;
    const sales = listed.filter(({ documentType, number }) => documentType !== 'RECEIPT' && number !== undefined);
    expect(sales.map(({ number }) => number).sort()).toEqual(saft.invoices.map(({ InvoiceNo }) => InvoiceNo).sort());
    const { StartDate, EndDate, SoftwareCertificateNumber } = saft.file.Header;
    expect([StartDate, EndDate, SoftwareCertificateNumber]).toEqual(['2026-01-01', '2026-02-28', '9999']);
  },
);

proves(
  'the dossier is one folder that needs nothing else: every link leads to a file of it, its commands verify',
  () => {
    const root = mkdtempSync(join(realpathSync(tmpdir()), 'certo-dossier-'));
    const folder = join(root, 'dossier');
    for (const _again of [1, 2]) writeDossier(dossier, folder);
    const files = readdirSync(folder);
    expect(files).toHaveLength(dossier.entries.flatMap(({ papers }) => papers).length + 3);
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link]) => decodeURI(link!));
    expect(new Set([...links, 'index.html'])).toEqual(new Set(files));
    expect(page.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|src=|@import|url\(/);
    for (let item = 1; item <= 15; item += 1) expect(page).toContain(`id="T${item}"`);
    for (const { document } of dossier.entries) expect(page).toContain(`<code>${document.atcud}</code>`);
    const blocks = [...page.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(([, code]) =>
      code!.replaceAll('&#39;', "'").replaceAll('&gt;', '>'),
    );
    expect(blocks).toHaveLength(2);
    writeFileSync(join(root, 'mine.txt'), 'x');
    expect(() => writeDossier(dossier, root)).toThrow('choose another folder');
    expect(existsSync(join(root, 'mine.txt'))).toBe(true);
    if (spawnSync('openssl', ['version']).status === 0) commandsVerify(blocks, folder);
    rmSync(root, { recursive: true, force: true });
  },
);

function commandsVerify(blocks: readonly string[], folder: string): void {
  const run = (block: string) => spawnSync('sh', ['-ec', block], { cwd: folder, encoding: 'utf8' }).stdout;
  for (const block of blocks) expect(run(block)).toContain('Verified OK');
  const forged = blocks[1]!.replace(';3.82;', ';3.83;');
  expect(forged).not.toBe(blocks[1]);
  expect(run(forged)).not.toContain('Verified OK');
}

test('the command that makes it says what it takes', () => {
  const script = fileURLToPath(new URL('dossier.mjs', import.meta.url));
  const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--producer-nif NIF') });
  expect(run('--what')).toMatchObject({ status: 2, stderr: expect.stringContaining('--what') });
  const own = fileURLToPath(new URL('.', import.meta.url));
  expect(run('--out', own)).toMatchObject({ status: 2, stderr: expect.stringContaining('choose another folder') });
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/**
 * A random year of a company, over the wire: drafts, changes, issues, payments, notes, conversions, transports and
 * cancellations in any order, several at once, sensible or not. Whatever was done, its SAF-T is valid, tells what the API
 * tells, and every signature verifies from the file alone. YEAR_RUNS plays more years, YEAR_SEED one again.
 */
import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSaft } from '../../src/fiscal/saft/check/check-saft.ts';
import { findingSentence } from '../../src/fiscal/saft/check/findings.ts';
import { setCashVat } from '../../src/operations/company/cash-vat.ts';
import { registerSeries, syncSeries } from '../../src/operations/series/registration.ts';
import { runCommand } from '../certification/run-command.ts';
import { chainFaults, numberOf, readSaft, type Saft, sumOf, type Tree } from '../certification/saft-reading.ts';
import { schemaFaults } from '../golden/saft-schema.ts';
import type { InvoiceEntryJson, InvoiceJson } from '../replies.ts';
import { nifFrom, type Service, seriesTypes, startService, type TestCompany } from '../service.ts';
import { type Act, actKinds, type Issued, playYear } from './year-acts.ts';

const { YEAR_RUNS: runs = '2', YEAR_SEED: seed } = process.env;
const newYear = new Date('2026-01-12T09:30:00Z');

let service: Service;
beforeAll(async () => {
  service = await startService({ companies: [], clock: newYear });
  await service.owner.query(
    `insert into certo.signing_keys (version, origin, public_pem, private_sealed) values (1, 'generated', $1, $2)`,
    [service.publicPem, service.world.master.seal('signing-key', Buffer.from('not needed to verify'))],
  );
  service.startReports();
});
afterAll(() => service?.stop());

let made = 0;

/** With the cash VAT scheme: from May to October, in series of its own. */
async function newCompany(region: 'PT' | 'PT-AC' | 'PT-MA', cashVat: boolean): Promise<TestCompany> {
  made += 1;
  const facts = { name: `Ano ${made}, Lda`, taxpayerNumber: nifFrom(`51${String(made).padStart(6, '0')}`), region };
  const company = await service.newCompany(facts);
  await service.setCredentials(company);
  for (const documentType of seriesTypes)
    await registerSeries(service.world, company.id, { documentType, code: '2026' });
  if (cashVat) {
    for (const documentType of seriesTypes.slice(0, 6))
      await registerSeries(service.world, company.id, { documentType, code: 'CX2026', cashVat: true });
    await setCashVat(service.owner, company.id, { from: '2026-05-01', until: '2026-10-31' });
  }
  expect(await syncSeries(service.world, company.id)).toBe('ok');
  return company;
}

const act: fc.Arbitrary<Act> = fc.record({
  // Most of a year is selling and being paid, and time passing.
  kind: fc.constantFrom(...actKinds, 'sell', 'sell', 'sell', 'pay', 'credit', 'propose', 'days', 'hours'),
  numbers: fc.array(fc.nat(1_000_000), { minLength: 24, maxLength: 24 }),
});

test(
  'a random year: its SAF-T is valid, tells what the API tells, and is signed without a gap',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('PT' as const, 'PT-AC' as const, 'PT-MA' as const),
        fc.array(act, { minLength: 120, maxLength: 180, size: 'max' }),
        fc.boolean(),
        async (region, acts, cashVat) => {
          await service.setClock(newYear);
          const company = await newCompany(region, cashVat);
          const { issued, tally } = await playYear(service, company, acts);
          if (process.env['YEAR_TALLY'] !== undefined)
            console.log(issued.length, Object.fromEntries([...tally].sort()));
          expect(issued.length).toBeGreaterThan(5);
          await booksHold(company, issued);
        },
      ),
      // A failing year is long to play again: the first one is told, with its seed.
      { numRuns: Number(runs), endOnFailure: true, ...(seed === undefined ? {} : { seed: Number(seed) }) },
    );
  },
  60_000 + Number(runs) * 30_000,
);

async function booksHold(company: TestCompany, issued: readonly Issued[]): Promise<void> {
  const period = ['--from', '2026-01-01', '--to', '2026-12-31'];
  const { code, out, err } = await runCommand(service, [
    ...['saft', 'export', '--company', company.taxpayerNumber],
    ...period,
  ]);
  expect([code, err]).toEqual([0, expect.stringContaining('bytes')]);
  expect(schemaFaults(out)).toEqual([]);
  const publicKey = createPublicKey(service.publicPem);
  const report = await checkSaft(bytesOf(out), { publicKeys: () => publicKey });
  expect(report.findings.map((found) => `${found.document} ${findingSentence(found, 'en')}`)).toEqual([]);
  const saft = readSaft(out);
  expect(chainFaults(saft, publicKey)).toEqual([]);
  expect(report.hashes).toEqual({ verified: issued.length - saft.payments.length, unverified: 0 });

  tellsTheSame(saft, issued, await buyersOf(company));
  sumsHold(saft);
  await statesHold(company, saft, issued);
  await balancesHold(company);
  const verified = await runCommand(service, ['verify', '--company', company.taxpayerNumber, '--json']);
  expect(JSON.parse(verified.out)).toMatchObject({ ok: true, documents: issued.length, list: [] });
}

/** Each document stands in the file once, as the API showed it when it was numbered. */
function tellsTheSame(saft: Saft, issued: readonly Issued[], buyers: ReadonlyMap<string, string>): void {
  const numbers = [...saft.invoices, ...saft.movements, ...saft.works, ...saft.payments].map(numberOf);
  expect(numbers.sort()).toEqual(issued.map(({ number }) => number).sort());
  for (const { number, atcud, hash, total, net, currency } of issued) {
    const { ATCUD, Hash, DocumentTotals, CustomerID } = saft.document(number);
    expect([number, buyers.get(number)]).toEqual([number, buyerOf(saft, CustomerID)]);
    expect([number, ATCUD, Hash]).toEqual([number, atcud, hash]);
    const { GrossTotal, NetTotal, Currency } = DocumentTotals;
    if (currency === 'EUR') expect([number, GrossTotal, NetTotal]).toEqual([number, total.toFixed(2), net.toFixed(2)]);
    else expect(Currency).toMatchObject({ CurrencyCode: currency, CurrencyAmount: total.toFixed(2) });
  }
}

/** Number → tax number and country of the buyer, as the QR code on the paper tells them. */
async function buyersOf(company: TestCompany): Promise<Map<string, string>> {
  const { rows } = await service.owner.query(
    'select number, qr from certo.documents where company_id = $1 and number is not null',
    [company.id],
  );
  return new Map(rows.map(({ number, qr }) => [number, /\*(B:[^*]*\*C:[^*]*)/.exec(qr)![1]!]));
}

function buyerOf(saft: Saft, id: string): string {
  const [customer, ...others] = saft.customers.filter(({ CustomerID }) => CustomerID === id);
  expect([id, customer === undefined, others]).toEqual([id, false, []]);
  const { CustomerTaxID, BillingAddress } = customer!;
  return `B:${CustomerTaxID}*C:${BillingAddress.Country}`;
}

/** Sums in the heads of the sections, from the documents: net of what stands, by side. */
function sumsHold(saft: Saft): void {
  const { SalesInvoices, WorkingDocuments, Payments, MovementOfGoods } = saft.file.SourceDocuments ?? {};
  const net = (documents: readonly Tree[], debit: boolean) =>
    sumOf(
      documents
        .filter(({ DocumentStatus, InvoiceType }) => {
          const { InvoiceStatus, WorkStatus, PaymentStatus } = DocumentStatus;
          return (InvoiceStatus ?? WorkStatus ?? PaymentStatus) !== 'A' && (InvoiceType === 'NC') === debit;
        })
        .map(({ DocumentTotals }) => DocumentTotals.NetTotal),
    );
  const heads: readonly [Tree, readonly Tree[]][] = [
    [SalesInvoices, saft.invoices],
    [WorkingDocuments, saft.works],
    [Payments, saft.payments],
  ];
  for (const [head, documents] of heads) {
    if (head === undefined) continue;
    expect([head.NumberOfEntries, head.TotalCredit, head.TotalDebit]).toEqual([
      String(documents.length),
      net(documents, false),
      net(documents, true),
    ]);
  }
  if (MovementOfGoods === undefined) return;
  const lines = saft.movements.flatMap(({ Line }) => Line);
  expect(MovementOfGoods.NumberOfMovementLines).toBe(String(lines.length));
}

const saftStatus = ({ DocumentStatus: { InvoiceStatus, MovementStatus, WorkStatus, PaymentStatus } }: Tree): string =>
  InvoiceStatus ?? MovementStatus ?? WorkStatus ?? PaymentStatus;

/** Cancelled here is A there, an invoiced pro forma is F; what was deleted can't be read any more and is A. */
async function statesHold(company: TestCompany, saft: Saft, issued: readonly Issued[]): Promise<void> {
  const expected = { CANCELED: 'A', ISSUED: 'N', PAID: 'N', CREATED: 'N' } as const;
  for (const { kind, id, number } of issued) {
    const { status, json } = await company.get<InvoiceJson & { issueStatus?: keyof typeof expected }>(`/${kind}/${id}`);
    const state = (json.issueStatus ?? json.status) as keyof typeof expected;
    const there = status === 404 ? 'A' : kind === 'proposals' && state === 'ISSUED' ? 'F' : expected[state];
    expect([number, status, saftStatus(saft.document(number))]).toEqual([
      number,
      kind === 'proposals' ? status : 200,
      there,
    ]);
  }
}

/**
 * Receipts alone never exceed what was to pay, nor credit notes the total; together they may, where something was paid
 * and then given back. PAID is when they reach what was to pay.
 */
async function balancesHold(company: TestCompany): Promise<void> {
  const all = await listed(company);
  const settled = new Map<string, { paid: number; credited: number; settled: number }>();
  const nothing = { paid: 0, credited: 0, settled: 0 };
  for (const { documentType, status, id, parentInvoiceId, number } of all) {
    if (status === 'CANCELED' || number === undefined) continue;
    if (documentType !== 'RECEIPT' && documentType !== 'CREDIT_NOTE') continue;
    const { summary } = (await company.get<InvoiceJson>(`/invoices/${id}`)).json;
    const sums = settled.get(parentInvoiceId!) ?? { ...nothing };
    sums.settled += cents(summary.totalToPay);
    if (documentType === 'RECEIPT') sums.paid += cents(summary.totalToPay);
    else sums.credited += cents(summary.total);
    settled.set(parentInvoiceId!, sums);
  }
  for (const { id, number, documentType, status } of all) {
    if (number === undefined || status === 'CANCELED' || documentType === 'RECEIPT') continue;
    const { summary } = (await company.get<InvoiceJson>(`/invoices/${id}`)).json;
    const sums = settled.get(id) ?? nothing;
    const [total, toPay] = [cents(summary.total), cents(summary.totalToPay)];
    expect([number, cents(summary.creditNotesTotal)]).toEqual([number, sums.credited]);
    expect([number, sums.credited <= total, sums.paid <= toPay]).toEqual([number, true, true]);
    const payable = documentType === 'INVOICE' || documentType === 'DEBIT_NOTE';
    if (payable && toPay > 0) expect([number, status]).toEqual([number, sums.settled >= toPay ? 'PAID' : 'ISSUED']);
  }
}

async function listed(company: TestCompany): Promise<InvoiceEntryJson[]> {
  const all: InvoiceEntryJson[] = [];
  for (;;) {
    const { json } = await company.get<InvoiceEntryJson[]>(`/invoices?limit=100&offset=${all.length}`);
    all.push(...json);
    if (json.length < 100) return all;
  }
}

const cents = (amount: number) => Math.round(amount * 100);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

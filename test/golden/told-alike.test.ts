/**
 * A document is told in three ways: by SAF-T, to the AT and by its QR code. Whoever lays them side by side finds the same in
 * all. Read by parsers that are not ours, for every kind of document and for any lines.
 */
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import type { AtGateway } from '../../src/at/gateway.ts';
import { bodies } from '../../src/at/messages.ts';
import { tell } from '../../src/doors/clock/tell.ts';
import { isCommunicated } from '../../src/fiscal/communicated.ts';
import { creditNoteOver } from '../../src/fiscal/correct.ts';
import { add, compare, isZero, percentOf, round2, sum, trimmed } from '../../src/fiscal/decimal.ts';
import {
  type Content,
  type DocumentType,
  documentTypes,
  type LineInput,
  type Totals,
} from '../../src/fiscal/document.ts';
import { shortHash } from '../../src/fiscal/hash-chain.ts';
import { qrPayload } from '../../src/fiscal/qr-payload.ts';
import type { SaftDocument } from '../../src/fiscal/saft/source.ts';
import { writeSaft } from '../../src/fiscal/saft/write.ts';
import { openBalance, receiptOver } from '../../src/fiscal/standing.ts';
import { readSaft, type Saft, type Tree } from '../certification/saft-reading.ts';
import { sampleContent, takenBy } from '../fiscal-samples.ts';
import {
  customers,
  type Desk,
  everything,
  goods,
  openDesk,
  receiptContent,
  refOf,
  settledOf,
  sourceOf,
  textOf,
  transportContent,
} from './saft-samples.ts';

const parser = new XMLParser({
  parseTagValue: false,
  removeNSPrefix: true,
  isArray: (name) => ['LineSummary', 'Line', 'OrderReferences', 'Reference', 'WithholdingTax'].includes(name),
});

/** What the AT is told of a document when it is issued. */
async function told({ content, issued, issuedBy }: SaftDocument): Promise<Tree> {
  const heard: string[] = [];
  const hear = (build: (message: never) => string) => (_: unknown, message: never) => {
    heard.push(build(message));
    return Promise.resolve({ kind: 'done', code: '0', message: '' });
  };
  const at = Object.fromEntries(Object.entries(bodies).map(([name, build]) => [name, hear(build as never)]));
  const row = {
    id: issued.number,
    type: content.type,
    content,
    at_attempts: 1,
    at_told: null,
    canceled_at: null,
    converted_at: null,
    restored_at: null,
    issued_at: new Date(`${issued.systemEntry}Z`),
    issued_by: issuedBy,
    number: issued.number,
    sequence: issued.sequence,
    atcud: issued.atcud,
    date: issued.date,
    system_entry: issued.systemEntry,
    hash: issued.hash,
    key_version: issued.keyVersion,
    certificate_number: issued.certificateNumber,
    series_name: issued.seriesCode,
    qr: '',
  };
  const credentials = { username: '500000000/1', password: 'senha' };
  await tell({ at: at as unknown as AtGateway, credentials, row, region: 'PT' });
  return Object.values(parser.parse(heard[0]!))[0];
}

const total = (amounts: readonly string[]): string => round2(sum(amounts));

/** Sums by their keys, in the keys' order. */
function summed(parts: readonly (readonly [key: readonly (string | undefined)[], amount: string])[]) {
  const sums = new Map<string, string>();
  for (const [key, amount] of parts) {
    const name = key.map((one) => one ?? '').join(' | ');
    sums.set(name, round2(add(sums.get(name) ?? '0', amount)));
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const withheld = (taxes: readonly Tree[] = []) =>
  summed(taxes.map((tax) => [[tax.WithholdingTaxType], tax.WithholdingTaxAmount]));
const taxKey = ({ Tax: tax, TaxExemptionCode: code }: Tree) => [
  tax.TaxCountryRegion,
  tax.TaxCode,
  tax.TaxPercentage,
  code,
];

/** A document of SAF-T in the words of the AT's invoice service. */
function inSaft(one: Tree, saft: Saft) {
  const { CustomerTaxID, BillingAddress } = saft.customers.find(({ CustomerID }) => CustomerID === one.CustomerID);
  const { TaxPayable, NetTotal, GrossTotal } = one.DocumentTotals;
  const { DocumentStatus: status } = one;
  return {
    number: one.InvoiceNo ?? one.DocumentNumber ?? one.PaymentRefNo,
    atcud: one.ATCUD,
    date: one.InvoiceDate ?? one.WorkDate ?? one.MovementDate ?? one.TransactionDate,
    type: one.InvoiceType ?? one.WorkType ?? one.MovementType ?? one.PaymentType,
    buyer: `${CustomerTaxID} ${BillingAddress.Country}`,
    entry: one.SystemEntryDate,
    since: status.InvoiceStatusDate ?? status.WorkStatusDate ?? status.PaymentStatusDate,
    hash: one.Hash === undefined ? undefined : shortHash(one.Hash),
    activity: one.EACCode,
    regime: one.SpecialRegimes?.CashVATSchemeIndicator,
    totals: { TaxPayable, NetTotal, GrossTotal },
    withheld: withheld(one.WithholdingTax),
    lines: summed(
      one.Line.map((line: Tree) => {
        const [origin] = line.OrderReferences ?? line.SourceDocumentID ?? [];
        return [
          [
            ...(line.Tax === undefined ? [] : taxKey(line)),
            line.TaxPointDate,
            line.References?.[0].Reference,
            origin?.OriginatingON,
            origin?.OrderDate ?? origin?.InvoiceDate,
            line.DebitAmount === undefined ? 'C' : 'D',
          ],
          line.DebitAmount ?? line.CreditAmount,
        ] as const;
      }),
    ),
  };
}

/** The same of what the AT's invoice service is told. */
function atAt(message: Tree) {
  const data = message.InvoiceData ?? message.WorkData ?? message.PaymentData;
  const status = data.DocumentStatus;
  return {
    number: data.InvoiceNo ?? data.DocumentNumber ?? data.PaymentRefNo,
    atcud: data.ATCUD,
    date: data.InvoiceDate ?? data.WorkDate ?? data.TransactionDate,
    type: data.InvoiceType ?? data.WorkType ?? data.PaymentType,
    buyer: `${data.CustomerTaxID} ${data.CustomerTaxIDCountry}`,
    entry: data.SystemEntryDate,
    since: status.InvoiceStatusDate ?? status.WorkStatusDate ?? status.PaymentStatusDate,
    hash: data.HashCharacters,
    activity: data.EACCode,
    regime: data.CashVATSchemeIndicator,
    totals: data.DocumentTotals,
    withheld: withheld(data.WithholdingTax),
    lines: summed(
      data.LineSummary.map((line: Tree) => {
        const origin = line.OrderReferences?.[0] ?? line.SourceDocumentID;
        return [
          [
            ...taxKey(line),
            line.TaxPointDate,
            line.Reference?.[0],
            origin?.OriginatingON,
            origin?.OrderDate ?? origin?.InvoiceDate,
            line.DebitCreditIndicator,
          ],
          line.Amount,
        ] as const;
      }),
    ),
  };
}

const slots: Readonly<Record<string, string>> = { ISE: '2', RED: '3', INT: '5', NOR: '7' };

/** A document of SAF-T as its QR code tells it: all fields, but for the tax of each rate, which SAF-T does not tell. */
function asCode(one: Tree, saft: Saft, header: Tree) {
  const { number, atcud, date, type, buyer, hash, totals } = inSaft(one, saft);
  const [taxId, country] = buyer.split(' ');
  const isRated = one.Line.some((line: Tree) => line.Tax !== undefined);
  const regions: string[] = [...new Set<string>(one.Line.map((line: Tree) => line.Tax?.TaxCountryRegion as string))];
  const blocks = isRated
    ? Object.fromEntries(
        regions.flatMap((region, i) => {
          const own = one.Line.filter((line: Tree) => line.Tax.TaxCountryRegion === region);
          const bases = Object.entries(slots).flatMap(([code, slot]) => {
            const base = total(
              own
                .filter((line: Tree) => line.Tax.TaxCode === code)
                .map((line: Tree) => line.DebitAmount ?? line.CreditAmount),
            );
            return base === '0.00' ? [] : [[`${'IJK'[i]}${slot}`, base]];
          });
          return [[`${'IJK'[i]}1`, region], ...bases];
        }),
      )
    : { I1: '0' };
  const kept = total(Object.values(withheld(one.WithholdingTax)));
  return {
    A: header.TaxRegistrationNumber,
    B: taxId,
    C: country,
    D: type,
    E: 'N',
    F: date.replaceAll('-', ''),
    G: number,
    H: atcud,
    ...blocks,
    // A receipt of the normal scheme tells no tax there.
    N: isRated ? totals.TaxPayable : '0.00',
    O: totals.GrossTotal,
    ...(kept === '0.00' ? {} : { P: kept }),
    Q: hash ?? '0',
    R: header.SoftwareCertificateNumber,
  };
}

function codeOf({ content, issued }: SaftDocument) {
  const short = issued.hash === '' ? '' : shortHash(issued.hash);
  const fields = qrPayload(content, { ...issued, shortHash: short })
    .split('*')
    .map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)] as const);
  const isTax = ([name]: readonly [string, string]) => /^[IJK][468]$/.test(name);
  const isNothing = ([name, value]: readonly [string, string]) => /^[IJK][2357]$/.test(name) && value === '0.00';
  return {
    fields: Object.fromEntries(fields.filter((field) => !isTax(field) && !isNothing(field))),
    taxes: total(fields.filter(isTax).map(([, value]) => value)),
  };
}

const partsOf = (place: Tree) => [place.AddressDetail ?? place.Addressdetail, place.City, place.PostalCode];
const goodsOf = (lines: readonly Tree[]) =>
  lines.map((one) => [one.ProductDescription, one.Quantity, one.UnitOfMeasure, one.UnitPrice]);

/** A transport document of SAF-T in the words of the AT's transport service. */
function onItsWay(one: Tree, saft: Saft) {
  const { number, atcud, date, type, buyer } = inSaft(one, saft);
  return {
    ...{ number, atcud, date, type, buyer: buyer.split(' ')[0] },
    times: [one.MovementStartTime, one.MovementEndTime],
    plate: one.ShipFrom.DeliveryID,
    places: [partsOf(one.ShipFrom.Address), partsOf(one.ShipTo.Address)],
    goods: goodsOf(one.Line),
  };
}

/** The same of what that service is told. */
const toldOnItsWay = (message: Tree) => ({
  number: message.DocumentNumber,
  atcud: message.ATCUD,
  date: message.MovementDate,
  type: message.MovementType,
  buyer: message.CustomerTaxID,
  times: [message.MovementStartTime, message.MovementEndTime],
  plate: message.VehicleID,
  places: [partsOf(message.AddressFrom), partsOf(message.AddressTo)],
  goods: goodsOf(message.Line),
});

/** The three of each document, laid side by side. */
async function compareAll(documents: readonly SaftDocument[]): Promise<number> {
  const saft = readSaft(await textOf(writeSaft(sourceOf(documents))));
  let count = 0;
  for (const document of documents) {
    const { content, issued } = document;
    const one = saft.document(issued.number);
    const { fields, taxes } = codeOf(document);
    expect(fields).toEqual(asCode(one, saft, saft.file.Header));
    expect(compare(taxes, fields['N']!)).toBe(0);
    if (!isCommunicated(content)) continue;
    const message = await told(document);
    const stood = inSaft(one, saft);
    if (documentTypes[content.type].family === 'TRANSPORT') expect(toldOnItsWay(message)).toEqual(onItsWay(one, saft));
    // What became of it since is told by itself.
    else expect(atAt(message)).toEqual({ ...stood, ...(document.status === 'N' ? {} : { since: stood.entry }) });
    count += 1;
  }
  return count;
}

test('every kind of document is told alike by SAF-T, to the AT and by its QR code', async () => {
  const { documents, issue } = await everything();
  const cash = documents.find(({ issued }) => issued.number === 'FT C2026/1')!;
  const document = { ...refOf(cash), original: 'FT A2025/9' };
  const stamp = { day: '2026-03-12', code: 'RC', series: 'C2026' };
  await issue(receiptContent([settledOf(cash, { document })], { cashVat: true }), stamp);
  const origin = { ...refOf(documents.find(({ issued }) => issued.number === 'PF A2026/1')!), added: ['added'] };
  await issue(sampleContent('INVOICE', [goods, { ...goods, id: 'added' }], { origin }));
  expect(await compareAll(documents)).toBeGreaterThan(12);
});

test('so are documents that were dated before the day of their issue', async () => {
  const { documents } = await everything();
  const systemEntry = '2026-03-20T10:00:00';
  const later = documents.map((document): SaftDocument => {
    const { issued, status, statusAt } = document;
    return { ...document, issued: { ...issued, systemEntry }, statusAt: status === 'N' ? systemEntry : statusAt };
  });
  expect(await compareAll(later)).toBeGreaterThan(12);
});

const line: fc.Arbitrary<LineInput> = fc
  .record({
    quantity: fc.integer({ min: 1, max: 5_000_000 }).map((n) => String(n / 1000)),
    unitPrice: fc.integer({ min: 0, max: 9_000_000 }).map((n) => (n / 10_000).toFixed(4)),
    kind: fc.constantFrom<Partial<LineInput>>(
      { vatRate: 'NORMAL' },
      { vatRate: 'REDUCED' },
      { vatRate: 'INTERMEDIATE' },
      { vatRate: 'EXEMPT', exemptionCode: 'M07' },
      { vatRate: 'EXEMPT', exemptionCode: 'M16' },
    ),
    region: fc.constantFrom('PT', 'PT-MA', 'PT-AC' as const),
    discount: fc.option(
      fc.integer({ min: 0, max: 100 }).map((n) => ({ type: 'PERCENT' as const, value: String(n) })),
      { nil: undefined },
    ),
    withholding: fc.constantFrom(
      undefined,
      { type: 'IRS' as const, percent: '23' },
      { type: 'IRS' as const, percent: '11.5', reason: 'Artigo 101.º' },
      { type: 'IS' as const, percent: '0.5' },
    ),
  })
  .map(({ kind, ...rest }) => ({ ...goods, ...kind, ...rest }));

test('whatever its lines are, a document, its notes and its receipts are told alike', async () => {
  const lines = fc.array(line, { minLength: 1, maxLength: 7 });
  const types = ['INVOICE', 'INVOICE_RECEIPT', 'PROFORMA', 'GUIA_DE_REMESSA'] as const;
  const parties = fc.constantFrom(...Object.values(customers));
  const part = fc.integer({ min: 1, max: 100 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...types),
      lines,
      parties,
      fc.boolean(),
      fc.boolean(),
      fc.option(fc.constantFrom('0.006123', '0.921537', '1.16'), { nil: undefined }),
      part,
      async (type, given, customer, valued, cashVat, exchangeRate, share) => {
        const own = given.map((one, i) => ({ ...one, id: `l-${i}` }));
        const currency = exchangeRate === undefined ? {} : { currency: 'USD', exchangeRate };
        const desk = openDesk();
        if (type === 'GUIA_DE_REMESSA') {
          const carried = own.map((one) => ({ ...one, withholding: undefined }));
          await desk.issue(transportContent(type, carried, valued, { customer }));
          await compareAll(desk.documents);
          return;
        }
        const content = sampleContent(type, own, {
          customer,
          ...currency,
          ...(cashVat && type !== 'PROFORMA' ? { cashVat } : {}),
        });
        const document = await desk.issue(content);
        if (type === 'PROFORMA') {
          const origin = refOf(document);
          await desk.issue(sampleContent('INVOICE', own, { customer, ...currency, origin }));
        } else await correctAndPay(desk, document, share);
        await compareAll(desk.documents);
      },
    ),
    { numRuns: 150 },
  );
});

/** A note over a part of each line, and of an invoice two receipts: of a part of what is left, and of all. */
async function correctAndPay(desk: Desk, document: SaftDocument, share: number): Promise<void> {
  const { content, issued } = document;
  const wanted = content.lines.map(({ id, quantity }) => ({
    id,
    quantity: trimmed(percentOf(String(share), quantity)),
  }));
  const note: Content = {
    ...content,
    type: 'CREDIT_NOTE',
    ...creditNoteOver(content, takenBy([]), wanted, () => 'n'),
    parent: { ...refOf(document), reason: 'Devolução' },
  };
  await desk.issue(note);
  if (content.type !== 'INVOICE') return;
  const children: { type: DocumentType; number: string; totals: Totals; books: Totals }[] = [
    { type: note.type, number: 'NC', totals: note.totals, books: note.books },
  ];
  for (const part of [share, 100]) {
    const { toPay } = openBalance({ content, children }).totals;
    const amount = round2(percentOf(String(part), toPay));
    if (isZero(amount)) return;
    const { number, date } = issued;
    const head = { id: 'i', type: content.type, status: 'ISSUED', number, date, content, outstanding: toPay, children };
    const receipt = receiptOver(head, amount, { method: 'TB', date }, undefined);
    await desk.issue(receipt, content.cashVat === true ? { code: 'RC', series: 'C2026' } : {});
    children.push({ type: receipt.type, number: 'RG', totals: receipt.totals, books: receipt.books });
  }
}

/** Books of one small company with a document of every kind, priced by the real law and signed in real chains. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { creditNoteOver } from '../../src/fiscal/correct.ts';
import { add, compare, round2, subtract, sum } from '../../src/fiscal/decimal.ts';
import {
  type Content,
  type DocumentRef,
  type DocumentType,
  documentTypes,
  type Family,
  type LineInput,
  type Settled,
  type Totals,
} from '../../src/fiscal/document.ts';
import type { SignedParts } from '../../src/fiscal/hash-chain.ts';
import type {
  SaftCustomer,
  SaftDocument,
  SaftHeader,
  SaftItem,
  SaftSource,
  SaftSums,
  SaftTax,
} from '../../src/fiscal/saft/source.ts';
import { generateSigningKey, localSigner } from '../../src/keys/signer.ts';
import { sampleContent, sampleLine, takenBy } from '../fiscal-samples.ts';

export const header: SaftHeader = {
  company: {
    id: 'company',
    name: 'Padaria & Pastelaria «Ágata», Lda',
    taxpayerNumber: '500000000',
    address: 'Rua de São Bento, 1 – r/c',
    postalCode: '1000-001',
    city: 'Lisboa',
    country: 'PT',
    email: 'contas@padaria.example',
    phone: '+351 210 000 000',
    website: 'padaria.example',
  },
  region: 'PT',
  from: '2026-03-01',
  to: '2026-03-31',
  created: '2026-04-01',
  program: { producerTaxId: '508025095', productId: 'Certo/Certo', version: '1.0.0', certificateNumber: 9999 },
};

export const customers = {
  business: {
    id: '0197a5c2-1111-7000-8000-00000000000a',
    name: 'Atelier Maré Alta, Lda',
    taxpayerNumber: '501442600',
    address: 'Av. da Liberdade 2',
    postalCode: '4000-001',
    city: 'Porto',
    country: 'PT',
    email: 'geral@mare.example',
    mobile: '910000000',
  },
  abroad: {
    id: '0197a5c2-1111-7000-8000-00000000000b',
    name: 'Hansen <Søn> A/S',
    taxpayerNumber: '12345678',
    country: 'DK',
  },
  anonymous: { id: '0197a5c2-1111-7000-8000-00000000000c', name: 'Maria Silva', country: 'PT' },
  consumer: { id: '0197a5c2-1111-7000-8000-00000000000d', name: 'Consumidor final', finalConsumer: true },
} as const satisfies Record<string, SaftCustomer>;

export const goods = sampleLine({
  id: 'l-goods',
  itemId: '0197a5c2-2222-7000-8000-000000000000',
  name: 'Pão de centeio',
  productType: 'PRODUCT',
  vatRate: 'REDUCED',
  unitPrice: '1.85',
  quantity: '12',
});
export const wine = sampleLine({
  id: 'l-wine',
  itemId: '0197a5c2-2222-7000-8000-000000000001',
  name: 'Vinho Dão',
  productType: 'PRODUCT',
  vatRate: 'INTERMEDIATE',
  unitPrice: '7.333333',
  quantity: '3',
});
export const work = sampleLine({
  id: 'l-work',
  itemId: '0197a5c2-2222-7000-8000-000000000002',
  name: 'Consultoria',
  unit: 'HOUR',
  unitPrice: '100',
  quantity: '10',
});
export const lesson = sampleLine({
  id: 'l-lesson',
  itemId: '0197a5c2-2222-7000-8000-000000000003',
  name: 'Formação',
  vatRate: 'EXEMPT',
  exemptionCode: 'M07',
  unitPrice: '50',
  description: 'Aula de padaria,\n2 horas',
});

const withheld: LineInput = {
  ...work,
  withholding: { type: 'IRS', percent: '23', reason: 'Artigo 101.º, n.º 1, alínea b) do CIRS' },
};

/** The id of a document in the database. */
export function idOf(number: string): string {
  const digest = createHash('sha256').update(number).digest('hex');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-7000-8000-${digest.slice(12, 24)}`;
}

/** What a sample says of a document beyond its content. */
export interface Stamp {
  readonly day?: string;
  readonly hour?: string;
  readonly series?: string;
  readonly code?: string;
  readonly kind?: SaftDocument['kind'];
  readonly status?: SaftDocument['status'];
  readonly over?: Partial<SaftDocument>;
}

/** Issues documents: numbers, times and signatures in order, per type and series. */
export interface Desk {
  readonly documents: SaftDocument[];
  readonly publicKey: KeyObject;
  issue(content: Content, stamp?: Stamp): Promise<SaftDocument>;
  /** A pro forma or transport document is F since its first invoice. */
  invoiced(origin: SaftDocument, invoice: SaftDocument): void;
}

export function openDesk(): Desk {
  const pair = generateSigningKey();
  const { sign } = localSigner(pair.privatePem, 1);
  const heads = new Map<string, { sequence: number; hash: string }>();
  const documents: SaftDocument[] = [];
  let seconds = 0;
  async function issue(content: Content, stamp: Stamp = {}): Promise<SaftDocument> {
    const { day = '2026-03-06', hour = '09', series = 'A2026', kind = 'N', status = 'N' } = stamp;
    const code = stamp.code ?? documentTypes[content.type].code;
    const chain = `${code} ${series}`;
    const head = heads.get(chain) ?? { sequence: 0, hash: '' };
    const sequence = head.sequence + 1;
    seconds += 1;
    const systemEntry = `${day}T${hour}:${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
    const number = `${chain}/${sequence}`;
    const parts: SignedParts = { date: day, systemEntry, number, grossTotal: content.books.gross };
    const { signatures } = documentTypes[content.type].signed ? await sign(head.hash, [parts]) : { signatures: [''] };
    const hash = signatures[0]!;
    heads.set(chain, { sequence, hash });
    const document: SaftDocument = {
      content: { ...content, date: day },
      issued: {
        number,
        sequence,
        seriesCode: series,
        atcud: `AAJF${code}${series.slice(0, 1)}X-${sequence}`.padStart(10, 'X'),
        date: day,
        systemEntry,
        hash,
        keyVersion: 1,
        certificateNumber: 9999,
      },
      kind,
      status,
      statusAt: status === 'N' ? systemEntry : `${day}T18:00:00`,
      statusBy: status === 'N' ? 'key-1' : 'user-2',
      issuedBy: 'key-1',
      ...(status === 'A' ? { reason: 'Erro de emissão' } : {}),
      ...stamp.over,
    };
    documents.push(document);
    return document;
  }
  function invoiced(origin: SaftDocument, { issued, issuedBy }: SaftDocument): void {
    const at = documents.indexOf(origin);
    documents[at] = { ...origin, status: 'F', statusAt: issued.systemEntry, statusBy: issuedBy };
  }
  return { documents, publicKey: createPublicKey(pair.publicPem), issue, invoiced };
}

export const refOf = ({ content, issued }: SaftDocument): DocumentRef => ({
  id: idOf(issued.number),
  number: issued.number,
  date: issued.date,
  type: content.type,
});

/** A transport document: what `price` made, or nothing but the goods. */
export function transportContent(
  type: DocumentType,
  lines: readonly LineInput[],
  valued: boolean,
  more: Partial<Content> = {},
): Content {
  const content = sampleContent(type, lines, { customer: customers.business, ...more });
  const none: Totals = {
    net: '0.00',
    tax: '0.00',
    gross: '0.00',
    withholding: '0.00',
    toPay: '0.00',
    groups: [],
    withholdings: [],
  };
  return {
    ...content,
    ...(valued ? {} : { totals: none, books: none }),
    transport: {
      // Summer time begins on 2026-03-29: 10:30 there is 09:30 UTC.
      start: '2026-03-30T09:30:00.000Z',
      end: '2026-03-30T13:00:00.000Z',
      loading: { address: 'Rua de São Bento, 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' },
      unloading: { address: 'Av. da Liberdade 2', postalCode: '4000-001', city: 'Porto', country: 'PT' },
      licensePlate: 'AA-00-AA',
      comments: 'Frágil',
      valued,
      ...more.transport,
    },
  };
}

export function settledOf(document: SaftDocument, over: Partial<Settled> = {}): Settled {
  const { net, tax, gross, withholding, groups } = document.content.books;
  return { document: refOf(document), net, tax, gross, withholding, groups, ...over };
}

/** A receipt over what it settles: credit notes are set off. */
export function receiptContent(settles: readonly Settled[], more: Partial<Content> = {}): Content {
  const total = (pick: (settled: Settled) => string) => {
    const notes = sum(settles.filter(({ document }) => document.type === 'CREDIT_NOTE').map(pick));
    return round2(subtract(sum(settles.filter(({ document }) => document.type !== 'CREDIT_NOTE').map(pick)), notes));
  };
  const gross = total((settled) => settled.gross);
  const withholding = total((settled) => settled.withholding);
  const totals: Totals = {
    net: total((settled) => settled.net),
    tax: total((settled) => settled.tax),
    gross,
    withholding,
    toPay: round2(subtract(gross, withholding)),
    groups: settles.flatMap(({ groups }) => groups),
    withholdings:
      compare(withholding, '0') > 0 ? [{ type: 'IRS', percent: '23', base: gross, amount: withholding }] : [],
  };
  return {
    ...sampleContent('RECEIPT', [], { customer: customers.business }),
    lines: [],
    totals,
    books: totals,
    settles,
    payment: { method: 'Transferência bancária', date: '2026-03-10' },
    ...more,
  };
}

/** One document of every kind that the program issues, in every state, in March 2026. */
export async function everything(desk: Desk = openDesk()): Promise<Desk> {
  const { issue } = desk;
  const { business, abroad, anonymous, consumer } = customers;
  const mixed = await issue(
    sampleContent('INVOICE', [{ ...goods, discount: { type: 'PERCENT', value: '8.8' } }, wine, work, lesson], {
      customer: business,
      globalDiscount: { type: 'PERCENT', value: '10' },
      taxPointDate: '2026-03-02',
      dueDate: '2026-04-05',
    }),
  );
  await issue(sampleContent('INVOICE', [goods], { customer: anonymous, dueDate: '2026-03-06' }));
  await issue(sampleContent('INVOICE', [work], { customer: abroad, currency: 'USD', exchangeRate: '0.9215' }), {
    status: 'A',
  });
  await issue(sampleContent('INVOICE', [work, goods], { customer: abroad, currency: 'GBP', exchangeRate: '1.16' }));
  const proforma = await issue(sampleContent('PROFORMA', [work], { customer: business }));
  await issue(sampleContent('PROFORMA', [wine], { customer: abroad }));
  await issue(sampleContent('PROFORMA', [wine], { customer: abroad }), { status: 'A' });
  const converted = await issue(sampleContent('INVOICE', [withheld], { customer: business, origin: refOf(proforma) }));
  desk.invoiced(proforma, converted);
  const cash = await issue(sampleContent('INVOICE', [goods, work, lesson], { customer: business, cashVat: true }), {
    series: 'C2026',
  });
  await issue(sampleContent('SIMPLIFIED_INVOICE', [goods], { customer: consumer, payment: { method: 'NU' } }));
  await issue(
    sampleContent('INVOICE_RECEIPT', [withheld], {
      customer: business,
      payment: { method: 'por acordo', date: '2026-03-05' },
    }),
  );
  const note = await issue({
    ...sampleContent('CREDIT_NOTE', [wine], { customer: business }),
    ...creditNoteOver(mixed.content, takenBy([]), [{ id: mixed.content.lines[1]!.id, quantity: '1' }], () => 'n1'),
    parent: { ...refOf(mixed), reason: 'Devolução' },
  });
  await issue(
    sampleContent('DEBIT_NOTE', [work], { customer: business, parent: { ...refOf(mixed), reason: 'Acerto de preço' } }),
  );
  const recovered = await issue(
    sampleContent('INVOICE', [goods], { customer: business, recovered: { kind: 'M', original: 'abc/00001' } }),
    { series: 'R2026', kind: 'R', day: '2026-03-03' },
  );
  await issue(
    sampleContent('INVOICE', [goods], { customer: business, recovered: { kind: 'D', original: 'FT A2025/00099' } }),
    {
      series: 'R2026',
      kind: 'R',
      day: '2026-03-03',
    },
  );
  await issue(
    sampleContent('CREDIT_NOTE', [goods], {
      customer: business,
      parent: { ...refOf(recovered), original: 'FTM abc/00001', reason: 'Anulação' },
    }),
  );
  await issue(sampleContent('INVOICE', [work], { customer: business, training: true }), { series: 'F2026', kind: 'F' });
  const sent = await issue(transportContent('GUIA_DE_TRANSPORTE', [goods, wine], false), {
    over: { atDocCode: '123456789012' },
  });
  await issue(transportContent('GUIA_DE_REMESSA', [goods, lesson], true));
  await issue(transportContent('GUIA_DE_REMESSA', [goods], true), { status: 'A' });
  for (const type of ['GUIA_DE_ATIVOS_PROPRIOS', 'GUIA_DE_CONSIGNACAO', 'GUIA_DE_DEVOLUCAO'] as const) {
    await issue(transportContent(type, [wine], false));
  }
  const billed = await issue(sampleContent('INVOICE', [goods, wine], { customer: business, origin: refOf(sent) }), {
    day: '2026-03-09',
  });
  desk.invoiced(sent, billed);
  await issue(receiptContent([settledOf(mixed), settledOf(note)]), { day: '2026-03-10' });
  await issue(receiptContent([settledOf(converted)], { payment: { date: '2026-03-11' } }), { day: '2026-03-11' });
  await issue(receiptContent([settledOf(mixed)]), { day: '2026-03-12', status: 'A' });
  await issue(receiptContent([settledOf(cash)], { cashVat: true }), { day: '2026-03-12', code: 'RC', series: 'C2026' });
  return desk;
}

/** The source of a list of documents: masters and sums worked out by other means than the writer's. */
export function sourceOf(documents: readonly SaftDocument[], over: Partial<SaftSource> = {}): SaftSource {
  const families = ['SALES', 'TRANSPORT', 'PROFORMA', 'RECEIPT'] as const;
  const sections = families.flatMap((family) => {
    const own = documents.filter(({ content }) => documentTypes[content.type].family === family).sort(byNumber);
    return own.length === 0 ? [] : [[family, { sums: sumsOf(family, own), documents: portions(own) }] as const];
  });
  const parties = new Map(documents.map(({ content }) => [content.customer.id, content.customer]));
  const items = new Map(documents.flatMap(({ content }) => content.lines.map((line) => [line.itemId, line] as const)));
  return {
    header,
    customers: portions([...parties.values()]),
    items: portions(
      [...items.values()].map(({ itemId, name, productType }): SaftItem => ({ id: itemId, name, type: productType })),
    ),
    taxes: taxesOf(documents),
    sections: Object.fromEntries(sections),
    ...over,
  };
}

function byNumber(a: SaftDocument, b: SaftDocument): number {
  const chain = ({ issued }: SaftDocument) => issued.number.slice(0, issued.number.indexOf('/'));
  return chain(a) === chain(b) ? a.issued.sequence - b.issued.sequence : chain(a) < chain(b) ? -1 : 1;
}

function taxesOf(documents: readonly SaftDocument[]): SaftTax[] {
  const taxes = new Map<string, SaftTax>();
  for (const { content } of documents)
    for (const { region, taxCode, rate } of content.books.groups)
      taxes.set(`${region} ${taxCode} ${rate}`, { region, taxCode, rate });
  return [...taxes.values()];
}

function sumsOf(family: Family, documents: readonly SaftDocument[]): SaftSums {
  const counted = documents.filter(({ status }) => status === 'N' || (status === 'F' && family !== 'SALES'));
  const nets = counted.flatMap(({ content }) =>
    family === 'RECEIPT'
      ? content.settles!.map(({ document, net }) => [documentTypes[document.type].side === 'DEBIT', net] as const)
      : [[documentTypes[content.type].side === 'DEBIT', content.books.net] as const],
  );
  const total = (debit: boolean) => round2(sum(nets.filter(([side]) => side === debit).map(([, net]) => net)));
  return {
    count: family === 'TRANSPORT' ? documents.flatMap(({ content }) => content.lines).length : documents.length,
    debit: total(true),
    credit: total(false),
    quantity: counted.flatMap(({ content }) => content.lines).reduce((all, { quantity }) => add(all, quantity), '0'),
  };
}

async function* portions<T>(values: readonly T[]): AsyncGenerator<T[]> {
  for (let at = 0; at < values.length; at += 7) yield values.slice(at, at + 7);
}

/** All of a stream as one text. */
export async function textOf(chunks: AsyncIterable<Uint8Array>, encoding = 'utf-8'): Promise<string> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let text = '';
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

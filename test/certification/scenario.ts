/**
 * The documents that the tax authority asks a producer to show (T1 to T14 of the acceptance list), issued over the wire
 * in two months of a virtual clock, and the SAF-T of both months (T15) as `certo saft export` writes it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setCashVat } from '../../src/operations/company/cash-vat.ts';
import { registerSeries } from '../../src/operations/series/registration.ts';
import type { InvoiceJson, ProposalJson, TransportJson } from '../replies.ts';
import type { Service, TestCompany } from '../service.ts';
import { runCommand } from './run-command.ts';

export type Item = `T${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14}`;
export type Shown = InvoiceJson | TransportJson | ProposalJson;

export interface Paper {
  /** Name of the file in the dossier. */
  readonly file: string;
  /** What it is, where an entry has several. */
  readonly label?: string;
  readonly pdf: Uint8Array;
}

/** One document of the dossier. */
export interface Entry {
  readonly item: Item;
  /** Names it among the documents of its item. */
  readonly name: string;
  /** What to look at, in Portuguese. */
  readonly look: string;
  /** As the API shows it at the end. */
  readonly document: Shown;
  readonly papers: readonly Paper[];
}

export interface Dossier {
  readonly company: { readonly name: string; readonly taxpayerNumber: string };
  readonly period: { readonly from: string; readonly to: string };
  readonly entries: readonly Entry[];
  readonly saft: string;
  readonly publicPem: string;
}

export interface Producer {
  readonly name?: string | undefined;
  readonly nif?: string | undefined;
}

/** The service stands here when it starts: mainland time is UTC in winter. */
export const opening = new Date('2026-01-15T08:30:00Z');
const period = { from: '2026-01-01', to: '2026-02-28' };

/** Plays it on company A of a service that was started at `opening`. */
export async function playScenario(service: Service, producer: Producer = {}): Promise<Dossier> {
  const desk = new Desk(service);
  service.startReports();
  const goods = await makeMasters(service.companies.A);
  await beforeTen(desk, goods);
  await january(desk, goods);
  await february(desk, goods);
  await transports(desk, goods);
  await cashVat(desk, goods, service);
  await desk.reported();
  const entries = await desk.finished();
  return {
    company: service.companies.A,
    period,
    entries,
    saft: await exported(service, producer),
    publicPem: service.publicPem,
  };
}

type Draft = Readonly<Record<string, unknown>>;
type Kind = 'invoices' | 'transport-documents' | 'proposals';

/** Where documents are made, and their papers collected. */
class Desk {
  readonly company: TestCompany;
  readonly #service: Service;
  readonly #entries: (Omit<Entry, 'document'> & { readonly id: string; readonly kind: Kind })[] = [];

  constructor(service: Service) {
    this.#service = service;
    this.company = service.companies.A;
  }

  at(local: string): Promise<void> {
    return this.#service.setClock(new Date(`${local}Z`));
  }

  async invoice(draft: Draft): Promise<InvoiceJson> {
    return this.company.issue(await this.company.draft(draft));
  }

  async post<T = unknown>(path: string, body: unknown): Promise<T> {
    const { status, json, text } = await this.company.post<T>(path, body);
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${text}`);
    return json;
  }

  async read<T>(path: string): Promise<T> {
    const { status, json, text } = await this.company.get<T>(path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
    return json;
  }

  /** The document as it prints now. */
  async paper(
    kind: Kind,
    document: { id: string; number?: string },
    item: Item,
    label?: string,
    roll?: 'RECEIPT' | 'RECEIPT_58',
  ): Promise<Paper> {
    const { url } = await this.read<{ url: string }>(
      `/${kind}/${document.id}/pdf${roll === undefined ? '' : `?format=${roll}`}`,
    );
    const { status, bytes } = await this.#service.open(url);
    if (status !== 200) throw new Error(`the PDF of ${document.number} does not open: ${status}`);
    const number = document.number?.replace(/[^A-Za-z0-9]+/g, '-');
    const file = [
      `T${item.slice(1).padStart(2, '0')}`,
      number,
      ...(label === undefined ? [] : [label.replaceAll(' ', '-')]),
    ].join('-');
    return { file: `${file}.pdf`, pdf: new Uint8Array(bytes), ...(label === undefined ? {} : { label }) };
  }

  /** Prints it and notes it down. */
  async show(
    item: Item,
    name: string,
    look: string,
    document: { id: string; number?: string },
    more: { readonly kind?: Kind; readonly papers?: readonly Paper[] } = {},
  ): Promise<void> {
    const { kind = 'invoices', papers = [await this.paper(kind, document, item)] } = more;
    this.#entries.push({ item, name, look, id: document.id, kind, papers });
  }

  /** Waits until the AT has everything. */
  async reported(): Promise<void> {
    for (let waited = 0; waited < 60_000; waited += 50) {
      const { rows } = await this.#service.owner.query(
        `select string_agg(number || ' ' || at_status, ', ') as open from certo.documents where at_status in ('PENDING', 'REJECTED')`,
      );
      if (rows[0].open === null) return;
      if (rows[0].open.includes('REJECTED')) throw new Error(`the AT refused: ${rows[0].open}`);
      await sleep(50);
    }
    throw new Error('the AT did not take everything in time');
  }

  /** The entries, each with its document as it is now. */
  async finished(): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (const { id, kind, ...entry } of this.#entries)
      entries.push({ ...entry, document: await this.read<Shown>(`/${kind}/${id}`) });
    const place = ({ item }: Entry) => Number(item.slice(1));
    return entries.sort((a, b) => place(a) - place(b));
  }
}

type Masters = Awaited<ReturnType<typeof makeMasters>>;

async function makeMasters(company: TestCompany) {
  const address = { address: 'Rua do Comércio, 21', postalCode: '4000-100', city: 'Porto' };
  const item = async (name: string, unitPrice: number, more: Draft = {}) =>
    (await company.item({ name, type: 'PRODUCT', unitPrice, ...more })).id;
  const customer = async (name: string, more: Draft = {}) => (await company.customer({ name, ...more })).id;
  return {
    business: await customer('Atelier Maré Alta, Lda', { taxpayerNumber: '501442600', ...address }),
    person: await customer('Beatriz Nogueira', { taxpayerNumber: '123456789', ...address }),
    // Two of whom only the name is known.
    unknownOne: await customer('Rui Tavares', { city: 'Évora' }),
    unknownTwo: await customer('Helena Pinto', { city: 'Faro' }),
    abroad: await customer('Hudson Paper Co.', { country: 'US', taxpayerNumber: '12-3456789', city: 'New York' }),
    pencil: await item('Lápis HB', 0.55),
    paper: await item('Resma de papel A4', 100),
    sticker: await item('Autocolante', 0.65),
    wine: await item('Vinho tinto DOC', 7.9, { vatRate: 'INTERMEDIATE', unitType: 'LITER' }),
    bread: await item('Pão de centeio', 1.2, { vatRate: 'REDUCED', unitType: 'KILOGRAM' }),
    course: await item('Formação em segurança', 120, {
      type: 'SERVICE',
      vatRate: 'EXEMPT',
      vatExemptionReason: 'M07',
    }),
    design: await item('Projeto gráfico', 250, {
      type: 'SERVICE',
      withholdingTaxAvailable: true,
      withholdingTaxType: 'IRS',
      withholdingTaxPercent: 23,
      withholdingTaxReason: 'Artigo 101.º do CIRS',
    }),
    cabinet: await item('Armário de escritório', 310),
  };
}

async function beforeTen(desk: Desk, { unknownOne, sticker }: Masters): Promise<void> {
  const draft = await desk.company.draft({ customerId: unknownOne, items: [{ id: sticker, quantity: 1 }] });
  await desk.at('2026-01-15T09:00:00');
  const document = await desk.company.issue(draft);
  await desk.show(
    'T10',
    'Fatura abaixo de 1,00 €, emitida antes das 10 horas',
    'Cliente identificado sem NIF; hora e total com zero à esquerda no texto assinado (09:00:0…;0.80) e no SAF-T',
    document,
  );
}

async function january(desk: Desk, masters: Masters): Promise<void> {
  const { business, unknownTwo, pencil, paper, wine, bread, course, abroad } = masters;
  await desk.at('2026-01-15T11:20:00');
  await desk.show(
    'T11',
    'Fatura a outro cliente identificado sem NIF',
    'Dois clientes com 999999990 no SAF-T, cada um com o seu CustomerID',
    await desk.invoice({ customerId: unknownTwo, items: [{ id: bread, quantity: 3 }] }),
  );
  await desk.show(
    'T1',
    'Fatura de janeiro',
    'Period 1 no SAF-T; duas páginas: número, ATCUD e página em ambas, valores a transportar e transportados, total só na última',
    await desk.invoice({
      customerId: business,
      items: Array.from({ length: 30 }, (_, i) => ({ id: [paper, pencil, bread][i % 3], quantity: i + 1 })),
    }),
  );
  await simplifiedInvoice(desk, masters);
  await canceledInvoice(desk, masters);
  await desk.at('2026-01-20T15:05:00');
  await proformaAndAfter(desk, masters);
  await desk.show(
    'T7',
    'Fatura com taxas diferentes e uma linha isenta',
    'Menção da isenção ligada à linha (M07); TaxExemptionCode e TaxExemptionReason no SAF-T',
    await desk.invoice({
      customerId: business,
      items: [
        { id: paper, quantity: 1 },
        { id: wine, quantity: 6 },
        { id: bread, quantity: 10 },
        { id: course, quantity: 1 },
      ],
    }),
  );
  await desk.show(
    'T8',
    'Fatura com descontos de linha e global',
    '100 × 0,55 com 8,8 %; desconto global de 10 %; SettlementAmount por linha (9,86 e 10,00); total 166,22',
    await desk.invoice({
      customerId: business,
      items: [
        { id: pencil, quantity: 100, unitDiscountType: 'PERCENT', unitDiscountPercent: 8.8 },
        { id: paper, quantity: 1 },
      ],
      globalDiscountType: 'PERCENT',
      globalDiscountPercent: 10,
    }),
  );
  await desk.show(
    'T9',
    'Fatura em dólares dos EUA',
    'Bloco Currency no SAF-T; o valor assinado é o total em euros',
    await desk.invoice({
      customerId: abroad,
      items: [{ id: paper, quantity: 3, vatRate: 'EXEMPT', vatExemptionReason: 'M05' }],
      currency: 'USD',
      exchangeRate: 0.9215,
    }),
  );
}

/** Printed on A4, then on rolls: second copies, which keep the address of a customer who has moved. */
async function simplifiedInvoice(desk: Desk, { person, wine }: Pick<Masters, 'person' | 'wine'>): Promise<void> {
  const document = await desk.invoice({
    type: 'SIMPLIFIED_INVOICE',
    customerId: person,
    items: [{ id: wine, quantity: 2 }],
    payment: { method: 'MB' },
  });
  const original = await desk.paper('invoices', document, 'T2', 'original');
  await desk.company.patch(`/customers/${person}`, {
    address: 'Praça Nova, 3',
    postalCode: '3000-200',
    city: 'Coimbra',
  });
  const papers = [
    original,
    await desk.paper('invoices', document, 'T2', '80 mm', 'RECEIPT'),
    await desk.paper('invoices', document, 'T2', '58 mm', 'RECEIPT_58'),
  ];
  const look =
    'NIF do adquirente no papel; total dentro do limite; nos rolos, a 2.ª via mantém a morada que o adquirente entretanto mudou';
  await desk.show('T2', 'Fatura simplificada a quem indicou o NIF', look, document, { papers });
}

async function canceledInvoice(desk: Desk, { business, paper }: Masters): Promise<void> {
  const document = await desk.invoice({ customerId: business, items: [{ id: paper, quantity: 5 }] });
  const before = await desk.paper('invoices', document, 'T3', 'antes');
  await desk.at('2026-01-16T10:00:00');
  await desk.post(`/invoices/${document.id}/cancel`, { reason: 'Adquirente errado' });
  const papers = [before, await desk.paper('invoices', document, 'T3', 'depois')];
  const look = 'Marca ANULADO no papel; no SAF-T estado A com motivo, data e utilizador, fora dos totais';
  await desk.show('T3', 'Fatura anulada', look, document, { papers });
}

async function proformaAndAfter(desk: Desk, { business, paper, wine }: Masters): Promise<void> {
  const proforma = await desk.post<ProposalJson>('/proposals', {
    cae: '62010',
    customerId: business,
    items: [
      { id: paper, quantity: 4 },
      { id: wine, quantity: 12 },
    ],
  });
  const look = 'Menção «Este documento não serve de fatura», hora, assinatura; em WorkingDocuments, com estado F';
  await desk.show('T4', 'Fatura pró-forma', look, proforma, { kind: 'proposals' });
  await desk.at('2026-01-21T09:40:00');
  const invoice = await desk.company.issue(await desk.post<InvoiceJson>(`/proposals/${proforma.id}/convert`, {}));
  await desk.show('T5', 'Fatura feita da pró-forma de T4', 'OrderReferences em cada linha', invoice);
  await desk.at('2026-01-22T10:10:00');
  const note = await desk.post<InvoiceJson>('/invoices/credit-notes', {
    parentInvoiceId: invoice.id,
    reason: 'Devolução',
    items: [{ id: invoice.items[1]!.id, quantity: 2 }],
  });
  const noteLook = 'References com a fatura e o motivo; DebitAmount; quantidades e valores controlados';
  await desk.show('T6', 'Nota de crédito sobre a fatura de T5', noteLook, note);
}

async function february(desk: Desk, { business, paper, design, cabinet }: Masters): Promise<void> {
  await desk.at('2026-02-03T10:00:00');
  const invoice = await desk.invoice({ customerId: business, items: [{ id: design, quantity: 1 }] });
  await desk.show('T1', 'Fatura de fevereiro', 'Period 2 no SAF-T; retenção na fonte depois do total', invoice);
  await desk.at('2026-02-04T10:30:00');
  const { receipt } = await desk.post<{ receipt: InvoiceJson }>(`/invoices/${invoice.id}/pay`, {
    amount: 100,
    method: 'TB',
  });
  await desk.show('T14', 'Recibo (RG) de parte da fatura de fevereiro', 'Documento pago e meio de pagamento', receipt);
  await desk.show(
    'T14',
    'Fatura-recibo (FR)',
    'Payment no SAF-T',
    await desk.invoice({
      type: 'INVOICE_RECEIPT',
      customerId: business,
      items: [{ id: paper, quantity: 1 }],
      payment: { method: 'NU' },
    }),
  );
  await desk.show(
    'T14',
    'Nota de débito (ND)',
    'References com a fatura e o motivo',
    await desk.invoice({
      type: 'DEBIT_NOTE',
      customerId: business,
      items: [{ id: paper, quantity: 0.5 }],
      parentInvoiceId: invoice.id,
      reason: 'Acerto de preço',
    }),
  );
  const offer = await desk.post<ProposalJson>('/proposals', {
    cae: '62010',
    customerId: business,
    items: [{ id: cabinet, quantity: 2 }],
    notes: 'Válida por 30 dias.',
  });
  const look = 'Como T4; não foi faturada: estado N';
  await desk.show('T13', 'Fatura pró-forma sem fatura', look, offer, { kind: 'proposals' });
}

const journey = {
  loading: { address: 'Rua do Teste, 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' },
  unloading: { address: 'Rua do Comércio, 21', postalCode: '4000-100', city: 'Porto', country: 'PT' },
  licensePlate: 'AA-01-BB',
};

async function transports(desk: Desk, { business, cabinet, paper }: Masters): Promise<void> {
  await desk.at('2026-02-10T08:15:00');
  const common = { ...journey, customerId: business, movementDate: '2026-02-10T14:30:00Z' };
  const make = async (item: Item, name: string, look: string, draft: Draft) => {
    const issued = await desk.company.issueTransport(await desk.company.transport({ ...common, ...draft }));
    await desk.reported();
    await desk.show(item, name, look, issued, { kind: 'transport-documents' });
  };
  const items = [
    { id: cabinet, quantity: 2 },
    { id: paper, quantity: 1.5 },
  ];
  const places = 'Locais e horas de carga e descarga; código da AT';
  await make('T12', 'Guia de transporte (GT) valorizada', places, {
    movementType: 'GUIA_DE_TRANSPORTE',
    valued: true,
    items,
    movementEndDate: '2026-02-10T18:00:00Z',
    comments: 'Entrega no armazém',
  });
  const zero = `${places}; valores 0,00 no SAF-T, sem imposto`;
  await make('T12', 'Guia de remessa (GR) não valorizada', zero, { movementType: 'GUIA_DE_REMESSA', items });
  const others = [
    ['Guia de devolução (GD)', 'GUIA_DE_DEVOLUCAO'],
    ['Guia de consignação (GC)', 'GUIA_DE_CONSIGNACAO'],
    ['Guia de movimentação de ativos fixos próprios (GA)', 'GUIA_DE_ATIVOS_PROPRIOS'],
  ] as const;
  for (const [name, movementType] of others) await make('T14', name, places, { movementType, items });
}

/** The cash VAT scheme, from the middle of February on: series of its own, receipts that tell the tax (RC). */
async function cashVat(desk: Desk, { business, paper, wine }: Masters, service: Service): Promise<void> {
  await desk.at('2026-02-17T09:00:00');
  await setCashVat(service.owner, desk.company.id, { from: '2026-02-17' });
  for (const documentType of ['INVOICE', 'RECEIPT'] as const)
    await registerSeries(service.world, desk.company.id, { documentType, code: 'CX2026', cashVat: true });
  const items = [
    { id: paper, quantity: 1 },
    { id: wine, quantity: 10 },
  ];
  const invoice = await desk.invoice({ customerId: business, items });
  const look = 'Menção «IVA - regime de caixa»; CashVATSchemeIndicator 1 no SAF-T';
  await desk.show('T14', 'Fatura em regime de IVA de caixa (FT)', look, invoice);
  await desk.at('2026-02-24T16:45:00');
  const { receipt } = await desk.post<{ receipt: InvoiceJson }>(`/invoices/${invoice.id}/pay`, {
    amount: 100,
    method: 'TB',
  });
  const receiptLook = 'IVA por taxa em cada linha do SAF-T, em proporção do que foi pago';
  await desk.show('T14', 'Recibo em regime de IVA de caixa (RC)', receiptLook, receipt);
}

async function exported(service: Service, { name, nif }: Producer): Promise<string> {
  const { taxpayerNumber } = service.companies.A;
  const { code, out, err } = await runCommand(service, [
    ...['saft', 'export', '--company', taxpayerNumber, '--from', period.from, '--to', period.to],
    ...(name === undefined ? [] : ['--producer', name]),
    ...(nif === undefined ? [] : ['--producer-nif', nif]),
  ]);
  if (code !== 0) throw new Error(`the SAF-T was not written: ${err}`);
  return out;
}

/**
 * A company's year, act by act over the wire: what a hurried client might ask, sensible or not. Every answer has to be a
 * success or a declared refusal; what was numbered is written down as the API showed it at that moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../client.ts';
import type { InvoiceJson, ProposalJson, TransportJson } from '../replies.ts';
import { nifFrom, type Service, type TestCompany } from '../service.ts';
import { Chance } from './chance.ts';

export interface Act {
  readonly kind: ActKind;
  readonly numbers: readonly number[];
}

/** What the API said of a document when it was numbered. */
export interface Issued {
  readonly kind: 'invoices' | 'transport-documents' | 'proposals';
  readonly id: string;
  readonly number: string;
  readonly atcud: string;
  readonly hash: string | undefined;
  readonly total: number;
  readonly net: number;
  readonly currency: string;
}

export interface Year {
  readonly issued: readonly Issued[];
  /** Acts that were done, and refusals by code. */
  readonly tally: ReadonlyMap<string, number>;
}

type Body = Readonly<Record<string, unknown>>;
type Play = (life: Life, chance: Chance) => Promise<unknown>;

const lastDay = Date.parse('2026-12-30T12:00:00Z');
const day_ms = 86_400_000;

/** Plays the acts one after the other; the clock stands where the service has it, and moves on to the year's end at most. */
export async function playYear(service: Service, company: TestCompany, acts: readonly Act[]): Promise<Year> {
  const life = new Life(service, company);
  await life.begin();
  for (const { kind, numbers } of acts) await plays[kind](life, new Chance(numbers));
  await life.reported();
  return { issued: life.issued, tally: life.tally };
}

class Life {
  readonly issued: Issued[] = [];
  readonly tally = new Map<string, number>();
  readonly customers: string[] = [];
  readonly items: string[] = [];
  drafts: readonly { id: string; updatedAt: string }[] = [];
  readonly sales: InvoiceJson[] = [];
  readonly receipts: string[] = [];
  readonly proposals: ProposalJson[] = [];
  readonly transports: string[] = [];
  readonly movements: TransportJson[] = [];
  readonly company: TestCompany;
  readonly #service: Service;
  #reportFirst = false;

  constructor(service: Service, company: TestCompany) {
    this.#service = service;
    this.company = company;
  }

  async begin(): Promise<void> {
    const [consumer] = (await this.company.get<{ id: string }[]>('/customers?system=true')).json;
    if (consumer !== undefined) this.customers.push(consumer.id);
    for (const seed of [1, 2, 3]) {
      await plays.customer(this, new Chance([seed, seed * 7, seed * 31, seed * 5]));
      await plays.item(this, new Chance([seed * 3, seed * 11, seed * 17, seed * 2, seed]));
    }
  }

  now(): Date {
    return this.#service.now();
  }

  /** The day so many days from now, as a body says it. */
  day(days: number): string {
    return new Date(this.now().getTime() + days * day_ms).toISOString().slice(0, 10);
  }

  async advance(milliseconds: number): Promise<void> {
    // A transport, and that it was cancelled, has to be told before it starts.
    if (this.#reportFirst) await this.reported();
    const to = Math.min(lastDay, this.now().getTime() + milliseconds);
    if (to > this.now().getTime()) await this.#service.setClock(new Date(to));
  }

  /** The reply of an act that was done; undefined when it was refused. */
  async ask<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T | undefined> {
    const answer: Answer<T> = await this.company.call<T>(method, path, body === undefined ? {} : { body });
    const { code, errors } = answer.json as { code?: string; errors?: readonly { code: string }[] };
    const name = `${method} ${path.replace(/\/[0-9a-f-]{36}/, '/:id')}`;
    this.#count(answer.status < 300 ? name : `${name} ${errors?.[0]?.code ?? code}`);
    if (answer.status < 300) return answer.json;
    if (![400, 404].includes(answer.status)) throw new Error(`${name} answered ${answer.status} ${answer.text}`);
    return undefined;
  }

  #count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
  }

  async read<T>(path: string): Promise<T> {
    const { status, json, text } = await this.company.get<T>(path);
    if (status !== 200) throw new Error(`GET ${path} answered ${status} ${text}`);
    return json;
  }

  note(kind: Issued['kind'], document: InvoiceJson | ProposalJson | TransportJson): void {
    const { id, number, atcud, summary, signature, currency = 'EUR' } = document as InvoiceJson;
    this.issued.push({
      kind,
      id,
      number: number!,
      atcud: atcud!,
      hash: signature?.value,
      total: summary.total,
      net: summary.amountWithoutTax,
      currency,
    });
    if (kind === 'transport-documents') this.tellFirst();
  }

  /** Time waits until the AT knows. */
  tellFirst(): void {
    this.#reportFirst = true;
  }

  /** Mostly one that can be paid or corrected. */
  sale(chance: Chance): InvoiceJson | undefined {
    const open = this.sales.filter(({ documentType }) => documentType === 'INVOICE' || documentType === 'DEBIT_NOTE');
    return chance.once(5) ? chance.any(this.sales) : (chance.any(open.slice(-6)) ?? chance.any(this.sales));
  }

  keepDraft(draft: InvoiceJson | undefined): void {
    if (draft !== undefined) this.drafts = [...this.drafts, draft];
  }

  /** Issues a draft as it is known here, which may be stale. */
  async issue(draft: { id: string; updatedAt: string } | undefined): Promise<InvoiceJson | undefined> {
    if (draft === undefined) return undefined;
    const body = { expectedUpdatedAt: draft.updatedAt };
    const issued = await this.ask<InvoiceJson>('POST', `/invoices/${draft.id}/issue`, body);
    if (issued === undefined) return undefined;
    this.note('invoices', issued);
    this.sales.push(issued);
    // Some are tried again later all the same.
    if (this.sales.length % 4 !== 0) this.drafts = this.drafts.filter(({ id }) => id !== draft.id);
    return issued;
  }

  /** Waits until the AT has taken everything; it may refuse nothing. */
  async reported(): Promise<void> {
    for (let waited = 0; waited < 60_000; waited += 20) {
      const { rows } = await this.#service.owner.query(
        `select number, at_status, at_message from certo.documents where company_id = $1 and at_status in ('PENDING', 'REJECTED') limit 1`,
        [this.company.id],
      );
      if (rows.length === 0) {
        this.#reportFirst = false;
        return;
      }
      if (rows[0].at_status === 'REJECTED') throw new Error(`the AT refused ${JSON.stringify(rows[0])}`);
      await sleep(20);
    }
    throw new Error('the AT did not take everything in time');
  }
}

const eight = (chance: Chance, first: string) => first + String(chance.whole(0, 9_999_999)).padStart(7, '0');
const sorts: readonly ((chance: Chance) => Body)[] = [
  (chance) => ({ country: 'PT', taxpayerNumber: nifFrom(eight(chance, '5')), city: 'Porto' }),
  (chance) => ({ country: 'PT', taxpayerNumber: nifFrom(eight(chance, chance.one(['1', '2', '3']))) }),
  () => ({ country: 'PT' }),
  () => ({ country: 'PT', address: 'Rua «A» & B, 1', postalCode: '9500-001', city: 'Ponta Delgada' }),
  (chance) => ({ country: 'DE', taxpayerNumber: String(chance.whole(100_000_000, 999_999_999)) }),
  () => ({ country: 'US', taxpayerNumber: '12-3456789', city: 'New York' }),
  () => ({ country: 'ES' }),
];
const exempt = ['M07', 'M05', 'M16', 'M40', 'M99'];

function lineOf(life: Life, chance: Chance): Body {
  const discount = chance.whole(0, 8);
  return {
    id: chance.one(life.items),
    quantity: chance.exact(chance.one([3, 40, 1000]), chance.one([0, 1, 3, 6])),
    ...(discount === 0 ? { unitDiscountPercent: chance.exact(100, 2) } : {}),
    ...(discount === 1 ? { unitDiscountAmount: chance.exact(1, 2) } : {}),
    ...(chance.once(8) ? { unitPrice: chance.exact(900, 6) } : {}),
    ...(chance.once(12) ? { vatRate: 'EXEMPT', vatExemptionReason: chance.one(exempt) } : {}),
  };
}

function documentOf(life: Life, chance: Chance): Body {
  const discount = chance.whole(0, 8);
  return {
    cae: '62010',
    customerId: chance.one(life.customers),
    items: chance.times(1, 4, () => lineOf(life, chance)),
    ...(discount === 0 ? { globalDiscountPercent: chance.exact(100, 2) } : {}),
    ...(discount === 1 ? { globalDiscountAmount: chance.exact(20, 2) } : {}),
    ...(chance.once(6)
      ? { currency: chance.one(['USD', 'JPY', 'GBP']), exchangeRate: Math.max(0.0001, chance.exact(2, 6)) }
      : {}),
    ...(chance.once(8) ? { date: life.day(chance.whole(-9, 1)) } : {}),
    ...(chance.once(6) ? { taxPointDate: life.day(-chance.whole(0, 700)) } : {}),
    ...(chance.once(4) ? { notes: 'Observações «à mão» & <outras> €' } : {}),
  };
}

const saleTypes = ['INVOICE', 'INVOICE', 'INVOICE', 'SIMPLIFIED_INVOICE', 'INVOICE_RECEIPT'] as const;

function saleOf(life: Life, chance: Chance): Body {
  const type = chance.one(saleTypes);
  const paid = type !== 'INVOICE' && chance.once(2) ? { payment: { method: chance.one(['NU', 'MB', 'CC']) } } : {};
  const body = { type, ...documentOf(life, chance), ...paid };
  // Most simplified invoices stay under their limit.
  if (type !== 'SIMPLIFIED_INVOICE' || chance.once(5)) return body;
  return { ...body, items: [{ id: chance.one(life.items), quantity: 1, unitPrice: chance.exact(60, 2) }] };
}

function payment(chance: Chance, invoice: InvoiceJson): Body {
  const { totalToPay } = invoice.summary;
  const part = Number((totalToPay / chance.whole(1, 4)).toFixed(2));
  return {
    ...(chance.once(3) || part === 0 ? {} : { amount: chance.once(6) ? chance.exact(500, 2) : part }),
    ...(chance.once(3) ? { method: chance.one(['TB', 'NU', 'MB']) } : {}),
  };
}

async function pay(life: Life, invoice: InvoiceJson, body: Body): Promise<void> {
  const paid = await life.ask<{ receipt: { id: string } }>('POST', `/invoices/${invoice.id}/pay`, body);
  if (paid === undefined) return;
  life.receipts.push(paid.receipt.id);
  life.note('invoices', await life.read<InvoiceJson>(`/invoices/${paid.receipt.id}`));
}

function creditOf(chance: Chance, { id, items }: InvoiceJson): Body {
  const lines = items.filter(() => chance.once(2));
  const part = lines.map((line) => {
    const quantity = Number(line.meta['quantity']);
    return { id: line.id, quantity: chance.once(3) ? quantity : Number((quantity / chance.whole(2, 5)).toFixed(3)) };
  });
  const some = part.filter(({ quantity }) => quantity > 0);
  return {
    parentInvoiceId: id,
    ...(chance.once(2) && some.length > 0 ? { items: some } : {}),
    ...(chance.once(3) ? { reason: 'Devolução parcial' } : {}),
  };
}

async function credit(life: Life, body: Body): Promise<void> {
  const note = await life.ask<InvoiceJson>('POST', '/invoices/credit-notes', body);
  if (note === undefined) return;
  if (body['issue'] === false) return life.keepDraft(note);
  life.note('invoices', note);
  life.sales.push(note);
}

async function convert(life: Life, chance: Chance, { id, items }: ProposalJson): Promise<InvoiceJson | undefined> {
  const [line] = items;
  const part = { items: [{ id: line!.id, quantity: Number((Number(line!.meta['quantity']) / 2).toFixed(3)) || 1 }] };
  return life.ask<InvoiceJson>('POST', `/proposals/${id}/convert`, chance.once(2) ? {} : part);
}

const movements = [
  'GUIA_DE_ATIVOS_PROPRIOS',
  'GUIA_DE_CONSIGNACAO',
  'GUIA_DE_DEVOLUCAO',
  'GUIA_DE_REMESSA',
  'GUIA_DE_TRANSPORTE',
];
const place = { address: 'Rua do Armazém, 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' };

const plays = {
  async customer(life, chance) {
    const body = { name: `Cliente ${chance.whole(1, 999)}`, ...chance.one(sorts)(chance) };
    const made = await life.ask<{ id: string }>('POST', '/customers', body);
    if (made !== undefined) life.customers.push(made.id);
  },
  async item(life, chance) {
    const rate = chance.one(['NORMAL', 'NORMAL', 'INTERMEDIATE', 'REDUCED', 'EXEMPT']);
    const withheld = { withholdingTaxAvailable: true, withholdingTaxType: 'IRS', withholdingTaxPercent: 23 };
    const made = await life.ask<{ id: string }>('POST', '/items', {
      name: `Artigo ${chance.whole(1, 999)}`,
      type: chance.one(['PRODUCT', 'SERVICE']),
      unitPrice: chance.exact(chance.one([1, 100, 2000]), chance.one([0, 2, 6])),
      vatRate: rate,
      ...(rate === 'EXEMPT' ? { vatExemptionReason: chance.one(exempt) } : {}),
      ...(chance.once(4) ? withheld : {}),
      ...(chance.once(3) ? { vatTerritory: chance.one(['MADEIRA', 'AZORES', 'CONTINENTAL']) } : {}),
    });
    if (made !== undefined) life.items.push(made.id);
  },
  async patchMasters(life, chance) {
    if (chance.once(2)) {
      const change = chance.one<Body>([
        { city: 'Faro' },
        { name: 'Outro nome' },
        { taxpayerNumber: '123456789' },
        { country: 'FR' },
      ]);
      return life.ask('PATCH', `/customers/${chance.one(life.customers)}`, change);
    }
    const change = chance.one<Body>([{ unitPrice: chance.exact(50, 2) }, { name: 'Outro artigo' }]);
    return life.ask('PATCH', `/items/${chance.one(life.items)}`, change);
  },
  async draft(life, chance) {
    life.keepDraft(await life.ask<InvoiceJson>('POST', '/invoices', saleOf(life, chance)));
  },
  async patchDraft(life, chance) {
    const draft = chance.any(life.drafts);
    if (draft === undefined) return;
    const changed = await life.ask<InvoiceJson>('PATCH', `/invoices/${draft.id}`, {
      items: chance.times(1, 3, () => lineOf(life, chance)),
    });
    if (changed !== undefined && !chance.once(4)) life.keepDraft(changed);
  },
  async deleteDraft(life, chance) {
    const draft = chance.any(life.drafts);
    if (draft !== undefined) await life.ask('DELETE', `/invoices/${draft.id}`);
  },
  issue: (life, chance) => life.issue(chance.any(life.drafts.slice(-4))),
  async sell(life, chance) {
    await life.issue(await life.ask<InvoiceJson>('POST', '/invoices', saleOf(life, chance)));
  },
  async issueTogether(life, chance) {
    const one = chance.any(life.drafts);
    await Promise.all([life.issue(one), life.issue(chance.any(life.drafts)), life.issue(one)]);
  },
  async pay(life, chance) {
    const invoice = life.sale(chance);
    if (invoice !== undefined) await pay(life, invoice, payment(chance, invoice));
  },
  async payTogether(life, chance) {
    const invoice = life.sale(chance);
    if (invoice === undefined) return;
    await Promise.all([1, 2, 3].map(() => pay(life, invoice, payment(chance, invoice))));
  },
  async credit(life, chance) {
    const invoice = life.sale(chance);
    if (invoice !== undefined) await credit(life, creditOf(chance, invoice));
  },
  async creditDraft(life, chance) {
    const invoice = life.sale(chance);
    if (invoice !== undefined) await credit(life, { ...creditOf(chance, invoice), issue: false });
  },
  async correctTogether(life, chance) {
    const invoice = life.sale(chance);
    if (invoice === undefined) return;
    await Promise.all([
      credit(life, creditOf(chance, invoice)),
      pay(life, invoice, payment(chance, invoice)),
      life.ask('POST', `/invoices/${invoice.id}/cancel`, {}),
    ]);
  },
  async debit(life, chance) {
    const invoice = life.sale(chance);
    if (invoice === undefined) return;
    const { currency: _, exchangeRate: __, ...document } = documentOf(life, chance);
    // Taxed as its invoice, but for some that are refused.
    const items = chance.once(5)
      ? document['items']
      : invoice.items.slice(0, 3).map(({ ref, data: { vatRate, vatExemptionReason } }) => ({
          ...lineOf(life, chance),
          id: ref,
          vatRate,
          vatExemptionReason,
        }));
    const { currency, exchangeRate } = invoice;
    const corrects = { customerId: invoice.customer.ref, ...(currency === 'EUR' ? {} : { currency, exchangeRate }) };
    const body = { type: 'DEBIT_NOTE', ...document, items, ...corrects, parentInvoiceId: invoice.id, reason: 'Acerto' };
    life.keepDraft(await life.ask<InvoiceJson>('POST', '/invoices', body));
    if (chance.once(2)) await life.issue(life.drafts.at(-1));
  },
  async cancel(life, chance) {
    const id = chance.once(3) ? chance.any(life.receipts) : chance.any(life.sales)?.id;
    if (id === undefined) return;
    await life.ask('POST', `/invoices/${id}/cancel`, chance.once(2) ? {} : { reason: 'Engano & <erro>' });
  },
  async propose(life, chance) {
    const made = await life.ask<ProposalJson>('POST', '/proposals', documentOf(life, chance));
    if (made === undefined) return;
    life.proposals.push(made);
    life.note('proposals', made);
  },
  async convert(life, chance) {
    const proposal = chance.any(life.proposals);
    if (proposal === undefined) return;
    const draft = await convert(life, chance, proposal);
    if (chance.once(3)) life.keepDraft(draft);
    else await life.issue(draft);
  },
  async convertTogether(life, chance) {
    const proposal = chance.any(life.proposals);
    if (proposal === undefined) return;
    const drafts = [await convert(life, chance, proposal), await convert(life, chance, proposal)];
    await Promise.all(drafts.map((draft) => life.issue(draft)));
  },
  async endProposal(life, chance) {
    const proposal = chance.any(life.proposals);
    if (proposal === undefined) return;
    if (chance.once(2)) await life.ask('POST', `/proposals/${proposal.id}/cancel`, {});
    else await life.ask('DELETE', `/proposals/${proposal.id}`);
  },
  async transport(life, chance) {
    const made = await life.ask<TransportJson>('POST', '/transport-documents', {
      movementType: chance.one(movements),
      customerId: chance.one(life.customers),
      items: chance.times(1, 3, () => ({ id: chance.one(life.items), quantity: chance.exact(30, 3) })),
      movementDate: new Date(life.now().getTime() + chance.whole(1, 200) * 3_600_000).toISOString(),
      loading: place,
      unloading: { ...place, city: 'Porto' },
      valued: chance.once(2),
      ...(chance.once(2) ? { licensePlate: 'AA-01-BB' } : {}),
    });
    if (made === undefined) return;
    life.transports.push(made.id);
    if (!chance.once(4)) await plays.issueTransport(life, new Chance([life.transports.length - 1]));
  },
  async issueTransport(life, chance) {
    const id = chance.any(life.transports);
    if (id === undefined) return;
    const issued = await life.ask<TransportJson>('POST', `/transport-documents/${id}/issue`, {});
    if (issued === undefined) return;
    life.movements.push(issued);
    life.note('transport-documents', issued);
  },
  async cancelTransport(life, chance) {
    const movement = chance.any(life.movements);
    if (movement === undefined) return;
    const canceled = await life.ask('POST', `/transport-documents/${movement.id}/cancel`, {});
    if (canceled !== undefined) life.tellFirst();
  },
  hours: (life, chance) => life.advance(chance.whole(1, 36) * 3_600_000),
  days: (life, chance) => life.advance(chance.whole(2, 24) * day_ms),
} satisfies Record<string, Play>;

export type ActKind = keyof typeof plays;
export const actKinds = Object.keys(plays) as ActKind[];

/** Clients that issue documents of every family that the AT is told of, and cancel some of them. */
import type { Wire } from '../client.ts';
import type { Chance } from './chance.ts';
import type { SimCompany } from './ground.ts';
import type { Journal, Told } from './journal.ts';
import { draftBody } from './load.ts';
import { several } from './several.ts';

/** A document that was acknowledged. */
export interface Made {
  /** Where it is read. */
  readonly path: string;
  readonly number: string;
  readonly atcud: string;
  canceled: boolean;
}

export interface Issuing {
  readonly journal: Journal;
  readonly company: SimCompany;
  readonly wire: Wire;
  readonly chance: Chance;
  readonly made: Made[];
  /** What issuing took each time, in milliseconds. */
  readonly times: number[];
  /** The company was told that it is not ready to issue. */
  stopped: boolean;
}

interface Numbered extends Told {
  readonly number: string;
  readonly atcud: string;
}

/** What may be paid, corrected or cancelled, each once. */
type Open = { readonly id: string; readonly made: Made }[];

const clients = 8;

/** Issues so many; eight clients. Ends early when the company may not issue (NOT_READY). */
export async function issue(count: number, issuing: Issuing): Promise<void> {
  const { chance, journal, made } = issuing;
  const wanted = made.length + count;
  const open: Open = [];
  const kinds = Array.from({ length: count }, () => chance.whole(1, 20));
  issuing.stopped = false;
  await several(count, clients, async (i) => {
    if (issuing.stopped) return;
    const id = await oneOf(kinds[i]!, issuing, open);
    if (id !== undefined && i % 6 === 5) await cancelOne(issuing, open);
  });
  if (made.length !== wanted && !issuing.stopped)
    journal.violations.push(`${made.length - wanted + count} of ${count} documents were issued`);
}

async function oneOf(kind: number, issuing: Issuing, open: Open): Promise<string | undefined> {
  if (kind <= 2) return proforma(issuing, open);
  if (kind <= 5) return transport(issuing, open);
  if (kind <= 8) return receipt(issuing, open);
  if (kind <= 10) return note(issuing, open);
  return sale(issuing, open, kind <= 12 ? 'SIMPLIFIED_INVOICE' : kind <= 14 ? 'INVOICE_RECEIPT' : 'INVOICE');
}

async function sale(issuing: Issuing, open: Open, type: string): Promise<string | undefined> {
  const { company, chance } = issuing;
  const draft = await acted(issuing, '/invoices', draftBody(company, chance, type));
  const issued = draft && (await acted(issuing, `/invoices/${draft.id}/issue`, { expectedUpdatedAt: draft.updatedAt }));
  if (issued === undefined) return undefined;
  const made = noted(issuing, `/invoices/${issued.id}`, issued);
  if (type === 'INVOICE') open.push({ id: issued.id, made });
  return issued.id;
}

/** Of an invoice that waits; without one, an invoice. */
async function receipt(issuing: Issuing, open: Open): Promise<string | undefined> {
  const of = open.find(({ made }) => made.path.startsWith('/invoices/'));
  if (of === undefined) return sale(issuing, open, 'INVOICE');
  open.splice(open.indexOf(of), 1);
  const paid = await acted<{ receipt: Numbered }>(issuing, `/invoices/${of.id}/pay`, {});
  if (paid === undefined) return undefined;
  noted(issuing, `/invoices/${paid.receipt.id}`, paid.receipt);
  return paid.receipt.id;
}

async function note(issuing: Issuing, open: Open): Promise<string | undefined> {
  const of = open.find(({ made }) => made.path.startsWith('/invoices/'));
  if (of === undefined) return sale(issuing, open, 'INVOICE');
  open.splice(open.indexOf(of), 1);
  const issued = await acted(issuing, '/invoices/credit-notes', { parentInvoiceId: of.id });
  if (issued !== undefined) noted(issuing, `/invoices/${issued.id}`, issued);
  return issued?.id;
}

async function proforma(issuing: Issuing, open: Open): Promise<string | undefined> {
  const { type: _type, ...body } = draftBody(issuing.company, issuing.chance, 'INVOICE');
  const issued = await acted(issuing, '/proposals', body);
  if (issued === undefined) return undefined;
  open.push({ id: issued.id, made: noted(issuing, `/proposals/${issued.id}`, issued) });
  return issued.id;
}

const loading = { address: 'Rua do Armazém, 1', postalCode: '1000-001', city: 'Lisboa', country: 'PT' };
const unloading = { address: 'Rua do Cliente, 2', postalCode: '4000-001', city: 'Porto', country: 'PT' };

async function transport(issuing: Issuing, open: Open): Promise<string | undefined> {
  const { company, chance } = issuing;
  const draft = await acted(issuing, '/transport-documents', {
    movementType: chance.one(['GUIA_DE_TRANSPORTE', 'GUIA_DE_REMESSA']),
    customerId: company.customers[0],
    items: [{ id: company.items['REDUCED'], quantity: chance.whole(1, 9) }],
    movementDate: new Date(Date.now() + 86_400_000).toISOString(),
    loading,
    unloading,
  });
  const issued = draft && (await acted(issuing, `/transport-documents/${draft.id}/issue`, {}));
  if (issued === undefined) return undefined;
  open.push({ id: issued.id, made: noted(issuing, `/transport-documents/${issued.id}`, issued) });
  return issued.id;
}

async function cancelOne(issuing: Issuing, open: Open): Promise<void> {
  const at = open.length === 0 ? -1 : issuing.chance.whole(0, open.length - 1);
  const [chosen] = at < 0 ? [] : open.splice(at, 1);
  if (chosen === undefined) return;
  if ((await acted(issuing, `${chosen.made.path}/cancel`, {})) !== undefined) chosen.made.canceled = true;
}

function noted({ made }: Issuing, path: string, { number, atcud }: Numbered): Made {
  const document = { path, number, atcud, canceled: false };
  made.push(document);
  return document;
}

async function acted<T = Numbered>(issuing: Issuing, path: string, body: unknown): Promise<T | undefined> {
  const { journal, wire, times } = issuing;
  const act = journal.act(path, body);
  const begun = performance.now();
  const reply = await journal.send<T>(wire, act);
  if (path.endsWith('/issue')) times.push(performance.now() - begun);
  if (act.code === 'NOT_READY') issuing.stopped = true;
  else if (act.state !== 'done') journal.violations.push(`${path} is ${act.state} with ${act.code}`);
  return reply;
}

/** The state of a company's books in the model, and what the API shows of it. Plain values; nothing of the program. */
import { codes, type DocumentType, type Region, seriesCode } from './catalogue.ts';
import { type Line, type Off, type Priced, rest, sum, type Wanted } from './money.ts';

/** YYYY-MM-DD. */
export type Day = string;

export const addDays = (day: Day, days: number): Day =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

/** What the caller said of a draft. */
export interface Asked {
  readonly customer: number;
  readonly lines: readonly Line[];
  readonly off?: Off | undefined;
  readonly date?: Day | undefined;
  readonly due?: Day | undefined;
}

/** What the caller said of a credit note. */
export interface AskedNote {
  /** Everything that is open when absent. */
  readonly items?: readonly Wanted[] | undefined;
  readonly date?: Day | undefined;
}

/** A document is named by the act that made it. */
export interface Doc {
  readonly id: number;
  readonly type: DocumentType;
  readonly state: 'DRAFT' | 'DELETED' | 'ISSUED' | 'CANCELED';
  /** The act that made or changed the draft last. */
  readonly revision: number;
  /** The revisions with the lines that it has now. */
  readonly sameLines: readonly number[];
  readonly asked?: Asked | undefined;
  readonly note?: AskedNote | undefined;
  readonly priced: Priced;
  readonly parent?: number | undefined;
  /** A debit note says why. */
  readonly reason?: boolean | undefined;
  readonly number?: string | undefined;
  readonly date?: Day | undefined;
  readonly due?: Day | undefined;
}

export interface World {
  readonly region: Region;
  readonly today: Day;
  /** First day of every series. */
  readonly seriesStart: Day;
  readonly docs: Readonly<Record<number, Doc>>;
  /** Where each series stands. */
  readonly heads: Readonly<Partial<Record<DocumentType, { readonly last: number; readonly date: Day }>>>;
}

export const numberOf = (type: DocumentType, sequence: number): string => `${codes[type]} ${seriesCode}/${sequence}`;

/** Wait for a payment; the others are paid by what they are. */
export const awaitsPayment = (type: DocumentType): boolean => type === 'INVOICE' || type === 'DEBIT_NOTE';

export function docOf(world: World, id: number): Doc | undefined {
  const doc = world.docs[id];
  return doc?.state === 'DELETED' ? undefined : doc;
}

/** Issued documents of these types that hang on it, in the order they were made. */
export function childrenOf(world: World, id: number, ...types: readonly DocumentType[]): Doc[] {
  return Object.values(world.docs).filter(
    ({ parent, state, type }) => parent === id && state === 'ISSUED' && types.includes(type),
  );
}

/** What is still to be received of a document, and what of its withholding is not settled. */
export function openOf(world: World, doc: Doc): { readonly toPay: number; readonly withheld: number } {
  if (doc.state !== 'ISSUED' || !awaitsPayment(doc.type)) return { toPay: 0, withheld: 0 };
  const settled = childrenOf(world, doc.id, 'RECEIPT', 'CREDIT_NOTE').map(({ priced }) => priced);
  return {
    toPay: rest(doc.priced.toPay, sum(settled.map(({ toPay }) => toPay))),
    withheld: rest(doc.priced.withheld, sum(settled.map(({ withheld }) => withheld))),
  };
}

export const creditedOf = (world: World, { id }: Doc): number =>
  sum(childrenOf(world, id, 'CREDIT_NOTE').map(({ priced }) => priced.gross));

/** PAID exactly when it waited for a payment and nothing is outstanding. */
export function statusOf(world: World, doc: Doc): string {
  const isPaid = doc.state === 'ISSUED' && awaitsPayment(doc.type) && openOf(world, doc).toPay === 0;
  return isPaid ? 'PAID' : doc.state;
}

/** As a business sees it; a document may be in several. */
export function aggregatesOf(world: World, doc: Doc): string[] {
  if (doc.state === 'DRAFT') return ['DRAFT'];
  if (doc.state !== 'ISSUED') return [];
  if (openOf(world, doc).toPay === 0) return ['PAID'];
  return ['UNPAID', doc.due! < world.today ? 'OVERDUE' : 'PENDING'];
}

/** The members of a reply that the model speaks of. Money in cents; absent: the reply has none, or the model no word on it. */
export type Shown = Readonly<Record<string, string | number | null | undefined>>;

export function shownOf(world: World, doc: Doc): Shown {
  const { priced, type } = doc;
  const parent = doc.parent === undefined ? undefined : world.docs[doc.parent];
  return {
    id: doc.id,
    documentType: type,
    status: statusOf(world, doc),
    number: doc.number,
    date: doc.date,
    dueDate: doc.due ?? doc.date,
    // How a receipt splits into net and tax is nobody's promise.
    ...(type === 'RECEIPT' ? {} : { amountWithoutTax: priced.net, taxAmount: priced.tax }),
    total: priced.gross,
    totalToPay: priced.toPay,
    withholdingTaxAmount: priced.withheld,
    creditNotesTotal: creditedOf(world, doc),
    parentInvoiceId: parent?.id ?? null,
    parentInvoiceNumber: parent?.number ?? null,
    parentInvoiceType: parent?.type ?? null,
    parentInvoiceDate: parent?.date ?? null,
    // The revision is of drafts: issued documents have one for each change of their balance.
    revision: doc.state === 'DRAFT' ? doc.revision : undefined,
  };
}

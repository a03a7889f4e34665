/** What lists of documents have in common, whatever the family: days, order, search, and what an entry shows of its sums and its customer. */
import { Type } from 'typebox';
import { type Condition, type Page, sql } from '../db/page.ts';
import type { Row, Tx } from '../db/transact.ts';
import { toNumber } from '../fiscal/decimal.ts';
import type { Day } from '../fiscal/document.ts';
import { closed } from './fields.ts';
import { type Containing, documentNotes, documentWords, inAny, inColumn, readContaining } from './search.ts';

const number = () => Type.Number();
const maybeText = () => Type.Optional(Type.String());

/** Sums and customer as every entry shows them. */
export const listedMembers = {
  summary: closed({ amountWithoutTax: number(), amountWithTax: number(), taxAmount: number(), total: number() }),
  customer: closed({
    ref: Type.String(),
    data: closed({ name: Type.String(), taxpayerNumber: maybeText(), email: maybeText() }),
  }),
};

/** The columns that `showSums` and `showBuyer` read. */
export const listedColumns = 'net, gross, tax, customer_id, customer_name, customer_nif, customer_email';

/** What documents are sorted by. */
export const sortColumns = {
  createdAt: { by: 'created_at' },
  updatedAt: { by: 'updated_at' },
  date: { by: 'date', nulls: true },
  dueDate: { by: 'due_date', nulls: true },
  movementDate: { by: 'movement_start', nulls: true },
  // Series, then sequence: as text alone, 10 would stand before 9.
  number: { by: `split_part(number, '/', 1) || lpad(sequence::text, 19, '0')`, nulls: true },
  total: { by: 'gross' },
} as const;

/** What a list of documents is asked for; its schema says which of the sort fields it has. */
export interface AskedPage {
  readonly columns: string;
  readonly conditions: readonly Condition[];
  readonly page: Page;
  /** Default: the documents themselves; else SQL of ours with the same columns. `besides`: its rows that are others. */
  readonly from?: { readonly sql: string; readonly besides: Condition } | undefined;
  /** Words to be contained in one of the columns that `search` looks through, of these documents. */
  readonly search?: string | undefined;
  /** Words to be contained in the description, of documents whose description is searched. */
  readonly described?: string | undefined;
  /** Words to be contained in the notes, of sales documents and receipts. */
  readonly noted?: string | undefined;
  /** Beside number, ATCUD, customer and NIF; SQL of ours. The function certo.words_of says the same of a row. */
  readonly searched?: readonly string[];
}

/**
 * A page in the order asked. A search finds what is there at this moment, also documents whose words are not written
 * yet.
 */
export async function readPage(tx: Tx, asked: AskedPage): Promise<Row[]> {
  const { from, search, described, noted, searched = ['description'], ...rest } = asked;
  const filters: Containing[] = [];
  if (search !== undefined) {
    filters.push(inAny(['number', 'atcud', 'customer_name', 'customer_nif', ...searched], search, documentWords));
  }
  if (noted !== undefined) filters.push(inAny(['notes'], noted, documentNotes));
  // The description is among the words that are written down: where they don't have it, it isn't there.
  if (described !== undefined) filters.push(inColumn('description', described, documentWords));
  const listed = { from: from?.sql ?? 'certo.documents', sortColumns, ...rest };
  return await readContaining(tx, listed, filters, from?.besides);
}

/** Civil days, both ends included. */
export const datedFrom = (day: Day): Condition => sql`date >= ${day}::date`;
/** The last of them. */
export const datedTo = (day: Day): Condition => sql`date <= ${day}::date`;

/** In the document's currency: `total` is the amount with tax. */
export function showSums(row: Row): Record<string, unknown> {
  const gross = toNumber(String(row['gross']));
  return {
    amountWithoutTax: toNumber(String(row['net'])),
    amountWithTax: gross,
    taxAmount: toNumber(String(row['tax'])),
    total: gross,
  };
}

/** As frozen in the document, not as the customer is now. */
export function showBuyer(row: Row): Record<string, unknown> {
  return {
    ref: row['customer_id'] ?? undefined,
    data: {
      name: row['customer_name'],
      taxpayerNumber: row['customer_nif'] ?? undefined,
      email: row['customer_email'] ?? undefined,
    },
  };
}

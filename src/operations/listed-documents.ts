/** What lists of documents have in common, whatever the family: words, days, order, and what an entry shows of its sums and its customer. */
import { Type } from 'typebox';
import { anyOf, type Condition, contains, type Page, pageOf, sql } from '../db/page.ts';
import type { Row, Tx } from '../db/transact.ts';
import { toNumber } from '../fiscal/decimal.ts';
import type { Day } from '../fiscal/document.ts';
import { closed } from './fields.ts';

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

const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  date: 'date',
  dueDate: 'due_date',
  movementDate: 'movement_start',
  // Series, then sequence: as text alone, 10 would stand before 9.
  number: `split_part(number, '/', 1) || lpad(sequence::text, 19, '0')`,
  total: 'gross',
} as const;

/** One page; the operation's schema says which of the sort fields it has. `from` is SQL of ours with the same columns. */
export function readPage(
  tx: Tx,
  columns: string,
  conditions: readonly Condition[],
  page: Page,
  from = 'certo.documents',
): Promise<Row[]> {
  return tx.query(pageOf({ from, columns, conditions, sortColumns, page }));
}

/** What `search` looks through in documents of every family; `more` is SQL of ours. */
export function mentions(words: string, more: readonly string[] = ['description']): Condition {
  const columns = ['number', 'atcud', 'customer_name', 'customer_nif', ...more];
  return anyOf(columns.map((column) => contains(column, words)));
}

/** Civil days, both ends included. */
export const datedFrom = (day: Day): Condition => sql`date >= ${day}::date`;
export const datedTo = (day: Day): Condition => sql`date <= ${day}::date`;

export function showSums(row: Row): Record<string, unknown> {
  const gross = toNumber(String(row['gross']));
  return {
    amountWithoutTax: toNumber(String(row['net'])),
    amountWithTax: gross,
    taxAmount: toNumber(String(row['tax'])),
    total: gross,
  };
}

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

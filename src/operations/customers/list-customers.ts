import { Type } from 'typebox';
import { anyOf, type Condition, contains, equals } from '../../db/page.ts';
import { withoutOwnPrefix } from '../../fiscal/nif.ts';
import { line, listQuery } from '../fields.ts';
import { defineRead } from '../operation.ts';
import { type Containing, customerWords, readContaining } from '../search.ts';
import { CustomerReply, customerColumns, customerListColumns, showCustomer } from './customer.ts';

const byColumn = Object.fromEntries(
  (Object.keys(customerColumns) as (keyof typeof customerColumns)[]).map((name) => [
    name,
    Type.Optional(line(254, name === 'taxpayerNumber' || name === 'country' ? 'Equal.' : 'Contains.')),
  ]),
) as Record<keyof typeof customerColumns, ReturnType<typeof Type.Optional<ReturnType<typeof line>>>>;

export const listCustomers = defineRead({
  name: 'listCustomers',
  route: 'GET /customers',
  tag: 'Customers',
  summary: 'List customers',
  description: 'Archived customers are left out unless isArchived is given.',
  query: listQuery(['createdAt', 'updatedAt', 'name'], {
    search: Type.Optional(line(254, 'Contained in a name, the NIF or the e-mail.')),
    ...byColumn,
    system: Type.Optional(Type.Boolean({ description: 'The built-in final consumer.' })),
    isArchived: Type.Optional(Type.Boolean({ description: 'Only archived, or only not archived.' })),
  }),
  reply: [200, Type.Array(CustomerReply)],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: [],
  tool: 'list_customers',
  load(tx, { query }) {
    const conditions: Condition[] = [equals('is_archived', query.isArchived ?? false)];
    if (query.system !== undefined) conditions.push(equals('system', query.system));
    const filters: Containing[] = [];
    if (query.search !== undefined) filters.push(inAny(query.search));
    for (const [name, column] of Object.entries(customerColumns)) {
      const value = query[name as keyof typeof customerColumns];
      if (value === undefined) continue;
      if (name === 'taxpayerNumber') {
        // As it was entered and as it is kept.
        conditions.push(anyOf([value, withoutOwnPrefix(value)].map((number) => equals(column, number))));
      } else if (name === 'country') conditions.push(equals(column, value));
      else filters.push(inColumn(name === 'name' ? 'shown_name' : column, value));
    }
    const listed = {
      from: 'certo.customers',
      columns: customerListColumns,
      conditions,
      sortColumns: {
        createdAt: { by: 'created_at' },
        updatedAt: { by: 'updated_at' },
        name: { by: 'certo.fold(shown_name)' },
      },
      page: query,
    };
    return readContaining(tx, listed, filters);
  },
  show: (rows) => rows.map(showCustomer),
});

/** Columns that `search` looks through; the function certo.words_of_customer says the same. */
const searched = ['shown_name', 'company_name', 'taxpayer_number', 'email'];

const inAny = (text: string): Containing => ({
  text,
  among: customerWords,
  itself: anyOf(searched.map((column) => contains(column, text))),
});

function inColumn(column: string, text: string): Containing {
  const among = searched.includes(column) ? customerWords : undefined;
  return { text, among, itself: contains(column, text), narrower: true };
}

import { Type } from 'typebox';
import { allOf, anyOf, type Condition, equals } from '../../db/page.ts';
import { keptInstead } from '../../fiscal/nif.ts';
import { line, listQuery, text } from '../fields.ts';
import { readMasters } from '../listed-masters.ts';
import { defineRead } from '../operation.ts';
import { type Containing, customerWords, inAny, inColumn } from '../search.ts';
import { CustomerReply, customerColumns, customerListColumns, showCustomer } from './customer.ts';

const byColumn = {
  ...(Object.fromEntries(
    (Object.keys(customerColumns) as (keyof typeof customerColumns)[]).map((name) => [
      name,
      Type.Optional(line(254, name === 'taxpayerNumber' ? 'Equal.' : 'Contains.')),
    ]),
  ) as Record<keyof typeof customerColumns, ReturnType<typeof Type.Optional<ReturnType<typeof line>>>>),
  description: Type.Optional(text(254, 'Contains.')),
  country: Type.Optional(Type.String({ format: 'country', description: 'ISO 3166-1 alpha-2; equal.' })),
};

export const listCustomers = defineRead({
  name: 'listCustomers',
  route: 'GET /customers',
  tag: 'Customers',
  summary: 'List customers',
  description: 'Archived customers are left out unless isArchived is given.',
  query: listQuery(['createdAt', 'updatedAt', 'name'], {
    search: Type.Optional(line(254, 'Contained in the name as printed, companyName, the NIF or the e-mail.')),
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
    if (query.search !== undefined) filters.push(inAny(searched, query.search, customerWords));
    for (const [name, column] of Object.entries(customerColumns)) {
      const value = query[name as keyof typeof customerColumns];
      if (value === undefined) continue;
      if (name === 'taxpayerNumber') {
        conditions.push(numbered(column, value));
      } else if (name === 'country') conditions.push(equals(column, value));
      else {
        const searches = name === 'name' ? 'shown_name' : column;
        filters.push(inColumn(searches, value, searched.includes(searches) ? customerWords : undefined));
      }
    }
    const listed = { columns: customerListColumns, name: 'shown_name', conditions, filters, page: query };
    return readMasters(tx, { from: 'certo.customers', ...listed });
  },
  show: (rows) => rows.map(showCustomer),
});

/** As it is kept, or as it was entered: then only of the countries that keep it otherwise. */
function numbered(column: string, entered: string): Condition {
  const otherwise = [...keptInstead(entered)].map(([number, countries]) =>
    allOf([equals(column, number), anyOf(countries.map((country) => equals('country', country)))]),
  );
  return anyOf([equals(column, entered), ...otherwise]);
}

/** Columns that `search` looks through; the function certo.words_of_customer says the same. */
const searched = ['shown_name', 'company_name', 'taxpayer_number', 'email'];

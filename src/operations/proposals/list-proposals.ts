import { Type } from 'typebox';
import { type Condition, equals, sql } from '../../db/page.ts';
import type { Row } from '../../db/transact.ts';
import { parseDay, startOfDay } from '../../fiscal/time.ts';
import type { Principal } from '../../identity/principal.ts';
import { closed, day, id, line, listQuery, oneOf } from '../fields.ts';
import {
  datedFrom,
  datedTo,
  listedColumns,
  listedMembers,
  readPage,
  showBuyer,
  showSums,
} from '../listed-documents.ts';
import { readNow } from '../now.ts';
import { defineRead } from '../operation.ts';
import { statusOf } from './conversions.ts';
import { proposalReplyMembers, proposalStatuses } from './proposal.ts';

const query = listQuery(['createdAt', 'updatedAt', 'date', 'dueDate', 'number', 'total'], {
  search: Type.Optional(line(254, 'Contained in number, ATCUD, customer name, NIF or description.')),
  status: Type.Optional(oneOf(proposalStatuses, 'Equal.')),
  customerId: Type.Optional(id('Of that customer.')),
  fromDate: Type.Optional(day('Dated from this day on.')),
  toDate: Type.Optional(day('Dated up to and including this day.')),
});

const { id: ownId, number, atcud, status, date, dueDate, currency, updatedAt } = proposalReplyMembers;
const ProposalListEntry = closed({
  id: ownId,
  number,
  atcud,
  status,
  date,
  dueDate,
  currency,
  updatedAt,
  ...listedMembers,
});

const columns = `id, number, atcud, status, converted_at is not null as converted, date, due_date, currency, updated_at,
  ${listedColumns}`;
const inStatus = {
  CANCELED: sql`status = 'CANCELED'`,
  CREATED: sql`status = 'ISSUED' and converted_at is null`,
  ISSUED: sql`status = 'ISSUED' and converted_at is not null`,
} as const;

export const listProposals = defineRead({
  name: 'listProposals',
  route: 'GET /proposals',
  tag: 'Pro formas',
  summary: 'List pro formas',
  query,
  reply: [200, Type.Array(ProposalListEntry)],
  access: { key: true },
  refuses: [],
  async load(tx, asked) {
    const { search, status: wanted, customerId, fromDate, toDate } = asked.query;
    // Civil days need the company's zone, which the first statement tells.
    if (fromDate !== undefined || toDate !== undefined) await readNow(tx);
    const dayOf = (text: string) => parseDay(text, asked.principal.region)!;
    const conditions: Condition[] = [sql`family = 'PROFORMA' and hidden_at is null`];
    if (wanted !== undefined) conditions.push(inStatus[wanted]);
    if (customerId !== undefined) conditions.push(equals('customer_id', customerId));
    if (fromDate !== undefined) conditions.push(datedFrom(dayOf(fromDate)));
    if (toDate !== undefined) conditions.push(datedTo(dayOf(toDate)));
    return readPage(tx, { columns, conditions, page: asked.query, search });
  },
  show: (rows, { principal }) => rows.map((row) => showEntry(row, principal)),
});

function showEntry(row: Row, { region }: Principal): Record<string, unknown> {
  return {
    id: row['id'],
    number: row['number'],
    atcud: row['atcud'],
    status: statusOf(row),
    date: startOfDay(String(row['date']), region),
    dueDate: startOfDay(String(row['due_date']), region),
    currency: row['currency'],
    updatedAt: (row['updated_at'] as Date).toISOString(),
    summary: showSums(row),
    customer: showBuyer(row),
  };
}

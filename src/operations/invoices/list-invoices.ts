import { Type } from 'typebox';
import { type Condition, equals, type Page, sql } from '../../db/page.ts';
import type { Row, Tx } from '../../db/transact.ts';
import type { Content, Day, Region } from '../../fiscal/document.ts';
import { addDays, dayOf, parseDay, startInstant, startOfDay } from '../../fiscal/time.ts';
import type { Principal } from '../../identity/principal.ts';
import { day, id, line, listQuery, oneOf, text } from '../fields.ts';
import { datedFrom, datedTo, listedColumns, readPage, showBuyer, showSums } from '../listed-documents.ts';
import { readNow } from '../now.ts';
import { defineRead } from '../operation.ts';
import { invoiceTypes } from './draft.ts';
import { withImported } from './imported.ts';
import { InvoiceListEntry, invoiceStatuses } from './invoice.ts';
import { showParent } from './show-invoice.ts';

const query = listQuery(['createdAt', 'updatedAt', 'date', 'dueDate', 'number', 'total'], {
  search: Type.Optional(line(254, 'Contained in number, ATCUD, customer name, NIF or description.')),
  documentType: Type.Optional(oneOf(invoiceTypes, 'Equal.')),
  status: Type.Optional(oneOf(invoiceStatuses, 'Equal.')),
  aggregatedStatus: Type.Optional(
    oneOf(
      ['DRAFT', 'OVERDUE', 'PAID', 'PENDING', 'SCHEDULED', 'UNPAID'],
      'State as a business sees it. DRAFT: without a number, SCHEDULED apart. PAID: issued, and nothing is outstanding. UNPAID: something is; of these OVERDUE were due before today, PENDING were not.',
    ),
  ),
  date: Type.Optional(day('Document date; that civil day.')),
  dueDate: Type.Optional(day('Due date; that civil day.')),
  fromDate: Type.Optional(day('Numbered documents from this date on; those without a number are not filtered by it.')),
  toDate: Type.Optional(
    day('Numbered documents up to and including this date; those without a number are not filtered by it.'),
  ),
  currency: Type.Optional(Type.String({ format: 'currency', description: 'Equal.' })),
  description: Type.Optional(text(254, 'Contains.')),
  notes: Type.Optional(text(254, 'Contains.')),
  parentInvoiceId: Type.Optional(id('Documents made from that invoice.')),
  scheduleTemplateId: Type.Optional(id('Documents issued by that recurring invoice.')),
  filterAllStatusesByDate: Type.Optional(
    Type.Boolean({ description: 'fromDate and toDate also apply to drafts, by their creation.' }),
  ),
  includeATInvoices: Type.Optional(
    Type.Boolean({ default: false, description: 'Include invoices imported from the AT.' }),
  ),
});

const columns = `id, number, type, status, date, tax_point_date, due_date, currency, parent_id, schedule_template_id,
  ${listedColumns}, content -> 'parent' as parent`;

export const listInvoices = defineRead({
  name: 'listInvoices',
  route: 'GET /invoices',
  tag: 'Invoices',
  summary: 'List drafts and issued documents',
  query,
  reply: [200, Type.Array(InvoiceListEntry)],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  refuses: [],
  tool: 'list_invoices',
  async load(tx, asked) {
    // Civil days need the company's zone, which the first statement tells.
    const needsNow =
      asked.query.fromDate ??
      asked.query.toDate ??
      asked.query.date ??
      asked.query.dueDate ??
      asked.query.aggregatedStatus;
    const now = needsNow === undefined ? undefined : await readNow(tx);
    return readEntries(tx, asked, now);
  },
  show: (rows, { principal }) => rows.map((row) => showEntry(row, principal.region)),
});

interface ListAsked {
  readonly query: Record<string, unknown>;
  readonly principal: Principal;
}

function readEntries(tx: Tx, asked: ListAsked, now: Date | undefined): Promise<Row[]> {
  const given = asked.query as Record<string, string | undefined>;
  const imported = asked.query['includeATInvoices'] === true;
  const conditions: Condition[] = [sql`family in ('SALES', 'RECEIPT')`];
  for (const [name, column] of [
    ['documentType', 'type'],
    ['currency', 'currency'],
    ['parentInvoiceId', 'parent_id'],
    ['scheduleTemplateId', 'schedule_template_id'],
  ] as const) {
    if (given[name] !== undefined) conditions.push(equals(column, given[name]));
  }
  conditions.push(...statusConditions(given, now === undefined ? undefined : dayOf(now, asked.principal.region)));
  if (now !== undefined) conditions.push(...dayConditions(asked, asked.principal.region));
  return readPage(tx, {
    columns: imported ? `${columns}, source` : columns,
    conditions,
    page: asked.query as Page,
    search: given['search'],
    described: given['description'],
    noted: given['notes'],
    from: imported ? withImported : undefined,
  });
}

const unnumbered: ReadonlySet<string> = new Set(['DRAFT', 'CREATED', 'PROCESSING', 'SCHEDULED']);

/** Templates of recurring invoices show only when asked for (contract decisions 3, Status). */
function statusConditions(given: Record<string, string | undefined>, today: Day | undefined): Condition[] {
  const conditions: Condition[] = [];
  if (given['status'] !== undefined) conditions.push(equals('status', given['status']));
  // Said although it follows: the index of documents without a number is a small one.
  if (unnumbered.has(given['status'] ?? given['aggregatedStatus'] ?? '')) conditions.push(sql`number is null`);
  const unpaid = sql`status = 'ISSUED' and outstanding > 0`;
  switch (given['aggregatedStatus']) {
    case undefined:
      if (given['status'] === undefined) conditions.push(sql`status <> 'SCHEDULED'`);
      break;
    case 'DRAFT':
      conditions.push(sql`status in ('DRAFT', 'CREATED', 'PROCESSING')`);
      break;
    case 'SCHEDULED':
      conditions.push(sql`status = 'SCHEDULED'`);
      break;
    case 'PAID':
      conditions.push(sql`status in ('ISSUED', 'PAID') and outstanding = 0`);
      break;
    case 'OVERDUE':
      conditions.push(unpaid, sql`due_date < ${today}::date`);
      break;
    case 'PENDING':
      conditions.push(unpaid, sql`due_date >= ${today}::date`);
      break;
    default:
      conditions.push(unpaid);
  }
  return conditions;
}

const lastDay: Day = '9999-12-31';

/** Dates are civil days, inclusive; drafts are judged by their creation, and only when asked. */
function dayConditions(asked: ListAsked, region: Region): Condition[] {
  const conditions: Condition[] = [];
  const dayIn = (name: string): Day | undefined => {
    const value = asked.query[name];
    return typeof value === 'string' ? parseDay(value, region) : undefined;
  };
  const [date, dueDate, from, to] = [dayIn('date'), dayIn('dueDate'), dayIn('fromDate'), dayIn('toDate')];
  if (date !== undefined) conditions.push(sql`date = ${date}::date`);
  if (dueDate !== undefined) conditions.push(sql`due_date = ${dueDate}::date`);
  const all = asked.query['filterAllStatusesByDate'] === true;
  const between = (numbered: Condition, created: Condition): Condition =>
    all ? sql`(case when number is null then ${created} else ${numbered} end)` : sql`(number is null or ${numbered})`;
  if (from !== undefined)
    conditions.push(between(datedFrom(from), sql`created_at >= ${startInstant(from, region)}::timestamptz`));
  if (to !== undefined) {
    // The last day of the calendar has none after it.
    const created = to === lastDay ? sql`true` : sql`created_at < ${startInstant(addDays(to, 1), region)}::timestamptz`;
    conditions.push(between(datedTo(to), created));
  }
  return conditions;
}

function showEntry(row: Row, region: Region): Record<string, unknown> {
  const dayOrNothing = (name: string) => (row[name] === null ? undefined : startOfDay(String(row[name]), region));
  return {
    id: row['id'],
    number: row['number'] ?? undefined,
    documentType: row['type'],
    status: row['status'],
    date: dayOrNothing('date'),
    taxPointDate: dayOrNothing('tax_point_date') ?? null,
    dueDate: dayOrNothing('due_date'),
    currency: row['currency'],
    ...showParent({ parent: (row['parent'] as Content['parent'] | null) ?? undefined }, region),
    scheduleTemplateId: row['schedule_template_id'],
    summary: showSums(row),
    customer: showBuyer(row),
    source: row['source'] ?? undefined,
  };
}

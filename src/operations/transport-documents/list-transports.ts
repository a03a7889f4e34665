import { Type } from 'typebox';
import { type Condition, equals, sql } from '../../db/page.ts';
import type { Row } from '../../db/transact.ts';
import type { Region, Transport } from '../../fiscal/document.ts';
import { startOfDay } from '../../fiscal/time.ts';
import { closed, line, listQuery, oneOf } from '../fields.ts';
import { shownMessage } from '../invoices/invoice.ts';
import { showSync } from '../invoices/show-invoice.ts';
import { listedColumns, listedMembers, readPage, showBuyer, showSums } from '../listed-documents.ts';
import { defineRead } from '../operation.ts';
import { movementTypes } from './asked-transport.ts';
import { issueStatuses, showJourney, transportEntryMembers } from './transport-document.ts';

const query = listQuery(['createdAt', 'updatedAt', 'date', 'movementDate', 'number', 'total'], {
  search: Type.Optional(
    line(254, 'Contained in number, ATCUD, AT code, customer name, NIF, licence plate or comments.'),
  ),
  movementType: Type.Optional(oneOf(movementTypes, 'Equal.')),
  issueStatus: Type.Optional(oneOf(issueStatuses, 'Equal.')),
});

const columns = `id, number, atcud, type, status, date, updated_at, at_status, at_code, ${shownMessage}, at_doc_code,
  ${listedColumns}, content -> 'transport' as transport`;
const searched = ['at_doc_code', `content -> 'transport' ->> 'licensePlate'`, `content -> 'transport' ->> 'comments'`];

export const listTransports = defineRead({
  name: 'listTransports',
  route: 'GET /transport-documents',
  tag: 'Transport documents',
  summary: 'List transport documents',
  query,
  reply: [200, Type.Array(closed({ ...transportEntryMembers, ...listedMembers }))],
  access: { key: true },
  refuses: [],
  load(tx, asked) {
    const { search, movementType, issueStatus } = asked.query;
    const conditions: Condition[] = [sql`family = 'TRANSPORT'`];
    if (movementType !== undefined) conditions.push(equals('type', movementType));
    if (issueStatus !== undefined) conditions.push(equals('status', issueStatus));
    return readPage(tx, { columns, conditions, page: asked.query, search, searched });
  },
  show: (rows, { principal }) => rows.map((row) => showEntry(row, principal.region)),
});

function showEntry(row: Row, region: Region): Record<string, unknown> {
  return {
    id: row['id'],
    number: row['number'] ?? undefined,
    atcud: row['atcud'] ?? undefined,
    date: row['date'] === null ? undefined : startOfDay(String(row['date']), region),
    updatedAt: (row['updated_at'] as Date).toISOString(),
    syncWithAt: showSync(row),
    ...showJourney(row, row['transport'] as Transport),
    summary: showSums(row),
    customer: showBuyer(row),
  };
}

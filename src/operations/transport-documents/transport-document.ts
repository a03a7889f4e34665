/** Transport documents as the API shows them, and their rows. */
import { Type } from 'typebox';
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Content, Transport } from '../../fiscal/document.ts';
import { assert, Refusal } from '../../fiscal/refusal.ts';
import type { Principal } from '../../identity/principal.ts';
import { closed, dateTime, oneOf } from '../fields.ts';
import { invoiceReplyMembers, shownColumns } from '../invoices/invoice.ts';
import { showInvoice } from '../invoices/show-invoice.ts';
import { begunColumns } from '../stamp.ts';
import type { World } from '../world.ts';
import { movementTypes } from './asked-transport.ts';

export const issueStatuses = ['CANCELED', 'DRAFT', 'ISSUED'] as const;

const text = () => Type.String();
const place = closed({ address: text(), postalCode: text(), city: text(), country: text() });

/** What the documents of every family show, and a journey has too. */
const {
  id,
  number,
  atcud,
  shortHash,
  signature,
  date,
  cae,
  updatedAt,
  createdAt,
  issuedAt,
  syncWithAt,
  series,
  customer,
  summary,
  items,
  qrCode,
  issuer,
} = invoiceReplyMembers;
const shared = { id, number, atcud, date, updatedAt, syncWithAt };
const sharedInFull = {
  ...shared,
  shortHash,
  signature,
  cae,
  createdAt,
  issuedAt,
  series,
  customer,
  summary,
  items,
  qrCode,
  issuer,
};

const journey = {
  movementType: oneOf(movementTypes, 'Kind of transport document.'),
  issueStatus: oneOf(issueStatuses, 'State.'),
  atDocCode: Type.Optional(
    Type.String({ description: "The AT's code of the document, for the driver; there once the AT has accepted it." }),
  ),
  movementDate: dateTime('Start of the transport.'),
  movementEndDate: Type.Optional(dateTime('End of the transport.')),
  loading: place,
  unloading: place,
  licensePlate: Type.Optional(text()),
  comments: Type.Optional(text()),
  valued: Type.Boolean({ description: 'Whether it has prices; else every amount is 0.' }),
};

export const TransportReply = closed({ ...sharedInFull, ...journey });

export const transportEntryMembers = { ...shared, ...journey };

const columns = `${shownColumns}, d.at_doc_code`;
const read = statement(
  'transport_read',
  `select ${columns} from certo.documents d
   where d.company_id = certo.current_company() and d.id = $1 and d.family = 'TRANSPORT'`,
);
const lock = statement(
  'transport_lock',
  `${read.text.replace('d.content', `d.content, ${begunColumns}`)} for no key update of d`,
  'alone',
);

/** Throws TRANSPORT_NOT_FOUND. */
export async function loadTransport(tx: Tx, documentId: string): Promise<Row> {
  return found(await tx.query(read, [documentId]));
}

/** Loads one to act on it, locked until the commit. */
export async function lockTransport(tx: Tx, documentId: string): Promise<Row> {
  return found(await tx.query(lock, [documentId]));
}

/** Loads a draft to change it; refuses what is not a draft any more. */
export async function lockDraft(tx: Tx, documentId: string): Promise<Row> {
  const row = await lockTransport(tx, documentId);
  if (row['status'] !== 'DRAFT') throw new Refusal('INVALID_STATE', { status: String(row['status']) });
  return row;
}

function found([row]: Row[]): Row {
  if (row === undefined) throw new Refusal('TRANSPORT_NOT_FOUND');
  return row;
}

/** The journey of a transport document's row. */
export function transportOf(row: Row): Transport {
  const { transport } = row['content'] as Content;
  assert(transport !== undefined, 'a transport document has a journey');
  return transport;
}

/** As an invoice is shown, without what it does not have, and with its journey. */
export function showTransport(row: Row, { region, companyId }: Principal, world: World): Record<string, unknown> {
  const shown = showInvoice(row, region, companyId, world);
  return {
    ...Object.fromEntries(Object.keys(sharedInFull).map((name) => [name, shown[name]])),
    ...showJourney(row, transportOf(row)),
  };
}

/** Of a row with `type`, `status` and `at_doc_code`. */
export function showJourney(row: Row, transport: Transport): Record<string, unknown> {
  const { start, end, loading, unloading, licensePlate, comments, valued } = transport;
  return {
    movementType: row['type'],
    issueStatus: row['status'],
    atDocCode: row['at_doc_code'] ?? undefined,
    movementDate: start,
    movementEndDate: end,
    loading,
    unloading,
    licensePlate,
    comments,
    valued,
  };
}

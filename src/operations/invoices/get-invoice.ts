/**
 * Reading one document. What a reader sees of a revision never changes, so its text is kept in memory by id and
 * revision; the database still says in each request whether the caller may see the document, which revision it has and
 * how the communication with the AT stands.
 */
import { LRUCache } from 'lru-cache';
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import { flatUtf8 } from '../../fiscal/utf8.ts';
import type { Principal } from '../../identity/principal.ts';
import { idParams } from '../fields.ts';
import { fileLink } from '../links.ts';
import { defineRead } from '../operation.ts';
import { Rendered } from '../rendered.ts';
import type { World } from '../world.ts';
import { missingInvoice } from './imported.ts';
import { fromInvoice, InvoiceReply, loadInvoice, shownMessage } from './invoice.ts';
import { showInvoice, showSync } from './show-invoice.ts';

/** The text of a revision up to where the values follow that may change without a new one. */
interface Kept {
  readonly revision: number;
  /** The reply's JSON, open at its end; with a QR code, open inside `qrCode`, where the link follows. */
  readonly open: string;
  /** The whole reply as it was last made: the same within a second, while the communication with the AT stands as it did. */
  last: { readonly second: number; readonly sync: string; readonly reply: Rendered } | undefined;
  readonly hasQr: boolean;
  /** What it takes of memory, with `last`. */
  readonly bytes: number;
}

// An invoice of three lines is 10 kB, twice: some 400 of those. Longer ones, up to megabytes, are read whole each time.
const most_bytes = 8 * 1024 * 1024;
const longest_bytes = 64 * 1024;
const kept = new LRUCache<string, Kept>({ maxSize: most_bytes, sizeCalculation: ({ bytes }) => bytes });

const readRevision = statement(
  'invoice_revision',
  `select d.updated_at, d.at_status, d.at_code, ${shownMessage}, certo.now() as now ${fromInvoice}`,
);

export const getInvoice = defineRead({
  name: 'getInvoice',
  route: 'GET /invoices/:id',
  tag: 'Invoices',
  summary: 'Read a draft or an issued document',
  params: idParams('Id of the invoice.'),
  reply: [200, InvoiceReply],
  access: { key: true, oauth: ['invoicing.read', 'invoicing.read_all'] },
  quick: true,
  refuses: ['INVOICE_NOT_FOUND', 'IMPORTED_FROM_AT'],
  tool: 'get_invoice',
  async load(tx, asked): Promise<Found> {
    const { id } = asked.params;
    const known = kept.get(id);
    return known === undefined ? { id, row: await loadInvoice(tx, id) } : loadRevision(tx, id, known);
  },
  show: ({ id, row, text }, { principal }, world) =>
    rendered(id, row, text ?? keep(id, row, principal, world), principal, world),
});

interface Found {
  readonly id: string;
  readonly row: Row;
  /** Of the row's revision; the row has its content when there is none. */
  readonly text?: Kept;
}

/** What is known goes along with the row: until that is there, others may have taken its place in memory. */
async function loadRevision(tx: Tx, id: string, known: Kept): Promise<Found> {
  const [row] = await tx.query(readRevision, [id]);
  if (row === undefined) throw await missingInvoice(tx, id);
  const isKnown = (row['updated_at'] as Date).getTime() === known.revision;
  return isKnown ? { id, row, text: known } : { id, row: await loadInvoice(tx, id) };
}

function rendered(id: string, row: Row, text: Kept, principal: Principal, world: World): Rendered {
  const second = Math.floor((row['now'] as Date).getTime() / 1000);
  const sync = JSON.stringify(showSync(row));
  if (text.last?.second === second && text.last.sync === sync) return text.last.reply;
  // Many may read the same document at once: the link is signed, and the text put together, once a second at most.
  const link = { companyId: principal.companyId, documentId: id, variant: 'qr' };
  const url = text.hasQr ? `,"url":${JSON.stringify(fileLink(world, link, new Date(second * 1000)))}}` : '';
  const reply = new Rendered([flatUtf8(`${text.open}${url},"syncWithAt":${sync}}`)]);
  text.last = { second, sync, reply };
  return reply;
}

function keep(id: string, row: Row, principal: Principal, world: World): Kept {
  const { qrCode, syncWithAt: _, ...steady } = showInvoice(row, principal.region, principal.companyId, world);
  const hasQr = qrCode !== undefined;
  const { url: __, ...image } = (qrCode ?? {}) as Record<string, unknown>;
  const members = JSON.stringify(steady).slice(0, -1);
  const open = hasQr ? `${members},"qrCode":${JSON.stringify(image).slice(0, -1)}` : members;
  const size = bytesOf(open);
  const revision = (row['updated_at'] as Date).getTime();
  const text: Kept = { revision, open, last: undefined, hasQr, bytes: 2 * size };
  if (size <= longest_bytes) kept.set(id, text);
  else kept.delete(id);
  return text;
}

/** Of a text in memory: one a character, or two where any of them is not in Latin-1. */
const bytesOf = (text: string): number => (/[\u0100-\uffff]/.test(text) ? 2 : 1) * text.length;

/** Reading numbered documents as they are stored, every column of them as exact text. */
import type { Row, Tx } from '../../db/transact.ts';
import { statement } from '../../db/transact.ts';
import type { Content, DocumentType } from '../../fiscal/document.ts';
import { type Frozen, frozenColumns, type State, stateColumns } from '../../fiscal/seal.ts';
import type { StoredDocument } from './verify-document.ts';
import type { SealedDocument, StoredEvent } from './verify-seals.ts';

const instants: ReadonlySet<string> = new Set([
  'created_at',
  'movement_start',
  'issued_at',
  'updated_at',
  'canceled_at',
  'converted_at',
  'hidden_at',
]);
const json = ['asked', 'content', 'issued_state'] as const;

// A Date would lose what lies beyond it (years, infinity) or refuse it: what is stored is compared as text.
const instant = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const asText = (column: string) =>
  `${instants.has(column) ? instant(`d.${column}`) : `d.${column}::text`} as ${column}`;

const read = [...frozenColumns, ...stateColumns, 'last_event', 'seal', 'state_seal', 'events'];

// Of text, but for the one document that reaches beyond it: of a thousand lines with their texts one is megabytes. A hundred of
// three lines are 1.2 MB.
const most_bytes = 2 * 1024 * 1024;

// As many, in order, as fit: those before which there is less than the most. The texts are made once, measured and sent.
const readPiece = statement(
  'verify_piece',
  `select ${read.map((column) => `d.${column}`).join(', ')} from (
     select d.*, sum(octet_length(d.asked) + octet_length(d.content) + coalesce(octet_length(d.events), 0))
         over (order by d.place rows between unbounded preceding and 1 preceding) as before from (
       select d.sequence as place, ${[...frozenColumns, ...stateColumns].map(asText).join(', ')}, d.last_event::text, d.seal, d.state_seal,
         (select json_agg(json_build_array(e.sequence, ${instant('e.at')}, e.kind, e.changes, encode(e.seal, 'hex')) order by e.sequence)::text
          from certo.document_events e where e.company_id = certo.current_company() and e.document_id = d.id) as events
       from certo.documents d
       where d.company_id = certo.current_company() and d.series_id = $1 and d.sequence > $2 and d.sequence <= $3
       order by d.sequence limit $4) d) d
   where coalesce(d.before, 0) < ${most_bytes} order by d.place`,
);

export interface Stored {
  readonly document: StoredDocument;
  readonly sealed: SealedDocument;
}

/** The next `most` documents of a series of the entered company, in order, or as many of them as are read at once. */
export function nextPiece(tx: Tx, seriesId: string, after: string, upTo: number, most: number): Promise<Row[]> {
  return tx.query(readPiece, [seriesId, after, upTo, most]);
}

/** The place of a row of `nextPiece` in its series, as it is stored: a number may be one that no double holds. */
export const sequenceOf = (row: Row): string => String(row['sequence']);

/** A row of `nextPiece`, taken apart. */
export function storedOf(row: Row): Stored {
  const frozen = { ...Object.fromEntries(frozenColumns.map((column) => [column, row[column]])), ...parsed(row) };
  return { document: documentOf(row, frozen['content'] as Content), sealed: sealedOf(row, frozen as Frozen) };
}

function parsed(row: Row): Record<string, unknown> {
  return Object.fromEntries(json.map((column) => [column, JSON.parse(String(row[column]))]));
}

function sealedOf(row: Row, frozen: Frozen): SealedDocument {
  const events = JSON.parse(String(row['events'] ?? '[]')) as [number, string, string, State, string][];
  return {
    id: String(row['id']),
    frozen,
    state: Object.fromEntries(stateColumns.map((column) => [column, row[column] as string | null])),
    lastEvent: Number(row['last_event']),
    seal: row['seal'] as Buffer | null,
    stateSeal: row['state_seal'] as Buffer | null,
    events: events.map(
      ([sequence, at, kind, changes, seal]): StoredEvent => ({
        sequence,
        at,
        kind,
        changes,
        seal: Buffer.from(seal ?? '', 'hex'),
      }),
    ),
    strangeNumbers: json.some((column) => hasStrangeNumbers(String(row[column]))),
  };
}

function documentOf(row: Row, content: Content): StoredDocument {
  const text = (column: string) => String(row[column]);
  const maybe = (column: string) => row[column] as string | null;
  return {
    sequence: Number(row['sequence']),
    number: text('number'),
    atcud: text('atcud'),
    type: text('type') as DocumentType,
    date: text('date'),
    dueDate: maybe('due_date'),
    systemEntry: text('system_entry'),
    hash: text('hash'),
    signedText: maybe('signed_text'),
    keyVersion: Number(row['key_version']),
    certificateNumber: Number(row['certificate_number']),
    qr: text('qr'),
    customerName: text('customer_name'),
    currency: text('currency'),
    net: text('net'),
    tax: text('tax'),
    gross: text('gross'),
    toPay: text('to_pay'),
    content,
  };
}

/**
 * Whether JSON text of the database has a number that JavaScript would not have written so: jsonb keeps "1.0" beside 1,
 * and reading it makes both the same.
 */
export function hasStrangeNumbers(text: string): boolean {
  // Most have none; only behind these can there be one.
  if (!/[:,[] ?-?(?:\d+\.\d|\d{16})/.test(text)) return false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.]*/g)) {
    if (token[0] !== '"' && !isOwn(token)) return true;
  }
  return false;
}

/** jsonb writes no exponents; JavaScript does so for what is very large or very small. */
function isOwn(token: string): boolean {
  const text = String(Number(token));
  return text === token || (text.includes('e') && !/\.\d*0$/.test(token));
}

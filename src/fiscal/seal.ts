/**
 * Seals: a keyed digest over each numbered document, chained per series, and over each later change, chained per
 * document. Whoever changes the database without the key leaves a seal that does not fit. Pure: the digest is handed in.
 *
 *     document.seal       = MAC(frozen columns, seal of the document before it in the series)
 *     series.head_seal    = MAC(what the series is, its last number, seal of that document)
 *     event.seal          = MAC(the event, the document's state seal before it)
 *     document.state_seal = MAC(the document, how many events, seal of the last one, or of the document)
 *     rendition.seal      = MAC(the document, which print of it, SHA-256 of the file)
 *
 * The two seals of an end stand in one place and are overwritten by the next: no row has those that a shorter chain would
 * need, so that nobody who reads the tables can cut off the last document or the last event. Whoever reads the server's files
 * can: a seal that was overwritten stays for a while in dead rows, and longer in its log and in backups, and an end that is
 * put back with all its rows as they were fits. That is for the audit to tell (operations/verify/verify-audit.ts).
 */
import { canonicalJson } from './canonical.ts';
import { utcText } from './time.ts';
import { joinUtf8, type Piece, type Utf8, utf8, utf8Of } from './utf8.ts';

/** HMAC-SHA256 under the key of the books, of a text in one piece or several. */
export type Mac = (...pieces: readonly Piece[]) => Buffer;

/** Every column of a document that is frozen by issuing, but for the seal itself. A new column belongs here or below. */
export const frozenColumns = [
  'company_id',
  'id',
  'family',
  'type',
  'application_id',
  'created_by',
  'created_at',
  'customer_id',
  'item_ids',
  'series_id',
  'parent_id',
  'origin_id',
  'schedule_template_id',
  'movement_start',
  'customer_name',
  'customer_nif',
  'customer_email',
  'currency',
  'description',
  'notes',
  'cae',
  'date',
  'tax_point_date',
  'due_date',
  'net',
  'tax',
  'gross',
  'to_pay',
  'asked',
  'content',
  'sequence',
  'number',
  'atcud',
  'hash',
  'signed_text',
  'key_version',
  'certificate_number',
  'system_entry',
  'qr',
  'issued_at',
  'issued_by',
  'issued_state',
  'recovered_key',
  'recovered_file',
] as const;

/** Columns of a numbered document that move and belong to the books: each change of them is an event. */
export const stateColumns = [
  'status',
  'updated_at',
  'outstanding',
  'credited',
  'canceled_at',
  'canceled_by',
  'cancel_reason',
  'at_status',
  'at_code',
  'at_message',
  'at_told',
  'at_doc_code',
  'converted_at',
  'hidden_at',
] as const;
export type StateColumn = (typeof stateColumns)[number];

/** The frozen columns by name: JSON for asked, content and issued_state, for the others text as `sealable` makes it. */
export type Frozen = Readonly<Record<(typeof frozenColumns)[number], unknown>>;

/** The moving columns that are not null, by name, as text. Null: it became null. */
export type State = Readonly<Partial<Record<StateColumn, string | null>>>;

export interface BookEvent {
  readonly sequence: number;
  /** An instant as `sealable` makes it. */
  readonly at: string;
  readonly kind: string;
  readonly changes: State;
}

/** What a series is: sealed into its head. */
export interface SealedSeries {
  readonly id: string;
  readonly documentType: string;
  readonly atType: string;
  readonly code: string;
  readonly kind: string;
  readonly cashVat: boolean;
  readonly validationCode: string;
}

/** A value as it is sealed: instants in UTC with milliseconds, numbers as digits. Undefined is null. */
export function sealable(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return utcText(value);
  if (Array.isArray(value)) return `{${value.join(',')}}`;
  return String(value);
}

/** The frozen columns as canonical JSON puts them. */
export const frozenInOrder: readonly (typeof frozenColumns)[number][] = [...frozenColumns].sort();

/**
 * Of each frozen column, in that order, its name and value as a member of canonical JSON. Empty for what is null, which is
 * left out: a column that is added later, null in old rows, leaves their seals as they are.
 */
export function frozenMembers(document: Partial<Frozen>): string[] {
  return frozenInOrder.map((column) => frozenMember(column, document[column]));
}

/** Of these those that are there, as the bytes that are sealed. */
export function sealedMembers(members: readonly string[]): Utf8 {
  const present = members.filter((member) => member !== '');
  return joinUtf8(
    present.map((member) => utf8(member)),
    ',',
  );
}

/** One of them. */
export function frozenMember(column: (typeof frozenColumns)[number], value: unknown): string {
  return value === null || value === undefined ? '' : `"${column}":${canonicalJson(value)}`;
}

/**
 * `members`: its frozen columns, as `sealedMembers` puts them, in one piece or several. `previous`: the seal of the document
 * before it, or null for the first of a series.
 */
export function documentSeal(mac: Mac, members: readonly Piece[], previous: Uint8Array | null): Buffer {
  const before = utf8(previous === null ? 'null' : `"${hex(previous)}"`);
  return mac(utf8('["document",{'), ...members, utf8Of`},${before}]`);
}

/** `last`: the seal of the series' last document. */
export function headSeal(mac: Mac, series: SealedSeries, lastNumber: number, last: Uint8Array): Buffer {
  const { id, documentType, atType, code, kind, cashVat, validationCode } = series;
  return mac(sealedText('series', { id, documentType, atType, code, kind, cashVat, validationCode, lastNumber }, last));
}

/** `previous`: the document's state seal before the event. */
export function eventSeal(mac: Mac, documentId: string, event: BookEvent, previous: Uint8Array): Buffer {
  const { sequence, at, kind, changes } = event;
  return mac(sealedText('event', { documentId, sequence, at, kind, changes }, previous));
}

/** `last`: the seal of the last event, or of the document before the first. */
export function stateSeal(mac: Mac, documentId: string, events: number, last: Uint8Array): Buffer {
  return mac(sealedText('state', { documentId, events }, last));
}

/** `variant`: which of a document's prints; `digest`: SHA-256 of the file. */
export function printSeal(mac: Mac, documentId: string, variant: string, digest: Uint8Array): Buffer {
  return mac(sealedText('print', { documentId, variant }, digest));
}

/** What tells one finding of a check from any other, and from the same in books that stand otherwise. */
export function findingSeal(mac: Mac, ...what: readonly (string | null)[]): Buffer {
  return mac(utf8(canonicalJson(['finding', ...what])));
}

/** The moving columns as the events left them. */
export function stateAfter(issued: State, events: readonly Pick<BookEvent, 'changes'>[]): State {
  return Object.assign({}, issued, ...events.map(({ changes }) => changes));
}

// The kind stands in front: a text of one kind is never one of another.
function sealedText(kind: string, what: Readonly<Record<string, unknown>>, previous: Uint8Array): Utf8 {
  return utf8(`["${kind}",${canonicalJson(what)},"${hex(previous)}"]`);
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

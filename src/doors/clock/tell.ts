/** What the AT is told next of a document, and by which of its operations. */
import type { AtGateway, Credentials, Outcome } from '../../at/gateway.ts';
import type { SalesReport, SettledPart, TransportReport } from '../../at/reports.ts';
import type { Row } from '../../db/transact.ts';
import { originOf } from '../../fiscal/convert.ts';
import { type Content, type DocumentType, documentTypes, type Place, type Region } from '../../fiscal/document.ts';
import { quotedNumber } from '../../fiscal/recovery.ts';
import { assert } from '../../fiscal/refusal.ts';
import { laterText } from '../../fiscal/time.ts';
import { journeyTimes } from '../../fiscal/transport.ts';
import { issuedColumns, issuedOf } from '../../operations/invoices/issued.ts';

/** Columns of `certo.documents d` that telling reads. */
export const toldColumns = `d.id, d.type, d.status, d.content, d.at_attempts, d.at_told, d.at_doc_code, d.canceled_at, d.converted_at, d.issued_at,
  (select max(greatest(r.taken_at, r.restored_at)) from certo.restores r) as restored_at, ${issuedColumns}`;

/** N issued; then A cancelled, or F invoiced (pro formas). Each is told after the one before was accepted. */
export type Told = 'N' | 'A' | 'F';

/** Of a document that is due. */
export function nextStatus(row: Row): Told {
  if (row['at_told'] === null) return 'N';
  return row['canceled_at'] === null ? 'F' : 'A';
}

/** The AT's services behind these: each has its own port and its own outages. */
export type Service = 'documents' | 'transport';

/** Which of them hears of this document. */
export function serviceOf(row: Row): Service {
  return documentTypes[row['type'] as DocumentType].family === 'TRANSPORT' ? 'transport' : 'documents';
}

interface Telling {
  readonly at: AtGateway;
  readonly credentials: Credentials;
  readonly row: Row;
  /** Civil time of the company, as its documents print it. */
  readonly region: Region;
}

/** Tells it. Transport documents come back with the AT's code of the document. */
export function tell(telling: Telling): Promise<Outcome<{ readonly atDocCode?: string | undefined }>> {
  const { family } = documentTypes[telling.row['type'] as DocumentType];
  return tellers[family](telling);
}

const tellers = { SALES: tellSale, PROFORMA: tellProforma, TRANSPORT: tellTransport, RECEIPT: tellReceipt } as const;

function tellSale(telling: Telling): Promise<Outcome> {
  const { at, credentials } = telling;
  const change = changeOf(telling);
  if (change !== undefined) return at.changeInvoiceStatus(credentials, change);
  return at.reportInvoice(credentials, salesReport(telling));
}

function tellProforma(telling: Telling): Promise<Outcome> {
  const { at, credentials } = telling;
  const change = changeOf(telling);
  if (change !== undefined) return at.changeWorkStatus(credentials, change);
  return at.reportWork(credentials, salesReport(telling));
}

/** Only those of the cash VAT scheme (RC) come here: see fiscal/communicated.ts. */
function tellReceipt(telling: Telling): Promise<Outcome> {
  const { at, credentials } = telling;
  const change = changeOf(telling);
  if (change !== undefined) return at.changePaymentStatus(credentials, change);
  const report = documentOf(telling);
  const { books, settles = [] } = report.content;
  assert(report.content.cashVat === true, 'receipts of the normal scheme are told by SAF-T alone');
  const { net, tax, gross, withholdings } = books;
  const totals = { net, tax, gross };
  return at.reportPayment(credentials, {
    ...report,
    status: 'N',
    statusDate: report.issued.systemEntry,
    settled: settles.flatMap(settledParts),
    totals,
    withholdings,
  });
}

/** One part per rate of each settled document: RC receipts tell the VAT that the payment makes due. */
function settledParts({ document, groups }: NonNullable<Content['settles']>[number]): SettledPart[] {
  const { date, type } = document;
  const number = quotedNumber(document);
  return groups.map(({ region, taxCode, rate, exemptionCode, base }) => ({
    document: { number, date },
    side: documentTypes[type].side,
    net: base,
    region,
    taxCode,
    rate,
    exemptionCode,
  }));
}

/** The same message registers and cancels; to cancel it needs the code that registering gave. */
async function tellTransport(telling: Telling): Promise<Outcome<{ readonly atDocCode?: string | undefined }>> {
  const { at, credentials, row } = telling;
  const cancels = nextStatus(row) === 'A';
  if (cancels && row['at_doc_code'] === null)
    return { kind: 'refused', code: '-3', message: cancelThere, reason: 'inspect' };
  const outcome = await at.reportTransport(credentials, transportReport(telling, cancels));
  const known = cancels || outcome.kind !== 'done' || outcome.atDocCode !== undefined;
  return known ? outcome : { ...outcome, message: findThere };
}

// Registered with the answer lost, the AT says only that it has the document (-3). No operation of its asks for the code.
const findThere = 'A AT tem este documento; o código AT consulta-se no Portal das Finanças.';
const cancelThere = 'O código AT deste documento não é conhecido: anule-o no Portal das Finanças.';

function transportReport(telling: Telling, cancels: boolean): TransportReport {
  const { row, region } = telling;
  const report = documentOf(telling);
  const { transport } = report.content;
  assert(transport !== undefined, 'a transport document has a journey');
  const { loading, unloading, licensePlate, valued } = transport;
  return {
    ...report,
    status: cancels ? 'A' : 'N',
    statusDate: cancels
      ? laterText(row['canceled_at'] as Date, region, report.issued.systemEntry)
      : report.issued.systemEntry,
    atDocCode: cancels ? String(row['at_doc_code']) : undefined,
    loading: domestic(loading) ?? {},
    unloading: domestic(unloading),
    ...journeyTimes(transport, region, report.issued.systemEntry),
    licensePlate,
    valued,
  };
}

/** The AT's message fixes the country of places to PT: of a place abroad nothing can be told. */
function domestic(place: Place): Place | undefined {
  return place.country === 'PT' ? place : undefined;
}

function salesReport(telling: Telling): SalesReport {
  const report = documentOf(telling);
  const { content } = report;
  const { cashVat, cae, origin, lines } = content;
  return {
    ...report,
    status: 'N',
    statusDate: report.issued.systemEntry,
    cashVat: cashVat === true,
    eac: cae,
    // As in SAF-T: every line that came from the pro forma refers to it.
    origins:
      origin &&
      Object.fromEntries(lines.filter((line) => originOf(content, line) !== undefined).map(({ id }) => [id, [origin]])),
  };
}

/** The change of status to tell, or undefined while the document itself is still to be told. */
function changeOf(telling: Telling) {
  const { row, region } = telling;
  const status = nextStatus(row);
  if (status === 'N') return undefined;
  const since = row[status === 'A' ? 'canceled_at' : 'converted_at'];
  assert(since instanceof Date, 'what was told as issued is told again only when cancelled or invoiced');
  const document = documentOf(telling);
  return { ...document, status, statusDate: laterText(since, region, document.issued.systemEntry) };
}

function documentOf({ row }: Telling) {
  const resent = Number(row['at_attempts']) > 1 || isLooseEnd(row);
  return { content: row['content'] as Content, issued: issuedOf(row), resent };
}

/**
 * Whether the books that a restore lost may have told this before: the document was in the backup, and what its number was
 * told as since is not known here. Of a pro forma that may have been either of A and F, of which an answer does not say
 * which: there only what the backup had of it counts.
 */
function isLooseEnd(row: Row): boolean {
  const restored = row['restored_at'] as Date | null;
  const status = nextStatus(row);
  const isOneOfTwo = row['type'] === 'PROFORMA' && status !== 'N';
  const since = isOneOfTwo ? row[status === 'A' ? 'canceled_at' : 'converted_at'] : row['issued_at'];
  return restored !== null && (since as Date) <= restored;
}

/**
 * The JSON of `showInvoice`, where what it shows of the content is known. Of an issued document the rest is told by templates; a
 * test holds them to `showInvoice`.
 */
import type { Row } from '../../db/transact.ts';
import { inQuotes } from '../../fiscal/canonical.ts';
import type { Content, Region } from '../../fiscal/document.ts';
import { shortHash } from '../../fiscal/hash-chain.ts';
import { utcText } from '../../fiscal/time.ts';
import { type Utf8, utf8 } from '../../fiscal/utf8.ts';
import { foldNames } from '../../print/folded.ts';
import { QrAddress } from '../../print/qr.ts';
import { Rendered } from '../rendered.ts';
import type { World } from '../world.ts';
import { membersOf, optionalDay, type ShownContent, showHistory, showQrLink, showStamp } from './show-invoice.ts';

/** `row`: its `content` may be an outline (kept-draft.ts), of which only `taxPointDate` and `parent` are read. Throws as `QrAddress`. */
export function renderInvoice(
  row: Row,
  { terms, deal, issuer, folded }: ShownContent,
  region: Region,
  companyId: string,
  world: World,
): Rendered {
  const content = row['content'] as Content;
  const stamp = tellStamp(row, content, region);
  const history = tellHistory(row, content, region);
  if (row['qr'] === null) {
    const recorded = [foldNames(stamp), terms, foldNames(history), folded, comma, issuer, brace];
    return new Rendered([stamp, terms, history, deal, comma, issuer, brace], recorded);
  }
  const { url, data } = showQrLink(row, companyId, world);
  const link = utf8(`,"qrCode":{"url":"${inQuotes(url)}","data":"${inQuotes(data)}","imageData":"`);
  // The picture is drawn when all is written already; whether it can be is asked here.
  return new Rendered([stamp, terms, history, deal, link, new QrAddress(data), behindPicture, issuer, brace]);
}

const brace = utf8('}');
const comma = utf8(',');
const behindPicture = utf8('"},');

/** What stands in front of the terms. Ids, numbers, signatures and instants have nothing that JSON would escape. */
function tellStamp(row: Row, content: Content, region: Region): Utf8 {
  const { signed_text: text } = row;
  if (typeof text !== 'string') return utf8(`{${membersOf(showStamp(row, content, region))},`);
  const { id, number, atcud, hash, key_version: version, type, status } = row as Record<string, string>;
  const short = (row['short_hash'] as string | undefined) ?? shortHash(hash!);
  const updated = utcText(row['updated_at'] as Date);
  const date = optionalDay(row['date'] as string, region)!;
  const due = optionalDay(row['due_date'] as string, region)!;
  const taxPoint = optionalDay(content.taxPointDate, region);
  return utf8(
    `{"id":"${id!}","number":"${number!}","atcud":"${inQuotes(atcud!)}","shortHash":"${short}","signature":{"text":"${text}","value":"${hash!}","keyVersion":${String(version)}},"documentType":"${type!}","status":"${status!}","updatedAt":"${updated}","date":"${date}","taxPointDate":${taxPoint === undefined ? 'null' : `"${taxPoint}"`},"dueDate":"${due}",`,
  );
}

/** What stands between terms and deal. */
function tellHistory(row: Row, content: Content, region: Region): Utf8 {
  const isPlain = content.parent === undefined && row['at_code'] === null && row['at_message'] === null;
  const { issued_at: issuedAt, series_id: series } = row;
  if (!isPlain || issuedAt === null || series === null) {
    return utf8(`,${membersOf(showHistory(row, content, region))},`);
  }
  const [created, issued] = [utcText(row['created_at'] as Date), utcText(issuedAt as Date)];
  const name = inQuotes(String(row['series_name']));
  return utf8(
    `,"createdAt":"${created}","issuedAt":"${issued}","parentInvoiceId":null,"parentInvoiceNumber":null,"parentInvoiceDate":null,"parentInvoiceType":null,"syncWithAt":{"status":"${String(row['at_status'])}"},"series":{"ref":"${String(series)}","name":"${name}"},`,
  );
}

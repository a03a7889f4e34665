/**
 * The JSON of `showInvoice`, where what it shows of the content is known: as it is answered, and as it is recorded. Of an
 * issued document the rest is told by templates, whose names are folded beforehand; a test holds them to `showInvoice`.
 */
import type { Row } from '../../db/transact.ts';
import { inQuotes } from '../../fiscal/canonical.ts';
import type { Content, Region } from '../../fiscal/document.ts';
import { shortHash } from '../../fiscal/hash-chain.ts';
import { utcText } from '../../fiscal/time.ts';
import { type Piece, utf8, utf8Of } from '../../fiscal/utf8.ts';
import { foldNames, leftOut, type Twice, toldTwice, twice } from '../../print/folded.ts';
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
  // What stands where is said once.
  const all = (as: keyof Twice, told: Piece, qr: readonly Piece[]): Piece[] => [
    stamp[as],
    terms,
    history[as],
    told,
    ...qr,
    issuer,
    brace,
  ];
  if (row['qr'] === null) return new Rendered(all('told', deal, [comma]), all('folded', folded, [comma]));
  const { url, data } = showQrLink(row, companyId, world);
  const link = twice`,"qrCode":{"url":"${inQuotes(url)}","data":"${inQuotes(data)}`;
  // The picture is drawn when all is written already; whether it can be is asked here.
  const drawn = [utf8Of`${link.told}","imageData":"`, new QrAddress(data), behindPicture];
  return new Rendered(all('told', deal, drawn), all('folded', folded, [link.folded, noPicture]));
}

const brace = utf8('}');
const comma = utf8(',');
const behindPicture = utf8('"},');
const noPicture = foldNames(utf8(`","imageData":"${leftOut}"},`));

/** What stands in front of the terms. Ids, numbers, signatures and instants have nothing that JSON would escape. */
function tellStamp(row: Row, content: Content, region: Region): Twice {
  const { signed_text: text } = row;
  if (typeof text !== 'string') return toldTwice(utf8(`{${membersOf(showStamp(row, content, region))},`));
  const { id, number, atcud, hash, key_version: version, type, status } = row as Record<string, string>;
  const short = (row['short_hash'] as string | undefined) ?? shortHash(hash!);
  const updated = utcText(row['updated_at'] as Date);
  const date = optionalDay(row['date'] as string, region)!;
  const due = optionalDay(row['due_date'] as string, region)!;
  const stamp = twice`{"id":"${id!}","number":"${number!}","atcud":"${inQuotes(atcud!)}","shortHash":"${short}","signature":{"text":"${text}","value":"${hash!}","keyVersion":${String(version)}},"documentType":"${type!}","status":"${status!}","updatedAt":"${updated}","date":"${date}`;
  const taxPoint = optionalDay(content.taxPointDate, region);
  const days =
    taxPoint === undefined
      ? twice`","taxPointDate":null,"dueDate":"${due}",`
      : twice`","taxPointDate":"${taxPoint}","dueDate":"${due}",`;
  return { told: utf8Of`${stamp.told}${days.told}`, folded: utf8Of`${stamp.folded}${days.folded}` };
}

/** What stands between terms and deal. */
function tellHistory(row: Row, content: Content, region: Region): Twice {
  const isPlain = content.parent === undefined && row['at_code'] === null && row['at_message'] === null;
  const { issued_at: issuedAt, series_id: series } = row;
  if (!isPlain || issuedAt === null || series === null) {
    return toldTwice(utf8(`,${membersOf(showHistory(row, content, region))},`));
  }
  const [created, issued] = [utcText(row['created_at'] as Date), utcText(issuedAt as Date)];
  const name = inQuotes(String(row['series_name']));
  return twice`,"createdAt":"${created}","issuedAt":"${issued}","parentInvoiceId":null,"parentInvoiceNumber":null,"parentInvoiceDate":null,"parentInvoiceType":null,"syncWithAt":{"status":"${String(row['at_status'])}"},"series":{"ref":"${String(series)}","name":"${name}"},`;
}

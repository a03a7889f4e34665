/** Verifies one series from its first document to its head, in pieces: memory does not grow with the series. */
import type { KeyObject } from 'node:crypto';
import type { Pool } from 'pg';
import { type DocumentType, documentTypes } from '../fiscal/document.ts';
import { type ChainFault, type ChainPoint, verifyChain } from '../fiscal/hash-chain.ts';
import { documentFaults, type StoredDocument } from './verify-document.ts';

export interface SeriesHead {
  readonly companyId: string;
  readonly id: string;
  readonly code: string;
  readonly documentType: DocumentType;
  readonly atType: string;
  readonly validationCode: string | null;
  readonly startNumber: number;
  readonly lastNumber: number;
  readonly lastHash: string;
  readonly lastDate: string | null;
  readonly lastSystemEntry: string | null;
}

export interface Finding {
  readonly companyId: string;
  readonly series: string;
  readonly documentType: DocumentType;
  /** Null: it concerns the series. */
  readonly number: string | null;
  readonly problem: string;
}

// A document of 1,000 lines has about 0.5 MB as JSON: 100 of them are still little.
const piece = 100;

const faultWords: Readonly<Record<ChainFault, string>> = {
  GAP: 'does not follow the number before it: there is a gap, or one stands twice',
  NUMBER_DIFFERS: 'has a number that is not its place in the series',
  DATE_GOES_BACK: 'is dated before the document before it',
  SYSTEM_ENTRY_GOES_BACK: 'was signed before the document before it',
  KEY_VERSION: 'names a signing key that is not published, or older than the one before it',
  HASH_WRONG: 'has a signature that does not fit its values and the signature before it',
};

/** Hands over each finding; `progress` gets the number of documents done since the last call. */
export async function verifySeries(
  owner: Pool,
  keys: ReadonlyMap<number, KeyObject>,
  head: SeriesHead,
  found: (finding: Finding) => void,
  progress: (documents: number) => void,
): Promise<void> {
  const report = (number: string | null, problem: string): void =>
    found({ companyId: head.companyId, series: head.code, documentType: head.documentType, number, problem });
  const { startNumber } = head;
  const { signed } = documentTypes[head.documentType];
  const series = { ...head, validationCode: head.validationCode ?? '' };
  let after: ChainPoint | undefined;
  for (;;) {
    const documents = await nextPiece(owner, head, after?.sequence ?? 0);
    const chained = documents.map((d) => ({ ...d, grossTotal: String(d.content?.books?.gross) }));
    for (const { number, fault } of verifyChain(keys, chained, { after, startNumber, signed })) {
      report(number, faultWords[fault]);
    }
    let previousHash = after?.hash ?? '';
    for (const document of documents) {
      for (const problem of documentFaults(document, series, previousHash)) report(document.number, problem);
      previousHash = document.hash;
    }
    progress(documents.length);
    after = chained.at(-1) ?? after;
    if (documents.length < piece) break;
  }
  for (const problem of headFaults(head, after)) report(null, problem);
  for (const problem of await tailFaults(owner, head)) report(null, problem);
}

async function nextPiece(owner: Pool, head: SeriesHead, after: number): Promise<StoredDocument[]> {
  const { rows } = await owner.query({
    name: 'verify_piece',
    text: `select sequence, number, atcud, type, date, due_date, system_entry, hash, signed_text, key_version, certificate_number, qr,
        customer_name, currency, net, tax, gross, to_pay, content
      from certo.documents where company_id = $1 and series_id = $2 and sequence > $3 and sequence <= $4
      order by sequence limit ${piece}`,
    values: [head.companyId, head.id, after, head.lastNumber],
  });
  return rows.map((row) => ({
    sequence: Number(row.sequence),
    number: row.number,
    atcud: row.atcud,
    type: row.type,
    date: row.date,
    dueDate: row.due_date,
    systemEntry: row.system_entry,
    hash: row.hash,
    signedText: row.signed_text,
    keyVersion: Number(row.key_version),
    certificateNumber: Number(row.certificate_number),
    qr: row.qr,
    customerName: row.customer_name,
    currency: row.currency,
    net: row.net,
    tax: row.tax,
    gross: row.gross,
    toPay: row.to_pay,
    content: row.content,
  }));
}

/** The head is what the next document is chained to: it must be the last one's own values. */
function headFaults(head: SeriesHead, last: ChainPoint | undefined): string[] {
  const lastNumber = last?.sequence ?? head.startNumber - 1;
  const empty = head.startNumber - 1;
  if (head.lastNumber > lastNumber && head.lastNumber > empty) {
    return [
      `says that its last document is number ${head.lastNumber}, and the last one found is ${last?.sequence ?? 'none'}`,
    ];
  }
  const differs = (what: string, said: string | null, is: string | undefined): string[] =>
    (said ?? '') === (is ?? '') ? [] : [`does not hold the ${what} of its last document`];
  return [
    ...differs('signature', head.lastHash, last?.hash),
    ...differs('date', head.lastDate, last?.date),
    ...differs('signing time', head.lastSystemEntry, last?.systemEntry),
  ];
}

/** Documents beyond the head as it stands now; it may have moved since, so both are read in one statement. */
async function tailFaults(owner: Pool, head: SeriesHead): Promise<string[]> {
  const { rows } = await owner.query({
    name: 'verify_tail',
    text: `select count(*)::int as count from certo.documents d join certo.series s on s.company_id = d.company_id and s.id = d.series_id
      where d.company_id = $1 and d.series_id = $2 and d.sequence > s.last_number`,
    values: [head.companyId, head.id],
  });
  const count = Number(rows[0]?.count);
  return count === 0 ? [] : [`has ${count} document(s) beyond its last number`];
}

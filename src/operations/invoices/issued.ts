/** The issued facts of a document row, as text exactly as they were stamped. */
import type { Row } from '../../db/transact.ts';
import type { Issued } from '../../fiscal/document.ts';
import { shortHash } from '../../fiscal/hash-chain.ts';

/** Columns that `issuedOf` reads, of `certo.documents d`. */
export const issuedColumns = `d.number, d.sequence, d.atcud, d.date, d.system_entry, d.hash, d.key_version, d.certificate_number, d.qr,
  (select s.code from certo.series s where s.company_id = d.company_id and s.id = d.series_id) as series_name`;

/** Of a row that has a number. Receipts are not signed: their hash is empty, and so is its short form. */
export function issuedOf(row: Row): Issued {
  const hash = String(row['hash']);
  return {
    number: String(row['number']),
    sequence: Number(row['sequence']),
    seriesCode: String(row['series_name']),
    atcud: String(row['atcud']),
    date: String(row['date']),
    systemEntry: String(row['system_entry']),
    hash,
    shortHash: hash === '' ? '' : shortHash(hash),
    keyVersion: Number(row['key_version']),
    certificateNumber: Number(row['certificate_number']),
    qr: String(row['qr']),
  };
}

/** The documents that a taxpayer has told this authority, as the portal exports them. */
import { typeWords } from '../efatura/record.ts';
import { efaturaHead, efaturaLine } from '../efatura/write-efatura.ts';
import type { DocumentEntry, Ledger } from './ledger.ts';

/** The portal lists what was told as invoices and as cash VAT receipts, and no pro formas. */
const words: Readonly<Record<string, string>> = {
  FT: typeWords.INVOICE,
  FS: typeWords.SIMPLIFIED_INVOICE,
  FR: typeWords.INVOICE_RECEIPT,
  ND: typeWords.DEBIT_NOTE,
  NC: typeWords.CREDIT_NOTE,
  RC: typeWords.RECEIPT,
};

/** The file piece by piece: its head, then the documents from one day to another, both included. */
export function* efaturaOf(ledger: Ledger, nif: string, from: string, to: string): Generator<string> {
  yield efaturaHead();
  for (const document of ledger.documents({ nif })) {
    const type = words[document.documentCode];
    if (type !== undefined && document.date >= from && document.date <= to) yield lineOf(document, type);
  }
}

function lineOf(document: DocumentEntry, type: string): string {
  const { number, atcud, customer, date, gross = '0', net = gross, tax = '0', history } = document;
  const situation = history.at(-1)?.status === 'A' ? 'Anulado' : 'Registado';
  return efaturaLine({ number, atcud, acquirer: customer, type, date, gross, tax, net, situation });
}

/** Pro formas against the invoices that were made of them (Portaria 302/2016, WorkStatus F). */
import type { Book } from './book.ts';
import type { DocumentSums } from './lines.ts';
import { partsOf } from './named.ts';
import { child, type SaftNode, textIn } from './structure.ts';

/** Remembers what an invoice was made of; a cancelled one was made of nothing, and notes only correct. */
export function noteInvoiced(book: Book, type: string, status: string, sums: DocumentSums, line: number): void {
  if (status === 'A' || !/^F[TSR]$/.test(type)) return;
  for (const origin of sums.origins) {
    const parts = partsOf(origin);
    if (parts === undefined) continue;
    const [series, sequence] = parts;
    const lines = book.invoiced.get(series) ?? new Map<number, number>();
    book.invoiced.set(series, lines);
    if (!lines.has(sequence)) lines.set(sequence, line);
  }
}

/** A pro forma of an invoice in this file has status F. Others may: their invoice can stand in another file. */
export function checkInvoiced(book: Book, number: string, type: string, status: SaftNode | undefined): void {
  const value = textIn(status, 'WorkStatus');
  const parts = partsOf(number);
  if (type !== 'PF' || value === 'F' || value === '' || parts === undefined) return;
  const invoice = book.invoiced.get(parts[0])?.get(parts[1]);
  if (invoice === undefined) return;
  book.findings.tell('PROFORMA_NOT_INVOICED', child(status, 'WorkStatus')!.line, { number, value, invoice });
}

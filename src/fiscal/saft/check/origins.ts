/** Working and transport documents against the invoices made of them (Portaria 302/2016, WorkStatus and MovementStatus F). */
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

/**
 * Statuses beside which nothing says that the document was invoiced. A working document is not cancelled once it was; a
 * transport may be until it starts, and what is carried for others (T) or sums up documents from elsewhere (R) is left.
 */
const notInvoiced = { work: ['N', 'A'], movement: ['N'] } as const;

/** What an invoice in this file was made of has status F. Others may: their invoice can stand in another file. */
export function checkInvoiced(
  { findings, invoiced }: Book,
  kind: keyof typeof notInvoiced,
  number: string,
  status: SaftNode | undefined,
): void {
  const name = kind === 'work' ? 'WorkStatus' : 'MovementStatus';
  const value = textIn(status, name);
  const parts = partsOf(number);
  if (parts === undefined || !notInvoiced[kind].some((one) => one === value)) return;
  const invoice = invoiced.get(parts[0])?.get(parts[1]);
  if (invoice === undefined) return;
  findings.tell('INVOICED_NOT_TOLD', child(status, name)!.line, { number, name, value, invoice });
}

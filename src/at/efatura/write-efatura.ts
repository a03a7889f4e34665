/** The same export as the simulated authority writes it: UTF-8 with a byte order mark, all values in quotation marks. */
import type { Day, Decimal } from '../../fiscal/document.ts';
import { titleOf } from './columns.ts';

const columns = ['number', 'acquirer', 'type', 'date', 'gross', 'tax', 'net', 'situation'] as const;

export interface EfaturaLine {
  readonly number: string;
  readonly atcud: string;
  readonly acquirer: string;
  /** The portal's word for it. */
  readonly type: string;
  readonly date: Day;
  readonly gross: Decimal;
  readonly tax: Decimal;
  readonly net: Decimal;
  readonly situation: 'Registado' | 'Anulado';
}

/** The first line: the byte order mark and the titles of the columns. */
export function efaturaHead(): string {
  return `\ufeff${lineOf(columns.map(titleOf))}`;
}

/** One document: number and ATCUD in one column, amounts as the portal writes them. */
export function efaturaLine(line: EfaturaLine): string {
  const [gross, tax, net] = [line.gross, line.tax, line.net].map(amountText) as [string, string, string];
  const number = `${line.number} / ${line.atcud}`;
  return lineOf([number, line.acquirer, line.type, line.date, gross, tax, net, line.situation]);
}

/** "1234.50" → "1.234,50 €" */
function amountText(amount: Decimal): string {
  const [whole = '', cents = ''] = amount.split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, '.')},${cents.padEnd(2, '0')} €`;
}

function lineOf(values: readonly string[]): string {
  return `${values.map((value) => `"${value.replaceAll('"', '""')}"`).join(';')}\r\n`;
}

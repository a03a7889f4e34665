/**
 * The columns of e-Fatura's CSV export of documents, by their names in its first line. As issuer the portal writes
 * "Nº Documento / ATCUD", "NIF Adquirente" and "Tipo do Documento", as acquirer "Nº Fatura / ATCUD", "Emitente" and
 * "Tipo"; names are compared without case, accents and double spaces. There is no published description of the file:
 * these names are those that programs which read it know.
 */
import type { EfaturaProblem } from './problems.ts';

export type Column = 'number' | 'atcud' | 'acquirer' | 'name' | 'type' | 'date' | 'gross' | 'tax' | 'net' | 'situation';

/** The first is the portal's own. */
const names: Readonly<Record<Column | 'issuer', readonly [string, ...string[]]>> = {
  number: ['Nº Documento / ATCUD', 'Nº Fatura / ATCUD', 'Nº Documento', 'Nº Fatura', 'Número do Documento'],
  atcud: ['ATCUD'],
  acquirer: ['NIF Adquirente', 'Adquirente', 'NIF do Adquirente'],
  name: ['Nome Adquirente', 'Nome do Adquirente'],
  type: ['Tipo do Documento', 'Tipo de Documento', 'Tipo'],
  date: ['Data Emissão', 'Data de Emissão'],
  gross: ['Total', 'Valor Total'],
  tax: ['IVA', 'Valor IVA'],
  net: ['Base Tributável'],
  situation: ['Situação'],
  issuer: ['Emitente', 'NIF Emitente'],
};
const needed: readonly Column[] = ['number', 'acquirer', 'type', 'date', 'gross', 'tax', 'net'];
const known = new Map(
  Object.entries(names).flatMap(([column, all]) => all.map((name) => [folded(name), column as Column | 'issuer'])),
);

export interface Columns {
  /** How many values a line has. */
  readonly count: number;
  /** Where each stands; a column that the file does not have is missing. */
  readonly at: ReadonlyMap<Column, number>;
}

/** Reads the first line; what is missing in it is told at once. */
export function columnsOf(titles: readonly string[]): Columns | readonly EfaturaProblem[] {
  if (titles.length === 1) return [{ line: 1, code: 'SEPARATOR' }];
  const at = new Map<Column, number>();
  const problems: EfaturaProblem[] = [];
  let purchases = false;
  for (const [place, title] of titles.entries()) {
    const column = known.get(folded(title));
    if (column === 'issuer') purchases = true;
    else if (column !== undefined && at.has(column)) {
      problems.push({ line: 1, code: 'COLUMN_TWICE', facts: { column: title.trim() } });
    } else if (column !== undefined) at.set(column, place);
  }
  if (purchases && !at.has('acquirer')) return [{ line: 1, code: 'PURCHASES' }];
  for (const column of needed.filter((one) => !at.has(one))) {
    problems.push({ line: 1, code: 'COLUMN_MISSING', facts: { column: titleOf(column) } });
  }
  return problems.length > 0 ? problems : { count: titles.length, at };
}

/** The portal's title of a column. */
export function titleOf(column: Column): string {
  return names[column][0];
}

/** Without case, accents and spaces; º and ° are o. */
export function folded(text: string): string {
  const plain = text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  return plain.toLowerCase().replace(/[°]/g, 'o').replace(/\s+/g, '');
}

/** A line of e-Fatura's export as a document: its values read as the portal writes them, everything wrong told at once. */
import { cut, shortened } from '../../fiscal/cut.ts';
import type { Day, Decimal, DocumentType } from '../../fiscal/document.ts';
import { isDay } from '../../fiscal/time.ts';
import { type Column, type Columns, folded, titleOf } from './columns.ts';
import type { EfaturaProblem, EfaturaProblemCode } from './problems.ts';

/** A document as the AT lists it. Amounts in EUR, two decimals, never negative. */
export interface EfaturaDocument {
  readonly line: number;
  readonly number: string;
  readonly atcud: string | undefined;
  readonly type: DocumentType;
  readonly date: Day;
  readonly canceled: boolean;
  /** As the portal words it. */
  readonly situation: string | undefined;
  /** 999999990, or as absent: the final consumer. */
  readonly acquirerNif: string | undefined;
  readonly acquirerName: string | undefined;
  readonly net: Decimal;
  readonly tax: Decimal;
  readonly gross: Decimal;
}

/** The portal's words for the types that can be imported. */
export const typeWords = {
  INVOICE: 'Fatura',
  SIMPLIFIED_INVOICE: 'Fatura simplificada',
  INVOICE_RECEIPT: 'Fatura-recibo',
  DEBIT_NOTE: 'Nota de débito',
  CREDIT_NOTE: 'Nota de crédito',
  RECEIPT: 'Recibo',
} as const satisfies Partial<Record<DocumentType, string>>;

const types = new Map<string, DocumentType>(
  Object.entries(typeWords).map(([type, words]) => [wordOf(words), type as DocumentType]),
);
/** Also "Fatura-Recibo", "Fatura/Recibo", and the spelling before 1990's agreement ("Factura"). */
function wordOf(words: string): string {
  return folded(words).replace(/[-/]/g, '').replaceAll('factura', 'fatura');
}

const longest_number = 60;
const longest_name = 200;
const atcudForm = /^[A-Z0-9]{8,20}-\d{1,18}$/;
// A value that a spreadsheet would run as a formula is no number of a document.
const numberForm = /^[\p{L}\p{N}][^;"]*$/u;
const amountColumns = ['net', 'tax', 'gross'] as const;
const taxIdForm = /^[A-Za-z0-9 ./-]{1,30}$/;
/** Controls and what XML can't hold: nothing of that may be stored. */
const unprintable = /[\p{Cc}\ufffd\ufffe\uffff]/u;

/** The document of a line, or everything that is wrong with it. */
export function recordOf(
  values: readonly string[],
  line: number,
  columns: Columns,
): EfaturaDocument | EfaturaProblem[] {
  const problems: EfaturaProblem[] = [];
  const report: Report = (code, facts) => void problems.push({ line, code, facts });
  const read = (column: Column): string => {
    const value = values[columns.at.get(column) ?? -1]?.trim() ?? '';
    const wrong = unprintable.exec(value)?.[0];
    if (wrong === undefined) return value;
    const character = `U+${wrong.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    report('CHARACTER', { column: titleOf(column), character });
    return '';
  };
  const texts = { number: read('number'), atcud: read('atcud'), type: read('type'), date: read('date') };
  const [acquirer, name, situation] = [read('acquirer'), read('name'), read('situation')];
  const money = amountColumns.map((column) => [column, read(column)] as const);
  if (problems.length > 0) return problems;

  const numbered = numberOf(texts.number, texts.atcud, report);
  const type = types.get(wordOf(texts.type));
  if (type === undefined) report('TYPE', { value: shown(texts.type), known: Object.values(typeWords).join(', ') });
  const date = dayIn(texts.date);
  if (date === undefined) report('DATE', { column: titleOf('date'), value: shown(texts.date) });
  const parties = acquirerOf(acquirer, name, report);
  const [net = '', tax = '', gross = ''] = money.map(([column, value]) => {
    const amount = amountIn(value, type === 'CREDIT_NOTE');
    if (amount === undefined) report('AMOUNT', { column: titleOf(column), value: shown(value) });
    return amount;
  });
  if (problems.length > 0 || type === undefined || date === undefined) return problems;
  return {
    line,
    ...numbered,
    type,
    date,
    canceled: folded(situation).includes('anulad'),
    situation: situation === '' ? undefined : cut(situation, longest_name),
    ...parties,
    net,
    tax,
    gross,
  };
}

type Report = (code: EfaturaProblemCode, facts: Readonly<Record<string, string | number>>) => void;

/** "FT FA.2026/462 / J6NTT56K-462", or without the ATCUD, or with it in a column of its own. */
function numberOf(value: string, own: string, report: Report): { number: string; atcud: string | undefined } {
  const slash = value.lastIndexOf(' / ');
  const behind = slash === -1 ? '' : value.slice(slash + 3).trim();
  const number = (atcudForm.test(behind) || behind === '0' ? value.slice(0, slash) : value).replace(/\s+/g, ' ').trim();
  const atcud = own === '' ? behind : own;
  if (number.length > longest_number || !numberForm.test(number)) report('NUMBER', { value: shown(value) });
  if (own !== '' && own !== '0' && !atcudForm.test(own)) report('ATCUD', { value: shown(own) });
  return { number, atcud: atcudForm.test(atcud) ? atcud : undefined };
}

/** "508025095", "508025095 - Casa Alfa, Lda", or nothing for a consumer who gave no number. */
function acquirerOf(value: string, own: string, report: Report) {
  const [, taxId = value, behind] = /^(\S+) - (.*)$/.exec(value) ?? [];
  const name = own === '' ? behind?.trim() : own;
  if (taxId !== '' && !taxIdForm.test(taxId)) report('TAX_ID', { value: shown(taxId) });
  if (name !== undefined && cut(name, longest_name) !== name) report('NAME_TOO_LONG', { limit: longest_name });
  return { acquirerNif: taxId === '' ? undefined : taxId, acquirerName: name === '' ? undefined : name };
}

function dayIn(value: string): Day | undefined {
  const [, day, month, year] = /^(\d\d)[/-](\d\d)[/-](\d{4})$/.exec(value) ?? [];
  const iso = day === undefined ? value : `${year}-${month}-${day}`;
  return isDay(iso) ? iso : undefined;
}

/**
 * "1.234,56 €", "1 234,56", "1234": a point only between thousands, since "1.234" of a spreadsheet could be either. A
 * minus only where a note takes back.
 */
function amountIn(value: string, takesBack: boolean): Decimal | undefined {
  const bare = value.replace(/\s*[€¤]$/, '').replace(/[\u00a0\u202f]/g, ' ');
  const [, minus, whole, cents = ''] =
    /^(-?)\s?(\d{1,13}|\d{1,3}(?:\.\d{3}){1,4}|\d{1,3}(?: \d{3}){1,4})(?:,(\d{1,2}))?$/.exec(bare) ?? [];
  if (whole === undefined || (minus === '-' && !takesBack)) return undefined;
  const digits = whole.replace(/[. ]/g, '').replace(/^0+(?=\d)/, '');
  return digits.length > 13 ? undefined : `${digits}.${cents.padEnd(2, '0')}`;
}

const shown = (value: string): string => shortened(value, 80);

/**
 * What can be wrong with an e-Fatura export, and how to mend it, in English and European Portuguese. `{name}` is filled
 * from the problem's facts.
 */
import type { Language } from '../../fiscal/refusal.ts';

interface Words {
  readonly en: string;
  readonly pt: string;
}

/** By code; the codes are part of what `--json` tells. */
export const problemWords = {
  FILE_EMPTY: {
    en: 'The file is empty. Export it again from e-Fatura.',
    pt: 'O ficheiro está vazio. Exporte-o de novo do e-Fatura.',
  },
  FILE_WORKBOOK: {
    en: 'This is a spreadsheet, not a CSV file. Export the CSV from e-Fatura, or save the sheet as CSV (UTF-8) with semicolons.',
    pt: 'Isto é uma folha de cálculo e não um ficheiro CSV. Exporte o CSV do e-Fatura, ou guarde a folha como CSV (UTF-8) com ponto e vírgula.',
  },
  FILE_PAGE: {
    en: 'This is a web page, not a CSV file: the session at the portal had perhaps ended. Sign in and export again.',
    pt: 'Isto é uma página e não um ficheiro CSV: a sessão no portal talvez tivesse terminado. Autentique-se e exporte de novo.',
  },
  FILE_UTF16: {
    en: 'The file is in UTF-16. Save it as UTF-8, or export it again from e-Fatura.',
    pt: 'O ficheiro está em UTF-16. Guarde-o em UTF-8, ou exporte-o de novo do e-Fatura.',
  },
  ENCODING_MIXED: {
    en: 'From about this line on the bytes are not UTF-8, as those before are. Export the file again; nothing behind this place was read.',
    pt: 'A partir de perto desta linha os bytes não são UTF-8, ao contrário dos anteriores. Exporte o ficheiro de novo; nada depois deste ponto foi lido.',
  },
  LINE_TOO_LONG: {
    en: 'This line is longer than {limit} characters, which no export has. Nothing behind this place was read.',
    pt: 'Esta linha excede {limit} caracteres, o que nenhuma exportação tem. Nada depois deste ponto foi lido.',
  },
  FILE_CUT: {
    en: 'The file ends in the middle of this line. Export it again and import the whole file.',
    pt: 'O ficheiro termina a meio desta linha. Exporte-o de novo e importe o ficheiro inteiro.',
  },
  SEPARATOR: {
    en: 'The columns are not separated by semicolons. Export the CSV from e-Fatura as it is.',
    pt: 'As colunas não estão separadas por ponto e vírgula. Exporte o CSV do e-Fatura tal como está.',
  },
  PURCHASES: {
    en: 'This is the list of purchases (it names an issuer in each line). Export the documents as issuer instead.',
    pt: 'Esta é a lista de compras (cada linha indica um emitente). Exporte antes os documentos como emitente.',
  },
  COLUMN_MISSING: {
    en: 'There is no column {column}. The first line must name the columns, as e-Fatura writes them.',
    pt: 'Falta a coluna {column}. A primeira linha tem de indicar as colunas, como o e-Fatura as escreve.',
  },
  COLUMN_TWICE: {
    en: 'The column {column} stands there twice. Keep one.',
    pt: 'A coluna {column} aparece duas vezes. Mantenha uma.',
  },
  QUOTES: {
    en: 'The quotation marks of this line do not pair. Export the file again, or double a quotation mark inside a value.',
    pt: 'As aspas desta linha não estão emparelhadas. Exporte o ficheiro de novo, ou duplique as aspas dentro de um valor.',
  },
  FIELDS: {
    en: 'This line has {found} values and the first line names {expected} columns. Put a value with a semicolon in quotation marks.',
    pt: 'Esta linha tem {found} valores e a primeira linha indica {expected} colunas. Ponha entre aspas um valor que tenha ponto e vírgula.',
  },
  CHARACTER: {
    en: '{column} holds the character {character}, which no document has. Remove it.',
    pt: '{column} contém o carácter {character}, que nenhum documento tem. Remova-o.',
  },
  NUMBER: {
    en: '"{value}" is no document number ("FT A2026/1", at most 60 characters, perhaps followed by " / " and the ATCUD).',
    pt: '"{value}" não é um número de documento ("FT A2026/1", até 60 caracteres, seguido ou não de " / " e do ATCUD).',
  },
  ATCUD: {
    en: '"{value}" is no ATCUD ("JFTEST12-1").',
    pt: '"{value}" não é um ATCUD ("JFTEST12-1").',
  },
  TYPE: {
    en: 'The document type "{value}" is none that can be imported ({known}). Take the line out.',
    pt: 'O tipo de documento "{value}" não pode ser importado ({known}). Retire a linha.',
  },
  DATE: {
    en: '{column} "{value}" is no day. Write 2026-03-31 or 31/03/2026.',
    pt: '{column} "{value}" não é um dia. Escreva 2026-03-31 ou 31/03/2026.',
  },
  AMOUNT: {
    en: '{column} "{value}" is no amount as the portal writes it ("1.234,56 €").',
    pt: '{column} "{value}" não é um valor como o portal o escreve ("1.234,56 €").',
  },
  TAX_ID: {
    en: 'The tax number "{value}" has characters or a length that none has.',
    pt: 'O número fiscal "{value}" tem caracteres ou um comprimento que nenhum tem.',
  },
  NAME_TOO_LONG: {
    en: 'The name of the acquirer is longer than {limit} characters.',
    pt: 'O nome do adquirente excede {limit} caracteres.',
  },
  CONTRADICTION: {
    en: '{number} stands in the file twice, with different values. Keep the line that is right.',
    pt: '{number} aparece duas vezes no ficheiro, com valores diferentes. Mantenha a linha correta.',
  },
  OWN_BOOKS_INCOMPLETE: {
    en: '{number} belongs to the series {series}, which numbers here, but is not in these books. Do not issue anything: an old backup may have been restored.',
    pt: '{number} pertence à série {series}, que numera aqui, mas não consta destes registos. Não emita nada: pode ter sido reposta uma cópia de segurança antiga.',
  },
} as const satisfies Record<string, Words>;

export type EfaturaProblemCode = keyof typeof problemWords;

export interface EfaturaProblem {
  /** From 1. */
  readonly line: number;
  readonly code: EfaturaProblemCode;
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** What is wrong, in a language, without its line. */
export function problemSentence({ code, facts = {} }: EfaturaProblem, language: Language): string {
  return problemWords[code][language].replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name] ?? ''));
}

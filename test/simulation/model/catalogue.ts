/** What the companies of the model sell, to whom and where: the same in the books and in the model. */

/** Rates of CIVA article 18 since October 2024, in percent. */
export const rates = {
  PT: { NORMAL: 23, INTERMEDIATE: 13, REDUCED: 6, EXEMPT: 0 },
  'PT-AC': { NORMAL: 16, INTERMEDIATE: 9, REDUCED: 4, EXEMPT: 0 },
  'PT-MA': { NORMAL: 22, INTERMEDIATE: 12, REDUCED: 4, EXEMPT: 0 },
} as const;
export type Region = keyof typeof rates;
export type Vat = keyof (typeof rates)['PT'];

export interface Item {
  readonly name: string;
  readonly type: 'PRODUCT' | 'SERVICE';
  /** Without VAT, in ten thousandths of a euro. */
  readonly price: number;
  readonly vat: Vat;
  /** Percent that is withheld. */
  readonly withheld: number;
  /** Under which norm. */
  readonly norm?: string;
  /** IRS when absent. */
  readonly withheldType?: 'IRS' | 'IRC';
}

export const items = [
  { name: 'Cadeira', type: 'PRODUCT', price: 400_000, vat: 'NORMAL', withheld: 0 },
  { name: 'Vinho de mesa', type: 'PRODUCT', price: 65_000, vat: 'INTERMEDIATE', withheld: 0 },
  { name: 'Livro', type: 'PRODUCT', price: 149_000, vat: 'REDUCED', withheld: 0 },
  { name: 'Formação', type: 'SERVICE', price: 300_000, vat: 'EXEMPT', withheld: 0 },
  { name: 'Consultoria', type: 'SERVICE', price: 1_000_000, vat: 'NORMAL', withheld: 23, norm: 'CIRS 101' },
  { name: 'Direitos de autor', type: 'SERVICE', price: 123_450, vat: 'REDUCED', withheld: 23, norm: 'CIRS 101-D' },
  {
    name: 'Comissão',
    type: 'SERVICE',
    price: 777_700,
    vat: 'NORMAL',
    withheld: 23,
    norm: 'CIRS 101',
    withheldType: 'IRC',
  },
] as const satisfies readonly Item[] as readonly Item[];

/** The first is a company, the second a private person without a NIF. */
export const customers = ['business', 'person'] as const;

/** Codes of documents that the acts of the model make. */
export const codes = {
  INVOICE: 'FT',
  SIMPLIFIED_INVOICE: 'FS',
  INVOICE_RECEIPT: 'FR',
  DEBIT_NOTE: 'ND',
  CREDIT_NOTE: 'NC',
  RECEIPT: 'RG',
} as const;
export type DocumentType = keyof typeof codes;

export const seriesCode = 'M2026';
/** As the AT gives them: eight characters, another one for each series. */
export const validationCode = (type: DocumentType): string => `AAMODE${codes[type]}`;

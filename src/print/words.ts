/**
 * Labels of the paper, Portuguese and English. Fiscal mentions are not here: they are Portuguese letter for letter in
 * every language (see paper.ts and fiscal/exemptions.ts).
 */

/** pt: Portuguese alone. en: Portuguese with the English label beside it, for buyers abroad. */
export type PaperLanguage = 'pt' | 'en';

const words = {
  to: ['Cliente', 'Bill to'],
  recipient: ['Destinatário', 'Recipient'],
  payer: ['Recebido de', 'Received from'],
  taxNumber: ['NIF', 'VAT no.'],
  foreignTaxNumber: ['N.º fiscal', 'Tax no.'],
  issueDate: ['Data de emissão', 'Issue date'],
  issueMoment: ['Data e hora de emissão', 'Issued at'],
  documentDate: ['Data do documento', 'Document date'],
  taxPointDate: ['Data da operação', 'Date of supply'],
  dueDate: ['Data de vencimento', 'Due date'],
  paymentMethod: ['Meio de pagamento', 'Payment method'],
  paymentDate: ['Data de pagamento', 'Payment date'],
  corrected: ['Documento corrigido', 'Corrected document'],
  origin: ['Documento de origem', 'Original document'],
  reason: ['Motivo', 'Reason'],
  atDocCode: ['Código AT', 'AT code'],
  start: ['Início do transporte', 'Start of transport'],
  end: ['Fim do transporte', 'End of transport'],
  licensePlate: ['Matrícula', 'Licence plate'],
  loading: ['Local de carga', 'Place of loading'],
  unloading: ['Local de descarga', 'Place of unloading'],
  line: ['Descrição', 'Description'],
  quantity: ['Qtd.', 'Qty'],
  unitPrice: ['Preço unit.', 'Unit price'],
  discount: ['Desconto', 'Discount'],
  vat: ['IVA', 'VAT'],
  lineTotal: ['Total s/ IVA', 'Net'],
  rate: ['Taxa de IVA', 'VAT rate'],
  base: ['Incidência', 'Taxable'],
  beforeDiscount: ['Total ilíquido', 'Before discount'],
  discounts: ['Descontos nas linhas', 'Line discounts'],
  globalDiscount: ['Desconto global', 'Global discount'],
  net: ['Total sem IVA', 'Net total'],
  gross: ['Total', 'Total'],
  withholding: ['Retenção na fonte', 'Withholding tax'],
  toPay: ['Total a pagar', 'Amount due'],
  paid: ['Total pago', 'Amount paid'],
  toCredit: ['Total a creditar', 'Amount credited'],
  received: ['Total recebido', 'Amount received'],
  counterValue: ['Contravalor em euros', 'Value in euros'],
  exchangeRate: ['Câmbio', 'Exchange rate'],
  settledDocument: ['Documento liquidado', 'Settled document'],
  settledDate: ['Data', 'Date'],
  settledAmount: ['Valor liquidado', 'Amount settled'],
  settledGross: ['Total liquidado', 'Total settled'],
  withheld: ['Retenção', 'Withheld'],
  receivedPart: ['Valor recebido', 'Received'],
  notes: ['Observações', 'Notes'],
  carriedForward: ['A transportar', 'Carried forward'],
  broughtForward: ['Transportado', 'Brought forward'],
} as const satisfies Record<string, readonly [pt: string, en: string]>;

export type Word = keyof typeof words;

/** A label in the paper's language: "Data de emissão", or "Data de emissão / Issue date". */
export function label(word: Word, language: PaperLanguage): string {
  return inLanguage(words[word], language);
}

/** Words of ours that are no label, as labels are: "Espanha", or "Espanha / Spain". */
export function inLanguage([pt, en]: readonly [pt: string, en: string], language: PaperLanguage): string {
  return language === 'pt' || pt === en ? pt : `${pt} / ${en}`;
}

/** The same over two lines, for places too narrow for both languages. */
export function labelLines(word: Word, language: PaperLanguage): string[] {
  return label(word, language).split(' / ');
}

/** "Página 2 de 3" in pieces, since only layout knows the numbers: before the page, before the count; per language. */
export function pageWords(language: PaperLanguage): readonly (readonly [page: string, of: string])[] {
  const portuguese = ['Página', 'de'] as const;
  return language === 'pt' ? [portuguese] : [portuguese, ['Page', 'of']];
}

/** The money at the end of a paper: VAT per rate, what leads to the total, the total itself. */
import { add, isZero, subtract } from '../fiscal/decimal.ts';
import {
  type Content,
  type Decimal,
  type DocumentType,
  documentTypes,
  isPaidAtOnce,
  type Region,
  type TaxGroup,
  type WithholdingGroup,
  type WithholdingType,
} from '../fiscal/document.ts';
import { exemptions } from '../fiscal/exemptions.ts';
import { money, percent, quantity } from './format.ts';
import type { Pen } from './pen.ts';
import type { Word } from './words.ts';

/** A label, its figure, and small print under it. */
export interface Sum {
  readonly label: string;
  readonly value: string;
  readonly note?: string | undefined;
}

/** The last one stands in large type, its English under it. */
interface FinalSum {
  readonly label: string;
  readonly english?: string | undefined;
  readonly value: string;
}

export interface PaperTotals {
  /** Heads have one line per language. */
  readonly vat?:
    | { readonly heads: readonly (readonly string[])[]; readonly rows: readonly (readonly string[])[] }
    | undefined;
  /** "M07" and its mention, letter for letter. */
  readonly exemptions: readonly { readonly code: string; readonly mention: string }[];
  /** Before the total. */
  readonly sums: readonly Sum[];
  /** The total (with VAT), then the withholding: only when there is withholding. */
  readonly afterGross: readonly Sum[];
  /** Where the eye ends. */
  readonly final: FinalSum;
  /** Document in another currency: its value in euros. */
  readonly euros: readonly Sum[];
}

const regionNames: Readonly<Record<Region, string>> = { PT: 'Continente', 'PT-MA': 'Madeira', 'PT-AC': 'Açores' };
/** Kept apart from the rules of issuing: an old document keeps its mention after the code has ended. */
const mentions: ReadonlyMap<string, string> = new Map(exemptions.map(({ code, mention }) => [code, mention]));

/**
 * All amounts positive: nothing negative stands on a fiscal document; the labels say what is taken off. `mostWithheld`: so many
 * kinds of withholding are listed one by one.
 */
export function totalsOf(content: Content, pen: Pen, mostWithheld = Number.POSITIVE_INFINITY): PaperTotals {
  const { totals, currency, cashVat } = content;
  const isReceipt = documentTypes[content.type].family === 'RECEIPT';
  const withheld = listed(totals.withholdings, mostWithheld).map((group) => ({
    ...withheldOf(group, currency, pen),
    note: group.reason?.trim() ? pen.write(group.reason) : undefined,
  }));
  const gross = { label: pen.label(isReceipt ? 'settledGross' : 'gross'), value: money(totals.gross, currency) };
  return {
    // Under the cash VAT scheme it is the receipt that makes the tax due, so it tells it per rate (DL 71/2013, article 6).
    vat: isReceipt && cashVat !== true ? undefined : vatSummary(totals.groups, currency, pen),
    exemptions: isReceipt && cashVat !== true ? [] : exemptionsOf(totals.groups),
    sums: isReceipt ? [] : sumsBefore(content, pen),
    afterGross: withheld.length > 0 ? [gross, ...withheld] : [],
    final: finalSum(
      withheld.length > 0 || isReceipt ? lastWord(content.type) : 'gross',
      money(totals.toPay, currency),
      pen,
    ),
    euros: currency === 'EUR' ? [] : eurosOf(content, pen, mostWithheld),
  };
}

/** What becomes of what is left when tax was withheld. */
function lastWord(type: DocumentType): Word {
  if (documentTypes[type].family === 'RECEIPT') return 'received';
  if (type === 'CREDIT_NOTE') return 'toCredit';
  return isPaidAtOnce(type) ? 'paid' : 'toPay';
}

function finalSum(word: Word, value: string, pen: Pen): FinalSum {
  const [label = '', english] = pen.labelLines(word);
  return { label, english, value };
}

function sumsBefore(content: Content, pen: Pen): Sum[] {
  const { totals, currency, netBeforeDiscount, globalDiscountAmount, globalDiscount } = content;
  const shown = (word: Word, value: Decimal, more = '') => ({
    label: pen.label(word) + more,
    value: money(value, currency),
  });
  const all = subtract(netBeforeDiscount, totals.net);
  const own = subtract(all, globalDiscountAmount);
  const share = globalDiscount?.type === 'PERCENT' ? ` ${percent(globalDiscount.value)}` : '';
  return [
    ...(isZero(all) ? [] : [shown('beforeDiscount', netBeforeDiscount)]),
    ...(isZero(own) ? [] : [shown('discounts', own)]),
    ...(isZero(globalDiscountAmount) ? [] : [shown('globalDiscount', globalDiscountAmount, share)]),
    shown('net', totals.net),
    shown('vat', totals.tax),
  ];
}

/** One row per region, rate and exemption code: base and VAT (CIVA article 36 no. 5 c, d). */
function vatSummary(groups: readonly TaxGroup[], currency: string, pen: Pen) {
  const abroad = groups.some(({ region }) => region !== 'PT');
  const rows = [...groups]
    .sort(byRegionAndRate)
    .map((group) => [
      [percent(group.rate), group.exemptionCode, abroad ? regionNames[group.region] : undefined]
        .filter(Boolean)
        .join('\u2002'),
      money(group.base, currency),
      money(group.tax, currency),
    ]);
  return { heads: (['rate', 'base', 'vat'] as const).map(pen.labelLines), rows };
}

function byRegionAndRate(a: TaxGroup, b: TaxGroup): number {
  const codes = (a.exemptionCode ?? '').localeCompare(b.exemptionCode ?? '');
  return a.region.localeCompare(b.region) || Number(b.rate) - Number(a.rate) || codes;
}

function exemptionsOf(groups: readonly TaxGroup[]) {
  const codes = new Set(groups.map(({ exemptionCode }) => exemptionCode).filter((code) => code !== undefined));
  return [...codes].sort().map((code) => ({ code, mention: mentions.get(code) ?? code }));
}

/** What is owed to the state is owed in euros, whatever the document's currency: VAT, total and withholding as signed and exported. */
function eurosOf({ type, books, currency, exchangeRate, cashVat }: Content, pen: Pen, mostWithheld: number): Sum[] {
  const rate = { label: pen.label('exchangeRate'), value: `1 ${currency} = ${quantity(exchangeRate ?? '1')}\u00a0€` };
  const shown = (word: Word, value: Decimal) => ({ label: pen.label(word), value: money(value, 'EUR') });
  const isReceipt = documentTypes[type].family === 'RECEIPT';
  const tax = isReceipt && cashVat !== true ? [] : [shown('net', books.net), shown('vat', books.tax)];
  const withheld = listed(books.withholdings, mostWithheld).map((group) => withheldOf(group, 'EUR', pen));
  const all = shown(isReceipt ? 'settledGross' : 'gross', books.gross);
  const last = shown(lastWord(type), books.toPay);
  if (withheld.length > 0) return [rate, ...tax, all, ...withheld, last];
  return [rate, ...tax, isReceipt ? last : all];
}

type Withheld = Pick<WithholdingGroup, 'type' | 'amount'> & Partial<Pick<WithholdingGroup, 'percent' | 'reason'>>;

/**
 * Each with its percentage and norm; where they are too many, one sum of each tax. None of which nothing is withheld: SAF-T, the
 * QR code and the AT do not tell it either.
 */
function listed(groups: readonly WithholdingGroup[], most: number): readonly Withheld[] {
  const told = groups.filter(({ amount }) => !isZero(amount));
  if (told.length <= most) return told;
  const sums = new Map<WithholdingType, Decimal>();
  for (const { type, amount } of told) sums.set(type, add(sums.get(type) ?? '0', amount));
  return [...sums].map(([type, amount]) => ({ type, amount }));
}

/** Without its legal norm, which stands once on a paper. */
function withheldOf({ type, percent: share, amount }: Withheld, currency: string, pen: Pen): Sum {
  const label = `${pen.label('withholding')} ${type}`;
  return { label: share === undefined ? label : `${label}\u00a0${percent(share)}`, value: money(amount, currency) };
}

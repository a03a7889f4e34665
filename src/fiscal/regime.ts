/**
 * The regimes a document is issued under, decided by its series: the cash VAT scheme (DL 71/2013), training, recovery.
 * A note or a receipt follows the document it is about.
 */
import { type Content, type Day, type DocumentType, documentTypes } from './document.ts';
import { isPersonNif } from './nif.ts';
import { assert, Refusal } from './refusal.ts';

/** N normal, F training, R recovery: tipoSerie of the series service. */
export type SeriesKind = 'N' | 'F' | 'R';

/** The days of the cash VAT scheme, both inclusive; without the last one it goes on. */
export interface CashVatPeriod {
  readonly from: Day;
  readonly until?: Day | undefined;
}

/** Whether a document that names no series goes into one of the cash VAT scheme. */
export type Scheme = 'never' | 'always' | 'when-in-force';

/** The SAF-T type code of a document, the first part of its number: receipts under the cash VAT scheme are RC. */
export function typeCode({ type, cashVat }: Pick<Content, 'type' | 'cashVat'>): string {
  return type === 'RECEIPT' && cashVat === true ? 'RC' : documentTypes[type].code;
}

/** The same of a series. */
export function seriesTypeCode(type: DocumentType, cashVat: boolean): string {
  return typeCode({ type, cashVat });
}

/** Types that the scheme is about; pro formas and transports make no tax due. */
export function mayBeCashVat(type: DocumentType): boolean {
  const { family } = documentTypes[type];
  return family === 'SALES' || family === 'RECEIPT';
}

/**
 * Exports, supplies within the EU and those whose tax the buyer owes are outside the scheme (DL 71/2013, article 1,
 * no. 2). Codes as in the table of exemptions.
 */
const excludedCodes = new Set([
  'M05',
  'M06',
  'M16',
  'M30',
  'M31',
  'M32',
  'M33',
  'M34',
  'M35',
  'M40',
  'M41',
  'M42',
  'M43',
]);

type Supply = Pick<Content, 'type' | 'customer' | 'lines' | 'parent' | 'cashVat'>;

/** Whether the scheme leaves a supply out: no Portuguese taxable person buys it, or one of the excluded operations. */
function isExcluded({ customer, lines }: Supply): boolean {
  if (customer.finalConsumer === true || customer.taxpayerNumber === undefined || customer.country !== 'PT')
    return true;
  return lines.some(({ exemptionCode }) => exemptionCode !== undefined && excludedCodes.has(exemptionCode));
}

/**
 * The scheme of a document that names no series. The number of a private person may be a sole trader's or a consumer's,
 * and the program can't tell: those are put under the scheme only by naming a series of it, which delays no tax that is
 * due. The same holds for wholly exempt supplies, which have no tax to be delayed.
 */
export function schemeOf(content: Supply): Scheme {
  if (corrects(content)) return content.cashVat === true ? 'always' : 'never';
  if (documentTypes[content.type].family !== 'SALES' || isExcluded(content)) return 'never';
  const taxed = content.lines.some(({ vatRate }) => vatRate !== 'EXEMPT');
  return taxed && !isPersonNif(content.customer.taxpayerNumber ?? '') ? 'when-in-force' : 'never';
}

/** Documents that follow another one's regime. Drafts of debit notes may still lack theirs. */
function corrects({ type, parent }: Supply): boolean {
  return type === 'RECEIPT' || type === 'CREDIT_NOTE' || (type === 'DEBIT_NOTE' && parent !== undefined);
}

export interface SeriesRegime {
  readonly code: string;
  readonly kind: SeriesKind;
  readonly cashVat: boolean;
}

/** `date` lies in the scheme. */
export function inCashVat(period: CashVatPeriod | undefined, date: Day): boolean {
  return period !== undefined && period.from <= date && (period.until === undefined || date <= period.until);
}

/** A document dated `date` that names no series goes into one of the cash VAT scheme. */
export function wantsCashVat(scheme: Scheme, period: CashVatPeriod | undefined, date: Day): boolean {
  return scheme === 'always' || (scheme === 'when-in-force' && inCashVat(period, date));
}

/**
 * What the series makes of a document dated `date`: its mentions. Throws CASH_VAT_NOT_IN_FORCE, CASH_VAT_EXCLUDED,
 * CASH_VAT_DIFFERS, TRAINING_DIFFERS. Recovered documents bring their own scheme with them.
 */
export function regimeOf(
  content: Content,
  series: SeriesRegime,
  date: Day,
  period: CashVatPeriod | undefined,
): Pick<Content, 'cashVat' | 'training'> {
  const recovered = content.recovered !== undefined;
  assert(recovered === (series.kind === 'R'), 'a recovery series holds recovered documents, and nothing else');
  if (recovered) return { cashVat: content.cashVat, training: undefined };
  const training = series.kind === 'F';
  if (follows(content) && (content.training === true) !== training) {
    throw new Refusal('TRAINING_DIFFERS', { series: series.code });
  }
  checkCashVat(content, series, date, period);
  return { cashVat: series.cashVat || undefined, training: training || undefined };
}

/** Made of another document: a note or a receipt of an invoice, an invoice of a pro forma. */
function follows(content: Content): boolean {
  return content.parent !== undefined || content.origin !== undefined;
}

function checkCashVat(content: Content, series: SeriesRegime, date: Day, period: CashVatPeriod | undefined): void {
  if (corrects(content)) {
    if ((content.cashVat === true) !== series.cashVat) throw new Refusal('CASH_VAT_DIFFERS', { series: series.code });
    return;
  }
  if (!series.cashVat) return;
  if (!inCashVat(period, date)) throw new Refusal('CASH_VAT_NOT_IN_FORCE', { series: series.code, date });
  if (isExcluded(content)) throw new Refusal('CASH_VAT_EXCLUDED', { series: series.code });
}
